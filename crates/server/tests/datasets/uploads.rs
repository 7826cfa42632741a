//! Uploads: what is kept of a file, and what is said of its rows.

use fullbench_engine::{FileFormat, SchemaBuilder, TableWriter};
use fullbench_server::ServerConfig;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::backend::{Place, on_every_backend};
use crate::common::{TestServer, answer};
use crate::entities::walk;
use crate::uploading::{dataset, form, lines, upload, uploaded};

on_every_backend!(
    a_file_becomes_cases_in_every_format,
    bad_rows_are_told_by_row_and_column_in_every_format,
    columns_can_be_named,
    a_form_that_is_not_right_is_refused,
    a_file_that_is_too_large_is_refused,
    the_same_upload_makes_one_version,
    twenty_megabytes_are_received,
    what_was_left_half_done_is_taken_up,
    a_file_that_ends_the_server_is_given_up,
);

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parquet(rows: &[Value]) -> Vec<u8> {
    let mut columns = SchemaBuilder::default();
    rows.iter().for_each(|row| columns.see(row.as_object().unwrap()));
    let mut table = TableWriter::new(Vec::new(), FileFormat::Parquet, &columns.schema()).unwrap();
    rows.iter().for_each(|row| table.write(row.as_object().unwrap()).unwrap());
    table.finish().unwrap()
}

async fn a_file_becomes_cases_in_every_format(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let rows = [
        json!({"id": "a", "prompt": "Why?", "expected_output": "Light", "category": "x"}),
        json!({"id": "b", "prompt": "Who, \"you\"?", "expected_output": null, "category": "y"}),
    ];
    let csv = "id,prompt,expected_output,category\na,Why?,Light,x\nb,\"Who, \"\"you\"\"?\",,y\n";
    let files: [(&str, &str, Vec<u8>); 4] = [
        ("a.csv", "CSV", csv.into()),
        ("a.json", "JSON", json!(rows).to_string().into()),
        ("a.NDJSON", "JSONL", lines(&rows)),
        ("a.parquet", "PARQUET", parquet(&rows)),
    ];
    for (index, (name, format, content)) in files.into_iter().enumerate() {
        let (path, version) = uploaded(&server, &id, name, &content, &[("description", "é")]).await;
        assert_eq!(version["validation_status"], "VALID", "{version}");
        assert_eq!(version["version_number"], index + 1);
        assert_eq!((&version["status"], &version["row_count"]), (&json!("DRAFT"), &json!(2)));
        assert_eq!(
            (&version["file_format"], &version["description"]),
            (&json!(format), &json!("é"))
        );
        assert_eq!(version["file_bytes"], content.len());
        assert_eq!(version["file_sha256"], json!(sha256(&content)));
        assert_eq!(version["schema"]["columns"][1]["name"], "prompt");
        assert_eq!(version["schema"]["columns"][1]["type"], "string");
        assert_eq!(version["schema_hash"].as_str().unwrap().len(), 64);
        let uri = version["file_uri"].as_str().unwrap();
        assert!(uri.starts_with(&format!("file://datasets/{id}/")), "{uri}");
        let (_, cases) = server.get(&format!("{path}/cases")).await;
        let first = &cases["cases"][0];
        assert_eq!((&first["case_key"], &first["input"]), (&json!("a"), &json!("Why?")));
        assert_eq!(
            (&first["expected_output"], &first["metadata"]),
            (&json!("Light"), &json!({"category": "x"}))
        );
        let second = &cases["cases"][1];
        assert_eq!(
            (&second["input"], &second["expected_output"]),
            (&json!("Who, \"you\"?"), &json!(null))
        );
        assert_eq!((&second["row_index"], &cases["total"]), (&json!(1), &json!(2)));
        let (_, one) =
            server.get(&format!("{path}/cases/{}", first["test_case_id"].as_str().unwrap())).await;
        assert_eq!(&one, first);
    }
}

