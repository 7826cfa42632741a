//! Experiments against reference values of scipy and statsmodels. `FULLBENCH_STATS_REFERENCE` names a folder with values of
//! another seed.
#![allow(clippy::unwrap_used)]

use fullbench_stats::experiment::{
    Arms, BetaPrior, ConfidenceSequence, Decision, MixtureTest, NormalInverseGamma, Posterior,
    Spending, WithCovariate, alpha_spending, bayesian_means, bayesian_rates, compare_posteriors,
    confidence_sequence, cuped, frequentist_test, group_sequential, mixture_test, o_brien_fleming,
    pocock, probability_best, sample_ratio, value_remaining,
};
use serde_json::Value;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference");

fn conformance() -> Value {
    let path = format!("{TESTS}/conformance.json");
    serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()["ab"].take()
}

fn reference(part: &str) -> Vec<Value> {
    let folder =
        std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| format!("{TESTS}/stats"));
    let text = std::fs::read_to_string(format!("{folder}/experiment.json")).unwrap();
    let mut document: Value = serde_json::from_str(&text).unwrap();
    document[part].take().as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn close(value: f64, expected: &Value, tolerance: f64) {
    let expected = expected.as_f64().unwrap();
    let allowed = tolerance * expected.abs().max(1.0);
    assert!((value - expected).abs() <= allowed, "{value} is not {expected}");
}

/// Equal to nine digits of its own size.
#[track_caller]
fn digits(value: f64, expected: &Value, scale: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((value - expected).abs() <= 1e-9 * scale, "{value} is not {expected}");
}

fn posterior(family: &str, parameters: &Value) -> Posterior {
    let numbers = numbers(parameters);
    match family {
        "normal" => Posterior::Normal { mean: numbers[0], standard_deviation: numbers[1] },
        "student_t" => Posterior::StudentT {
            location: numbers[0],
            scale: numbers[1],
            degrees_of_freedom: numbers[2],
        },
        _ => Posterior::Beta { alpha: numbers[0], beta: numbers[1] },
    }
}

#[test]
fn welch_equals_scipy() {
    let table = &conformance()["welch"];
    let test = frequentist_test(&numbers(&table["A"]), &numbers(&table["B"]), 0.05).unwrap();
    close(test.comparison.p_value, &table["p"], 1e-9);
    close(test.comparison.statistic, &table["t"], 1e-9);
    close(test.comparison.degrees_of_freedom, &table["df"], 1e-9);
    close(test.comparison.interval.low, &table["ci95"][0], 1e-9);
    close(test.comparison.interval.high, &table["ci95"][1], 1e-9);
    close(test.effect_size.value, &table["cohen_d_pooled"], 1e-9);
    assert_eq!(test.effect_interpretation, "Large effect");
    assert_eq!(test.recommendation, "Treatment is significantly BETTER than control");
    for case in reference("tests") {
        let (control, treatment) = (numbers(&case["control"]), numbers(&case["treatment"]));
        let alpha = case["alpha"].as_f64().unwrap();
        let test = frequentist_test(&control, &treatment, alpha).unwrap();
        close(test.comparison.p_value, &case["p_value"], 1e-9);
        close(test.comparison.statistic, &case["statistic"], 1e-9);
        close(test.comparison.interval.low, &case["interval"][0], 1e-9);
        close(test.comparison.interval.high, &case["interval"][1], 1e-9);
        assert_eq!(test.significant, test.comparison.p_value < alpha);
    }
}

#[test]
fn normal_inverse_gamma_equals_the_reference() {
    let reference = conformance();
    let (table, data) = (&reference["nig_weak"], &reference["welch"]);
    let (control, treatment) = (numbers(&data["A"]), numbers(&data["B"]));
    let prior = NormalInverseGamma::weak();
    for (values, name) in [(&control, "postA(mn,kn,an,bn)"), (&treatment, "postB")] {
        let updated = prior.updated(&values.iter().copied().collect()).unwrap();
        for (value, expected) in [updated.mean, updated.kappa, updated.alpha, updated.beta]
            .iter()
            .zip(table[name].as_array().unwrap())
        {
            close(*value, expected, 1e-12);
        }
    }
    let test = bayesian_means(&control, &treatment, &prior, 0.05).unwrap();
    close(test.probability_of_improvement, &table["P(B>A)_quad"], 1e-9);
    close(test.risk_of_choosing_treatment, &table["expected_loss_choose_B"], 1e-9);
    close(test.risk_of_choosing_control, &table["expected_loss_choose_A"], 1e-9);
    close(test.expected_lift, &table["LA-LB==meandiff"], 1e-9);
    assert_eq!(test.recommendation, "High confidence treatment is BETTER (>95%)");
}

