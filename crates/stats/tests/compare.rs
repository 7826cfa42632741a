//! Comparisons, intervals and power against reference values of scipy and statsmodels.
//!
//! `tests/reference/stats/compare.py` makes the values; with FULLBENCH_STATS_REFERENCE others than the committed ones are read.
#![allow(clippy::unwrap_used)]

use fullbench_stats::compare::{
    Adjustment, Design, adjust, cliffs_delta, clustered_paired_t, cohen_d, cohen_dz, equivalence,
    fisher_exact, hedges_g, hedges_g_approximate, mann_whitney, mcnemar_detectable_difference,
    mcnemar_exact, mcnemar_pairs_needed, mcnemar_power, minimum_detectable_effect, non_inferiority,
    paired_t, permutation_test, proportion_power, proportion_sample_size, sign_flip_test,
    two_proportion_z, variance_components, welch_t, wilcoxon,
};
use fullbench_stats::{
    Bootstrap, BootstrapMethod, Interval, Moments, Undefined, ValueCounts,
    clopper_pearson_interval, quantile, wilson_interval,
};
use serde_json::Value;

const METHODS: [(&str, Adjustment); 6] = [
    ("bonferroni", Adjustment::Bonferroni),
    ("holm", Adjustment::Holm),
    ("holm-sidak", Adjustment::HolmSidak),
    ("hommel", Adjustment::Hommel),
    ("fdr_bh", Adjustment::BenjaminiHochberg),
    ("fdr_by", Adjustment::BenjaminiYekutieli),
];

fn read(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn conformance() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/conformance.json");
    read(path)["ab"].clone()
}

