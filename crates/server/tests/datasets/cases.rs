//! Pages of cases, filters and samples.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::uploading::{dataset, lines, numbered, uploaded};

on_every_backend!(
    offset_and_cursor_give_the_same_cases,
    a_filter_lets_through_what_it_says,
    a_sample_is_the_same_for_the_same_seed,
);

fn keys(page: &Value) -> Vec<String> {
    let cases = page["cases"].as_array().unwrap().iter();
    cases.map(|case| case["case_key"].as_str().unwrap().to_owned()).collect()
}

/// All cases by offset, which must be those by cursor.
async fn both_ways(client: &TestServer, path: &str, filter: &str, limit: usize) -> Vec<String> {
    let (mut by_offset, mut by_cursor) = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    loop {
        let offset = by_offset.len();
        let query = format!("{path}/cases?limit={limit}&offset={offset}{filter}");
        let (status, page) = client.get(&query).await;
        assert_eq!(status, 200, "{page}");
        let (_, same) = client.get(&format!("{path}/cases?limit={limit}{cursor}{filter}")).await;
        assert_eq!(page, same);
        by_offset.extend(keys(&page));
        by_cursor.extend(keys(&same));
        assert_eq!(page["has_more"], page["total"] != by_offset.len());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => {
                assert_eq!(page["has_more"], false);
                assert_eq!((&page["total"], &by_offset), (&json!(by_offset.len()), &by_cursor));
                return by_offset;
            }
        }
    }
}

async fn offset_and_cursor_give_the_same_cases(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = numbered(&server, &id, 1203).await;
    let expected: Vec<String> = (0..1203).map(|number| format!("case-{number}")).collect();
    for limit in [1000, 401] {
        assert_eq!(both_ways(&server, &path, "", limit).await, expected);
    }
    let (_, usual) = server.get(&format!("{path}/cases")).await;
    assert_eq!(keys(&usual), expected[..50]);
    let (_, past) = server.get(&format!("{path}/cases?offset=5000")).await;
    assert_eq!(
        (keys(&past).len(), &past["total"], &past["has_more"]),
        (0, &json!(1203), &json!(false))
    );

    let other = numbered(&server, &id, 60).await;
    let cursor = usual["next_cursor"].as_str().unwrap();
    for query in [
        format!("{other}/cases?cursor={cursor}"),
        format!("{path}/cases?cursor={cursor}&offset=1"),
        format!("{path}/cases?cursor=nothing"),
        format!("{path}/cases?limit=0"),
        format!("{path}/cases?limit=1001"),
    ] {
        assert_eq!(server.get(&query).await.0, 422, "{query}");
    }
    for missing in ["00000000-0000-7000-8000-000000000000", "x"] {
        assert_eq!(server.get(&format!("{path}/cases/{missing}")).await.0, 404);
    }
    // A case is one of its own version only.
    let case = usual["cases"][0]["test_case_id"].as_str().unwrap();
    assert_eq!(server.get(&format!("{other}/cases/{case}")).await.0, 404);
    for version in ["0", "3", "99999999999", "-1", "x"] {
        assert_eq!(server.get(&format!("/v1/datasets/{id}/versions/{version}/cases")).await.0, 404);
    }
}

async fn a_filter_lets_through_what_it_says(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = numbered(&server, &id, 100).await;
    let written = |filter: &Value| {
        let text = filter.to_string();
        let encoded: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
        format!("&filter={encoded}")
    };
    let law = written(&json!({"category": "law", "level": {"$gte": 5}}));
    let expected: Vec<String> = (0..100)
        .filter(|number| number % 3 == 1 && number % 7 >= 5)
        .map(|number| format!("case-{number}"))
        .collect();
    for limit in [1000, 4, 1] {
        assert_eq!(both_ways(&server, &path, &law, limit).await, expected);
    }
    let none = written(&json!({"category": "none"}));
    assert_eq!(both_ways(&server, &path, &none, 10).await.len(), 0);
    for wrong in [json!([]), json!({"a": {"$what": 1}}), json!({"a": "x".repeat(4096)})] {
        let (status, problem) =
            server.get(&format!("{path}/cases?limit=1{}", written(&wrong))).await;
        assert_eq!(status, 422, "{problem}");
        let field = problem["errors"][0]["field"].as_str().unwrap();
        assert!(field.starts_with("filter"), "{problem}");
    }
    assert_eq!(server.get(&format!("{path}/cases?filter=%7B")).await.0, 422);
}

async fn a_sample_is_the_same_for_the_same_seed(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = format!("{}/sample", numbered(&server, &id, 90).await);
    let (status, drawn) = server.post(&path, json!({"size": 10})).await;
    assert_eq!((status, &drawn["sample_size"]), (200, &json!(10)), "{drawn}");
    assert!(drawn.get("strata").is_none());
    let (_, again) = server.post(&path, json!({"size": 10, "seed": drawn["seed"]})).await;
    assert_eq!(again, drawn);
    let (_, other) = server.post(&path, json!({"size": 10, "seed": 1})).await;
    assert_ne!(keys(&other), keys(&server.post(&path, json!({"size": 10, "seed": 2})).await.1));

    let by = json!({"size": 30, "strategy": "stratified", "stratify_by": "category", "seed": 3});
    let (_, drawn) = server.post(&path, by).await;
    for stratum in drawn["strata"].as_array().unwrap() {
        assert_eq!((&stratum["cases"], &stratum["sampled"]), (&json!(30), &json!(10)), "{stratum}");
    }
    let (_, all) = server.post(&path, json!({"size": 10_000})).await;
    assert_eq!(all["sample_size"], 90);
    for (wrong, field) in [
        (json!({"size": 0}), "size"),
        (json!({"size": 10_001}), "size"),
        (json!({"size": 1, "strategy": "stratified"}), "stratify_by"),
        (json!({"size": 1, "strategy": "stratified", "stratify_by": "nothing"}), "stratify_by"),
        (json!({"size": 1, "stratify_by": "category"}), "stratify_by"),
        (json!({"size": 1, "seed": 1_u64 << 60}), "seed"),
        (json!({"size": 1, "strategy": "first"}), "strategy"),
    ] {
        let (status, problem) = server.post(&path, wrong.clone()).await;
        assert_eq!(status, 422, "{wrong}");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
    // Metadata counts as a field too.
    let rows = [
        json!({"input": "a", "metadata": {"tag": "x"}}),
        json!({"input": "b", "metadata": {"tag": "y"}}),
    ];
    let (path, _) = uploaded(&server, &id, "m.jsonl", &lines(&rows), &[]).await;
    let by = json!({"size": 2, "strategy": "stratified", "stratify_by": "tag"});
    assert_eq!(
        server.post(&format!("{path}/sample"), by).await.1["strata"].as_array().unwrap().len(),
        2
    );
}