#[test]
fn beta_binomial_equals_the_reference() {
    let table = &conformance()["beta_binomial"];
    let test = bayesian_rates((120, 1000), (150, 1000), &BetaPrior::uniform(), 0.05).unwrap();
    close(test.probability_of_improvement, &table["P(B>A)_exact"], 1e-9);
}

#[test]
fn posteriors_of_means_equal_scipy() {
    for case in reference("means") {
        let (control, treatment) = (numbers(&case["control"]), numbers(&case["treatment"]));
        let prior = match case["prior"].as_str().unwrap() {
            "weak" => NormalInverseGamma::weak(),
            "thousandth" => NormalInverseGamma::thousandth(),
            _ => NormalInverseGamma::reference(),
        };
        let alpha = case["alpha"].as_f64().unwrap();
        let test = bayesian_means(&control, &treatment, &prior, alpha).unwrap();
        for (posterior, expected) in
            [test.control, test.treatment].iter().zip(case["posteriors"].as_array().unwrap())
        {
            let Posterior::StudentT { location, scale, degrees_of_freedom } = *posterior else {
                panic!("{posterior:?}");
            };
            close(location, &expected[0], 1e-9);
            close(scale, &expected[1], 1e-9);
            close(degrees_of_freedom, &expected[2], 1e-9);
        }
        check(&test, &case);
    }
}

#[test]
fn posteriors_of_any_size_equal_scipy() {
    for case in reference("pairs") {
        let family = case["family"].as_str().unwrap();
        let control = posterior(family, &case["control"]);
        let treatment = posterior(family, &case["treatment"]);
        check(&compare_posteriors(control, treatment, 0.05).unwrap(), &case);
    }
}

fn check(test: &fullbench_stats::experiment::BayesianTest, case: &Value) {
    let Value::Object(fields) = case else { panic!("{case}") };
    let interval = test.credible_interval;
    let width = interval.high - interval.low;
    // scipy's own beta functions lose digits in the millions.
    let scale = if fields.get("counts").is_some_and(|counts| counts[1].as_u64() > Some(100_000)) {
        100.0
    } else {
        1.0
    };
    digits(test.probability_of_improvement, &case["probability"], scale);
    digits(interval.low, &case["interval"][0], scale * width.max(interval.low.abs()));
    digits(interval.high, &case["interval"][1], scale * width.max(interval.high.abs()));
    if let Some(risk) = fields.get("risk_control") {
        digits(test.risk_of_choosing_control, risk, scale * width);
        digits(test.risk_of_choosing_treatment, &case["risk_treatment"], scale * width);
    }
}

