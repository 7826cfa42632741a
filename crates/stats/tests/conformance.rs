//! Intervals against reference values of scipy and statsmodels.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use fullbench_stats::compare::{mcnemar_exact, student_t};
use fullbench_stats::validity::{Coefficient, correlation};
use fullbench_stats::{ClusterSums, Moments, mean_interval, wilson_interval};
use serde_json::Value;

fn reference() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/conformance.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn wilson_equals_statsmodels() {
    let reference = reference();
    let table = &reference["ab"]["beta_binomial"];
    for (successes, count, name) in [(150, 1000, "wilson_B"), (0, 10, "wilson_0_of_10")] {
        let interval = wilson_interval(successes, count, 0.95).unwrap();
        let expected = numbers(&table[name]);
        assert!((interval.low - expected[0]).abs() < 1e-9, "{name}: {interval:?}");
        assert!((interval.high - expected[1]).abs() < 1e-9, "{name}: {interval:?}");
    }
    assert!(wilson_interval(0, 0, 0.95).is_err());
}

#[test]
fn standard_errors_equal_the_reference() {
    let reference = reference();
    let table = &reference["ab"]["clustered_se"];
    let scores = numbers(&table["scores"]);
    let mut clusters: BTreeMap<u64, (f64, u64)> = BTreeMap::new();
    for (group, score) in numbers(&table["groups"]).iter().zip(&scores) {
        let cluster = clusters.entry(*group as u64).or_default();
        cluster.0 += score;
        cluster.1 += 1;
    }
    let mut sums = ClusterSums::default();
    clusters.values().for_each(|&(sum, count)| sums.add(sum, count));
    let corrected = table["statsmodels_CR1"].as_f64().unwrap();
    assert!((sums.standard_error().unwrap() - corrected).abs() < 1e-9);

    // Miller (2024) leaves out the correction for the number of clusters.
    let count = clusters.len() as f64;
    let uncorrected = sums.standard_error().unwrap() * ((count - 1.0) / count).sqrt();
    for name in ["se_cluster_miller", "statsmodels_nocorr"] {
        assert!((uncorrected - table[name].as_f64().unwrap()).abs() < 1e-9, "{name}");
    }

    let moments: Moments = scores.iter().copied().collect();
    let plain = (moments.variance().unwrap() / scores.len() as f64).sqrt();
    assert!((plain - table["se_clt"].as_f64().unwrap()).abs() < 1e-9);
}

/// `scipy.stats.t.interval(0.95, 4, mean, sem)` of 1..=5.
#[test]
fn mean_interval_equals_scipy() {
    let moments: Moments = (1..=5).map(f64::from).collect();
    let interval = mean_interval(&moments, 0.95).unwrap();
    assert!((interval.low - 1.036_756_838_522_439).abs() < 1e-9);
    assert!((interval.high - 4.963_243_161_477_561).abs() < 1e-9);
}

#[test]
fn student_correlation_and_mcnemar_equal_scipy() {
    let reference = reference();
    let table = &reference["ab"]["welch"];
    let (first, second) = (numbers(&table["A"]), numbers(&table["B"]));
    let close = |value: f64, name: &str| {
        assert!((value - table[name].as_f64().unwrap()).abs() < 1e-9, "{name}: {value}");
    };
    close(student_t(&first, &second, 0.95).unwrap().p_value, "student_p");
    close(correlation(Coefficient::Pearson, &first, &second).unwrap(), "corr");
    let table = &reference["ab"]["mcnemar"];
    let count = |name: &str| table[name].as_u64().unwrap();
    let p = mcnemar_exact(count("b01"), count("b10")).unwrap();
    assert!((p - table["exact_p"].as_f64().unwrap()).abs() < 1e-9, "{p}");
}
