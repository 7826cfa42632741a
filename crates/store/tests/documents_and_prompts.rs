//! Documents, prompts with their versions, and runs of one judgement.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_store::{
    NewDocument, NewJudge, NewModel, NewOrganization, NewPrompt, NewPromptVersion, NewRun, Page,
    PromptChange, PromptContent, RunFilter, RunOrder, ScopedStore, Store, StoreError,
};
use fullbench_types::{
    ContentHash, Criterion, DEFAULT_ORGANIZATION, ErrorCode, JudgeId, Plan, RunId, RunKind,
    RunOrigin, Scale,
};
use serde_json::json;
use uuid::Uuid;

on_every_backend!(
    a_document_is_kept_as_it_was_and_seen_by_its_organization_alone,
    names_of_prompts_are_unique_and_changes_are_noticed,
    versions_are_numbered_hashed_and_never_changed,
    what_is_created_twice_under_one_id_is_there_once,
    judgements_are_found_by_judge_and_document,
);

const ALL: Page = Page { offset: 0, limit: 100 };

async fn stores(whole: &Store) -> (ScopedStore, ScopedStore) {
    let (name, slug) = ("Other".to_owned(), "other".to_owned());
    let new = NewOrganization { name, slug, plan: Plan::Free };
    let other = whole.create_organization(new).await.unwrap();
    (whole.scoped(DEFAULT_ORGANIZATION), whole.scoped(other.id))
}

fn document(output: &str) -> NewDocument {
    NewDocument {
        id: Uuid::now_v7(),
        input: Some("2 + 2?".to_owned()),
        actual_output: output.to_owned(),
        expected_output: None,
        metadata: json!({"source": "form"}).as_object().cloned().unwrap(),
        created_by: Some("key:fb_1".to_owned()),
    }
}

fn prompt(name: &str) -> NewPrompt {
    NewPrompt { id: Uuid::now_v7(), name: name.to_owned(), description: None, created_by: None }
}

fn version(prompt: Uuid, content: PromptContent) -> NewPromptVersion {
    NewPromptVersion { id: Uuid::now_v7(), prompt, content, description: None, created_by: None }
}

fn is_not_found<T>(result: Result<T, StoreError>) -> bool {
    result.is_err_and(|error| error.code() == ErrorCode::NotFound)
}

async fn a_document_is_kept_as_it_was_and_seen_by_its_organization_alone(place: Place) {
    let whole = place.open().await;
    let (store, other) = stores(&whole).await;
    let first = store.create_document(document("four")).await.unwrap();
    let second = store.create_document(document("five")).await.unwrap();
    assert_eq!(store.document(first.id).await.unwrap(), first);
    assert_eq!(first.metadata["source"], "form");
    let (page, total) = store.documents(Page { offset: 1, limit: 1 }).await.unwrap();
    assert_eq!((page, total), (vec![first.clone()], 2));
    assert!(is_not_found(other.document(second.id).await));
    assert_eq!(other.documents(ALL).await.unwrap().1, 0);
    let refused = place.execute("UPDATE documents SET actual_output = 'six'").await;
    assert!(refused.unwrap_err().contains("never change"));
}

async fn names_of_prompts_are_unique_and_changes_are_noticed(place: Place) {
    let whole = place.open().await;
    let (store, other) = stores(&whole).await;
    let made = store.create_prompt(prompt("greeting")).await.unwrap();
    let taken = store.create_prompt(prompt("greeting")).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })));
    other.create_prompt(prompt("greeting")).await.unwrap();
    let change = |name: &str| PromptChange {
        name: Some(name.to_owned()),
        description: Some(Some("says hello".to_owned())),
    };
    let changed = store.change_prompt(made.id, Some(1), change("hello")).await.unwrap();
    assert_eq!((changed.name.as_str(), changed.revision), ("hello", 2));
    let late = store.change_prompt(made.id, Some(1), change("hi")).await;
    assert!(matches!(late, Err(StoreError::ChangedMeanwhile { .. })));
    store.create_prompt(prompt("hi")).await.unwrap();
    let taken = store.change_prompt(made.id, None, change("hi")).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })));
    assert!(is_not_found(other.change_prompt(made.id, None, change("mine")).await));
    let (named, total) = store.prompts(Some("hello"), ALL).await.unwrap();
    assert_eq!((named[0].id, total), (made.id, 1));
    assert_eq!(named[0].description.as_deref(), Some("says hello"));
}