fn cases(name: &str) -> Vec<Value> {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats");
    let folder =
        std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| committed.to_owned());
    match read(&format!("{folder}/compare.json"))[name].take() {
        Value::Array(cases) => cases,
        one => vec![one],
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn ids(value: &Value) -> Vec<u32> {
    numbers(value).iter().map(|id| *id as u32).collect()
}

/// Nine digits, of p-values too.
fn close(name: &str, value: f64, expected: &Value) {
    let expected = number(expected);
    let error = (value - expected).abs();
    let tolerance = if expected.abs() < 1e-12 { 1e-12 } else { 1e-9 * expected.abs() };
    assert!(error <= tolerance, "{name}: {value} is not {expected}");
}

fn near(name: &str, value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{name}: {value} is not {expected}");
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

    let whitney = mann_whitney(&a, &b).unwrap();
    close("U", whitney.statistic, &table["mannwhitney_U_b_gt_a"]);
    close("U p", whitney.p_value, &table["mannwhitney_p"]);
    let signed = wilcoxon(&a, &b).unwrap();
    close("W", signed.statistic, &table["wilcoxon_W"]);
    close("W p", signed.p_value, &table["wilcoxon_p"]);

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
fn counts_and_adjustments_equal_the_reference() {
    let reference = conformance();
    let table = &reference["beta_binomial"];
    let z = two_proportion_z((120, 1000), (150, 1000)).unwrap();
    close("z", z.statistic, &table["ztest"][0]);
    close("z p", z.p_value, &table["ztest"][1]);
    close("Fisher", fisher_exact((120, 1000), (150, 1000)).unwrap(), &table["fisher_p"]);
    let interval = clopper_pearson_interval(0, 10, 0.95).unwrap();
    close("Clopper-Pearson", interval.high, &table["clopper_0_of_10"][1]);
    close("McNemar", mcnemar_exact(25, 10).unwrap(), &reference["mcnemar"]["exact_p"]);
    let table = &reference["multitest"];
    let p_values = numbers(&table["p"]);
    for (name, how) in METHODS {
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
    let groups = ids(&table["groups"]);
    let test = clustered_paired_t(&vec![0.0; scores.len()], &scores, &groups, 0.95).unwrap();
    close("mean", test.difference, &table["mean"]);
    close("standard error", test.standard_error, &table["statsmodels_CR1"]);
}

#[test]
fn independent_samples_equal_scipy() {
    for case in cases("independent") {
        let (a, b) = (numbers(&case["a"]), numbers(&case["b"]));
        let welch = welch_t(&a, &b, 0.95).unwrap();
        close("t", welch.statistic, &case["t"]);
        close("df", welch.degrees_of_freedom, &case["df"]);
        close("p", welch.p_value, &case["p"]);
        close("low", welch.interval.low, &case["low"]);
        close("high", welch.interval.high, &case["high"]);
        let bounds = numbers(&case["bounds"]);
        let tost = equivalence(&welch, bounds[0], bounds[1]).unwrap();
        close("TOST", tost.p_value, &case["tost"]);
        close("TOST low", tost.p_low, &case["tost_low"]);
        close("TOST high", tost.p_high, &case["tost_high"]);
        let whitney = mann_whitney(&a, &b).unwrap();
        close("U", whitney.statistic, &case["u"]);
        close("U p", whitney.p_value, &case["u_p"]);
        close("Cliff", cliffs_delta(&a, &b).unwrap().value, &case["cliff"]);
        close("d", cohen_d(&a, &b).unwrap().value, &case["d"]);
        close("g", hedges_g(&a, &b).unwrap().value, &case["g"]);
        if let Some(expected) = case.get("permutation_p") {
            let test = permutation_test(&a, &b, 20_000, 1).unwrap();
            assert!(test.exact);
            close("permutation", test.p_value, expected);
        }
    }
}

#[test]
fn paired_samples_equal_scipy_and_statsmodels() {
    for case in cases("paired") {
        let (before, after) = (numbers(&case["before"]), numbers(&case["after"]));
        let test = paired_t(&before, &after, 0.9).unwrap();
        close("t", test.statistic, &case["t"]);
        close("p", test.p_value, &case["p"]);
        close("low", test.interval.low, &case["low"]);
        close("high", test.interval.high, &case["high"]);
        let test = clustered_paired_t(&before, &after, &ids(&case["clusters"]), 0.9).unwrap();
        close("clustered standard error", test.standard_error, &case["clustered_error"]);
        close("clustered p", test.p_value, &case["clustered_p"]);
        if let Some(expected) = case.get("w_p") {
            let test = wilcoxon(&before, &after).unwrap();
            close("W", test.statistic, &case["w"]);
            close("W p", test.p_value, expected);
        }
        if let Some(expected) = case.get("flip_p") {
            let test = sign_flip_test(&before, &after, 20_000, 1).unwrap();
            assert!(test.exact);
            close("sign flips", test.p_value, expected);
        }
    }
}

#[test]
fn counts_equal_scipy_and_statsmodels() {
    for case in cases("counts") {
        let count = |name: &str| case[name].as_u64().unwrap();
        let (x, n, y, m) = (count("x"), count("n"), count("y"), count("m"));
        let ends = |name: &str, interval: Interval| {
            close(name, interval.low, &case[name][0]);
            close(name, interval.high, &case[name][1]);
        };
        ends("wilson", wilson_interval(x, n, 0.9).unwrap());
        ends("clopper_pearson", clopper_pearson_interval(x, n, 0.9).unwrap());
        if case.get("z").is_some() {
            let test = two_proportion_z((x, n), (y, m)).unwrap();
            close("z", test.statistic, &case["z"]);
            close("z p", test.p_value, &case["z_p"]);
            close("Fisher", fisher_exact((x, n), (y, m)).unwrap(), &case["fisher"]);
        }
        if case.get("mcnemar").is_some() {
            close("McNemar", mcnemar_exact(x, y).unwrap(), &case["mcnemar"]);
        }
    }
}

#[test]
fn adjustments_equal_statsmodels() {
    for case in cases("adjustments") {
        for (name, how) in METHODS {
            let adjusted = adjust(&numbers(&case["p"]), how).unwrap();
            for (index, value) in adjusted.iter().enumerate() {
                close(name, *value, &case[name][index]);
            }
        }
    }
}

#[test]
fn power_equals_statsmodels() {
    for case in cases("power") {
        let given = |name: &str| number(&case[name]);
        let (n, alpha, target) = (given("n"), given("alpha"), given("target"));
        let independent = Design::Independent { standard_deviation: 1.0, ratio: given("ratio") };
        let paired = Design::Paired { standard_deviation: 1.0 };
        let power = |design: &Design| design.power(n, given("effect"), alpha).unwrap();
        close("independent", power(&independent), &case["independent"]);
        close("paired", power(&paired), &case["paired"]);
        let needed = |design: &Design| design.units_needed(0.4, alpha, target).unwrap();
        close("independent n", needed(&independent), &case["independent_n"]);
        close("paired n", needed(&paired), &case["paired_n"]);
        let (first, second) = (given("first"), given("first") + given("diff"));
        let power = proportion_power(first, second, n, 1.0, alpha).unwrap();
        close("proportion", power, &case["proportion"]);
        let size = proportion_sample_size(first, second, 1.0, alpha, target).unwrap();
        near("size", proportion_power(first, second, size, 1.0, alpha).unwrap(), target, 1e-9);
    }
}

#[test]
fn power_of_mcnemars_test_equals_an_enumeration_by_scipy() {
    for case in cases("change_power") {
        let (pairs, changed) = (case["pairs"].as_u64().unwrap(), number(&case["changed"]));
        let (difference, alpha) = (number(&case["difference"]), number(&case["alpha"]));
        let power = |difference: f64| mcnemar_power(pairs, changed, difference, alpha).unwrap();
        close("power", power(difference), &case["power"]);
        close("most", power(changed), &case["most"]);
        let found = mcnemar_detectable_difference(pairs, changed, alpha, 0.8);
        match case.get("detectable") {
            Some(expected) => near("detectable", found.unwrap(), number(expected), 1e-9),
            None => assert!(matches!(found, Err(Undefined::TooFew { what: "pairs", .. }))),
        }
        if let Ok(needed) = mcnemar_pairs_needed(changed, difference, alpha, 0.8) {
            let of = |pairs| mcnemar_power(pairs, changed, difference, alpha).unwrap();
            assert!(of(needed) >= 0.8 && (needed == 1 || of(needed - 1) < 0.8), "{needed}");
        }
    }
}

/// With 20 pairs of which 10% change, six or more must change, all the same way: the t approximation promised 0.21.
#[test]
fn too_few_changes_show_no_difference_at_all() {
    assert!(mcnemar_power(20, 0.1, 0.1, 0.05).unwrap() < 0.012);
    assert!(mcnemar_power(20, 0.2, 0.2, 0.05).unwrap() < 0.21);
    let Err(Undefined::TooFew { given, needed, .. }) =
        mcnemar_detectable_difference(20, 0.1, 0.05, 0.8)
    else {
        panic!("a difference above the share of changes");
    };
    assert_eq!(given, 20);
    assert!(mcnemar_power(needed as u64, 0.1, 0.1, 0.05).unwrap() >= 0.8);
    assert!(mcnemar_power(needed as u64 - 1, 0.1, 0.1, 0.05).unwrap() < 0.8);
    for (changed, difference) in [(0.0, 0.0), (1.1, 0.1), (0.1, 0.2), (f64::NAN, 0.1)] {
        assert!(mcnemar_power(20, changed, difference, 0.05).is_err());
    }
    assert!(mcnemar_power(20, 0.1, f64::NAN, 0.05).is_err());
    assert!(mcnemar_power(0, 0.1, 0.1, 0.05).is_err());
    assert!(mcnemar_pairs_needed(0.1, 0.0, 0.05, 0.8).is_err());
    assert!(mcnemar_pairs_needed(0.1, 1e-9, 0.05, 0.8).is_err());
}

/// Where counting ends, the normal approximation goes on without a jump.
#[test]
fn the_approximation_for_many_changes_meets_the_count() {
    for (changed, pairs) in [(0.02, 100_000), (0.2, 10_000), (0.8, 2500), (1.0, 2000)] {
        for z in [0.0, 0.5, 1.5, 2.8, 4.0] {
            let difference = z * (changed / pairs as f64).sqrt();
            let counted = mcnemar_power(pairs, changed, difference, 0.05).unwrap();
            let normal = mcnemar_power(pairs + 2, changed, difference, 0.05).unwrap();
            // With every pair changed, their number does not vary and the level wasted does not average out.
            let tolerance = if changed < 1.0 { 0.003 } else { 0.02 };
            near("power", normal, counted, tolerance);
        }
    }
}

#[test]
fn variance_components_equal_the_analysis_of_variance() {
    for case in cases("components") {
        let found =
            variance_components(&numbers(&case["values"]), &ids(&case["clusters"])).unwrap();
        close("within", found.within, &case["within"]);
        close("between", found.between, &case["between"]);
        let f = 1.0 + number(&case["typical_size"]) * found.between / found.within;
        close("F", f, &case["f"]);
    }
}

/// 40,000 resamples leave about 0.013 standard errors of noise in an end of the interval, scipy's 200,000 less than half.
#[test]
fn bootstrap_intervals_equal_scipy_up_to_chance() {
    for case in cases("bootstrap") {
        let values = numbers(&case["values"]);
        let statistic = |drawn: &[usize]| {
            let moments: Moments = drawn.iter().map(|&index| values[index]).collect();
            if case["statistic"] == "mean" { moments.mean() } else { moments.variance() }
        };
        for (name, method) in
            [("percentile", BootstrapMethod::Percentile), ("bca", BootstrapMethod::Bca)]
        {
            let bootstrap = Bootstrap { method, rounds: 40_000, ..Bootstrap::default() };
            let found = bootstrap.interval(values.len(), statistic).unwrap();
            let error = number(&case["error"]);
            near("standard error", found.standard_error, error, 0.02 * error);
            near(name, found.interval.low, number(&case[name][0]), 0.06 * error);
            near(name, found.interval.high, number(&case[name][1]), 0.06 * error);
        }
    }
}

#[test]
fn quantiles_equal_numpy() {
    for case in cases("quantiles") {
        let values = numbers(&case["values"]);
        let mut counts = ValueCounts::default();
        values.iter().for_each(|value| counts.add(*value));
        for (level, expected) in
            numbers(&case["levels"]).into_iter().zip(case["expected"].as_array().unwrap())
        {
            close("quantile", quantile(&values, level).unwrap(), expected);
            close("quantile of counts", counts.quantile(level).unwrap(), expected);
        }
    }
}
