//! Of what is only ever added there is so much in an organization, and no more.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use std::time::Duration;

use backend::{Place, on_every_backend};
use fullbench_llm::Provider;
use fullbench_store::{
    EntityKind, InvitationPace, KeptSecret, LaneProgress, NewApiKey, NewCase, NewDataset,
    NewGroundTruth, NewInvitation, NewOrganization, NewPrompt, NewPromptVersion, NewProviderKey,
    NewRun, NewUser, NewVersion, PasswordHash, PromptContent, RunOrder, ScopedStore, StoreError,
};
use fullbench_types::{
    ContentHash, Criterion, DEFAULT_ORGANIZATION, DatasetKind, FileFormat, GroundTruthSource,
    NanoDollars, Plan, RunId, RunKind, Scale, UserRole,
};
use jiff::Timestamp;
use serde_json::{Map, json};
use uuid::Uuid;

on_every_backend!(
    there_are_so_many_people_and_keys,
    there_are_so_many_prompts_and_versions,
    there_are_so_many_data_sets_versions_and_agreed_answers,
    there_are_so_many_pass_marks_and_baselines,
    what_one_organization_has_takes_no_room_of_another,
    keys_that_open_nothing_give_way_to_new_ones,
    there_are_so_many_scorers_added_to_a_run,
    many_at_once_are_no_more_than_one_after_the_other,
);

/// Makes copies of the only row of a table until there are so many: each has these values in these columns, where `<id>` is a new
/// id and `n` a number, and those of the row in the others.
async fn fill(place: &Place, table: &str, columns: &str, values: &[(&str, &str)], most: u64) {
    fill_from(place, table, table, columns, values, most - 1).await;
    assert_eq!(place.count(table).await, most as i64, "{table}");
}

/// Makes so many copies of the only row of this.
async fn fill_from(
    place: &Place,
    table: &str,
    from: &str,
    columns: &str,
    values: &[(&str, &str)],
    copies: u64,
) {
    let id = if place.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let copied = |column: &str| {
        let value = values.iter().find(|(name, _)| *name == column).map(|(_, value)| *value);
        value.unwrap_or(column).replace("<id>", id)
    };
    let selected: Vec<String> = columns.split(", ").map(copied).collect();
    let sql = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) \
         INSERT INTO {table} ({columns}) SELECT {} FROM {from}, numbers",
        copies,
        selected.join(", "),
    );
    place.execute(&sql).await.unwrap();
}

/// One more was refused, and is not there.
async fn is_refused<T>(
    place: &Place,
    added: Result<T, StoreError>,
    kind: EntityKind,
    table: &str,
    most: u64,
) {
    let told = added.map(drop).expect_err(table);
    let is_told = matches!(told, StoreError::TooMany { kind: found, limit } if found == kind && limit == most);
    assert!(is_told, "{told}");
    assert!(told.hint().is_some(), "{told}");
    assert_eq!(place.count(table).await, most as i64, "{table}");
}

fn user(email: &str) -> NewUser {
    let (email, name) = (email.to_owned(), "Ann".to_owned());
    NewUser { email, name, role: UserRole::Viewer, password: None }
}

fn api_key(hash: &str) -> NewApiKey {
    NewApiKey {
        id: Uuid::now_v7(),
        name: "key".to_owned(),
        user: None,
        role: UserRole::Viewer,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: KeptSecret { prefix: "fb_".to_owned(), hash: hash.to_owned() },
    }
}

const PACE: InvitationPace =
    InvitationPace { within: Duration::from_secs(3600), to_one: 10, to_all: 100 };

fn invitation(email: &str) -> NewInvitation {
    NewInvitation {
        id: Uuid::now_v7(),
        email: email.to_owned(),
        role: UserRole::Viewer,
        token_hash: email.to_owned(),
        created_by: None,
        expires_at: Timestamp::now() + Duration::from_secs(3600),
    }
}

