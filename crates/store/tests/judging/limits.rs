//! What is only ever added has a number and a length, so that no organization fills the database with it.

use crate::backend::{Place, on_every_backend};
use crate::fixture::{Fixture, criterion, fixture, new_judge};
use fullbench_store::{EntityKind, NewModel, StoreError};
use fullbench_types::ErrorCode;
use serde_json::json;
use uuid::Uuid;

on_every_backend!(there_are_so_many_criteria_judges_and_models, what_nobody_would_read_is_refused,);

/// As many as an organization may have of each.
const MOST: u64 = 10_000;

async fn there_are_so_many_criteria_judges_and_models(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    store.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    multiply(&fixture, "criteria", "name, revision + n, task_introduction, evaluation_criteria, min_score, max_score, levels, needs_reference, needs_context, source, created_at, updated_at").await;
    multiply(&fixture, "models", "provider, name || n, config, created_at").await;
    multiply(&fixture, "judges", "name || n, revision, criterion, criterion_revision, method, provider, model, parameters, description, predecessor_id, created_at").await;

    let refused = store.add_criterion(&criterion("clarity")).await.unwrap_err();
    assert_many(&refused, EntityKind::Criterion);
    let mut changed = criterion("accuracy");
    changed.needs_context = true;
    assert_many(&store.revise_criterion(&changed).await.unwrap_err(), EntityKind::Criterion);
    let refused = store.add_judge(&new_judge("mild", "accuracy")).await.unwrap_err();
    assert_many(&refused, EntityKind::Judge);
    assert_many(&store.create_model(model("gpt-5")).await.unwrap_err(), EntityKind::Model);
    for table in ["criteria", "judges", "models"] {
        assert_eq!(fixture.place.count(table).await, MOST as i64, "{table}: none was left behind");
    }
    let same = store.add_judge(&new_judge("strict", "accuracy")).await.unwrap_err();
    assert!(matches!(same, StoreError::NameTaken { .. }), "{same}");
    assert_eq!(store.judge("strict").await.unwrap().revision, 1, "what is there can be used");
}

async fn what_nobody_would_read_is_refused(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    let text = "a".repeat(256 * 1024);
    let mut endless = criterion("accuracy");
    endless.evaluation_criteria = text.clone();
    assert_long(&store.add_criterion(&endless).await.unwrap_err(), EntityKind::Criterion);
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    let mut judge = new_judge("strict", "accuracy");
    judge.parameters = json!({ "system": text });
    assert_long(&store.add_judge(&judge).await.unwrap_err(), EntityKind::Judge);
    let refused = store.create_model(NewModel { config: json!({"x": text}), ..model("gpt-5") });
    assert_long(&refused.await.unwrap_err(), EntityKind::Model);
    assert_eq!(fixture.place.count("judges").await, 0);
    assert_eq!(fixture.place.count("models").await, 0, "that of the refused judge neither");
}

fn model(name: &str) -> NewModel {
    NewModel {
        id: Uuid::now_v7(),
        provider: "openai".to_owned(),
        name: name.to_owned(),
        config: json!({}),
    }
}

fn assert_many(error: &StoreError, kind: EntityKind) {
    let is_told = matches!(error, StoreError::TooMany { kind: told, limit: MOST } if *told == kind);
    assert!(is_told, "{error}");
}

fn assert_long(error: &StoreError, kind: EntityKind) {
    let is_told = matches!(error, StoreError::TooLong { kind: told, .. } if *told == kind);
    assert!(is_told, "{error}");
    assert_eq!(error.code(), ErrorCode::InvalidInput);
}

/// Fills a table with copies of its one row, past the store: `n` is their number.
async fn multiply(fixture: &Fixture, table: &str, columns: &str) {
    let id = if fixture.place.is_postgres() { "gen_random_uuid()" } else { "randomblob(16)" };
    let sql = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) \
         INSERT INTO {table} SELECT {id}, organization_id, {columns} FROM {table}, numbers",
        MOST - 1
    );
    fixture.place.execute(&sql).await.unwrap();
}
