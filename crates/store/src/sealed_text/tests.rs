#![allow(clippy::unwrap_used)]

use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::{Value, json};

use super::catalogue::{
    CONTENT_MANIFEST, DOCUMENT_INPUT, DOCUMENT_OUTPUT, RUN_NOTES, RUN_SPEC, SCORE_JUDGEMENT,
};
use super::*;
use crate::Store;

async fn scoped() -> (tempfile::TempDir, ScopedStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).await.unwrap();
    (folder, store.scoped(DEFAULT_ORGANIZATION))
}

async fn sealing(store: &ScopedStore) -> TextKeeper {
    TextKeeper::sealing(store.sealer(Purpose::Text).await.unwrap())
}

#[tokio::test]
async fn a_plain_text_is_never_taken_for_a_sealed_one() {
    let (_folder, store) = scoped().await;
    let sealing = sealing(&store).await;
    let sealed = sealing.kept(&DOCUMENT_INPUT, &[&1], "hello".into()).unwrap();
    assert!(sealed.starts_with(SEALED) && !sealed.contains("hello"));
    let plain = TextKeeper::default();
    for text in [sealed.as_str(), "sealed:", "sealed:0:", "sealed:1:", "sealed:0:sealed:1:x", ""] {
        for keeper in [&plain, &sealing] {
            let kept = keeper.kept(&DOCUMENT_INPUT, &[&1], text.to_owned()).unwrap();
            let opener = store.opener([kept.as_str()]).await.unwrap();
            let opened = opener.open(&DOCUMENT_INPUT, &[&1], kept).unwrap();
            assert_eq!(opened.whole().unwrap(), text);
            let json = json!([text, {"a": text}]).to_string();
            let kept = keeper.kept(&RUN_NOTES, &[&1], json.clone()).unwrap();
            let opener = store.opener([kept.as_str()]).await.unwrap();
            let opened = opener.open(&RUN_NOTES, &[&1], kept).unwrap();
            assert_eq!(opened.whole().unwrap(), json);
        }
    }
    assert_eq!(plain.kept(&DOCUMENT_INPUT, &[&1], "as it is".into()).unwrap(), "as it is");
}

#[tokio::test]
async fn a_text_that_was_moved_or_changed_does_not_open() {
    let (_folder, store) = scoped().await;
    let keeper = sealing(&store).await;
    let sealed = keeper.kept(&DOCUMENT_INPUT, &[&1, &"a"], "hello".into()).unwrap();
    let opener = store.opener([sealed.as_str()]).await.unwrap();
    let opened = |column, key: RowKey<'_>, text: &str| opener.open(column, key, text.to_owned());
    assert_eq!(opened(&DOCUMENT_INPUT, &[&1, &"a"], &sealed).unwrap().text, "hello");
    assert!(opened(&DOCUMENT_INPUT, &[&2, &"a"], &sealed).is_err(), "another row");
    assert!(opened(&DOCUMENT_INPUT, &[&1], &sealed).is_err(), "another row");
    assert!(opened(&DOCUMENT_INPUT, &[&"1a"], &sealed).is_err(), "another row");
    assert!(opened(&DOCUMENT_OUTPUT, &[&1, &"a"], &sealed).is_err(), "another column");
    for place in SEALED.len()..sealed.len() {
        let mut changed = sealed.clone();
        let other = if &sealed[place..=place] == "A" { "B" } else { "A" };
        changed.replace_range(place..=place, other);
        assert!(opened(&DOCUMENT_INPUT, &[&1, &"a"], &changed).is_err(), "letter {place}");
        assert!(opened(&DOCUMENT_INPUT, &[&1, &"a"], &sealed[..place]).is_err(), "{place} letters");
    }
    let notes = json!(["one", "two"]).to_string();
    let kept = keeper.kept(&RUN_NOTES, &[&1], notes).unwrap();
    let mut swapped: Vec<Value> = serde_json::from_str(&kept).unwrap();
    swapped.swap(0, 1);
    assert!(opened(&RUN_NOTES, &[&1], &json!(swapped).to_string()).is_err(), "another place");
}

#[tokio::test]
async fn parts_are_sealed_and_what_is_around_them_is_plain() {
    let (_folder, store) = scoped().await;
    let keeper = sealing(&store).await;
    for (column, json, plain) in [
        (
            &RUN_SPEC,
            json!({"name": "plain", "description": "secret", "scorers": ["plain"], "prompt":
                {"messages": [{"name": "plain", "text": "secret {{ input }}", "hash": "plain"}]}}),
            4,
        ),
        (&RUN_NOTES, json!(["stopped at the plain budget", "stopped by secret", "secret"]), 1),
        (
            &SCORE_JUDGEMENT,
            json!({"criterion": "plain", "prompt": "secret", "threshold": 0.1, "replies":
                [{"text": "secret", "part": "secret", "problem": "secret", "input_tokens": 7}]}),
            1,
        ),
        (
            &CONTENT_MANIFEST,
            json!({"blocks": [], "inline": [{"key": "plain", "fields": {"secret": 1}}]}),
            1,
        ),
    ] {
        let kept = keeper.kept(column, &[&1], json.to_string()).unwrap();
        assert!(!kept.contains("secret"), "{kept}");
        assert_eq!(kept.matches("plain").count(), plain, "{kept}");
        let opener = store.opener([kept.as_str()]).await.unwrap();
        let opened = opener.open(column, &[&1], kept.clone()).unwrap();
        assert_eq!((opened.text, opened.is_deleted), (json.to_string(), false));
        assert_eq!(keeper.resealed(column, &[&1], &kept).unwrap(), None);
        let resealed = keeper.resealed(column, &[&1], &json.to_string()).unwrap().unwrap();
        assert!(!resealed.contains("secret"), "{resealed}");
        let opened = opener.open(column, &[&1], resealed).unwrap();
        assert_eq!(opened.text, json.to_string());
    }
}

#[tokio::test]
async fn what_a_deleted_key_sealed_is_gone_and_the_rest_can_be_read() {
    let (_folder, store) = scoped().await;
    let keeper = sealing(&store).await;
    let judgement =
        json!({"criterion": "tone", "prompt": "p", "replies": [{"text": "t", "problem": "x"}]});
    let text = keeper.kept(&DOCUMENT_INPUT, &[&1], "hello".into()).unwrap();
    let judgement = keeper.kept(&SCORE_JUDGEMENT, &[&1], judgement.to_string()).unwrap();
    let notes = json!(["stopped at the budget of $1", "gone"]).to_string();
    let notes = keeper.kept(&RUN_NOTES, &[&1], notes).unwrap();
    store.delete_keys().await.unwrap();
    let opener = store.opener([text.as_str(), judgement.as_str(), notes.as_str()]).await.unwrap();
    let opened = opener.open(&DOCUMENT_INPUT, &[&1], text).unwrap();
    assert_eq!(opened, Opened { text: String::new(), is_deleted: true });
    assert!(matches!(opened.whole(), Err(StoreError::TextsDeleted)));
    let opened = opener.open(&SCORE_JUDGEMENT, &[&1], judgement).unwrap();
    let rest =
        json!({"criterion": "tone", "prompt": "", "replies": [{"text": "", "problem": null}]});
    assert_eq!(opened, Opened { text: rest.to_string(), is_deleted: true });
    let opened = opener.open(&RUN_NOTES, &[&1], notes).unwrap();
    let rest = json!(["stopped at the budget of $1"]);
    assert_eq!(opened, Opened { text: rest.to_string(), is_deleted: true });
}
