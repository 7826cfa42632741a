//! Criteria and their pass marks.

use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::{created_once, fields, plainness, send};

on_every_backend!(
    built_in_criteria_are_there_and_stay_as_they_are,
    a_criterion_is_added_and_revised,
    pass_marks_are_only_ever_added,
    wrong_criteria_are_refused_by_field,
    criteria_belong_to_their_organization,
);

async fn built_in_criteria_are_there_and_stay_as_they_are(place: Place) {
    let server = TestServer::start(place).await;
    let (status, page) = server.get("/v1/criteria?limit=2&offset=1").await;
    assert_eq!(status, 200, "{page}");
    let total = page["total"].as_u64().unwrap();
    assert_eq!((page["criteria"].as_array().unwrap().len(), &page["has_more"]), (2, &json!(true)));
    assert_eq!(server.get("/v1/criteria?source=built_in").await.1["total"], json!(total));
    assert_eq!(server.get("/v1/criteria?source=user").await.1["total"], json!(0));
    let (_, last) = server.get(&format!("/v1/criteria?offset={}", total - 1)).await;
    assert_eq!((last["criteria"].as_array().unwrap().len(), &last["has_more"]), (1, &json!(false)));

    let (status, coherence) = server.get("/v1/criteria/coherence").await;
    assert_eq!((status, &coherence["source"]), (200, &json!("built_in")), "{coherence}");
    let (status, revisions) = server.get("/v1/criteria/coherence/revisions").await;
    assert_eq!((status, &revisions["total"]), (200, &json!(1)));
    let mut changed = plainness();
    changed["name"] = json!("coherence");
    for (method, path) in [("PUT", "/v1/criteria/coherence"), ("POST", "/v1/criteria")] {
        let (status, problem) = send(&server, method, path, ("x-test", "1"), &changed).await;
        assert_eq!(status, 409, "{problem}");
    }
    // Once it is in the store it is built in all the same.
    let (status, set) =
        server.post("/v1/criteria/coherence/thresholds", json!({"score": 0.5})).await;
    assert_eq!(status, 201, "{set}");
    let (status, problem) = server.put("/v1/criteria/coherence", changed).await;
    assert_eq!(status, 409, "{problem}");
    assert_eq!(server.get("/v1/criteria").await.1["total"], json!(total));
}

async fn a_criterion_is_added_and_revised(place: Place) {
    let server = TestServer::start(place).await;
    let made = created_once(&server, "/v1/criteria", &plainness()).await;
    assert_eq!((&made["revision"], &made["source"]), (&json!(1), &json!("user")));
    let (status, problem) = server.post("/v1/criteria", plainness()).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");

    let one = "/v1/criteria/plainness";
    let response = server.request("GET", one).send().await.unwrap();
    assert_eq!(response.headers()["etag"], "\"1\"");
    let mut revised = plainness();
    revised["evaluation_criteria"] = json!("Is the answer clear to a child?");
    let seen = ("if-match", "\"1\"");
    let (status, second) = send(&server, "PUT", one, seen, &revised).await;
    assert_eq!((status, &second["revision"]), (200, &json!(2)), "{second}");
    let (status, problem) = send(&server, "PUT", one, seen, &plainness()).await;
    assert_eq!((status, &problem["code"]), (412, &json!("precondition_failed")));
    let (status, same) = server.put(one, revised.clone()).await;
    assert_eq!((status, &same), (200, &second));
    let (_, revisions) = server.get("/v1/criteria/plainness/revisions").await;
    assert_eq!((&revisions["total"], &revisions["revisions"][0]), (&json!(2), &second));
    assert_eq!(server.get(one).await.1, second);

    let (status, problem) = server.put("/v1/criteria/kindness", plainness()).await;
    assert_eq!(status, 404, "{problem}");
    revised["name"] = json!("kindness");
    let (status, problem) = server.put(one, revised).await;
    assert_eq!((status, fields(&problem)), (422, vec!["name"]));
}

async fn pass_marks_are_only_ever_added(place: Place) {
    let server = TestServer::start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let path = "/v1/criteria/plainness/thresholds";
    assert_eq!(server.get(path).await.1["total"], json!(0));
    let first = created_once(&server, path, &json!({"score": 0.5, "note": "to begin"})).await;
    assert_eq!((&first["criterion"], &first["note"]), (&json!("plainness"), &json!("to begin")));
    let (status, second) = server.post(path, json!({"score": 1})).await;
    assert_eq!(status, 201, "{second}");
    let (_, history) = server.get(path).await;
    assert_eq!((&history["total"], &history["thresholds"][0]), (&json!(2), &second));
    assert_eq!(server.get("/v1/criteria/plainness").await.1["threshold"], json!(1.0));
    for wrong in [json!({"score": 1.01}), json!({"score": -0.1}), json!({"score": "high"})] {
        let (status, problem) = server.post(path, wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec!["score"]), "{problem}");
    }
    let none = "/v1/criteria/nothing/thresholds";
    assert_eq!(server.get(none).await.0, 404);
    assert_eq!(server.post(none, json!({"score": 0.5})).await.0, 404);
}

async fn wrong_criteria_are_refused_by_field(place: Place) {
    let server = TestServer::start(place).await;
    for (field, value, named) in [
        ("name", json!("Two Words"), "name"),
        ("name", json!("nul\u{0}"), "name"),
        ("task_introduction", json!(" "), "task_introduction"),
        ("evaluation_criteria", json!("x".repeat(20_001)), "evaluation_criteria"),
        ("scale", json!({"min": 5, "max": 1}), "scale"),
        ("levels", json!([{"score": 9, "description": "x"}]), "levels[0].score"),
        ("needs_reference", json!("yes"), "needs_reference"),
        ("color", json!("blue"), "color"),
    ] {
        let mut wrong = plainness();
        wrong[field] = value;
        let (status, problem) = server.post("/v1/criteria", wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![named]), "{problem}");
    }
    for query in ["limit=0", "limit=101", "offset=1000000001", "source=mine", "colour=blue"] {
        let (status, problem) = server.get(&format!("/v1/criteria?{query}")).await;
        assert_eq!(status, 422, "{query}: {problem}");
    }
    assert_eq!(server.get("/v1/criteria/a%00b").await.0, 404);
    assert_eq!(server.get("/v1/criteria/plainness").await.0, 404);
}

async fn criteria_belong_to_their_organization(place: Place) {
    let server = TestServer::start(place).await;
    server.post("/v1/criteria", plainness()).await;
    let other = server.as_other_organization().await;
    for path in ["", "/revisions", "/thresholds"] {
        let (status, _) = other.get(&format!("/v1/criteria/plainness{path}")).await;
        assert_eq!(status, 404, "{path}");
    }
    let set = other.post("/v1/criteria/plainness/thresholds", json!({"score": 0.5})).await;
    assert_eq!(set.0, 404);
    let (status, _) = other.send("PUT", "/v1/criteria/plainness", Some(plainness())).await;
    assert_eq!(status, 404);
    assert_eq!(other.get("/v1/criteria?source=user").await.1["total"], json!(0));
    assert_eq!(other.post("/v1/criteria", plainness()).await.0, 201);
}
