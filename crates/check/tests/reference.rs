//! A small study: values of scikit-learn, krippendorff, scipy and statsmodels (`tests/reference/stats/check.py`).
//!
//! `FULLBENCH_STATS_REFERENCE` names another folder of reference values, made with another seed.
#![allow(clippy::unwrap_used)]

use fullbench_analysis::Measured;
use fullbench_check::{
    Agreement, Card, CardOptions, CorrelationLevel, Estimate, Example, Judged, Observed, Probe,
    ProbeCase, ProbeOptions, Rating, card, probes,
};
use serde_json::Value;

fn reference() -> Value {
    let folder = std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats").to_owned()
    });
    serde_json::from_str(&std::fs::read_to_string(format!("{folder}/check.json")).unwrap()).unwrap()
}

fn study(reference: &Value) -> Card {
    let given = reference["examples"].as_array().unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
    };
    let examples: Vec<Example> = given
        .iter()
        .enumerate()
        .map(|(index, one)| {
            let ratings = numbers(&one["ratings"]).into_iter().enumerate();
            let rating = |(person, value)| Rating { annotator: format!("person {person}"), value };
            Example {
                id: index.to_string(),
                input: format!("question {index}"),
                output: "Word. ".repeat(one["words"].as_u64().unwrap() as usize),
                system: Some(one["system"].as_str().unwrap().to_owned()),
                ratings: ratings.map(rating).collect(),
                ..Example::default()
            }
        })
        .collect();
    let plan = ProbeOptions {
        sample: examples.len(),
        attacks: false,
        formats: false,
        ..Default::default()
    };
    let cases = probes(&examples, Judged::Single, &plan);
    let value = |case: &ProbeCase| match case.probe {
        Probe::Base => given[case.example]["judge"].as_f64(),
        Probe::Retest => given[case.example]["retests"][case.round as usize - 1].as_f64(),
        _ => given[case.example]["padded"].as_f64(),
    };
    // In any order.
    let observed: Vec<Observed> = cases
        .iter()
        .enumerate()
        .rev()
        .map(|(case, probe)| Observed { case, value: value(probe), ..Observed::default() })
        .collect();
    let options = CardOptions {
        model: "gpt-4.1".to_owned(),
        levels: Some(5),
        mark: reference["mark"].as_f64(),
        rounds: 500,
        ..CardOptions::default()
    };
    card(&examples, &cases, &observed, &options)
}

#[track_caller]
fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= 1e-9, "{found} is not {expected}");
}

/// The value and, where the reference has them, the ends of the interval.
#[track_caller]
fn same(found: &Measured<Estimate>, expected: &Value) {
    let found = found.value().unwrap();
    match expected.as_array() {
        None => close(found.value, expected),
        Some(numbers) => {
            let interval = found.interval.value().unwrap();
            close(found.value, &numbers[0]);
            close(interval.low, &numbers[1]);
            close(interval.high, &numbers[2]);
        }
    }
}

#[test]
fn the_card_equals_the_libraries() {
    let reference = reference();
    let expected = &reference["card"];
    let card = study(&reference);
    let Agreement::Single(found) = &card.agreement else { panic!("scores") };
    same(&found.kappa, &expected["kappa"]);
    same(&found.verdict_kappa, &expected["verdict_kappa"]);
    same(&found.alpha, &expected["alpha"]);
    same(&found.alpha_among_people, &expected["alpha_among_people"]);
    same(&found.alpha_of_people, &expected["alpha_of_people"]);
    let table = &found.verdicts.value().unwrap().confusion.table;
    assert_eq!(serde_json::to_value(table).unwrap(), expected["verdicts"]);
    for (level, name) in [(CorrelationLevel::Item, "items"), (CorrelationLevel::System, "systems")]
    {
        let lines: Vec<_> = found.correlations.iter().filter(|line| line.level == level).collect();
        assert_eq!(lines.len(), 3);
        for (line, expected) in lines.iter().zip(expected[name].as_array().unwrap()) {
            close(line.estimate.value().unwrap().value, expected);
        }
    }
    let bias = found.bias.value().unwrap();
    close(bias.mean_difference, &expected["bias"][0]);
    close(bias.interval.as_ref().unwrap().low, &expected["bias"][1]);
    close(found.bias_slope.value().unwrap().slope, &expected["bias_slope"][0]);
    close(found.bias_slope.value().unwrap().interval.high, &expected["bias_slope"][2]);
    same(&card.retest.within_deviation, &expected["within_deviation"]);
    same(&card.retest.changed_verdicts, &expected["changed_verdicts"]);
    same(&card.verbosity.slope, &expected["verbosity_slope"]);
    same(&card.verbosity.padded.mean, &expected["padded"]);
    same(&card.verbosity.padded.mean_size, &expected["padded_size"]);
    same(&card.self_preference.difference, &expected["self_preference"]);
}