fn provider_key(address: Option<&str>) -> NewProviderKey {
    NewProviderKey {
        provider: Provider::Openai,
        base_url: address.map(str::to_owned),
        key: zeroize::Zeroizing::new("sk-0123456789abcdef".to_owned()),
        created_by: None,
    }
}

async fn there_are_so_many_people_and_keys(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    store.add_user(user("a@example.com")).await.unwrap();
    let columns = "id, organization_id, email, name, role, created_at, updated_at";
    let each = [("id", "<id>"), ("email", "email || n")];
    fill(&place, "users", columns, &each, 10_000).await;
    let one_more = store.add_user(user("b@example.com")).await;
    is_refused(&place, one_more, EntityKind::User, "users", 10_000).await;

    let first = store.add_api_key(api_key("a")).await.unwrap();
    let columns = "id, organization_id, name, prefix, hash, role, created_at";
    let each = [("id", "<id>"), ("hash", "hash || n")];
    fill(&place, "api_keys", columns, &each, 100_000).await;
    let one_more = store.add_api_key(api_key("b")).await;
    is_refused(&place, one_more, EntityKind::ApiKey, "api_keys", 100_000).await;
    assert_eq!(store.api_key(first.id).await.unwrap().id, first.id, "what is there can be used");

    store.keep_provider_key(provider_key(None)).await.unwrap();
    let columns = "organization_id, provider, base_url, sealed, last_four, created_at";
    let each = [("base_url", "'https://models.example/' || n")];
    fill(&place, "provider_keys", columns, &each, 1_000).await;
    let one_more = store.keep_provider_key(provider_key(Some("https://other.example/"))).await;
    is_refused(&place, one_more, EntityKind::ProviderKey, "provider_keys", 1_000).await;
    store.keep_provider_key(provider_key(None)).await.expect("one that is there is replaced");
}

async fn there_are_so_many_prompts_and_versions(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let prompt = |name: &str| {
        let (id, name) = (Uuid::now_v7(), name.to_owned());
        NewPrompt { id, name, description: None, created_by: None }
    };
    let first = store.create_prompt(prompt("first")).await.unwrap();
    let version = || NewPromptVersion {
        id: Uuid::now_v7(),
        prompt: first.id,
        content: PromptContent::Template("{{ input }}".to_owned()),
        description: None,
        created_by: None,
    };
    store.add_prompt_version(version()).await.unwrap();
    let columns =
        "id, organization_id, prompt_id, version_number, template, content_hash, created_at";
    let each = [("id", "<id>"), ("version_number", "version_number + n")];
    fill(&place, "prompt_versions", columns, &each, 100_000).await;
    let one_more = store.add_prompt_version(version()).await;
    is_refused(&place, one_more, EntityKind::PromptVersion, "prompt_versions", 100_000).await;

    let columns = "id, organization_id, name, revision, created_at, updated_at";
    let each = [("id", "<id>"), ("name", "name || n")];
    fill(&place, "prompts", columns, &each, 10_000).await;
    let one_more = store.create_prompt(prompt("other")).await;
    is_refused(&place, one_more, EntityKind::Prompt, "prompts", 10_000).await;
}

fn dataset(name: &str) -> NewDataset {
    NewDataset {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        description: None,
        kind: DatasetKind::Evaluation,
        tags: vec![],
        created_by: None,
    }
}

fn version(dataset: Uuid) -> NewVersion {
    NewVersion {
        id: Uuid::now_v7(),
        dataset,
        description: None,
        file_uri: "file".to_owned(),
        file_format: FileFormat::Jsonl,
        file_bytes: 1,
        file_hash: "h".to_owned(),
        reading: json!({}),
        created_by: None,
        quota: None,
    }
}

fn agreed(case: Uuid) -> NewGroundTruth {
    NewGroundTruth {
        id: Uuid::now_v7(),
        case,
        value: json!({"answer": "a"}),
        source: GroundTruthSource::Expert,
        confidence: None,
        created_by: None,
    }
}