async fn bad_rows_are_told_by_row_and_column_in_every_format(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let rows = [
        json!({"id": "a", "input": "x"}),
        json!({"id": "b", "input": null}),
        json!({"id": "a", "input": "z"}),
    ];
    let told = |version: &Value| -> Vec<(Value, Value, Value)> {
        let errors = version["validation_errors"].as_array().unwrap().iter();
        errors.map(|e| (e["row"].clone(), e["column"].clone(), e["code"].clone())).collect()
    };
    let expected = vec![
        (json!(2), json!("input"), json!("missing_input")),
        (json!(3), json!("id"), json!("duplicate_id")),
    ];
    let mut broken = lines(&rows);
    broken.extend_from_slice(b"{\"id\": \n");
    let csv = "id,input\na,x\nb,\na,z\n";
    let files: [(&str, Vec<u8>, usize); 8] = [
        ("a.csv", csv.into(), 2),
        ("a.json", json!(rows).to_string().into(), 2),
        ("a.jsonl", lines(&rows), 2),
        ("a.parquet", parquet(&rows), 2),
        ("b.jsonl", broken, 3),
        ("b.json", b"[{\"input\": 1}, ".into(), 1),
        ("b.parquet", b"PAR1 or not".into(), 1),
        ("b.csv", Vec::new(), 1),
    ];
    for (name, content, count) in files {
        let (path, version) = uploaded(&server, &id, name, &content, &[]).await;
        assert_eq!(version["validation_status"], "INVALID", "{name}");
        assert_eq!(version["error_count"], count, "{name}: {version}");
        if name.starts_with('a') {
            assert_eq!(told(&version), expected, "{name}");
        }
        for message in version["validation_errors"].as_array().unwrap() {
            let home = server.place.home().to_str().unwrap();
            assert!(!message.to_string().contains(home), "{message}");
        }
        let (status, problem) = server.get(&format!("{path}/cases")).await;
        assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
        for path in [format!("{path}/download"), format!("/v1/datasets/{id}/diff?from=1&to=1")] {
            assert_eq!(server.get(&path).await.0, 409);
        }
        assert_eq!(server.post(&format!("{path}/sample"), json!({"size": 1})).await.0, 409);
    }
    let (_, listed) = server.get(&format!("/v1/datasets/{id}/versions?limit=3&offset=1")).await;
    assert_eq!((&listed["total"], &listed["has_more"]), (&json!(8), &json!(true)));
}

async fn columns_can_be_named(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let content =
        lines(&[json!({"nr": 7, "q": "Why?", "gold": "Light", "also": "Rays", "input": "no"})]);
    let fields = [
        ("format", "jsonl"),
        ("input", "q"),
        ("reference", "gold"),
        ("reference", "also"),
        ("id", "nr"),
    ];
    let (path, version) = uploaded(&server, &id, "data", &content, &fields).await;
    assert_eq!(version["validation_status"], "VALID", "{version}");
    let (_, cases) = server.get(&format!("{path}/cases")).await;
    let case = &cases["cases"][0];
    assert_eq!((&case["case_key"], &case["input"]), (&json!("7"), &json!("Why?")));
    assert_eq!(case["expected_output"], "Light");

    let fields = [("input", "question"), ("reference", "golden")];
    let (_, version) = uploaded(&server, &id, "data.jsonl", &content, &fields).await;
    let codes: Vec<_> =
        version["validation_errors"].as_array().unwrap().iter().map(|e| &e["code"]).collect();
    assert_eq!(codes, [&json!("missing_input"), &json!("unknown_field")]);
}

