//! Walks every endpoint of the OpenAPI document in every role, at home and with ids of another organization: what is answered is
//! what the table of roles says, and nothing of others is read, changed or revealed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_store::NewSession;
use fullbench_types::{Action, DEFAULT_ORGANIZATION, UserRole};
use jiff::Timestamp;
use serde_json::{Value, json};

on_every_backend!(everybody_does_what_their_role_allows_and_nothing_elsewhere);

/// A word that is in everything the first organization has.
const SECRET: &str = "zanzibar";

/// Something of everything, made by the owner: what path parameters are called, and what they are.
async fn made(server: &TestServer, simulator: &Simulator) -> BTreeMap<&'static str, String> {
    let text = |value: &Value, name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let mut ids = BTreeMap::new();
    let (status, key) = server.post("/v1/api-keys", json!({"name": SECRET})).await;
    assert_eq!(status, 201, "{key}");
    ids.insert("api_key_id", text(&key, "api_key_id"));
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let owner = store.users().await.unwrap().remove(0);
    ids.insert("user_id", owner.id.to_string());
    let session = NewSession {
        id: uuid::Uuid::now_v7(),
        user: owner.id,
        password_set_at: owner.password_set_at,
        token_hash: SECRET.to_owned(),
        from_address: Some(SECRET.to_owned()),
        user_agent: None,
        expires_at: Timestamp::now() + Duration::from_secs(3600),
    };
    ids.insert("session_id", store.start_session(session).await.unwrap().unwrap().id.to_string());
    let invited = json!({"email": format!("{SECRET}@example.com"), "role": "viewer"});
    let (status, invitation) = server.post("/v1/invitations", invited).await;
    assert_eq!(status, 201, "{invitation}");
    ids.insert("invitation_id", text(&invitation, "invitation_id"));
    let new = json!({"name": SECRET, "type": "EVALUATION", "description": SECRET});
    let (status, dataset) = server.post("/v1/datasets", new).await;
    assert_eq!(status, 201, "{dataset}");
    let dataset = text(&dataset, "dataset_id");
    let rows =
        format!("{{\"input\": \"{SECRET}?\", \"reference\": \"a\", \"output\": \"{SECRET}\"}}\n");
    let boundary = "X-BOUNDARY";
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{rows}\r\n--{boundary}--\r\n"
    );
    let upload = server
        .request("POST", &format!("/v1/datasets/{dataset}/versions"))
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .body(form);
    let (status, version) = common::answer(upload).await;
    assert_eq!(status, 202, "{version}");
    let path = format!("/v1/datasets/{dataset}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "VALID").await;
    let (_, cases) = server.get(&format!("{path}/cases")).await;
    let case = cases["cases"][0].as_object().unwrap();
    let case = case.iter().find(|(name, _)| name.ends_with("case_id")).unwrap().1;
    ids.insert("case_id", case.as_str().unwrap().to_owned());
    ids.insert("dataset_id", dataset);
    ids.insert("version_number", "1".to_owned());
    let body = json!({"input": SECRET, "output": SECRET, "metrics": ["exact_match"]});
    let (_, single) = server.post("/v1/evaluations", body).await;
    ids.insert("evaluation_id", text(&single, "evaluation_id"));
    let body = json!({"name": SECRET, "dataset_version_id": version["version_id"],
        "metrics": ["exact_match"]});
    let (status, batch) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{batch}");
    let batch = text(&batch, "job_id");
    let path = format!("/v1/evaluations/batch/{batch}");
    server.wait(&path, |batch| batch["status"] == "completed").await;
    ids.insert("run_id", batch.clone());
    let named = json!({"run_id": batch});
    assert_eq!(server.put("/v1/baselines/the-one", named).await.0, 200);
    ids.insert("baseline_name", "the-one".to_owned());
    ids.insert("job_id", batch);
    let own_key = json!({"key": format!("sk-{SECRET}-0123456789")});
    assert_eq!(server.put("/v1/provider-keys/openai", own_key).await.0, 200);
    ids.insert("provider", "openai".to_owned());
    let criterion = json!({"name": "own", "task_introduction": SECRET, "evaluation_criteria": "e",
        "scale": {"min": 1, "max": 5}});
    let (status, problem) = server.post("/v1/criteria", criterion).await;
    assert_eq!(status, 201, "{problem}");
    ids.insert("criterion_name", "own".to_owned());
    let document = json!({"actual_output": SECRET});
    let (status, document) = server.post("/v1/documents", document).await;
    assert_eq!(status, 201, "{document}");
    ids.insert("document_id", text(&document, "document_id"));
    let (status, prompt) = server.post("/v1/prompts", json!({"name": SECRET})).await;
    assert_eq!(status, 201, "{prompt}");
    ids.insert("prompt_id", text(&prompt, "prompt_id"));
    let webhook = json!({"url": format!("https://{SECRET}.invalid/"), "description": SECRET});
    let (status, webhook) = server.post("/v1/webhooks", webhook).await;
    assert_eq!(status, 201, "{webhook}");
    let webhook = text(&webhook, "webhook_id");
    let (status, delivery) = server.post(&format!("/v1/webhooks/{webhook}/test"), json!({})).await;
    assert_eq!(status, 202, "{delivery}");
    ids.insert("delivery_id", text(&delivery, "delivery_id"));
    ids.insert("webhook_id", webhook);
    let alert = json!({"name": SECRET, "kind": "spend", "threshold": 0.8,
        "channels": {"webhooks": true, "slack_url": format!("https://{SECRET}.invalid/")}});
    let (status, alert) = server.post("/v1/alerts", alert).await;
    assert_eq!(status, 201, "{alert}");
    let alert = text(&alert, "alert_id");
    let looked = |alert: &Value| alert["last_evaluated_at"].is_string();
    server.wait(&format!("/v1/alerts/{alert}"), looked).await;
    ids.insert("alert_id", alert);
    let model = json!({"provider": "openai", "model": "sim-80", "name": SECRET,
        "base_url": format!("{}/v1", simulator.url())});
    let (status, made) = server.post("/v1/models", model.clone()).await;
    assert_eq!(status, 201, "{made}");
    ids.insert("model_id", text(&made, "model_id"));
    let judge = json!({"name": SECRET, "criterion": "own", "method": "rubric",
        "model": made["model_id"]});
    let (status, judge) = server.post("/v1/judges", judge).await;
    assert_eq!(status, 201, "{judge}");
    let judged = json!({"judge_id": judge["judge_id"], "document_id": document["document_id"]});
    let (status, judgement) = server.post("/v1/judgements", judged).await;
    assert_eq!(status, 201, "{judgement}");
    ids.insert("judgement_id", text(&judgement, "judgement_id"));
    ids.insert("judge_id", text(&judge, "judge_id"));
    let task = json!({"task": {"input": SECRET}, "model": model});
    let (status, execution) = server.post("/v1/executions", task).await;
    assert_eq!(status, 202, "{execution}");
    let execution = text(&execution, "execution_id");
    let path = format!("/v1/executions/{execution}");
    server.wait(&path, |one| one["status"] == "completed").await;
    ids.insert("execution_id", execution);
    ids
}