#[test]
fn the_best_arm_and_the_value_remaining_equal_scipy() {
    for case in reference("arms") {
        let family = case["family"].as_str().unwrap();
        let arms: Vec<Posterior> =
            case["arms"].as_array().unwrap().iter().map(|arm| posterior(family, arm)).collect();
        let best = probability_best(&arms).unwrap();
        for (value, expected) in best.iter().zip(case["best"].as_array().unwrap()) {
            close(*value, expected, 1e-9);
        }
        assert!((best.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let remaining = value_remaining(&arms, 0.95).unwrap();
        close(remaining.absolute, &case["absolute"], 1e-8);
        if let Some(expected) = case.get("relative") {
            close(remaining.relative.unwrap(), expected, 1e-8);
        }
    }
}

#[test]
fn cuped_equals_statsmodels() {
    let table = &conformance()["cuped"];
    let (values, covariates) = (numbers(&table["Y"]), numbers(&table["X"]));
    let result = adjusted(&values, &covariates, &numbers(&table["T"]));
    close(result.theta, &table["theta_pooled"], 1e-9);
    close(result.variance_reduction, &table["var_reduction"], 1e-9);
    close(result.unadjusted.difference, &table["raw_diff"], 1e-9);
    close(result.unadjusted.standard_error, &table["raw_se"], 1e-9);
    close(result.unadjusted.p_value, &table["raw_p"], 1e-9);
    close(result.adjusted.difference, &table["cuped_diff"], 1e-9);
    close(result.adjusted.standard_error, &table["cuped_se"], 1e-9);
    close(result.adjusted.p_value, &table["cuped_p"], 1e-9);
    for case in reference("cuped") {
        let result = adjusted(
            &numbers(&case["value"]),
            &numbers(&case["covariate"]),
            &numbers(&case["arm"]),
        );
        close(result.theta, &case["theta"], 1e-9);
        close(result.variance_reduction, &case["variance_reduction"], 1e-9);
        close(result.adjusted.difference, &case["difference"], 1e-9);
        close(result.adjusted.p_value, &case["p_value"], 1e-9);
        close(result.adjusted.interval.low, &case["interval"][0], 1e-9);
        close(result.adjusted.interval.high, &case["interval"][1], 1e-9);
    }
}

fn adjusted(values: &[f64], covariates: &[f64], arm: &[f64]) -> fullbench_stats::experiment::Cuped {
    let of = |numbers: &[f64], side: f64| -> Vec<f64> {
        numbers
            .iter()
            .zip(arm)
            .filter(|(_, arm)| **arm == side)
            .map(|(number, _)| *number)
            .collect()
    };
    let parts: Vec<_> =
        [0.0, 1.0].iter().map(|side| (of(values, *side), of(covariates, *side))).collect();
    cuped(
        WithCovariate { values: &parts[0].0, covariates: &parts[0].1 },
        WithCovariate { values: &parts[1].0, covariates: &parts[1].1 },
        0.95,
    )
    .unwrap()
}

#[test]
fn sample_ratios_equal_scipy() {
    let table = &conformance()["srm"];
    let check = sample_ratio(&[5200, 4800], &[0.5, 0.5]).unwrap();
    close(check.chi_square, &table["chi2"], 1e-9);
    digits(check.p_value, &table["p"], 1e-3);
    let three = sample_ratio(&[1000, 1050, 950], &[1.0, 1.0, 1.0]).unwrap();
    close(three.p_value, &table["p3"], 1e-9);
    for case in reference("ratios") {
        let counts: Vec<u64> = case["counts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|count| count.as_u64().unwrap())
            .collect();
        let check = sample_ratio(&counts, &numbers(&case["shares"])).unwrap();
        close(check.chi_square, &case["chi_square"], 1e-9);
        close(check.p_value, &case["p_value"], 1e-9);
    }
}

#[test]
fn confidence_sequences_equal_the_reference() {
    let table = &conformance()["asymp_cs"];
    let sequence = ConfidenceSequence::tuned(0.05, 5000.0).unwrap();
    close(sequence.rho, &table["rho(alpha=.05,N*=5000)"], 1e-12);
    let early = sequence.half_width(1.0, 1000).unwrap();
    let late = sequence.half_width(1.0, 5000).unwrap();
    close(early, &table["halfwidth(s2=1,n=1000)"], 1e-12);
    close(late, &table["n=5000"], 1e-12);
    // The file's ratio has eight digits.
    close(late / table["fixed_n_5000"].as_f64().unwrap(), &table["ratio_at_5000"], 1e-7);
    for case in reference("sequences") {
        let arms = Arms {
            control: numbers(&case["control"]).into_iter().collect(),
            treatment: numbers(&case["treatment"]).into_iter().collect(),
        };
        let alpha = case["alpha"].as_f64().unwrap();
        let sequence =
            ConfidenceSequence::tuned(alpha, case["tuned_for"].as_f64().unwrap()).unwrap();
        close(sequence.rho, &case["rho"], 1e-12);
        let looks = confidence_sequence(&[arms], &sequence, 2);
        let interval = looks[0].interval.unwrap();
        close(interval.low, &case["interval"][0], 1e-9);
        close(interval.high, &case["interval"][1], 1e-9);
        let test = MixtureTest::with_tau(alpha, case["tau"].as_f64().unwrap()).unwrap();
        let looks = mixture_test(&[arms], &test, 2);
        close(looks[0].p_value, &case["mixture_p_value"], 1e-9);
        let excludes = looks[0].interval.is_some_and(|i| i.low > 0.0 || i.high < 0.0);
        assert_eq!(excludes, looks[0].p_value < alpha);
    }
}

#[test]
fn planned_looks_equal_the_reference() {
    // The file's bounds come from multivariate normal integrals with six digits; for two looks see below.
    let table = &conformance()["group_sequential"];
    for looks in 2..=5 {
        let expected = &table[looks.to_string()];
        let design = o_brien_fleming(looks, 0.05).unwrap();
        for (bound, expected) in design.critical.iter().zip(expected["obf_z"].as_array().unwrap()) {
            close(*bound, expected, 1e-6);
        }
        let design = pocock(looks, 0.05).unwrap();
        close(design.critical[0], &expected["pocock_z"], 1e-6);
        assert!((design.spent.last().unwrap() - 0.05).abs() < 1e-10);
    }
    for case in reference("boundaries") {
        let alpha = case["alpha"].as_f64().unwrap();
        let fractions = numbers(&case["fractions"]);
        let design = match case["design"].as_str().unwrap() {
            "o_brien_fleming" => o_brien_fleming(fractions.len(), alpha),
            "pocock" => pocock(fractions.len(), alpha),
            "spending_pocock" => alpha_spending(Spending::Pocock, &fractions, alpha),
            _ => alpha_spending(Spending::OBrienFleming, &fractions, alpha),
        };
        for (bound, expected) in
            design.unwrap().critical.iter().zip(case["critical"].as_array().unwrap())
        {
            close(*bound, expected, 1e-7);
        }
    }
}

/// One-dimensional integrals by Gauss-Legendre with 400 points in numpy.
#[test]
fn two_looks_are_exact() {
    let critical = o_brien_fleming(2, 0.05).unwrap().critical;
    assert!((critical[0] - 2.796_509_681_287_402_4).abs() < 1e-9, "{critical:?}");
    assert!((critical[1] - 1.977_430_959_292_152_8).abs() < 1e-9, "{critical:?}");
    let critical = pocock(2, 0.05).unwrap().critical;
    assert!((critical[1] - 2.178_272_088_727_257).abs() < 1e-9, "{critical:?}");
    let critical = alpha_spending(Spending::OBrienFleming, &[0.2, 0.4], 0.05).unwrap().critical;
    assert!((critical[0] - 4.876_884_948_790_762).abs() < 1e-9, "{critical:?}");
    assert!((critical[1] - 3.357_011_921_565_251_6).abs() < 1e-9, "{critical:?}");
}

/// The tables of the programs everybody compares with: bounds at five equal steps for a two-sided level of 5% (Reboussin, DeMets, Kim
/// and Lan 2000; the R packages ldbounds and rpact give the same).
#[test]
fn spending_equals_the_published_tables() {
    let fractions = [0.2, 0.4, 0.6, 0.8, 1.0];
    for (function, expected) in [
        (Spending::OBrienFleming, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
        (Spending::Pocock, [2.4380, 2.4268, 2.4101, 2.3966, 2.3859]),
    ] {
        let design = alpha_spending(function, &fractions, 0.05).unwrap();
        for (bound, expected) in design.critical.iter().zip(expected) {
            assert!((bound - expected).abs() < 2e-4, "{bound} is not {expected}");
        }
    }
}

#[test]
fn values_far_from_zero_keep_the_digits_of_their_difference() {
    // Quarters are exact at this size, so that the shifted samples are the same data.
    let control: Vec<f64> = (0..1000).map(|i| f64::from(i * 37 % 101) / 4.0).collect();
    let treatment: Vec<f64> = (0..700).map(|i| f64::from(i * 53 % 103) / 4.0).collect();
    let far = |values: &[f64]| values.iter().map(|value| value + 1e12).collect::<Vec<_>>();
    let near = frequentist_test(&control, &treatment, 0.05).unwrap();
    let shifted = frequentist_test(&far(&control), &far(&treatment), 0.05).unwrap();
    for (one, other) in [
        (near.comparison.difference, shifted.comparison.difference),
        (near.comparison.standard_error, shifted.comparison.standard_error),
        (near.comparison.p_value, shifted.comparison.p_value),
        (near.effect_size.value, shifted.effect_size.value),
    ] {
        assert!((one - other).abs() < 1e-12, "{one} {other}");
    }
}

#[test]
fn the_bound_of_a_look_is_on_the_scale_of_its_statistic() {
    let design = pocock(2, 0.05).unwrap();
    let control = [0.0, 1.0, 2.0, 3.0, 1.5, 0.5];
    let steps: Vec<Vec<f64>> = (0..40)
        .map(|step| control.iter().map(|value| value + f64::from(step) * 0.1).collect())
        .collect();
    let mut between = 0;
    for treatment in &steps {
        let looks = [(&control[..3], &treatment[..3]), (&control[..], &treatment[..])];
        let mut decided = false;
        for look in group_sequential(&design, &looks).unwrap() {
            let (statistic, bound) = (look.statistic.unwrap(), look.critical_statistic.unwrap());
            assert!(bound > look.critical);
            decided |= statistic.abs() > bound;
            between += usize::from(!decided && statistic.abs() > look.critical);
            assert_eq!(decided, look.decision == Decision::TreatmentBetter, "{look:?}");
        }
    }
    assert!(between > 0);
}
