//! A store with something in every table, odd values among it.

use std::path::PathBuf;

use bytes::Bytes;
use fullbench_store::{
    BackupContents, DatasetVersion, DatasetWriter, FieldMapping, ScopedStore, Store, StoreError,
};
use fullbench_types::{ContentHash, DEFAULT_ORGANIZATION, OrganizationId, RunId};
use serde_json::json;
use uuid::Uuid;

use crate::backend::Place;

/// A second organization.
pub(crate) const OTHER: OrganizationId = OrganizationId(Uuid::from_u128(7));

/// Letters, signs and escapes that something between could stumble over.
pub(crate) const ODD_TEXT: &str = "a\\n\"b\" ' \t\r\u{1} \u{2028} größe 🙂 \u{fffd} \u{10ffff}";

/// Rows of every table. `<1>` is an id, `<RUN1>` and `<RUN2>` are those of runs, `<x00ff80>` bytes, `<ODD>` and `<LONG>` texts.
const ROWS: &str = "
INSERT INTO organizations (id, name, slug, plan, settings, billing_email, last_event, created_at, updated_at)
    VALUES (<7>, <ODD>, 'other', 'FREE', '{}', NULL, 2, 1, -1);
INSERT INTO users (id, organization_id, email, name, role, created_at, updated_at, totp_secret)
    VALUES (<8>, <7>, '', <ODD>, 'owner', 1, 2, <x00ff80>);
INSERT INTO api_keys (id, organization_id, user_id, name, prefix, hash, created_at, last_used_at, revoked_at)
    VALUES (<9>, <7>, <8>, 'key', 'fb_', 'abc', 1, NULL, 9223372036854775807), (<10>, <0>, NULL, 'key', 'fb_', 'abd', 1, 2, NULL);
INSERT INTO sessions (id, organization_id, user_id, token_hash, from_address, user_agent, created_at, last_seen_at, expires_at)
    VALUES (<13>, <7>, <8>, 'abe', NULL, <ODD>, 1, 2, 3);
INSERT INTO invitations (id, organization_id, email, role, token_hash, created_by, created_at, expires_at, accepted_at, revoked_at)
    VALUES (<14>, <7>, 'a@example.com', 'viewer', 'abf', NULL, 1, 2, NULL, NULL);
INSERT INTO password_resets (id, organization_id, user_id, token_hash, created_at, expires_at, used_at)
    VALUES (<15>, <7>, <8>, 'abg', 1, 2, NULL);
INSERT INTO recovery_codes (id, organization_id, user_id, code_hash, created_at, used_at)
    VALUES (<16>, <7>, <8>, 'abh', 1, NULL);
INSERT INTO sign_in_failures (subject, failures, last_at, locked_until) VALUES ('s', 2147483647, 1, NULL);
INSERT INTO spending (organization_id, month, spent_nanodollars) VALUES (<7>, '2026-01', 9223372036854775807);
INSERT INTO audit_entries (organization_id, number, at, actor, credential, from_address, request_id, action, target, phase, status,
    before, after, previous_hash, hash)
    VALUES (<7>, 1, 1, <ODD>, NULL, NULL, NULL, 'create_dataset', NULL, 'done', 201, NULL, <ODD>, <x>, <x00ff80>);
INSERT INTO audit_heads (organization_id, number, hash, mac) VALUES (<7>, 1, <x00ff80>, <x>);
INSERT INTO events (organization_id, number, run_id, kind, data, created_at)
    VALUES (<7>, 1, NULL, 'run', '{}', 1), (<7>, 2, <RUN1>, 'run', <ODD>, 1);
INSERT INTO idempotency_keys (organization_id, key, fingerprint, resource_id, status, body, created_at)
    VALUES (<7>, 'k', 'f', <11>, 201, <ODD>, 1), (<7>, 'K', 'f', <12>, NULL, NULL, 1);
INSERT INTO datasets (id, organization_id, name, description, kind, tags, revision, created_at, updated_at, created_by)
    VALUES (<20>, <7>, 'questions', NULL, 'EVALUATION', '[]', 2147483647, 1, 1, 'ann');
