//! Downloads of versions, and what differs between two.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::uploading::{dataset, lines, uploaded};

on_every_backend!(
    a_download_uploads_again_as_the_same,
    a_name_with_a_quote_names_no_other_file,
    versions_are_compared_case_by_case,
);

fn rows() -> Vec<Value> {
    let row = |number: u64| {
        json!({"id": format!("k{number}"), "input": format!("{} {number}", "text, \"é\"\n".repeat(60)),
            "reference": number.to_string(), "category": if number.is_multiple_of(2) { "even" } else { "odd" }})
    };
    (0..1000).map(row).collect()
}

async fn a_download_uploads_again_as_the_same(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "A name/with: \"signs\" ✓").await;
    let (path, _) = uploaded(&server, &id, "x.jsonl", &lines(&rows()), &[]).await;
    for (format, kind) in [
        ("jsonl", "application/x-ndjson"),
        ("csv", "text/csv"),
        ("json", "application/json"),
        ("parquet", "application/vnd.apache.parquet"),
    ] {
        let request = server.request("GET", &format!("{path}/download?format={format}"));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], kind);
        let name = format!("attachment; filename=\"Anamewithsigns-v1.{format}\"");
        assert_eq!(response.headers()["content-disposition"], name);
        let content = response.bytes().await.unwrap();
        let (_, version) = uploaded(&server, &id, &format!("y.{format}"), &content, &[]).await;
        assert_eq!(
            (&version["validation_status"], &version["row_count"]),
            (&json!("VALID"), &json!(1000))
        );
        let diff =
            format!("/v1/datasets/{id}/diff?from=1&to={}&limit=1", version["version_number"]);
        let (_, diff) = server.get(&diff).await;
        assert_eq!(
            (&diff["unchanged"]["count"], &diff["has_more"]),
            (&json!(1000), &json!(true)),
            "{format}"
        );
    }
    let request = server.request("GET", &format!("{path}/download?format=original"));
    let original = request.send().await.unwrap().bytes().await.unwrap();
    assert!(original == lines(&rows()), "the original is as it was sent");
    assert_eq!(server.get(&format!("{path}/download?format=xml")).await.0, 422);
}

async fn a_name_with_a_quote_names_no_other_file(place: Place) {
    let server = TestServer::start(place).await;
    for name in ["d\"; filename=\"evil.sh", "d\\\"; filename=evil.sh", "../../evil.sh"] {
        let id = dataset(&server, name).await;
        let (path, _) = uploaded(&server, &id, "x.jsonl", b"{\"input\": \"a\"}\n", &[]).await;
        let response = server.request("GET", &format!("{path}/download")).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let disposition = response.headers()["content-disposition"].to_str().unwrap();
        let file = disposition.strip_prefix("attachment; filename=\"");
        let file =
            file.and_then(|rest| rest.strip_suffix('"')).unwrap_or_else(|| panic!("{disposition}"));
        assert!(file.ends_with("-v1.jsonl"), "{disposition}");
        assert!(!file.contains(['"', '\\', '/', ';', '=']), "{disposition}");
    }
}

async fn versions_are_compared_case_by_case(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let left = [
        json!({"id": 1, "input": "a"}),
        json!({"id": 2, "input": "b"}),
        json!({"id": 3, "input": "c"}),
    ];
    let right = [
        json!({"id": 4, "input": "d", "level": 1}),
        json!({"id": 3, "input": "c"}),
        json!({"id": 2, "input": "B"}),
    ];
    uploaded(&server, &id, "x.jsonl", &lines(&left), &[]).await;
    uploaded(&server, &id, "x.jsonl", &lines(&right), &[]).await;
    let path = format!("/v1/datasets/{id}/diff");
    let (status, diff) = server.get(&format!("{path}?from=1&to=2")).await;
    assert_eq!(status, 200, "{diff}");
    for (list, key) in [("added", "4"), ("removed", "1"), ("changed", "2"), ("unchanged", "3")] {
        assert_eq!(
            (&diff[list]["count"], &diff[list]["cases"][0]["key"]),
            (&json!(1), &json!(key)),
            "{list}"
        );
    }
    assert_eq!(diff["changed"]["cases"][0]["fields"], json!(["input"]));
    assert_eq!(diff["schema"]["added"][0]["name"], "level");
    let (_, page) = server.get(&format!("{path}?from=1&to=2&offset=1")).await;
    assert_eq!((&page["added"]["count"], &page["added"]["cases"]), (&json!(1), &json!([])));
    assert_eq!(server.get(&format!("{path}?from=1&to=3")).await.0, 404);
    for query in ["", "?from=1", "?from=0&to=1", "?from=1&to=2&limit=1001", "?from=a&to=1"] {
        assert_eq!(server.get(&format!("{path}{query}")).await.0, 422, "{query}");
    }
}
