//! Judges against people: reference values of scipy, statsmodels, scikit-learn and ppi-python, and examples by hand.
//!
//! `FULLBENCH_STATS_REFERENCE` names another folder of reference values, made with another seed.
#![allow(clippy::unwrap_used)]

use fullbench_stats::validity::{
    Against, Coefficient, PartlyLabelled, Resampled, Resampling, bias, bias_slope,
    clustered_interval, confusion, correlate, group_correlation, prediction_powered_difference,
    prediction_powered_mean, robust_line, system_correlations,
};
use serde_json::Value;

fn reference() -> Value {
    let folder = std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats").to_owned()
    });
    let text = std::fs::read_to_string(format!("{folder}/validity.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cases(reference: &Value, name: &str) -> Vec<Value> {
    reference[name].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn codes(value: &Value) -> Vec<u32> {
    numbers(value).into_iter().map(|number| number as u32).collect()
}

#[track_caller]
fn close(found: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

const NAMES: [(Coefficient, &str); 3] = [
    (Coefficient::Pearson, "pearson"),
    (Coefficient::Spearman, "spearman"),
    (Coefficient::Kendall, "kendall_tau_b"),
];

#[test]
fn correlations_equal_scipy() {
    for case in cases(&reference(), "correlations") {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        for (coefficient, name) in NAMES {
            let found = correlate(coefficient, &x, &y, 0.95).unwrap();
            close(found.value, &case[name][0], 1e-12);
            close(found.p_value.unwrap(), &case[name][1], 1e-9);
            let interval = found.interval.unwrap();
            close(interval.low, &case[name][2], 1e-9);
            close(interval.high, &case[name][3], 1e-9);
        }
    }
}

#[test]
fn correlations_by_group_and_system_equal_scipy() {
    let resampling = Resampling { rounds: 200, ..Resampling::default() };
    for case in cases(&reference(), "levels") {
        let (x, y) = (numbers(&case["x"]), numbers(&case["y"]));
        let (groups, systems) = (codes(&case["groups"]), codes(&case["systems"]));
        for (coefficient, name) in NAMES {
            let expected = &case[name];
            let found = group_correlation(coefficient, &x, &y, &groups, &resampling).unwrap();
            close(found.value, &expected["mean"], 1e-12);
            close(found.p_value.unwrap(), &expected["p"], 1e-9);
            let counts = [found.groups, found.single, found.without_variation];
            let names = ["groups", "single", "constant"];
            assert_eq!(names.map(|name| expected[name].as_u64().unwrap() as usize), counts);
            let interval = clustered_interval(coefficient, &x, &y, &groups, 0.95).unwrap();
            close(interval.low, &expected["clustered"][0], 1e-6);
            close(interval.high, &expected["clustered"][1], 1e-6);

            let items: Vec<u32> = (0..x.len() as u32).collect();
            let both = Resampled::Both;
            let found =
                system_correlations(&[coefficient], &x, &y, &systems, &items, both, &resampling);
            let found = found.unwrap().remove(0).unwrap();
            close(found.value, &expected["system"], 1e-12);
            close(found.p_value.unwrap(), &expected["system_p"], 1e-9);
        }
    }
}

#[test]
fn bias_equals_statsmodels() {
    for case in cases(&reference(), "bias") {
        let (judge, human) = (numbers(&case["judge"]), numbers(&case["human"]));
        let clusters = codes(&case["clusters"]);
        let plain = bias(&judge, &human, None, 0.95).unwrap();
        close(plain.mean_difference, &case["mean"], 1e-12);
        close(plain.standard_deviation, &case["sd"], 1e-12);
        let interval = plain.interval.unwrap();
        close(interval.low, &case["interval"][0], 1e-9);
        close(interval.high, &case["interval"][1], 1e-9);
        let limits = plain.limits.unwrap();
        let reach = 1.959_963_984_540_054 * plain.standard_deviation;
        assert!((limits.high - plain.mean_difference - reach).abs() < 1e-12);
        let grouped = bias(&judge, &human, Some(&clusters), 0.95).unwrap().interval.unwrap();
        close(grouped.low, &case["clustered_interval"][0], 1e-9);
        close(grouped.high, &case["clustered_interval"][1], 1e-9);

        for (against, name) in [(Against::Mean, "mean"), (Against::Human, "human")] {
            for (clusters, robust) in [(None, "HC3"), (Some(&clusters[..]), "cluster")] {
                let found = bias_slope(&judge, &human, against, clusters, 0.95).unwrap();
                let expected = &case[format!("{name}_{robust}")];
                let (low, high) = (found.interval.low, found.interval.high);
                let numbers =
                    [found.intercept, found.slope, found.standard_error, low, high, found.p_value];
                // statsmodels gives HC3 with t quantiles of n − 2 degrees, clusters with those of clusters − 1.
                for (index, number) in numbers.into_iter().enumerate() {
                    close(number, &expected[index], 1e-9);
                }
            }
        }

        let differences: Vec<f64> = judge.iter().zip(&human).map(|(a, b)| a - b).collect();
        for (clusters, robust) in [(None, "HC3"), (Some(&clusters[..]), "cluster")] {
            let found = robust_line(&human, &differences, clusters, 0.95).unwrap();
            let expected = &case[format!("human_{robust}")];
            close(found.slope, &expected[1], 1e-9);
            close(found.standard_error, &expected[2], 1e-9);
        }
    }
}

#[test]
fn confusion_tables_equal_scikit_learn() {
    for case in cases(&reference(), "confusion") {
        let (judge, human) = (codes(&case["judge"]), codes(&case["human"]));
        let labels = case["labels"].as_u64().unwrap() as usize;
        let found = confusion(&judge, &human, labels, 0.95).unwrap();
        assert_eq!(serde_json::to_value(&found.table).unwrap(), case["table"]);
        close(found.accuracy, &case["accuracy"], 1e-12);
        for (label, class) in found.classes.iter().enumerate() {
            for (share, name) in [(&class.precision, "precision"), (&class.recall, "recall")] {
                // scikit-learn says 0 where there is nothing to divide by.
                close(share.clone().unwrap_or(0.0), &case[name][label], 1e-12);
            }
        }
    }
}

#[test]
fn prediction_powered_means_equal_ppi_python() {
    for case in cases(&reference(), "ppi") {
        let mut sides = Vec::new();
        for side in case["sides"].as_array().unwrap() {
            let scores = ["human", "judge", "unlabelled"].map(|name| numbers(&side[name]));
            for (confidence, name) in [(0.95, "interval95"), (0.9, "interval90")] {
                let found = prediction_powered_mean(&scores[0], &scores[1], &scores[2], confidence);
                let found = found.unwrap();
                close(found.estimate, &side["estimate"], 1e-12);
                close(found.interval.low, &side[name][0], 1e-9);
                close(found.interval.high, &side[name][1], 1e-9);
            }
            sides.push(scores);
        }
        let pair = |index: usize| -> Vec<f64> {
            sides[0][index].iter().zip(&sides[1][index]).map(|(one, two)| one - two).collect()
        };
        let paired = prediction_powered_mean(&pair(0), &pair(1), &pair(2), 0.95).unwrap();
        close(paired.estimate, &case["paired"][0], 1e-12);
        close(paired.interval.low, &case["paired"][1], 1e-9);
        close(paired.interval.high, &case["paired"][2], 1e-9);

        let side = |index: usize, from: u32| {
            let [human, judge, rest] = &sides[index];
            let labels: Vec<Option<f64>> = human
                .iter()
                .copied()
                .map(Some)
                .chain(std::iter::repeat_n(None, rest.len()))
                .collect();
            let judge: Vec<f64> = judge.iter().chain(rest).copied().collect();
            let items: Vec<u32> = (from..from + judge.len() as u32).collect();
            (items, judge, labels)
        };
        let (first, apart, shared) = (side(0, 0), side(1, 1_000_000), side(1, 0));
        let of = |(items, judge, human): &(Vec<u32>, Vec<f64>, Vec<Option<f64>>)| {
            let own = PartlyLabelled { items, judge, human };
            let first = PartlyLabelled { items: &first.0, judge: &first.1, human: &first.2 };
            prediction_powered_difference(first, own, 0.95).unwrap()
        };
        let independent = of(&apart);
        close(independent.estimate, &case["difference"], 1e-12);
        close(independent.standard_error, &case["difference_error"], 1e-9);
        // With common items the error is that of the differences, item by item.
        let common = of(&shared);
        assert!((common.estimate - independent.estimate).abs() < 1e-12);
        let rectified = |index: usize, lambda: f64| -> Vec<f64> {
            let [human, judge, _] = &sides[index];
            human.iter().zip(judge).map(|(y, f)| y - lambda * f).collect()
        };
        let lambdas = [common.first.lambda, common.second.lambda];
        let variance = |values: &[f64]| {
            let n = values.len() as f64;
            let mean = values.iter().sum::<f64>() / n;
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n / n
        };
        let minus = |one: Vec<f64>, two: Vec<f64>| -> Vec<f64> {
            one.iter().zip(&two).map(|(one, two)| one - two).collect()
        };
        let times = |index: usize| -> Vec<f64> {
            sides[index][2].iter().map(|f| lambdas[index] * f).collect()
        };
        let expected = variance(&minus(rectified(0, lambdas[0]), rectified(1, lambdas[1])))
            + variance(&minus(times(0), times(1)));
        assert!((common.standard_error - expected.sqrt()).abs() < 1e-9);
    }
}