INSERT INTO dataset_versions (id, organization_id, dataset_id, version_number, status, description, file_uri, file_format,
    file_bytes, file_hash, reading, validation_status, error_count, ground_truth_revision, revision, created_at, updated_at)
    VALUES (<21>, <7>, <20>, 1, 'PUBLISHED', NULL, '<URI>', 'JSONL', 5, 'h', '{}', 'VALID', 0, 1, 1, 1, 1);
INSERT INTO test_cases (id, organization_id, version_id, row_index, case_key, input, expected_output, metadata, created_at)
    VALUES (<22>, <7>, <21>, 0, 'a', <ODD>, NULL, '{}', 1);
INSERT INTO ground_truths (id, organization_id, version_id, test_case_id, revision, value, source, confidence, created_at)
    VALUES (<23>, <7>, <21>, <22>, 1, '{}', 'EXPERT', 0.1, 1);
INSERT INTO criteria (id, organization_id, name, revision, task_introduction, evaluation_criteria, min_score, max_score, levels,
    needs_reference, needs_context, source, created_at, updated_at)
    VALUES (<30>, <7>, 'clarity', 1, 't', 'c', -2147483648, 5, '[]', TRUE, FALSE, 'user', 1, 1);
INSERT INTO thresholds (id, organization_id, criterion, criterion_revision, score, note, created_at)
    VALUES (<31>, <7>, 'clarity', 1, 0.30000000000000004, NULL, 1);
INSERT INTO methods (id, organization_id, name, created_at) VALUES (<32>, <7>, 'g_eval', 1);
INSERT INTO models (id, organization_id, provider, name, config, created_at) VALUES (<33>, <7>, 'openai', 'm', '{}', 1);
INSERT INTO judges (id, organization_id, name, revision, criterion, criterion_revision, method, provider, model, parameters,
    description, predecessor_id, created_at)
    VALUES (<35>, <7>, 'j', 1, 'clarity', 1, 'g_eval', 'openai', 'm', '{}', NULL, NULL, 1),
           (<34>, <7>, 'j', 2, 'clarity', 1, 'g_eval', 'openai', 'm', '{}', NULL, <35>, 1);
INSERT INTO documents (id, organization_id, input, actual_output, expected_output, metadata, created_by, created_at)
    VALUES (<36>, <7>, NULL, <ODD>, NULL, '{}', NULL, 1);
INSERT INTO prompts (id, organization_id, name, description, revision, created_at, updated_at, created_by)
    VALUES (<40>, <7>, 'p', NULL, 1, 1, 1, NULL);
INSERT INTO prompt_versions (id, organization_id, prompt_id, version_number, template, messages, content_hash, created_at)
    VALUES (<41>, <7>, <40>, 1, <ODD>, NULL, 'h', 1);
INSERT INTO organization_keys (organization_id, number, wrapped, master_id, created_at, deleted_at)
    VALUES (<7>, 1, NULL, NULL, 1, 2), (<7>, 2, <x00ff80>, '0123456789abcdef', 1, NULL);
INSERT INTO provider_keys (organization_id, provider, base_url, sealed, last_four, created_at, last_used_at, created_by)
    VALUES (<7>, 'openai', '', <x00ff80>, 'abcd', 1, NULL, NULL), (<7>, 'openai', 'https://x', <x>, 'efgh', 1, 2, 'ann');
INSERT INTO webhooks (id, organization_id, url, description, events, enabled, disabled_because, secret_number, secret_changed_at,
    revision, created_at, updated_at, created_by)
    VALUES (<42>, <7>, 'https://example.com/', <ODD>, '[]', FALSE, 'gone', 2, 1, 1, 1, 1, NULL);
INSERT INTO webhook_deliveries (id, organization_id, webhook_id, run_id, event_number, event_kind, url, status, attempts,
    attempts_before, due_at, created_at, delivered_at)
    VALUES (<43>, <7>, <42>, NULL, 1, 'webhook.test', 'https://example.com/', 'failed', 1, 0, 1, 1, NULL);
INSERT INTO webhook_attempts (delivery_id, number, organization_id, started_at, milliseconds, response_status, problem)
    VALUES (<43>, 1, <7>, 1, 2, 500, <ODD>);
