//! A body that is right for every endpoint that takes one.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::caller::PASSWORD;
use crate::made::Ids;

/// What is sent.
pub(crate) enum Body {
    Json(Value),
    /// The fields of a form.
    Form(Vec<(&'static str, String)>),
}

/// A body that is right for an endpoint whose path names these, with references to one's own; none where it is not known.
pub(crate) fn body(operation: &str, named: &Ids, own: &Ids) -> Option<Body> {
    if operation == "upload_dataset_version" {
        let rows = "{\"input\": \"a?\", \"reference\": \"a\", \"output\": \"a\"}\n".to_owned();
        return Some(Body::Form(vec![("file", rows)]));
    }
    account(operation, own)
        .or_else(|| organization(operation, own))
        .or_else(|| evaluations(operation, own))
        .or_else(|| definitions(operation, named, own))
        .map(Body::Json)
}

/// The query that an endpoint does not do without.
pub(crate) fn query(operation: &str, named: &Ids) -> String {
    match operation {
        "diff_dataset_versions" => "?from=1&to=1".to_owned(),
        "list_criteria" => "?source=user".to_owned(),
        "compare_batch" => format!("?with={}", named["baseline_name"]),
        _ => String::new(),
    }
}

/// A name that nothing has.
fn fresh() -> String {
    format!("n{}", Uuid::now_v7().simple())
}

fn account(operation: &str, own: &Ids) -> Option<Value> {
    Some(match operation {
        "sign_in" => {
            json!({"email": own["email"], "password": PASSWORD, "organization": own["slug"]})
        }
        "forget_password" => json!({"email": own["email"], "organization": own["slug"]}),
        "reset_password" => json!({"token": fresh(), "password": PASSWORD}),
        "accept_invitation" => json!({"token": fresh(), "name": "Ann", "password": PASSWORD}),
        "change_account" => json!({"name": "Ann"}),
        "change_password" => json!({"old_password": PASSWORD, "password": PASSWORD}),
        "offer_second_factor" | "remove_second_factor" | "renew_recovery_codes" => {
            json!({"password": PASSWORD})
        }
        "confirm_second_factor" => json!({"totp_code": "000000"}),
        _ => return None,
    })
}

fn organization(operation: &str, own: &Ids) -> Option<Value> {
    Some(match operation {
        "change_organization" => json!({"name": "Ours"}),
        "erase_organization" => json!({"slug": own["slug"]}),
        "change_member" => json!({"role": "viewer"}),
        "invite" => json!({"email": format!("{}@example.com", fresh()), "role": "viewer"}),
        "create_api_key" => json!({"name": fresh()}),
        "renew_api_key" => json!({"grace_seconds": 60}),
        "create_webhook" => json!({"url": "https://example.invalid/"}),
        "change_webhook" => json!({"description": "new"}),
        "create_alert" => json!({"name": fresh(), "kind": "spend", "threshold": 0.8,
            "channels": {"webhooks": true}}),
        "change_alert" => json!({"threshold": 0.9}),
        "set_provider_key" => json!({"key": "sk-0123456789"}),
        _ => return None,
    })
}

fn evaluations(operation: &str, own: &Ids) -> Option<Value> {
    let model = json!({"provider": "openai", "model": "sim-80", "base_url": own["base_url"]});
    Some(match operation {
        "create_dataset" => json!({"name": fresh(), "type": "EVALUATION"}),
        "change_dataset" => json!({"description": "new"}),
        "add_ground_truth" => json!({"value": {"answer": "a"}, "source": "EXPERT"}),
        "sample_test_cases" => json!({"size": 1}),
        "create_evaluation" => json!({"input": "a", "output": "a", "metrics": ["exact_match"]}),
        "create_batch_evaluation" => {
            json!({"dataset_version_id": own["version_id"], "metrics": ["exact_match"]})
        }
        "create_run" => json!({"dataset_version_id": own["version_id"], "evaluation":
            {"name": "all", "models": ["recorded"], "scorers": [{"type": "exact_match"}]}}),
        "set_baseline" => json!({"run_id": own["run_id"]}),
        "create_execution" => json!({"model": model, "case":
            {"dataset_version_id": own["version_id"], "case_id": own["case_id"]}}),
        "score_execution" => json!({"metrics": ["exact_match"]}),
        "create_document" => json!({"actual_output": "a"}),
        "create_judgement" => {
            json!({"judge_id": own["judge_id"], "document_id": own["document_id"]})
        }
        _ => return None,
    })
}

fn definitions(operation: &str, named: &Ids, own: &Ids) -> Option<Value> {
    let criterion = |name: &str| {
        json!({"name": name, "task_introduction": "t", "evaluation_criteria": "e",
        "scale": {"min": 1, "max": 5}})
    };
    Some(match operation {
        "create_criterion" => criterion(&fresh()),
        "revise_criterion" => criterion(&named["criterion_name"]),
        "create_threshold" => json!({"score": 0.5}),
        "create_model" => json!({"provider": "openai", "model": "sim-80", "name": fresh(),
            "base_url": own["base_url"]}),
        "create_judge" => json!({"name": fresh(), "criterion": own["criterion_name"],
            "method": "rubric", "model": own["model_id"]}),
        "create_prompt" => json!({"name": fresh()}),
        "change_prompt" => json!({"description": "new"}),
        "create_prompt_version" => json!({"template": "{{ input }}"}),
        _ => return None,
    })
}
