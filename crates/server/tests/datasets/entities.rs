//! Data sets themselves, and where their versions stand.

use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::common::{TestServer, answer, with_json};
use crate::uploading::{dataset, form, lines, numbered, upload, uploaded};

on_every_backend!(
    a_data_set_is_made_found_changed_and_removed,
    what_is_not_right_is_refused_by_its_field,
    a_version_is_published_once_and_for_good,
    another_organization_sees_nothing,
);

async fn a_data_set_is_made_found_changed_and_removed(place: Place) {
    let server = TestServer::start(place).await;
    let wanted =
        json!({"name": "Q&A ✓", "type": "GOLDEN_SET", "description": "d", "tags": ["a", "b"]});
    let (status, made) = server.post("/v1/datasets", wanted.clone()).await;
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/datasets/{}", made["dataset_id"].as_str().unwrap());
    assert_eq!((&made["type"], &made["tags"]), (&json!("GOLDEN_SET"), &json!(["a", "b"])));
    assert!(made["created_by"].as_str().unwrap().starts_with("key:fb_"), "{made}");

    let (status, taken) = server.post("/v1/datasets", wanted).await;
    assert_eq!((status, &taken["code"]), (409, &json!("conflict")));
    dataset(&server, "second").await;
    let (_, all) = server.get("/v1/datasets").await;
    assert_eq!((&all["total"], &all["has_more"]), (&json!(2), &json!(false)));
    assert_eq!(all["datasets"][0]["name"], "second");
    let (_, page) = server.get("/v1/datasets?limit=1").await;
    assert_eq!((page["datasets"].as_array().unwrap().len(), &page["has_more"]), (1, &json!(true)));
    let (_, named) = server.get("/v1/datasets?name=Q%26A%20%E2%9C%93").await;
    assert_eq!((&named["total"], &named["datasets"][0]), (&json!(1), &made));
    let (_, of_kind) = server.get("/v1/datasets?type=EVALUATION").await;
    assert_eq!((&of_kind["total"], &of_kind["datasets"][0]["name"]), (&json!(1), &json!("second")));

    let response = server.request("GET", &path).send().await.unwrap();
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    let change = |tag: &str, body: serde_json::Value| {
        with_json(server.request("PATCH", &path).header("if-match", tag), &body)
    };
    let (status, changed) =
        answer(change(&tag, json!({"name": "third", "description": null}))).await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!((&changed["name"], &changed["description"]), (&json!("third"), &json!(null)));
    assert_eq!(changed["tags"], json!(["a", "b"]));
    let (status, late) = answer(change(&tag, json!({"name": "fourth"}))).await;
    assert_eq!((status, &late["code"]), (412, &json!("precondition_failed")));
    for (wrong, status) in
        [("\"2147483647\"", 412), ("\"4294967295\"", 412), ("\"x\"", 400), ("7", 400)]
    {
        assert_eq!(answer(change(wrong, json!({}))).await.0, status, "{wrong}");
    }
    let (status, taken) = server.patch(&path, json!({"name": "second"})).await;
    assert_eq!((status, &taken["code"]), (409, &json!("conflict")));

    let late = server.request("DELETE", &path).header("if-match", tag);
    assert_eq!(answer(late).await.0, 412);
    assert_eq!(server.delete(&path).await.0, 204);
    assert_eq!(server.get(&path).await.0, 404);
    assert_eq!(server.delete(&path).await.0, 404);
}

async fn what_is_not_right_is_refused_by_its_field(place: Place) {
    let server = TestServer::start(place).await;
    let long = "x".repeat(256);
    for (body, field) in [
        (json!({"type": "EVALUATION"}), ""),
        (json!({"name": " ", "type": "EVALUATION"}), "name"),
        (json!({"name": long, "type": "EVALUATION"}), "name"),
        (json!({"name": "x", "type": "evaluation"}), "type"),
        (json!({"name": "x", "type": "EVALUATION", "tags": ["a", ""]}), "tags[1]"),
        (json!({"name": "x", "type": "EVALUATION", "more": 1}), "more"),
    ] {
        let (status, problem) = server.post("/v1/datasets", body.clone()).await;
        assert_eq!(status, 422, "{body}: {problem}");
        let told = problem["errors"][0]["field"].as_str().unwrap_or_default();
        assert_eq!(told, field, "{problem}");
    }
    for query in ["limit=0", "limit=101", "offset=1000000001", "offset=-1", "what=1", "type=x"] {
        assert_eq!(server.get(&format!("/v1/datasets?{query}")).await.0, 422, "{query}");
    }
    // A letter that PostgreSQL cannot keep is nobody's fault.
    let (status, made) =
        server.post("/v1/datasets", json!({"name": "a\u{0}b", "type": "EVALUATION"})).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(server.get("/v1/datasets?name=a%00b").await.1["total"], 1);
}