async fn versions_are_numbered_hashed_and_never_changed(place: Place) {
    let whole = place.open().await;
    let (store, other) = stores(&whole).await;
    let made = store.create_prompt(prompt("greeting")).await.unwrap();
    let template = PromptContent::Template("Hello {{ input }}".to_owned());
    let messages = PromptContent::Messages(json!({"user": "Hello {{ input }}"}));
    let first = store.add_prompt_version(version(made.id, template.clone())).await.unwrap();
    let second = store.add_prompt_version(version(made.id, messages.clone())).await.unwrap();
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!((&first.content, &second.content), (&template, &messages));
    assert_eq!(first.content_hash, ContentHash::of(b"Hello {{ input }}"));
    assert_eq!(store.prompt_version(made.id, 2).await.unwrap(), second);
    let (page, total) = store.prompt_versions(made.id, ALL).await.unwrap();
    assert_eq!((page, total), (vec![second, first], 2));
    assert!(is_not_found(store.prompt_version(made.id, 3).await));
    assert!(is_not_found(other.prompt_version(made.id, 1).await));
    assert!(is_not_found(other.prompt_versions(made.id, ALL).await));
    assert!(is_not_found(other.add_prompt_version(version(made.id, template.clone())).await));
    let refused = place.execute("UPDATE prompt_versions SET template = 'x'").await;
    assert!(refused.unwrap_err().contains("never change"));
    place.execute("DELETE FROM prompts").await.unwrap();
    assert!(is_not_found(store.prompt_versions(made.id, ALL).await));

    let again = store.create_prompt(prompt("at once")).await.unwrap();
    let many = (0..8).map(|_| store.add_prompt_version(version(again.id, template.clone())));
    let mut numbers: Vec<u32> =
        futures::future::join_all(many).await.into_iter().map(|one| one.unwrap().number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=8).collect::<Vec<u32>>());
}

fn clarity() -> Criterion {
    Criterion {
        name: "clarity".to_owned(),
        task_introduction: "You judge answers.".to_owned(),
        evaluation_criteria: "Is it clear?".to_owned(),
        scale: Scale::FIVE,
        levels: Vec::new(),
        needs_reference: false,
        needs_context: false,
    }
}

fn judge(samples: u32) -> NewJudge {
    NewJudge {
        name: "strict".to_owned(),
        criterion: "clarity".to_owned(),
        method: "g_eval".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-4o".to_owned(),
        model_config: json!({"provider": "openai", "model": "gpt-4o"}),
        parameters: json!({"samples": samples}),
        description: None,
    }
}

