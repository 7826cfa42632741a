//! Answers that were agreed on.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::{TestServer, answer, with_json};
use crate::uploading::{dataset, numbered};

on_every_backend!(agreed_answers_are_added_and_take_the_place_of_references);

async fn agreed_answers_are_added_and_take_the_place_of_references(place: Place) {
    let server = TestServer::start(place).await;
    let id = dataset(&server, "d").await;
    let path = numbered(&server, &id, 3).await;
    assert_eq!(server.post(&format!("{path}/publish"), json!({})).await.0, 200);
    let (_, cases) = server.get(&format!("{path}/cases")).await;
    let truth = |index: usize| {
        let case = cases["cases"][index]["test_case_id"].as_str().unwrap();
        format!("{path}/cases/{case}/ground-truth")
    };
    let (status, nothing) = server.get(&truth(0)).await;
    assert_eq!((status, &nothing["current"], &nothing["total"]), (200, &json!(null), &json!(0)));

    let first = json!({"value": {"answer": "zero"}, "source": "EXPERT", "confidence": 0.5});
    let send = || {
        let request = server.request("POST", &truth(0)).header("idempotency-key", "once");
        with_json(request, &first)
    };
    let (status, added) = answer(send()).await;
    assert_eq!(status, 201, "{added}");
    assert_eq!((&added["revision"], &added["value"]), (&json!(1), &json!({"answer": "zero"})));
    assert_eq!(answer(send()).await, (201, added.clone()));
    let second = json!({"value": {"answer": "0", "acceptable_answers": ["0", "null"]}, "source": "HUMAN_CONSENSUS"});
    let (_, second) = server.post(&truth(0), second).await;
    let rubric = json!({"value": {"rubric": {"1": "bad\u{0}"}}, "source": "AUTOMATED"});
    assert_eq!(server.post(&truth(1), rubric).await.0, 201);
    let other = json!({"value": {"answer": "deux"}, "source": "IMPORTED"});
    assert_eq!(server.post(&truth(2), other).await.0, 201);

    let (_, history) = server.get(&truth(0)).await;
    assert_eq!((&history["current"], &history["history"]), (&second, &json!([second, added])));
    let (_, page) = server.get(&format!("{}?limit=1&offset=1", truth(0))).await;
    assert_eq!(
        (&page["history"], &page["total"], &page["has_more"]),
        (&json!([added]), &json!(2), &json!(false))
    );
    assert_eq!(server.get(&path).await.1["ground_truth_revision"], 4);

    // Evaluations see them; the published rows stay as they are.
    let references = async |query: &str| -> Vec<Value> {
        let request = server.request("GET", &format!("{path}/download?format=jsonl{query}"));
        let text = request.send().await.unwrap().text().await.unwrap();
        let rows = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        rows.map(|row| row["expected_output"].clone()).collect()
    };
    assert_eq!(references("").await, [json!("0"), json!("1"), json!("2")]);
    let agreed = [json!(["0", "null"]), json!("1"), json!("deux")];
    assert_eq!(references("&ground_truth=true").await, agreed);
    assert_eq!(references("&ground_truth=true").await, agreed);
    for format in ["csv", "parquet", "json"] {
        let request =
            server.request("GET", &format!("{path}/download?format={format}&ground_truth=true"));
        assert_eq!(request.send().await.unwrap().status(), 200);
    }
    assert_eq!(
        server.get(&format!("{path}/download?format=original&ground_truth=true")).await.0,
        422
    );
    assert_eq!(server.get(&format!("{path}/cases")).await.1, cases);

    for (wrong, field) in [
        (json!({"value": {}, "source": "EXPERT"}), "value"),
        (json!({"value": {"answer": 1}, "source": "EXPERT"}), "value.answer"),
        (json!({"value": {"answer": null}, "source": "EXPERT"}), "value.answer"),
        (
            json!({"value": {"acceptable_answers": []}, "source": "EXPERT"}),
            "value.acceptable_answers",
        ),
        (json!({"value": {"answer": "x"}, "source": "ME"}), "source"),
        (json!({"value": {"answer": "x"}, "source": "EXPERT", "confidence": 1.5}), "confidence"),
    ] {
        let (status, problem) = server.post(&truth(0), wrong).await;
        assert_eq!(status, 422, "{problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{problem}");
    }
}
