//! Ids and names in bodies and queries that belong to another organization: they are the ids of nothing.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::bodies::Body;
use crate::common::with_json;
use crate::made::{Ids, nowhere};
use crate::operations::{operation, operations};
use crate::seen::{answered, assert_same, bare, everything};
use crate::world::World;

on_every_backend!(
    what_is_named_in_a_body_is_ones_own_or_nothing,
    what_is_named_in_a_query_is_ones_own_or_nothing,
);

/// A field of a body that names something: the endpoint, the field, and what it names.
type Reference = (&'static str, &'static str, &'static str);

const REFERENCES: [Reference; 20] = [
    ("create_evaluation", "/metrics/0", "judge_name"),
    ("create_evaluation", "/metrics/0", "criterion_name"),
    ("create_batch_evaluation", "/dataset_version_id", "version_id"),
    ("create_batch_evaluation", "/baseline", "baseline_name"),
    ("create_batch_evaluation", "/metrics/0", "judge_name"),
    ("create_batch_evaluation", "/metrics/0", "criterion_name"),
    ("create_run", "/dataset_version_id", "version_id"),
    ("create_run", "/evaluation/scorers/0", "judge_name"),
    ("set_baseline", "/run_id", "run_id"),
    ("create_execution", "/case/dataset_version_id", "version_id"),
    ("create_execution", "/case/case_id", "case_id"),
    ("score_execution", "/metrics/0", "judge_name"),
    ("score_execution", "/metrics/0", "criterion_name"),
    ("create_judge", "/criterion", "criterion_name"),
    ("create_judge", "/model", "model_id"),
    ("create_judge", "/successor_of", "judge_id"),
    ("create_judgement", "/judge_id", "judge_id"),
    ("create_judgement", "/judge", "judge_name"),
    ("create_judgement", "/document_id", "document_id"),
    ("erase_organization", "/slug", "slug"),
];

/// Ids that are kept as they are sent, and name nothing here.
const LABELS: [&str; 2] =
    ["create_batch_evaluation /experiment_id", "create_batch_evaluation /variant_id"];

async fn what_is_named_in_a_body_is_ones_own_or_nothing(place: Place) {
    let world = World::start(place).await;
    let (home, own) = (&world.home.ids, &world.elsewhere.ids);
    let nowhere = nowhere(home);
    let before = (everything(&world.home).await, everything(&world.elsewhere).await);
    for reference in REFERENCES {
        let said = format!("{reference:?}");
        let (status, foreign) = sent(&world, reference, home).await;
        assert!(matches!(status, 404 | 422), "{said}: {status} {foreign}");
        let shown = foreign.replace(home[reference.2].as_str(), "…");
        world.home.assert_hidden(&shown, "", &said);
        let (missing_status, missing) = sent(&world, reference, &nowhere).await;
        assert_eq!(status, missing_status, "{said}: {missing}");
        assert_eq!(bare(&foreign, home), bare(&missing, &nowhere), "{said}");
    }
    assert_same(&world.elsewhere, &before.1).await;
    assert_same(&world.home, &before.0).await;
    // What is one's own is taken, so that it was refused for nothing else; the organization is erased at the end.
    for reference in REFERENCES {
        if reference.0 == "score_execution" {
            world.elsewhere.until_scored().await;
        }
        let (status, text) = sent(&world, reference, own).await;
        assert!((200..300).contains(&status), "{reference:?}: {status} {text}");
    }
}

/// What somebody of the other organization is answered whose request is right but for what one field names.
async fn sent(world: &World, reference: Reference, named: &Ids) -> (u16, String) {
    let (id, field, name) = reference;
    let own = &world.elsewhere.ids;
    let operation = operation(id);
    let Some(Body::Json(mut body)) = operation.body(own, own) else {
        panic!("{operation} takes no JSON")
    };
    let value = json!(named[name]);
    if name == "criterion_name" && field == "/metrics/0" {
        // A criterion by itself says not who judges.
        let model = json!({"provider": "openai", "model": "sim-80", "base_url": own["base_url"]});
        match id {
            "score_execution" => body["evaluator_model"] = model,
            _ => body["config"]["evaluator_model"] = model,
        }
    }
    match field {
        "/judge" => {
            body.as_object_mut().unwrap().remove("judge_id");
            body["judge"] = value;
        }
        "/baseline" => body["baseline"] = value,
        "/evaluation/scorers/0" => {
            *body.pointer_mut(field).unwrap() = json!({"type": "judge", "judge": value});
        }
        "/successor_of" => {
            body["name"] = json!(own["judge_name"]);
            body["parameters"] = json!({"temperature": 0.5});
            body["successor_of"] = value;
        }
        field => *body.pointer_mut(field).unwrap() = value,
    }
    let owner = &world.elsewhere.owner(false).caller;
    answered(with_json(owner.request(&operation.method, &operation.path(own)), &body)).await
}

/// Every id that a body may have is in the table above.
#[test]
fn every_id_in_a_body_is_tried() {
    let schemas = fullbench_server::openapi()["components"]["schemas"].take();
    for operation in operations() {
        let Some((_, schema)) = &operation.takes else { continue };
        for path in ids_in(schema, &schemas, String::new()) {
            let named = format!("{} {path}", operation.id);
            let is_known = REFERENCES.iter().any(|(id, field, _)| format!("{id} {field}") == named);
            let is_label = LABELS.contains(&named.as_str());
            assert!(is_known || is_label, "add `{named}` to REFERENCES, with what it names");
        }
    }
}

/// Paths of the fields of a schema that are ids.
fn ids_in(schema: &Value, schemas: &Value, path: String) -> Vec<String> {
    if path.matches('/').count() > 4 {
        return Vec::new();
    }
    if schema["format"] == "uuid" {
        return vec![path];
    }
    let referred = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next());
    if let Some(name) = referred {
        return ids_in(&schemas[name], schemas, path);
    }
    let mut found = Vec::new();
    for kind in schema["anyOf"].as_array().into_iter().flatten() {
        found.extend(ids_in(kind, schemas, path.clone()));
    }
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        found.extend(ids_in(field, schemas, format!("{path}/{name}")));
    }
    if schema["items"].is_object() {
        found.extend(ids_in(&schema["items"], schemas, format!("{path}/0")));
    }
    found
}