async fn a_form_that_is_not_right_is_refused(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let file: Option<(&str, &[u8])> = Some(("x.jsonl", b"{\"input\": 1}\n"));
    let long = "x".repeat(10_001);
    for (fields, file, field) in [
        (vec![], None, "file"),
        (vec![], Some(("x.tsv", b"input".as_slice())), "format"),
        (vec![("format", "tsv")], file, "format"),
        (vec![("input", "")], file, "input"),
        (vec![("id", "a"), ("id", "b")], file, "id"),
        (vec![("description", long.as_str())], file, "description"),
        (vec![("more", "x")], file, "more"),
        (vec![("reference", "x"); 17], file, "reference"),
    ] {
        let (status, problem) = answer(upload(&server, &id, form(&fields, file))).await;
        assert_eq!(status, 422, "{fields:?}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    let whole = form(&[], file);
    let cut = whole[..whole.len() - 12].to_vec();
    let (status, problem) = answer(upload(&server, &id, cut)).await;
    assert_eq!((status, &problem["code"]), (400, &json!("malformed_request")), "{problem}");
    let (status, problem) = server.post(&format!("/v1/datasets/{id}/versions"), json!({})).await;
    assert_eq!((status, &problem["code"]), (415, &json!("unsupported_media_type")));
    let bare = server
        .request("POST", &format!("/v1/datasets/{id}/versions"))
        .header("content-type", "multipart/form-data");
    assert_eq!(answer(bare.body(whole)).await.0, 400);
    assert_eq!(server.get(&format!("/v1/datasets/{id}/versions")).await.1["total"], 0);
    assert_eq!(walk(&server.place.home().join("incoming")), 0);
    assert_eq!(walk(&server.place.home().join("files")), 0, "nothing is left of what was refused");
}

async fn a_file_that_is_too_large_is_refused(place: Place) {
    let config = ServerConfig { max_upload_bytes: 1 << 20, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let id = dataset(&server, "d").await;
    for bytes in [(1 << 20) + 1, 3 << 20] {
        let content = vec![b'x'; bytes];
        let form = form(&[("format", "jsonl")], Some(("x", &content)));
        let (status, problem) = answer(upload(&server, &id, form)).await;
        assert_eq!((status, &problem["code"]), (413, &json!("too_large")), "{problem}");
    }
    assert_eq!(walk(&server.place.home().join("incoming")), 0);
    let row = format!("{{\"input\": \"{}\"}}", "x".repeat((1 << 20) - 13));
    assert_eq!(row.len(), 1 << 20);
    let (_, version) = uploaded(&server, &id, "x.jsonl", row.as_bytes(), &[]).await;
    assert_eq!(version["validation_status"], "VALID", "{version}");
}

async fn the_same_upload_makes_one_version(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let send = || {
        let form = form(&[], Some(("x.jsonl", b"{\"input\": 1}\n")));
        upload(&server, &id, form).header("idempotency-key", "k1")
    };
    let (status, first) = answer(send()).await;
    assert_eq!(status, 202, "{first}");
    assert_eq!(answer(send()).await, (202, first.clone()));
    let other = form(&[], Some(("x.jsonl", b"{\"input\": 12345}\n")));
    let other = upload(&server, &id, other).header("idempotency-key", "k1");
    assert_eq!(answer(other).await.0, 422);
    let as_long = form(&[], Some(("x.jsonl", b"{\"input\": 2}\n")));
    let as_long = upload(&server, &id, as_long).header("idempotency-key", "k1");
    let (status, problem) = answer(as_long).await;
    assert_eq!((status, &problem["code"]), (422, &json!("idempotency_key_reused")), "{problem}");
    let (_, versions) = server.get(&format!("/v1/datasets/{id}/versions")).await;
    assert_eq!(
        (&versions["total"], &versions["versions"][0]["version_id"]),
        (&json!(1), &first["version_id"])
    );
    let path = format!("/v1/datasets/{id}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "VALID").await;
}

async fn twenty_megabytes_are_received(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let text = "word ".repeat(200);
    let mut content = Vec::with_capacity(21 << 20);
    let mut count = 0;
    while content.len() < 20 << 20 {
        content.extend_from_slice(format!("{{\"input\": \"{count} {text}\"}}\n").as_bytes());
        count += 1;
    }
    let (path, version) = uploaded(&server, &id, "x.jsonl", &content, &[]).await;
    assert_eq!(
        (&version["validation_status"], &version["row_count"]),
        (&json!("VALID"), &json!(count))
    );
    assert_eq!(version["file_sha256"], json!(sha256(&content)));
    let (_, last) = server.get(&format!("{path}/cases?offset={}", count - 1)).await;
    assert!(
        last["cases"][0]["input"].as_str().unwrap().starts_with(&format!("{} word", count - 1))
    );
    let original = server.request("GET", &format!("{path}/download?format=original"));
    assert!(original.send().await.unwrap().bytes().await.unwrap() == content);
}

async fn what_was_left_half_done_is_taken_up(place: Place) {
    let mut server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let (path, version) =
        uploaded(&server, &id, "x.jsonl", b"{\"input\": 1}\n", &[("reference", "y")]).await;
    assert_eq!(version["error_count"], 1, "{version}");
    let (valid, _) =
        uploaded(&server, &id, "y.jsonl", b"{\"input\": 1}\n{\"input\": 2}\n", &[]).await;
    server.stop().await;
    // As a server leaves it that is killed while it looks at the rows.
    server
        .place
        .execute("UPDATE dataset_versions SET validation_status = 'PENDING', content_hash = NULL")
        .await
        .unwrap();
    let files = server.place.home().join("files");
    let incoming = server.place.home().join("incoming");
    std::fs::create_dir_all(&incoming).unwrap();
    std::fs::write(incoming.join("half"), "half").unwrap();
    let organization = std::fs::read_dir(&files).unwrap().map(|entry| entry.unwrap().path());
    let organization = organization.into_iter().next().unwrap();
    let orphan = organization.join(&id).join("00000000-0000-7000-8000-000000000000");
    std::fs::create_dir_all(&orphan).unwrap();
    std::fs::write(orphan.join("data.jsonl"), "whole, but of no version").unwrap();
    assert_eq!((walk(&files), walk(&incoming)), (3, 1));
    server.restart().await;
    assert_eq!((walk(&files), walk(&incoming)), (2, 0));
    let looked_at = |version: &Value| version["validation_status"] != "PENDING";
    let version = server.wait(&path, looked_at).await;
    assert_eq!(version["validation_errors"][0]["column"], "y", "it is read as it was to be");
    let version = server.wait(&valid, looked_at).await;
    assert_eq!(version["validation_status"], "VALID");
    let (_, cases) = server.get(&format!("{valid}/cases")).await;
    assert_eq!((&cases["total"], cases["cases"].as_array().unwrap().len()), (&json!(2), 2));
}

async fn a_file_that_ends_the_server_is_given_up(place: Place) {
    let mut server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let (path, _) = uploaded(&server, &id, "x.jsonl", b"{\"input\": 1}\n", &[]).await;
    let looked_at = |version: &Value| version["validation_status"] != "PENDING";
    for (killed, status) in [(2, "VALID"), (3, "INVALID")] {
        server.stop().await;
        // As servers leave it that were killed while they looked at the rows.
        let sql = format!(
            "UPDATE dataset_versions SET validation_status = 'PENDING', content_hash = NULL, \
             validation_attempts = {killed}"
        );
        server.place.execute(&sql).await.unwrap();
        server.restart().await;
        let version = server.wait(&path, looked_at).await;
        assert_eq!(version["validation_status"], status, "{killed} times: {version}");
    }
    let (_, version) = server.get(&path).await;
    let problem = &version["validation_errors"][0];
    assert_eq!((&problem["code"], &version["error_count"]), (&json!("unreadable"), &json!(1)));
    assert!(problem["message"].as_str().unwrap().contains("3 times"), "{problem}");
    assert_eq!(server.get(&format!("{path}/cases")).await.0, 409);
}