async fn there_are_so_many_data_sets_versions_and_agreed_answers(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let first = store.create_dataset(dataset("first")).await.unwrap();
    let looked_at = store.add_version(version(first.id)).await.unwrap().id;
    let case = |key: &str, row| NewCase {
        row,
        key: key.to_owned(),
        input: json!("a?"),
        expected_output: None,
        metadata: Map::new(),
    };
    store.add_cases(looked_at, &[case("a", 0), case("b", 1)]).await.unwrap();
    let cases = store.cases_from(looked_at, 0, 2).await.unwrap();

    store.add_ground_truth(looked_at, agreed(cases[0].id)).await.unwrap();
    let columns =
        "id, organization_id, version_id, test_case_id, revision, value, source, created_at";
    let each = [("id", "<id>"), ("revision", "revision + n")];
    fill(&place, "ground_truths", columns, &each, 1_000).await;
    place.execute("UPDATE dataset_versions SET ground_truth_revision = 1000").await.unwrap();
    let one_more = store.add_ground_truth(looked_at, agreed(cases[0].id)).await;
    is_refused(&place, one_more, EntityKind::GroundTruth, "ground_truths", 1_000).await;
    store.add_ground_truth(looked_at, agreed(cases[1].id)).await.expect("each case has its own");

    let columns = "id, organization_id, dataset_id, version_number, status, file_uri, file_format, file_bytes, \
        file_hash, reading, validation_status, error_count, ground_truth_revision, revision, created_at, updated_at";
    let each = [("id", "<id>"), ("version_number", "version_number + n")];
    fill(&place, "dataset_versions", columns, &each, 100_000).await;
    let one_more = store.add_version(version(first.id)).await;
    is_refused(&place, one_more, EntityKind::DatasetVersion, "dataset_versions", 100_000).await;

    let columns = "id, organization_id, name, kind, tags, revision, created_at, updated_at";
    let each = [("id", "<id>"), ("name", "name || n")];
    fill(&place, "datasets", columns, &each, 100_000).await;
    let one_more = store.create_dataset(dataset("other")).await;
    is_refused(&place, one_more, EntityKind::Dataset, "datasets", 100_000).await;
}

async fn there_are_so_many_pass_marks_and_baselines(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let criterion = Criterion {
        name: "accuracy".to_owned(),
        task_introduction: "You judge answers.".to_owned(),
        evaluation_criteria: "Is it right?".to_owned(),
        scale: Scale::FIVE,
        levels: vec![],
        needs_reference: false,
        needs_context: false,
    };
    store.add_criterion(&criterion).await.unwrap();
    store.set_threshold("accuracy", 0.5, None).await.unwrap();
    let columns = "id, organization_id, criterion, criterion_revision, score, created_at";
    fill(&place, "thresholds", columns, &[("id", "<id>")], 100_000).await;
    let one_more = store.set_threshold("accuracy", 0.6, None).await;
    is_refused(&place, one_more, EntityKind::Threshold, "thresholds", 100_000).await;

    let run = new_run(&store).await;
    store.set_baseline("main", run).await.unwrap();
    let columns = "organization_id, name, run_id, set_at";
    fill(&place, "baselines", columns, &[("name", "name || n")], 10_000).await;
    let one_more = store.set_baseline("other", run).await;
    is_refused(&place, one_more, EntityKind::Baseline, "baselines", 10_000).await;
    store.set_baseline("main", run).await.expect("one that is there is moved");
}

async fn what_one_organization_has_takes_no_room_of_another(place: Place) {
    let whole = place.open().await;
    let (name, slug) = ("Other".to_owned(), "other".to_owned());
    let new = NewOrganization { name, slug, plan: Plan::Free };
    let other = whole.scoped(whole.create_organization(new).await.unwrap().id);
    let store = whole.scoped(DEFAULT_ORGANIZATION);
    store.keep_provider_key(provider_key(None)).await.unwrap();
    let columns = "organization_id, provider, base_url, sealed, last_four, created_at";
    let each = [("base_url", "'https://models.example/' || n")];
    fill(&place, "provider_keys", columns, &each, 1_000).await;
    other.keep_provider_key(provider_key(None)).await.unwrap();
    assert_eq!(other.provider_keys().await.unwrap().len(), 1);
}