/// Parameters of queries that name something: the endpoint, the parameter, and what it names.
const QUERIES: [Reference; 9] = [
    ("compare_batch", "with", "run_id"),
    ("compare_batch", "with", "baseline_name"),
    ("list_evaluations", "dataset_version_id", "version_id"),
    ("list_webhook_deliveries", "webhook_id", "webhook_id"),
    ("list_judgements", "judge_id", "judge_id"),
    ("list_judgements", "judge", "judge_name"),
    ("list_judgements", "document_id", "document_id"),
    ("list_audit_entries", "target", "dataset_id"),
    ("list_audit_entries", "target", "webhook_id"),
];

async fn what_is_named_in_a_query_is_ones_own_or_nothing(place: Place) {
    let world = World::start(place).await;
    let (home, own) = (&world.home.ids, &world.elsewhere.ids);
    let nowhere = nowhere(home);
    let owner = &world.elsewhere.owner(false).caller;
    for reference in QUERIES {
        let (id, parameter, name) = reference;
        let path = operation(id).path(own);
        let path = path.split('?').next().unwrap();
        let asked = async |ids: &Ids| {
            answered(owner.request("GET", &format!("{path}?{parameter}={}", ids[name]))).await
        };
        let (status, foreign) = asked(home).await;
        let (missing_status, missing) = asked(&nowhere).await;
        assert_eq!(status, missing_status, "{reference:?}: {foreign}");
        assert_eq!(bare(&foreign, home), bare(&missing, &nowhere), "{reference:?}");
        world.home.assert_hidden(&foreign, &home[name], &format!("{reference:?}"));
        let (status, found) = asked(own).await;
        assert_eq!(status, 200, "{reference:?}: {found}");
        assert_ne!(
            bare(&found, own),
            bare(&missing, &nowhere),
            "one's own is found: {reference:?}"
        );
    }
}