async fn a_version_is_published_once_and_for_good(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = numbered(&server, &id, 3).await;
    let post = |path: String| server.request("POST", &path);

    let (status, problem) = server.post(&format!("{path}/deprecate"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
    let stale = post(format!("{path}/publish")).header("if-match", "\"1\"");
    assert_eq!(answer(stale).await.0, 412);
    let seen = server.request("GET", &path).send().await.unwrap().headers()["etag"].clone();
    let fresh = post(format!("{path}/publish")).header("if-match", seen);
    let (status, published) = answer(fresh).await;
    assert_eq!((status, &published["status"]), (200, &json!("PUBLISHED")));
    let (status, again) = answer(post(format!("{path}/publish"))).await;
    assert_eq!((status, &again), (200, &published));

    let (status, problem) = server.delete(&format!("/v1/datasets/{id}")).await;
    assert_eq!(status, 409, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("deprecate"), "{problem}");
    let (status, deprecated) = answer(post(format!("{path}/deprecate"))).await;
    assert_eq!((status, &deprecated["status"]), (200, &json!("DEPRECATED")));
    assert_eq!(answer(post(format!("{path}/publish"))).await.0, 409);

    let (bad, version) = uploaded(&server, &id, "x.jsonl", &lines(&[json!({"x": 1})]), &[]).await;
    assert_eq!(version["validation_status"], "INVALID");
    let (status, problem) = answer(post(format!("{bad}/publish"))).await;
    assert_eq!(status, 409, "{problem}");
    let (_, versions) = server.get(&format!("/v1/datasets/{id}/versions")).await;
    let numbers: Vec<_> =
        versions["versions"].as_array().unwrap().iter().map(|v| &v["version_number"]).collect();
    assert_eq!((numbers, &versions["total"]), (vec![&json!(2), &json!(1)], &json!(2)));

    // With nothing published any more, it may go, and its files with it.
    let files = server.place.home().join("files");
    let count = || walk(&files);
    assert_eq!(count(), 2);
    assert_eq!(server.delete(&format!("/v1/datasets/{id}")).await.0, 204);
    assert_eq!(count(), 0);
    assert_eq!(server.get(&path).await.0, 404);
}

/// How many files there are in a folder.
pub(crate) fn walk(folder: &std::path::Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| if path.is_dir() { walk(&path) } else { 1 }).sum()
}

async fn another_organization_sees_nothing(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = numbered(&server, &id, 3).await;
    let (_, cases) = server.get(&format!("{path}/cases")).await;
    let case = cases["cases"][0]["test_case_id"].as_str().unwrap();
    let truth = format!("{path}/cases/{case}/ground-truth");
    let stranger = server.as_other_organization().await;
    let one = format!("/v1/datasets/{id}");
    for place in [
        one.clone(),
        format!("{one}/versions"),
        format!("{one}/diff?from=1&to=1"),
        path.clone(),
        format!("{path}/cases"),
        format!("{path}/cases/{case}"),
        format!("{path}/download"),
        format!("{path}/download?format=original"),
        truth.clone(),
    ] {
        let (status, problem) = stranger.get(&place).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{place}");
        let unknown = place.replace(&id, "00000000-0000-7000-8000-000000000000");
        let (_, same) = server.get(&unknown).await;
        let told = problem["detail"].as_str().unwrap().replace(&id, "");
        assert_eq!(
            told,
            same["detail"].as_str().unwrap().replace("00000000-0000-7000-8000-000000000000", "")
        );
    }
    for place in [format!("{path}/publish"), format!("{path}/deprecate")] {
        assert_eq!(stranger.post(&place, json!({})).await.0, 404, "{place}");
    }
    let answers = json!({"value": {"answer": "x"}, "source": "EXPERT"});
    assert_eq!(stranger.post(&truth, answers).await.0, 404);
    assert_eq!(stranger.post(&format!("{path}/sample"), json!({"size": 1})).await.0, 404);
    let form = form(&[], Some(("x.jsonl", b"{}")));
    let upload = upload(&server, &id, form);
    let mut upload = upload.build().unwrap();
    let key = format!("Bearer {}", stranger.key).parse().unwrap();
    upload.headers_mut().insert("authorization", key);
    assert_eq!(
        reqwest::Client::builder()
            .no_proxy()
            .build()
            .unwrap()
            .execute(upload)
            .await
            .unwrap()
            .status(),
        404
    );
    assert_eq!(stranger.patch(&one, json!({"name": "mine"})).await.0, 404);
    assert_eq!(stranger.delete(&one).await.0, 404);
    assert_eq!(stranger.get("/v1/datasets").await.1["total"], 0);
    // A name of another organization is free.
    let (status, _) =
        stranger.post("/v1/datasets", json!({"name": "d", "type": "EVALUATION"})).await;
    assert_eq!(status, 201);
    assert_eq!(server.get(&path).await.1["status"], "DRAFT");
}