async fn keys_that_open_nothing_give_way_to_new_ones(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let dead = store.add_api_key(api_key("dead")).await.unwrap().id;
    store.revoke_api_key(dead).await.unwrap();
    let open = store.add_api_key(api_key("open")).await.unwrap().id;
    let columns = "id, organization_id, name, prefix, hash, role, created_at";
    let select = "SELECT * FROM api_keys WHERE revoked_at IS NULL";
    let each = [("id", "<id>"), ("hash", "hash || n")];
    fill_from(&place, "api_keys", &format!("({select}) AS open"), columns, &each, 99_998).await;
    assert_eq!(place.count("api_keys").await, 100_000);
    let next = store.add_api_key(api_key("next")).await.unwrap().id;
    assert!(store.api_key(dead).await.is_err(), "it gave way");
    assert!(store.api_key(open).await.is_ok());
    let one_more = store.add_api_key(api_key("one more")).await;
    is_refused(&place, one_more, EntityKind::ApiKey, "api_keys", 100_000).await;
    store.revoke_api_key(next).await.unwrap();
    store.add_api_key(api_key("one more")).await.expect("there is room for another");
}

async fn there_are_so_many_scorers_added_to_a_run(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let (first, other) = (new_run(&store).await, new_run(&store).await);
    let entry = || vec!["{}".to_owned()];
    store.add_scorers(first, &entry(), &[]).await.unwrap();
    let columns = "run_id, position, organization_id, config, added_at";
    fill(&place, "run_scorers", columns, &[("position", "position + n")], 1_000).await;
    let lane = LaneProgress {
        model_index: 0,
        watermark: 0,
        answered: 1,
        failed: 0,
        spent: NanoDollars(0),
    };
    let one_more = store.add_scorers(first, &entry(), &[lane]).await;
    is_refused(&place, one_more, EntityKind::AddedScorer, "run_scorers", 1_000).await;
    assert!(store.lane_progress(first).await.unwrap().is_empty(), "its lanes stay as they were");
    store.add_scorers(other, &entry(), &[lane]).await.expect("each run has its own");
    assert_eq!(store.lane_progress(other).await.unwrap(), [lane]);
}

async fn many_at_once_are_no_more_than_one_after_the_other(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    store.add_user(user("a@example.com")).await.unwrap();
    let columns = "id, organization_id, email, name, role, created_at, updated_at";
    let each = [("id", "<id>"), ("email", "email || n")];
    fill(&place, "users", columns, &each, 9_998).await;
    let emails: Vec<String> = (0..8).map(|number| format!("{number}@example.com")).collect();
    let adding = emails.iter().map(|email| store.add_user(user(email)));
    let added = futures::future::join_all(adding).await;
    assert_eq!(added.iter().filter(|added| added.is_ok()).count(), 2, "{added:?}");
    assert_eq!(place.count("users").await, 10_000);

    place.execute("DELETE FROM users WHERE email < 'a'").await.unwrap();
    assert_eq!(place.count("users").await, 9_998);
    let mut invited = Vec::new();
    for email in &emails {
        invited.push(store.invite(invitation(email), PACE).await.unwrap().unwrap().id);
    }
    let password = || Some(PasswordHash::new("hash".to_owned()));
    let accepting =
        invited.iter().map(|id| store.accept_invitation(*id, "Ann".to_owned(), password()));
    let accepted = futures::future::join_all(accepting).await;
    assert_eq!(accepted.iter().filter(|accepted| accepted.is_ok()).count(), 2, "{accepted:?}");
    assert_eq!(place.count("users").await, 10_000);
}

async fn new_run(store: &ScopedStore) -> RunId {
    let new = NewRun {
        id: RunId::generate(),
        name: "test".to_owned(),
        kind: RunKind::Batch,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 1,
        version: "0".to_owned(),
        order: RunOrder::default(),
    };
    store.create_run(new).await.unwrap().id
}