INSERT INTO alert_rules (id, organization_id, name, kind, threshold, window_seconds, minimum_count, filter, repeat_seconds,
    to_webhooks, emails, slack_sealed, slack_host, slack_last_four, enabled, state, since, last_value, last_count, last_subject,
    evaluated_at, notified_at, due_at, revision, created_at, updated_at, created_by)
    VALUES (<44>, <7>, <ODD>, 'error_rate', 0.1, 3600, 20, '{}', NULL, TRUE, '[]', <x00ff80>, 'hooks.slack.com', 'abcd', TRUE,
    'firing', 1, 0.30000000000000004, 9223372036854775807, NULL, 1, 1, 1, 1, 1, 1, NULL);
INSERT INTO alert_notifications (id, organization_id, rule_id, news, channel, recipient, message, status, attempts, due_at, problem,
    event_number, created_at, delivered_at)
    VALUES (<45>, <7>, <44>, 'firing', 'email', 'a@example.com', '{}', 'failed', 1, 1, <ODD>, NULL, 1, NULL);
INSERT INTO runs (id, organization_id, name, kind, state, spec, spec_hash, dataset_hash, notes, planned_units, version,
    created_at, updated_at, dataset_version_id, judge_id, document_id)
    VALUES (<RUN1>, <7>, 'first', 'batch', 'completed', '{}', '<DATASET>', '<DATASET>', '[]', 2, '0', 1, 1, <21>, <34>, <36>),
           (<RUN2>, <0>, 'second', 'batch', 'running', '{}', '<DATASET>', '<DATASET>', '[]', 2, '0', 1, 1, NULL, NULL, NULL);
UPDATE runs SET baseline_run_id = <RUN2> WHERE id = <RUN1>;
INSERT INTO baselines (organization_id, name, run_id, set_at) VALUES (<7>, 'main', <RUN1>, 1);
INSERT INTO run_progress (run_id, model_index, organization_id, watermark, answered, failed, spent_nanodollars)
    VALUES (<RUN1>, 0, <7>, 2, 1, 1, 9223372036854775807);
INSERT INTO run_scorers (run_id, position, organization_id, config, added_at) VALUES (<RUN1>, 0, <7>, '\"bleu\"', 1);
INSERT INTO provider_batches (id, organization_id, run_id, provider, base_url, state, request_count, request_keys, created_at, updated_at)
    VALUES (<50>, <7>, <RUN1>, 'openai', 'http://x', 'sent', 0, <x>, 1, 1);
INSERT INTO generations (run_id, case_index, model_index, repetition, organization_id, case_key, status, text, attempts, cached, raw,
    cost_nanodollars, recorded_at)
    VALUES (<RUN1>, 0, 0, 0, <7>, 'a', 'answered', <LONG>, 1, TRUE, <ODD>, -9223372036854775807, 1),
           (<RUN1>, 10, 0, 0, <7>, 'b', 'timeout', '', 1, FALSE, NULL, NULL, 1),
           (<RUN2>, 2, 0, 0, <0>, 'c', 'answered', NULL, 1, FALSE, NULL, NULL, 1);
INSERT INTO scores (run_id, case_index, model_index, repetition, scorer, revision, organization_id, outcome, raw, value, confidence,
    cached, recorded_at, judge_id, judgement)
    VALUES (<RUN1>, 0, 0, 0, <60>, 0, <7>, 'scored', 0.1, 1e-300, 1.7976931348623157e308, FALSE, 1, <34>, NULL),
           (<RUN1>, 0, 0, 0, <60>, 1, <7>, 'scored', 5e-324, 0.3333333333333333, NULL, FALSE, 1, NULL, NULL),
           (<RUN2>, 2, 0, 0, <60>, 0, <0>, 'passed', 1.0, 0.0, -123456789.125, FALSE, 1, NULL, NULL);
INSERT INTO judged_outputs (organization_id, space, key, case_key, input, output, vector, score, full_cost_nanodollars, created_at)
    VALUES (<7>, 's', 'k', 'c', <ODD>, '', <x00ff80>, '{}', NULL, 1), (<7>, 's', 'l', 'c', 'i', 'o', <x>, '{}', 0, 1);
