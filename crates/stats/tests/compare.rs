//! Comparisons against reference values of scipy and statsmodels.
#![allow(clippy::unwrap_used)]

use fullbench_stats::Undefined;
use fullbench_stats::compare::{
    Adjustment, adjust, clustered_paired_t, cohen_d, cohen_dz, equivalence, hedges_g,
    hedges_g_approximate, mcnemar_exact, minimum_detectable_effect, non_inferiority, paired_t,
    welch_t,
};
use serde_json::Value;

fn conformance() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/conformance.json");
    let reference: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    reference["ab"].clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn close(name: &str, value: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (value - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        "{name}: {value} is not {expected}"
    );
}

#[test]
fn means_and_effects_equal_the_reference() {
    let reference = conformance();
    let table = &reference["welch"];
    let (a, b) = (numbers(&table["A"]), numbers(&table["B"]));
    let welch = welch_t(&a, &b, 0.95).unwrap();
    close("t", welch.statistic, &table["t"]);
    close("df", welch.degrees_of_freedom, &table["df"]);
    close("p", welch.p_value, &table["p"]);
    close("low", welch.interval.low, &table["ci95"][0]);
    close("high", welch.interval.high, &table["ci95"][1]);
    let paired = paired_t(&a, &b, 0.95).unwrap();
    close("paired t", paired.statistic, &table["paired_t"]);
    close("paired p", paired.p_value, &table["paired_p"]);
    close("paired low", paired.interval.low, &table["paired_ci"][0]);
    close("paired high", paired.interval.high, &table["paired_ci"][1]);
    close("d", cohen_d(&a, &b).unwrap().value, &table["cohen_d_pooled"]);
    close("g", hedges_g(&a, &b).unwrap().value, &table["hedges_g_exactJ"]);
    close("g approx", hedges_g_approximate(&a, &b).unwrap().value, &table["hedges_g_approxJ"]);
    close("dz", cohen_dz(&a, &b).unwrap().value, &table["cohen_dz"]);

    let table = &reference["noninferiority"];
    let test = non_inferiority(&welch, table["margin"].as_f64().unwrap()).unwrap();
    close("non-inferiority t", test.statistic, &table["t"]);
    close("non-inferiority df", test.degrees_of_freedom, &table["df"]);
    close("non-inferiority p", test.p_value, &table["p"]);
    close("lower bound", welch.lower_bound(0.95).unwrap(), &table["lower95_onesided"]);
    let table = &reference["tost"];
    let bounds = numbers(&table["bounds"]);
    let test = equivalence(&welch, bounds[0], bounds[1]).unwrap();
    close("TOST low", test.p_low, &table["p_low"]);
    close("TOST high", test.p_high, &table["p_high"]);
    assert!(test.p_value.to_bits() == test.p_high.to_bits());
}

#[test]
fn mcnemar_and_adjustments_equal_the_reference() {
    let reference = conformance();
    close("McNemar", mcnemar_exact(25, 10).unwrap(), &reference["mcnemar"]["exact_p"]);
    let table = &reference["multitest"];
    let p_values = numbers(&table["p"]);
    let methods = [
        ("bonferroni", Adjustment::Bonferroni),
        ("holm", Adjustment::Holm),
        ("hommel", Adjustment::Hommel),
        ("fdr_bh", Adjustment::BenjaminiHochberg),
        ("fdr_by", Adjustment::BenjaminiYekutieli),
    ];
    for (name, how) in methods {
        let adjusted = adjust(&p_values, how).unwrap();
        for (index, value) in adjusted.iter().enumerate() {
            close(name, *value, &table[name][index]);
        }
    }
}

/// The entries of `power` are numbers per arm; the effect they find with a power of 0.8 is the one they were made for.
/// The solver that made them stopped at about eight digits.
#[test]
fn the_detectable_effect_inverts_the_reference_sample_sizes() {
    let reference = conformance();
    for (name, effect) in [("t_ind_d0.5_n_per_arm", 0.5), ("t_ind_d0.2_n", 0.2)] {
        let n = reference["power"][name].as_f64().unwrap();
        let found = minimum_detectable_effect((2.0 / n).sqrt(), 2.0 * n - 2.0, 0.05, 0.8).unwrap();
        assert!((found - effect).abs() < 1e-7, "{name}: {found}");
    }
}

/// The clustered standard error of differences against zero is that of the values themselves.
#[test]
fn the_clustered_test_uses_the_clustered_standard_error() {
    let reference = conformance();
    let table = &reference["clustered_se"];
    let scores = numbers(&table["scores"]);
    let groups: Vec<u32> = numbers(&table["groups"]).iter().map(|group| *group as u32).collect();
    let test = clustered_paired_t(&vec![0.0; scores.len()], &scores, &groups, 0.95).unwrap();
    close("mean", test.difference, &table["mean"]);
    close("standard error", test.standard_error, &table["statsmodels_CR1"]);
}

/// ERRATA: the seed gives p = 0 or 1 for zero variance.
#[test]
fn no_variation_is_no_test() {
    let constant = [0.1 + 0.2; 5];
    let higher = [0.1 + 0.2 + 0.1; 5];
    for side in [constant, higher] {
        let test = welch_t(&constant, &side, 0.95);
        assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
        assert!(matches!(cohen_d(&constant, &side), Err(Undefined::NoVariation { .. })));
    }
    let before: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e3 / 7.0).collect();
    let after: Vec<f64> = before.iter().map(|value| value + 0.1).collect();
    let test = paired_t(&before, &after, 0.95);
    assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
    let clusters: Vec<u32> = (0..50).map(|i| i / 5).collect();
    let test = clustered_paired_t(&before, &after, &clusters, 0.95);
    assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
    assert!(matches!(cohen_dz(&before, &after), Err(Undefined::NoVariation { .. })));
    assert!(matches!(mcnemar_exact(0, 0), Err(Undefined::NoVariation { .. })));
}
