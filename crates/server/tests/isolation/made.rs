//! Something of everything, made by an owner.

use std::collections::BTreeMap;
use std::time::Duration;

use fullbench_store::{NewSession, ScopedStore};
use jiff::Timestamp;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::common::answer;
use crate::common::caller::Caller;
use crate::operations::with_form;

/// What is named in paths and bodies, by the names of the parameters of paths where there are any.
pub(crate) type Ids = BTreeMap<&'static str, String>;

/// Somebody who makes things with a mark in them.
pub(crate) struct Maker<'test> {
    pub(crate) caller: &'test Caller,
    pub(crate) store: ScopedStore,
    /// A word that is in everything they make, but for names that stand in paths.
    pub(crate) mark: &'static str,
    /// What begins the names that stand in paths.
    pub(crate) word: &'static str,
    pub(crate) provider: &'static str,
    /// Where models are asked.
    pub(crate) base_url: String,
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("no `{name}` in {value}")).to_owned()
}

impl Maker<'_> {
    /// Makes something of everything.
    pub(crate) async fn everything(&self, owner: Uuid, member: Uuid) -> Ids {
        let mut ids = Ids::new();
        ids.insert("base_url", self.base_url.clone());
        ids.insert("user_id", member.to_string());
        self.access(&mut ids, owner).await;
        self.data(&mut ids).await;
        self.runs(&mut ids).await;
        self.told(&mut ids).await;
        self.judging(&mut ids).await;
        ids
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let (status, made) = self.caller.post(path, body).await;
        assert!((200..300).contains(&status), "{path}: {status} {made}");
        made
    }

    async fn access(&self, ids: &mut Ids, owner: Uuid) {
        let mark = self.mark;
        let key = self.post("/v1/api-keys", json!({"name": mark})).await;
        ids.insert("api_key_id", text(&key, "api_key_id"));
        let session = session_of(&self.store, owner, mark).await;
        ids.insert("session_id", session);
        let invited = json!({"email": format!("{mark}@example.com"), "role": "viewer"});
        let invitation = self.post("/v1/invitations", invited).await;
        ids.insert("invitation_id", text(&invitation, "invitation_id"));
        let path = format!("/v1/provider-keys/{}", self.provider);
        let kept = self.caller.put(&path, json!({"key": format!("sk-{mark}-0123456789")})).await;
        assert_eq!(kept.0, 200, "{}", kept.1);
        ids.insert("provider", self.provider.to_owned());
    }

    async fn data(&self, ids: &mut Ids) {
        let mark = self.mark;
        let new = json!({"name": mark, "type": "EVALUATION", "description": mark});
        let dataset = text(&self.post("/v1/datasets", new).await, "dataset_id");
        let row = json!({"input": format!("{mark}?"), "reference": "a", "output": mark});
        let upload = self.caller.request("POST", &format!("/v1/datasets/{dataset}/versions"));
        let (status, version) = answer(with_form(upload, &[("file", format!("{row}\n"))])).await;
        assert_eq!(status, 202, "{version}");
        let path = format!("/v1/datasets/{dataset}/versions/1");
        self.caller.wait(&path, |version| version["validation_status"] == "VALID").await;
        let (_, cases) = self.caller.get(&format!("{path}/cases")).await;
        let case = cases["cases"][0].as_object().unwrap();
        let case = case.iter().find(|(name, _)| name.ends_with("case_id")).unwrap().1;
        let agreed = json!({"value": {"answer": mark}, "source": "EXPERT"});
        let case = case.as_str().unwrap().to_owned();
        self.post(&format!("{path}/cases/{case}/ground-truth"), agreed).await;
        ids.insert("version_id", text(&version, "version_id"));
        ids.insert("version_number", "1".to_owned());
        ids.insert("case_id", case);
        ids.insert("dataset_id", dataset);
        let prompt = self.post("/v1/prompts", json!({"name": mark})).await;
        let prompt = text(&prompt, "prompt_id");
        let version = json!({"template": format!("{mark} {{{{ input }}}}")});
        self.post(&format!("/v1/prompts/{prompt}/versions"), version).await;
        ids.insert("prompt_id", prompt);
        let document = self.post("/v1/documents", json!({"actual_output": mark})).await;
        ids.insert("document_id", text(&document, "document_id"));
    }

    async fn runs(&self, ids: &mut Ids) {
        let mark = self.mark;
        let body = json!({"input": mark, "output": mark, "metrics": ["exact_match"]});
        let single = self.post("/v1/evaluations", body).await;
        ids.insert("evaluation_id", text(&single, "evaluation_id"));
        let body = json!({"name": mark, "dataset_version_id": ids["version_id"],
            "metrics": ["exact_match"]});
        let batch = text(&self.post("/v1/evaluations/batch", body).await, "job_id");
        let path = format!("/v1/evaluations/batch/{batch}");
        self.caller.wait(&path, |batch| batch["status"] == "completed").await;
        let baseline = format!("{}-b", self.word);
        let path = format!("/v1/baselines/{baseline}");
        assert_eq!(self.caller.put(&path, json!({"run_id": batch})).await.0, 200);
        ids.insert("baseline_name", baseline);
        ids.insert("run_id", batch.clone());
        ids.insert("job_id", batch);
        let model = json!({"provider": "openai", "model": "sim-80", "base_url": self.base_url});
        let task = json!({"task": {"input": mark}, "model": model});
        let execution = text(&self.post("/v1/executions", task).await, "execution_id");
        let path = format!("/v1/executions/{execution}");
        self.caller.wait(&path, |one| one["status"] == "completed").await;
        ids.insert("execution_id", execution);
    }

    /// What tells somebody of something.
    async fn told(&self, ids: &mut Ids) {
        let mark = self.mark;
        let url = format!("https://{mark}.invalid/");
        let webhook = self.post("/v1/webhooks", json!({"url": url, "description": mark})).await;
        let webhook = text(&webhook, "webhook_id");
        let delivery = self.post(&format!("/v1/webhooks/{webhook}/test"), json!({})).await;
        ids.insert("delivery_id", text(&delivery, "delivery_id"));
        ids.insert("webhook_id", webhook);
        let alert = json!({"name": mark, "kind": "spend", "threshold": 0.8,
            "channels": {"webhooks": true, "slack_url": url}});
        let alert = text(&self.post("/v1/alerts", alert).await, "alert_id");
        let looked = |alert: &Value| alert["last_evaluated_at"].is_string();
        self.caller.wait(&format!("/v1/alerts/{alert}"), looked).await;
        ids.insert("alert_id", alert);
    }

    async fn judging(&self, ids: &mut Ids) {
        let (mark, word) = (self.mark, self.word);
        let criterion = format!("{word}_c");
        let new = json!({"name": criterion, "task_introduction": mark, "evaluation_criteria": "e",
            "scale": {"min": 1, "max": 5}});
        self.post("/v1/criteria", new).await;
        let path = format!("/v1/criteria/{criterion}/thresholds");
        self.post(&path, json!({"score": 0.6, "note": mark})).await;
        let model = json!({"provider": "openai", "model": "sim-80", "name": mark,
            "base_url": self.base_url});
        ids.insert("model_id", text(&self.post("/v1/models", model).await, "model_id"));
        let judge = format!("{word}-j");
        let new = json!({"name": judge, "criterion": criterion, "method": "rubric",
            "model": ids["model_id"], "description": mark});
        ids.insert("judge_id", text(&self.post("/v1/judges", new).await, "judge_id"));
        ids.insert("criterion_name", criterion);
        ids.insert("judge_name", judge);
        let judged = json!({"judge_id": ids["judge_id"], "document_id": ids["document_id"],
            "metadata": {"mark": mark}});
        let judgement = self.post("/v1/judgements", judged).await;
        ids.insert("judgement_id", text(&judgement, "judgement_id"));
    }
}

/// The id of a session of somebody, who is nowhere near it.
pub(crate) async fn session_of(store: &ScopedStore, user: Uuid, word: &str) -> String {
    let new = NewSession {
        id: Uuid::now_v7(),
        user,
        password_set_at: store.user(user).await.unwrap().password_set_at,
        token_hash: word.to_owned(),
        from_address: Some(word.to_owned()),
        user_agent: None,
        expires_at: Timestamp::now() + Duration::from_secs(3600),
    };
    store.start_session(new).await.unwrap().unwrap().id.to_string()
}

/// The same names for things that nobody has.
pub(crate) fn nowhere(ids: &Ids) -> Ids {
    let mut nowhere = ids.clone();
    for (name, id) in &mut nowhere {
        *id = match *name {
            // It counts within what is not there.
            "version_number" | "base_url" => id.clone(),
            "provider" => "gemini".to_owned(),
            "criterion_name" => "nothing_c".to_owned(),
            name if name.ends_with("_name") => "nothing-b".to_owned(),
            _ => Uuid::now_v7().to_string(),
        };
    }
    nowhere
}