async fn everybody_does_what_their_role_allows_and_nothing_elsewhere(place: Place) {
    let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
    let server = TestServer::start_with_models(place, &simulator.url()).await;
    let ids = made(&server, &simulator).await;
    let mut members = Vec::new();
    let foreign = server.as_other_organization().await.organization;
    for role in UserRole::ALL {
        let own = common::new_key(&server.store, DEFAULT_ORGANIZATION, *role).await;
        let other = common::new_key(&server.store, foreign, *role).await;
        members.push((*role, own, other));
    }
    let before = everything(&server).await;
    let (_, api) = server.get("/openapi.json").await;
    let operations = operations(&api, &ids);
    assert!(operations.len() > 80, "only {} endpoints were walked", operations.len());
    for operation in &operations {
        assert_eq!(operation.status(&server, None, &operation.path).await, 401, "{operation}");
        for (role, own, other) in &members {
            let is_allowed = operation.action.is_some_and(|action| role.allows(action));
            let said = format!("{operation} as {role}");
            operation.is_closed_to_others(&server, other, is_allowed, &said).await;
            // What is allowed is tried on things that are not there, so that nothing is changed.
            let path = if is_allowed { &operation.nowhere } else { &operation.path };
            let status = operation.status(&server, Some(own), path).await;
            assert_eq!(status == 403, !is_allowed, "{said}: {status}");
            assert!(status != 401 && status < 500, "{said}: {status}");
        }
    }
    assert_eq!(everything(&server).await, before, "nothing was changed");
}

/// An endpoint with somebody's ids in its path.
struct Operation {
    client: reqwest::Client,
    method: reqwest::Method,
    path: String,
    /// The same with ids that nothing has.
    nowhere: String,
    has_ids: bool,
    /// What it needs; none for one's own account.
    action: Option<Action>,
}

