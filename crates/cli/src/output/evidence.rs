//! What a score rests on, as lines for people: claims with their quotes, criteria of a card, members, orders, samples.

use fullbench_types::{Score, text_of};
use serde::Serialize;
use serde_json::{Map, Value};

/// One line: what it is, and what it says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct EvidenceLine {
    pub(crate) label: String,
    pub(crate) text: String,
}

impl EvidenceLine {
    fn new(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}

/// The evidence of a score; how sure its scorer is comes first.
pub(crate) fn lines(score: &Score) -> Vec<EvidenceLine> {
    let confidence = score.confidence.map(|sure| EvidenceLine::new("confidence", decimal(sure)));
    let mut lines: Vec<EvidenceLine> = confidence.into_iter().collect();
    match &score.evidence {
        Some(Value::Object(fields)) => {
            lines.extend(fields.iter().flat_map(|(name, value)| of_field(name, value)));
        }
        Some(Value::Array(items)) => lines.extend(items.iter().map(|item| of_item("", item))),
        Some(Value::Null) | None => {}
        Some(other) => lines.push(EvidenceLine::new("evidence", text_of(other))),
    }
    lines
}

fn of_field(name: &str, value: &Value) -> Vec<EvidenceLine> {
    match (name, value) {
        // What the score itself or its reason says already.
        ("overall" | "confidence" | "explanation" | "verdict", _) | (_, Value::Null) => Vec::new(),
        ("flipped", Value::Bool(flipped)) => {
            let told = flipped.then(|| EvidenceLine::new("orders", "they contradict each other"));
            told.into_iter().collect()
        }
        ("orders", Value::Array(orders)) => {
            let said = orders.iter().map(|order| match order.as_i64() {
                Some(1) => "better",
                Some(-1) => "worse",
                _ => "a tie",
            });
            let said: Vec<&str> = said.collect();
            vec![EvidenceLine::new("shown first, shown second", said.join(", "))]
        }
        ("feedback", Value::Object(fields)) => {
            fields.iter().flat_map(|(name, value)| of_field(name, value)).collect()
        }
        ("tiers", Value::Array(tiers)) => tiers.iter().flat_map(of_tier).collect(),
        ("route", Value::Object(route)) => of_route(route),
        ("similar", Value::Object(similar)) => {
            let cosine = similar.get("similarity").and_then(Value::as_f64).map(decimal);
            let case = similar.get("case").map(text_of).unwrap_or_default();
            let told = format!("case {case} · cosine {}", cosine.unwrap_or_default());
            vec![EvidenceLine::new("says the same", told)]
        }
        (_, Value::Array(items)) if items.is_empty() => Vec::new(),
        (_, Value::Array(items)) if items.iter().all(Value::is_number) => {
            let numbers: Vec<String> =
                items.iter().filter_map(Value::as_f64).map(decimal).collect();
            vec![EvidenceLine::new(name, numbers.join(", "))]
        }
        (_, Value::Array(items)) => items.iter().map(|item| of_item(name, item)).collect(),
        (_, Value::Number(number)) => {
            vec![EvidenceLine::new(name, number.as_f64().map(decimal).unwrap_or_default())]
        }
        (_, other) => vec![EvidenceLine::new(name, text_of(other))],
    }
}

/// What the scorers of a cascade's tier said, and why the output came there.
fn of_tier(tier: &Value) -> Vec<EvidenceLine> {
    let word = |name: &str| tier.get(name).and_then(Value::as_str).unwrap_or_default();
    let chance = tier.get("probability").and_then(Value::as_f64).map(decimal).unwrap_or_default();
    let came = format!("{} with a chance of {chance}", word("entry"));
    let scores = tier.get("scores").and_then(Value::as_array).into_iter().flatten();
    let line = |score: &Value| {
        let said = of_item("scores", score);
        let label = match said.label == word("tier") {
            true => said.label,
            false => format!("{}: {}", word("tier"), said.label),
        };
        EvidenceLine::new(label, format!("{} · {came}", said.text))
    };
    scores.map(line).collect()
}

/// Which of two judges gave the value, and why.
fn of_route(route: &Map<String, Value>) -> Vec<EvidenceLine> {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64).map(decimal);
    let complexity = route.get("complexity");
    let part = |name: &str| complexity.and_then(|complexity| complexity.get(name));
    let mut told = vec![format!("complexity {}", number(part("points")).unwrap_or_default())];
    for name in ["length", "ambiguity"] {
        told.extend(number(part(name)).map(|points| format!("{name} {points}")));
    }
    told.extend(part("domain").and_then(Value::as_str).map(|domain| format!("domain {domain}")));
    let judge = route.get("judge").and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![EvidenceLine::new(format!("{judge} judge"), told.join(" · "))];
    let strong = route.get("strong_judge_says").filter(|strong| strong.is_object());
    lines.extend(strong.map(|strong| EvidenceLine::new("strong judge", of_item("", strong).text)));
    lines
}

