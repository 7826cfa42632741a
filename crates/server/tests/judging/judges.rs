//! Methods, models, and judges made of them.

use fullbench_engine::{AllowedAddress, SentRules};
use fullbench_server::ServerConfig;
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::{created_once, fields, plainness};

on_every_backend!(
    models_are_added_once_and_keep_their_keys_to_themselves,
    a_judge_is_made_of_a_criterion_a_method_and_a_model,
    a_judge_is_never_changed_but_succeeded,
    wrong_judges_are_refused_by_field,
    judges_and_models_belong_to_their_organization,
);

const ADDRESS: &str = "http://127.0.0.1:9";

async fn start(place: Place) -> TestServer {
    let address: AllowedAddress = format!("{ADDRESS}=SECRET_VARIABLE").parse().unwrap();
    let rules = SentRules { addresses: vec![address] };
    TestServer::start_with(place, ServerConfig { rules, ..ServerConfig::default() }).await
}

fn judge(name: &str) -> Value {
    json!({ "name": name, "criterion": "plainness", "method": "g_eval",
        "model": "openai:gpt-4o-mini", "parameters": { "samples": 3 } })
}

async fn models_are_added_once_and_keep_their_keys_to_themselves(place: Place) {
    let server = start(place).await;
    let sent = json!({ "provider": "openai", "model": "m", "name": "small", "temperature": 0.5,
        "base_url": format!("{ADDRESS}/v1") });
    let made = created_once(&server, "/v1/models", &sent).await;
    assert_eq!((&made["provider"], &made["name"]), (&json!("openai"), &json!("small")));
    assert_eq!(made["config"], sent);
    let id = made["model_id"].as_str().unwrap();
    assert_eq!(server.get(&format!("/v1/models/{id}")).await, (200, made));
    let (status, problem) = server.post("/v1/models", sent).await;
    assert_eq!(status, 409, "{problem}");
    for (wrong, field) in [
        (json!({"provider": "openai", "model": "m", "base_url": "http://10.0.0.1"}), "base_url"),
        (json!({"provider": "openai", "model": "m", "api_key_env": "HOME"}), "api_key_env"),
        (json!({"provider": "openai", "model": "m", "temperature": 3}), "temperature"),
        (json!({"provider": "openai", "model": "m".repeat(256)}), "model"),
        (json!({"provider": "recorded"}), "provider"),
    ] {
        let (status, problem) = server.post("/v1/models", wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
        assert!(!problem["detail"].as_str().unwrap().contains("model."), "{problem}");
    }
    assert_eq!(server.post("/v1/models", json!("openai:m")).await.0, 422);
    let (_, page) = server.get("/v1/models").await;
    assert_eq!((&page["total"], &page["has_more"]), (&json!(1), &json!(false)));
    assert!(!page.to_string().contains("SECRET_VARIABLE"), "{page}");
}

async fn a_judge_is_made_of_a_criterion_a_method_and_a_model(place: Place) {
    let server = start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let made = created_once(&server, "/v1/judges", &judge("strict-1.0")).await;
    assert_eq!((&made["revision"], &made["criterion_revision"]), (&json!(1), &json!(1)));
    assert_eq!((&made["provider"], &made["model"]), (&json!("openai"), &json!("gpt-4o-mini")));
    assert_eq!(made["parameters"], json!({"samples": 3}));
    let path = format!("/v1/judges/{}", made["judge_id"].as_str().unwrap());
    assert_eq!(server.get(&path).await, (200, made));
    let (status, problem) = server.post("/v1/judges", judge("strict-1.0")).await;
    assert_eq!(status, 409, "{problem}");
    let (status, performance) = server.get(&format!("{path}/performance")).await;
    assert_eq!((status, &performance["judgements"]), (200, &json!(0)), "{performance}");

    // By the id of a stored model, by its name, and by a built-in criterion.
    let sent = json!({"provider": "openai", "model": "m", "name": "small",
        "base_url": format!("{ADDRESS}/v1")});
    let (_, model) = server.post("/v1/models", sent).await;
    for (name, model) in [("by_id", &model["model_id"]), ("by_name", &json!("openai:small"))] {
        let mut wanted = judge(name);
        wanted["model"] = model.clone();
        wanted["criterion"] = json!("coherence");
        let (status, made) = server.post("/v1/judges", wanted).await;
        assert_eq!((status, &made["model"]), (201, &json!("small")), "{made}");
    }
    assert_eq!(server.get("/v1/models").await.1["total"], json!(2));
    let (_, page) = server.get("/v1/judges?limit=2").await;
    assert_eq!((&page["total"], &page["has_more"]), (&json!(3), &json!(true)));
    let (status, methods) = server.get("/v1/methods").await;
    assert_eq!((status, &methods["total"]), (200, &json!(5)));
    let used = |one: &&Value| !one["method_id"].is_null();
    let used: Vec<&Value> = methods["methods"].as_array().unwrap().iter().filter(used).collect();
    assert_eq!((used.len(), &used[0]["name"]), (1, &json!("g_eval")));
}

async fn a_judge_is_never_changed_but_succeeded(place: Place) {
    let server = start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let (_, first) = server.post("/v1/judges", judge("strict")).await;
    let mut next = judge("strict");
    next["successor_of"] = first["judge_id"].clone();
    let (status, same) = server.post("/v1/judges", next.clone()).await;
    assert_eq!((status, &same), (200, &first));
    next["parameters"] = json!({"samples": 5});
    let second = created_once(&server, "/v1/judges", &next).await;
    assert_eq!((&second["revision"], &second["successor_of"]), (&json!(2), &first["judge_id"]));
    let (_, page) = server.get("/v1/judges").await;
    assert_eq!((&page["total"], &page["judges"][0]), (&json!(1), &second));
    let (status, problem) = server.post("/v1/judges", next.clone()).await;
    assert_eq!(status, 409, "{problem}");
    next["name"] = json!("lenient");
    let (status, problem) = server.post("/v1/judges", next).await;
    assert_eq!((status, fields(&problem)), (422, vec!["successor_of"]), "{problem}");
}

async fn wrong_judges_are_refused_by_field(place: Place) {
    let server = start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let nobody = json!("0198a000-0000-7000-8000-000000000000");
    for (field, value, named) in [
        ("criterion", json!("fidelity"), "criterion"),
        ("method", json!("guess"), "method"),
        ("model", json!("nobody:m"), "model"),
        ("model", nobody.clone(), "model"),
        (
            "model",
            json!({"provider": "openai", "model": "m", "base_url": "http://10.0.0.1"}),
            "model.base_url",
        ),
        ("model", json!({"provider": "local", "model": "/etc/passwd"}), "model.model"),
        ("parameters", json!({"samplez": 3}), "parameters.samplez"),
        ("parameters", json!({"samples": 0}), "parameters.samples"),
        ("parameters", json!({"model": "openai:m"}), "parameters.model"),
        ("successor_of", nobody, "successor_of"),
        ("description", json!("x".repeat(10_001)), "description"),
        ("color", json!("blue"), "color"),
    ] {
        let mut wrong = judge("strict");
        wrong[field] = value;
        let (status, problem) = server.post("/v1/judges", wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![named]), "{problem}");
    }
    for name in ["Upper", "nul\u{0}", "", &"x".repeat(101)] {
        let (status, problem) = server.post("/v1/judges", judge(name)).await;
        assert_eq!(status, 422, "{problem}");
    }
    assert_eq!(server.get("/v1/judges").await.1["total"], json!(0));
}

async fn judges_and_models_belong_to_their_organization(place: Place) {
    let server = start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let (_, first) = server.post("/v1/judges", judge("strict")).await;
    let (_, models) = server.get("/v1/models").await;
    let (judge_id, model_id) = (&first["judge_id"], &models["models"][0]["model_id"]);
    let other = server.as_other_organization().await;
    for path in [
        format!("/v1/judges/{}", judge_id.as_str().unwrap()),
        format!("/v1/judges/{}/performance", judge_id.as_str().unwrap()),
        format!("/v1/models/{}", model_id.as_str().unwrap()),
    ] {
        assert_eq!(server.get(&path).await.0, 200, "{path}");
        assert_eq!(other.get(&path).await.0, 404, "{path}");
    }
    for list in ["/v1/judges", "/v1/models"] {
        assert_eq!(other.get(list).await.1["total"], json!(0), "{list}");
    }
    other.post("/v1/criteria", plainness()).await;
    for (field, value) in [("model", model_id), ("successor_of", judge_id)] {
        let mut wanted = judge("strict");
        wanted[field] = value.clone();
        let (status, problem) = other.post("/v1/judges", wanted).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
    }
    assert_eq!(other.post("/v1/judges", judge("strict")).await.0, 201);
}