async fn what_is_created_twice_under_one_id_is_there_once(place: Place) {
    let whole = place.open().await;
    let (store, _) = stores(&whole).await;
    let new = document("four");
    let made = store.create_document(new.clone()).await.unwrap();
    assert_eq!(store.create_document(new).await.unwrap(), made);
    let new = prompt("greeting");
    let made = store.create_prompt(new.clone()).await.unwrap();
    assert_eq!(store.create_prompt(new).await.unwrap(), made);
    let new = version(made.id, PromptContent::Template("x".to_owned()));
    let made = store.add_prompt_version(new.clone()).await.unwrap();
    assert_eq!(store.add_prompt_version(new).await.unwrap(), made);

    let id = Uuid::now_v7();
    let made = store.create_criterion(id, &clarity()).await.unwrap();
    assert_eq!(store.create_criterion(id, &clarity()).await.unwrap(), made);
    let taken = store.create_criterion(Uuid::now_v7(), &clarity()).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })));
    let set = store.create_threshold(id, "clarity", 0.5, None).await.unwrap();
    assert_eq!(store.create_threshold(id, "clarity", 0.5, None).await.unwrap(), set);
    assert_eq!(store.threshold_history("clarity").await.unwrap().len(), 1);
    let (provider, name) = ("openai".to_owned(), "gpt-4o".to_owned());
    let config = json!({"provider": "openai", "model": "gpt-4o"});
    let new = NewModel { id, provider, name, config };
    let made = store.create_model(new.clone()).await.unwrap();
    assert_eq!(store.create_model(new.clone()).await.unwrap(), made);
    assert_eq!(store.model_of_id(id).await.unwrap(), made);
    let taken = store.create_model(NewModel { id: Uuid::now_v7(), ..new }).await;
    assert!(matches!(taken, Err(StoreError::NameTaken { .. })));
    let (first, second) = (JudgeId(id), JudgeId(Uuid::now_v7()));
    let made = store.create_judge(first, &judge(1)).await.unwrap();
    assert_eq!(store.create_judge(first, &judge(1)).await.unwrap(), made);
    let next = store.create_successor(second, &judge(2), first).await.unwrap();
    assert_eq!(store.create_successor(second, &judge(2), first).await.unwrap(), next);
    assert_eq!((next.id, next.predecessor), (second, Some(first)));
    let late = store.create_successor(JudgeId(Uuid::now_v7()), &judge(3), first).await;
    assert!(matches!(late, Err(StoreError::ChangedMeanwhile { .. })));

    let mut revised = clarity();
    revised.evaluation_criteria = "Is it very clear?".to_owned();
    assert_eq!(store.revise_seen_criterion(&revised, Some(1)).await.unwrap().revision, 2);
    let late = store.revise_seen_criterion(&clarity(), Some(1)).await;
    assert!(matches!(late, Err(StoreError::ChangedMeanwhile { .. })));
}

async fn judgements_are_found_by_judge_and_document(place: Place) {
    let whole = place.open().await;
    let (store, other) = stores(&whole).await;
    store.add_criterion(&clarity()).await.unwrap();
    let strict = store.add_judge(&judge(1)).await.unwrap();
    let document = store.create_document(document("four")).await.unwrap();
    let new = |order: RunOrder| NewRun {
        id: RunId::generate(),
        name: "evaluation".to_owned(),
        kind: RunKind::Single,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 1,
        version: "0".to_owned(),
        order,
    };
    let order = RunOrder {
        origin: RunOrigin::Evaluation,
        judge: Some(strict.id),
        document: Some(document.id),
        ..RunOrder::default()
    };
    let judged = store.create_run(new(order.clone())).await.unwrap();
    assert_eq!(judged.order, order);
    store.create_run(new(RunOrder::default())).await.unwrap();
    let found = async |store: &ScopedStore, filter: RunFilter| {
        let (runs, total) = store.find_runs(&filter, ALL).await.unwrap();
        (runs.into_iter().map(|run| run.id).collect::<Vec<_>>(), total)
    };
    let all = RunFilter { is_judgement: true, ..RunFilter::default() };
    let by = |judge: JudgeId| RunFilter { judges: Some(vec![judge]), ..all.clone() };
    let of = |document: Uuid| RunFilter { document: Some(document), ..all.clone() };
    let one = (vec![judged.id], 1);
    assert_eq!(found(&store, all.clone()).await, one);
    assert_eq!(found(&store, by(strict.id)).await, one);
    assert_eq!(found(&store, of(document.id)).await, one);
    assert_eq!(found(&store, by(JudgeId(Uuid::now_v7()))).await, (vec![], 0));
    assert_eq!(found(&store, of(Uuid::now_v7())).await, (vec![], 0));
    assert_eq!(found(&other, all.clone()).await, (vec![], 0));
}