/// All endpoints that are not for everybody.
fn operations(api: &Value, ids: &BTreeMap<&'static str, String>) -> Vec<Operation> {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let mut operations = Vec::new();
    for (template, methods) in api["paths"].as_object().unwrap() {
        let (mut path, mut nowhere, mut has_ids) = (String::new(), String::new(), false);
        for part in template.split('/').skip(1) {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            has_ids |= name.is_some();
            let there = name.map_or(part, |name| {
                ids.get(name).unwrap_or_else(|| panic!("nothing is made for `{name}`"))
            });
            let not_there = match name {
                Some("version_number") => "999".to_owned(),
                Some(_) => uuid::Uuid::now_v7().to_string(),
                None => part.to_owned(),
            };
            path.push_str(&format!("/{there}"));
            nowhere.push_str(&format!("/{not_there}"));
        }
        for (method, operation) in methods.as_object().unwrap() {
            // Who runs the server belongs to no organization.
            if operation["security"] == json!([]) || operation["x-rule"] == "operator" {
                continue;
            }
            let action = operation["x-action"].as_str().and_then(Action::from_word);
            // A key has no account, whatever its role.
            let is_account = operation["security"] == json!([{ "session": [] }]);
            assert!(action.is_some() != is_account, "{method} {template} has no rule");
            let method = method.to_uppercase().parse().unwrap();
            let (client, path, nowhere) = (client.clone(), path.clone(), nowhere.clone());
            operations.push(Operation { client, method, path, nowhere, has_ids, action });
        }
    }
    operations
}

impl std::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)
    }
}

impl Operation {
    fn request(
        &self,
        server: &TestServer,
        key: Option<&String>,
        path: &str,
    ) -> reqwest::RequestBuilder {
        let mut request = self.client.request(self.method.clone(), format!("{}{path}", server.url));
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        match self.method.as_str() {
            "GET" | "DELETE" => request,
            _ => common::with_json(request, &json!({})),
        }
    }

    async fn status(&self, server: &TestServer, key: Option<&String>, path: &str) -> u16 {
        self.request(server, key, path).send().await.unwrap().status().as_u16()
    }

    /// Nothing of the owner is read or revealed with a key of another organization.
    async fn is_closed_to_others(
        &self,
        server: &TestServer,
        key: &String,
        is_allowed: bool,
        said: &str,
    ) {
        if self.path == "/v1/events" && is_allowed {
            assert_eq!(told(server, key).await, "", "no events of others are told");
            return;
        }
        let (status, answer) = common::answer(self.request(server, Some(key), &self.path)).await;
        let text = answer.to_string();
        assert!(!text.contains(SECRET), "{said} reveals: {text}");
        // A body that is not right may be refused before anything is looked for.
        let expected: &[u16] = match (is_allowed, self.has_ids) {
            (false, _) => &[403],
            (true, true) => &[404, 415, 422],
            (true, false) => &[200, 201, 202, 415, 422],
        };
        assert!(expected.contains(&status), "{said} elsewhere: {status} {text}");
    }
}

/// What the organization of a key is told of everything that ever happened to it, within a moment.
async fn told(server: &TestServer, key: &str) -> String {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request = client.get(format!("{}/v1/events", server.url)).bearer_auth(key);
    let mut stream = request.header("last-event-id", "0").send().await.unwrap();
    assert_eq!(stream.status(), 200);
    let mut text = String::new();
    let moment = Duration::from_millis(300);
    while let Ok(Ok(Some(chunk))) = tokio::time::timeout(moment, stream.chunk()).await {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
    }
    text.replace("id: 0\nretry: 1000\n\n", "")
}

/// What the owner sees.
async fn everything(server: &TestServer) -> Vec<Value> {
    let mut seen = Vec::new();
    for path in [
        "/v1/organization",
        "/v1/members",
        "/v1/invitations",
        "/v1/datasets",
        "/v1/evaluations",
        "/v1/baselines",
        "/v1/criteria?source=user",
        "/v1/documents",
        "/v1/prompts",
        "/v1/executions",
        "/v1/judges",
        "/v1/models",
        "/v1/webhooks",
        "/v1/alerts",
        "/v1/provider-keys",
        "/v1/organization/webhook-secret",
    ] {
        let (status, mut body) = server.get(path).await;
        assert_eq!(status, 200, "{path}: {body}");
        if let Some(alert) = body.pointer_mut("/alerts/0") {
            // The server goes on looking at it.
            alert["last_evaluated_at"].take();
        }
        seen.push(body);
    }
    seen
}