/// One of several: labelled by what tells it apart.
fn of_item(list: &str, item: &Value) -> EvidenceLine {
    let Value::Object(fields) = item else {
        return EvidenceLine::new(singular(list), text_of(item));
    };
    let text =
        |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = ["judge", "scorer", "name"].into_iter().find_map(text).map(str::to_owned);
    let word = ["verdict", "type"].into_iter().find_map(text).map(|word| word.replace('_', " "));
    let label = name.or(word).unwrap_or_else(|| singular(list));
    let mut parts = Vec::new();
    parts.extend(text("claim").or(text("content")).map(str::to_owned));
    parts.extend(text("quote").map(|quote| format!("“{quote}”")));
    parts.extend(points(fields));
    for name in ["weight", "relevance"] {
        let number = fields.get(name).and_then(Value::as_f64);
        parts.extend(number.map(|number| format!("{name} {}", decimal(number))));
    }
    parts.extend(text("band").map(|band| band.replace('_', " ")));
    parts.extend(text("outcome").or(text("unscored")).map(|word| word.replace('_', " ")));
    parts.extend(text("feedback").or(text("reasoning")).or(text("reason")).map(str::to_owned));
    parts.extend(text("reviewer").map(|reviewer| format!("scored by {reviewer}")));
    parts.extend(text("source").map(|source| format!("found by {source}")));
    let inner = fields.get("evidence").and_then(Value::as_array).into_iter().flatten();
    parts.extend(inner.map(|item| of_item("evidence", item).text));
    if parts.is_empty() {
        parts.push(item.to_string());
    }
    EvidenceLine::new(label, parts.join(" · "))
}

/// A score out of its maximum, or a value.
fn points(fields: &Map<String, Value>) -> Option<String> {
    let number = |name: &str| fields.get(name).and_then(Value::as_f64).map(decimal);
    match (number("score"), number("max_score")) {
        (Some(score), Some(most)) => Some(format!("{score} of {most}")),
        (Some(score), None) => Some(score),
        (None, _) => number("value"),
    }
}

/// At most four decimals, and none that say nothing.
fn decimal(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn singular(list: &str) -> String {
    match list {
        "" => "evidence".to_owned(),
        "weaknesses" => "weakness".to_owned(),
        "criteria" => "criterion".to_owned(),
        other => other.strip_suffix('s').unwrap_or(other).replace('_', " "),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(evidence: Value) -> Vec<String> {
        let score = Score { evidence: Some(evidence), ..Score::binary(true) };
        lines(&score).into_iter().map(|line| format!("{}: {}", line.label, line.text)).collect()
    }

    #[test]
    fn claims_come_with_their_quotes() {
        let evidence = json!({"claims": [
            {"claim": "It is blue.", "verdict": "not_found", "reasoning": "Nothing says so."},
            {"claim": "It is old.", "verdict": "supported", "quote": "built in 1889", "reasoning": "yes"}]});
        assert_eq!(
            told(evidence),
            [
                "not found: It is blue. · Nothing says so.",
                "supported: It is old. · “built in 1889” · yes"
            ]
        );
    }

    #[test]
    fn orders_members_and_samples_are_told() {
        assert_eq!(
            told(json!({"orders": [1, -1], "flipped": true})),
            ["shown first, shown second: better, worse", "orders: they contradict each other"]
        );
        assert_eq!(
            told(
                json!({"members": [{"judge": "g_eval gpt", "outcome": "scored", "value": 0.75, "reasoning": "fine"}]})
            ),
            ["g_eval gpt: 0.75 · scored · fine"]
        );
        assert_eq!(told(json!({"samples": [4.0, 4.5]})), ["samples: 4, 4.5"]);
        assert_eq!(told(json!({"reviewer": "ada"})), ["reviewer: ada"]);
    }

    #[test]
    fn a_card_tells_each_criterion() {
        let card = json!({"overall": 80.0, "criteria": [{"name": "accuracy", "score": 8.0, "max_score": 10.0,
            "weight": 0.5, "band": "good", "feedback": "close", "evidence": [{"type": "text_match",
            "content": "42", "relevance": 1.0, "source": "exact_match"}], "reviewer": "ada"}],
            "feedback": {"strengths": ["clear"], "weaknesses": [], "suggestions": [], "explanation": "ok"}});
        assert_eq!(
            told(card),
            [
                "accuracy: 8 of 10 · weight 0.5 · good · close · scored by ada · 42 · relevance 1 · found by exact_match",
                "strength: clear"
            ]
        );
    }

    #[test]
    fn what_users_return_is_shown_as_it_is() {
        assert_eq!(told(json!(["a", {"x": 1}])), ["evidence: a", "evidence: {\"x\":1}"]);
        assert_eq!(told(json!({"lines": 3, "note": "n", "none": null})), ["lines: 3", "note: n"]);
        assert_eq!(told(json!("plain")), ["evidence: plain"]);
    }
}