INSERT INTO evaluation_steps (organization_id, key, steps, created_at) VALUES (<7>, 'k', <ODD>, 1);
";

/// A place with something in every table, and the runs of the second and of the first organization.
pub(crate) async fn fill(place: &Place) -> (RunId, RunId) {
    let store = place.open().await;
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
    let dataset = dataset(&scoped).await;
    let key = format!("{}/{}/{}/data.jsonl", OTHER.0, Uuid::from_u128(20), Uuid::from_u128(21));
    let content = futures::stream::iter([Ok(Bytes::from_static(b"{}\n{}"))]);
    scoped.objects().await.unwrap().put_file(&key, content).await.unwrap();
    let runs = (RunId::generate(), RunId::generate());
    let rows = ROWS
        .replace("<URI>", &scoped.objects().await.unwrap().dataset_file_uri(&key))
        .replace("<DATASET>", &dataset.hash.to_string())
        .replace("<RUN1>", &id(place, runs.0.0))
        .replace("<RUN2>", &id(place, runs.1.0));
    place.execute(&literals(place, &rows)).await.unwrap();
    store.close().await.unwrap();
    runs
}

/// A frozen data set of several blocks.
async fn dataset(store: &ScopedStore) -> DatasetVersion {
    let mut writer = DatasetWriter::new(store.objects().await.unwrap());
    for index in 0..2000 {
        let fields = json!({"input": "x".repeat(600), "n": index});
        writer.push(&format!("k{index}"), fields.as_object().unwrap()).unwrap();
    }
    let version = writer.finish("test".to_owned(), vec![], FieldMapping::default()).unwrap();
    assert!(version.blocks.len() > 1);
    store.save_dataset(&version, &ContentHash::of(b"source")).await.unwrap();
    version
}

fn id(place: &Place, id: Uuid) -> String {
    if place.is_postgres() { format!("'{id}'") } else { format!("X'{}'", id.simple()) }
}

/// SQL with ids, bytes and texts as the backend writes them.
pub(crate) fn literals(place: &Place, sql: &str) -> String {
    let text = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let mut sql =
        sql.replace("<ODD>", &text(ODD_TEXT)).replace("<LONG>", &text(&"long 🙂 ".repeat(130_000)));
    for number in 0..100 {
        sql = sql.replace(&format!("<{number}>"), &id(place, Uuid::from_u128(number)));
    }
    for bytes in ["", "00ff80"] {
        let literal =
            if place.is_postgres() { format!("'\\x{bytes}'") } else { format!("X'{bytes}'") };
        sql = sql.replace(&format!("<x{bytes}>"), &literal);
    }
    sql
}

/// A backup of a place, in a folder of its own.
pub(crate) struct Backup {
    folder: tempfile::TempDir,
    pub(crate) contents: BackupContents,
}

impl Backup {
    pub(crate) async fn of(place: &Place) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backup.tar.zst");
        let contents = Store::back_up_at(place.home(), &place.location, &file, false).await;
        Self { folder, contents: contents.unwrap() }
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("backup.tar.zst")
    }

    pub(crate) async fn restore(&self, place: &Place) -> Result<BackupContents, StoreError> {
        let restored = self.restore_until(place, std::future::pending()).await?;
        Ok(restored.expect("nobody stopped it"))
    }

    pub(crate) async fn restore_until(
        &self,
        place: &Place,
        stopped: impl Future<Output = ()>,
    ) -> Result<Option<BackupContents>, StoreError> {
        Store::restore_at(place.home(), &place.location, &self.file(), stopped).await
    }

    /// The rows of a table.
    pub(crate) fn rows(&self, table: &str) -> u64 {
        self.contents.tables.iter().find(|found| found.name == table).unwrap().rows
    }
}

/// Empty places of every kind.
pub(crate) async fn empty_places() -> Vec<Place> {
    let mut places = vec![Place::sqlite()];
    places.extend(Place::postgres().await);
    places
}

/// All rows there are, without the organization that is always there.
pub(crate) async fn rows_at(place: &Place) -> u64 {
    let status = Store::status_at(place.home(), &place.location).await.unwrap();
    let rows = status.rows.iter().filter(|rows| rows.table != "organizations");
    rows.map(|rows| rows.rows).sum()
}
