//! What holds for comparisons of any data, and what the seed got wrong.
#![allow(clippy::unwrap_used)]

use fullbench_stats::compare::{
    Adjustment, Design, Magnitude, MeanComparison, adjust, cliffs_delta, clustered_paired_t,
    cohen_d, cohen_dz, equivalence, fisher_exact, hedges_g, mann_whitney, mcnemar_exact,
    minimum_detectable_effect, non_inferiority, paired_bootstrap, paired_deviation,
    paired_rate_deviation, paired_t, permutation_test, rate_deviation, repeated_deviation,
    sign_flip_test, two_proportion_z, variance_components, welch_t, wilcoxon,
};
use fullbench_stats::{Bootstrap, Undefined};
use proptest::prelude::*;

/// ERRATA: the seed gives p = 0 or 1 for zero variance.
#[test]
fn no_variation_is_no_test() {
    let undefined = |result: Result<MeanComparison, Undefined>| {
        assert!(matches!(result, Err(Undefined::NoVariation { .. })), "{result:?}");
    };
    let constant = [0.1 + 0.2; 5];
    for side in [constant, [0.1 + 0.2 + 0.1; 5]] {
        undefined(welch_t(&constant, &side, 0.95));
        assert!(matches!(cohen_d(&constant, &side), Err(Undefined::NoVariation { .. })));
    }
    let before: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e3 / 7.0).collect();
    let after: Vec<f64> = before.iter().map(|value| value + 0.1).collect();
    let clusters: Vec<u32> = (0..50).map(|i| i / 5).collect();
    undefined(paired_t(&before, &after, 0.95));
    undefined(clustered_paired_t(&before, &after, &clusters, 0.95));
    assert!(matches!(cohen_dz(&before, &after), Err(Undefined::NoVariation { .. })));
    assert!(matches!(mann_whitney(&constant, &constant), Err(Undefined::NoVariation { .. })));
    assert!(matches!(wilcoxon(&before, &before), Err(Undefined::NoVariation { .. })));
    assert!(matches!(sign_flip_test(&before, &before, 99, 1), Err(Undefined::NoVariation { .. })));
    assert!(matches!(mcnemar_exact(0, 0), Err(Undefined::NoVariation { .. })));
    assert!(matches!(fisher_exact((3, 3), (5, 5)), Err(Undefined::NoVariation { .. })));
}

#[test]
fn effects_have_the_usual_words() {
    let words = |sizes: [f64; 4], word: fn(f64) -> Magnitude| sizes.map(|size| word(size).word());
    let expected = ["negligible", "small", "medium", "large"];
    assert_eq!(words([-0.199, 0.2, -0.5, 0.8], Magnitude::of_cohen), expected);
    assert_eq!(words([0.146, -0.147, 0.33, -0.474], Magnitude::of_cliff), expected);
}

#[test]
fn resampling_does_not_depend_on_the_number_of_threads() {
    let before: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 13)).collect();
    let after: Vec<f64> = (0..60).map(|i| f64::from(i * 5 % 17)).collect();
    let clusters: Vec<u32> = (0..60).map(|i| i / 4).collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let bootstrap = Bootstrap { rounds: 500, ..Bootstrap::default() };
            let paired = paired_bootstrap(&before, &after, None, &bootstrap).unwrap();
            let clustered = paired_bootstrap(&before, &after, Some(&clusters), &bootstrap).unwrap();
            let labels = permutation_test(&before, &after, 999, 3).unwrap();
            let signs = sign_flip_test(&before, &after, 999, 3).unwrap();
            assert!(!labels.exact && !signs.exact);
            (paired, clustered, labels, signs)
        })
    };
    assert_eq!(with(1), with(4));
}

/// Differences 1, 1, 1, 2, 2, −1, 3, −2 of eight: all 256 signs counted by hand of a loop.
#[test]
fn wilcoxon_with_ties_counts_all_signs() {
    let after = [1.0, 1.0, 1.0, 2.0, 2.0, -1.0, 3.0, -2.0];
    let ranks = [2.5, 2.5, 2.5, 6.0, 6.0, 2.5, 8.0, 6.0];
    let sum = |signs: u32| -> f64 {
        ranks.iter().enumerate().filter(|(i, _)| signs >> i & 1 == 1).map(|(_, rank)| rank).sum()
    };
    let test = wilcoxon(&[0.0; 8], &after).unwrap();
    let as_low = (0..256).filter(|signs| sum(*signs) <= test.statistic).count();
    assert!((test.statistic - 8.5).abs() < 1e-12 && test.exact);
    assert!((test.p_value - 2.0 * as_low as f64 / 256.0).abs() < 1e-12);
}

/// Phipson and Smyth 2010: a random permutation test never gives 0.
#[test]
fn a_random_permutation_counts_the_observed_one() {
    let low: Vec<f64> = (0..40).map(f64::from).collect();
    let high: Vec<f64> = (100..140).map(f64::from).collect();
    let expected = 2.0 / 1000.0;
    assert!((permutation_test(&low, &high, 999, 1).unwrap().p_value - expected).abs() < 1e-12);
    assert!((sign_flip_test(&low, &high, 999, 1).unwrap().p_value - expected).abs() < 1e-12);
}

/// Miller 2024: paired yes/no differences, clusters and repetitions, by hand.
#[test]
fn deviations_and_design_effects_by_hand() {
    let close = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12, "{value}");
    close(rate_deviation(0.8).unwrap(), 0.4);
    close(paired_deviation(0.4, 0.4, 0.5).unwrap(), 0.4);
    close(paired_rate_deviation(0.25, -0.1).unwrap(), 0.24_f64.sqrt());
    close(repeated_deviation(2.0, 0.5, 4.0).unwrap(), 2.0 * 0.625_f64.sqrt());
    let clustered = |size_variation: f64| Design::Clustered {
        standard_deviation: 1.0,
        cluster_size: 5.0,
        size_variation,
        intra_cluster_correlation: 0.25,
    };
    close(clustered(0.0).design_effect(), 2.0);
    close(clustered(1.0).design_effect(), 3.25);
    close(clustered(0.0).standard_error(40.0).unwrap(), (2.0_f64 / 200.0).sqrt());
    let single = Design::Paired { standard_deviation: 1.0 };
    assert!(single.power(1.0, 0.5, 0.05).is_err() && single.units_needed(0.0, 0.05, 0.8).is_err());
    assert!(minimum_detectable_effect(1.0, 10.0, 0.05, 0.04).is_err());
}

fn small() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec((-20..20_i32).prop_map(|value| f64::from(value) / 4.0), 2..25)
}

/// Numbers that break formulas.
fn wild() -> impl Strategy<Value = Vec<f64>> {
    let number = prop_oneof![
        4 => (-3..3_i32).prop_map(f64::from),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::MAX, f64::MIN, 5e-324, 1e-200, -1e200]),
    ];
    prop::collection::vec(number, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_test_agrees_with_its_interval_and_its_mirror(a in small(), b in small()) {
        let (Ok(test), Ok(mirrored)) = (welch_t(&a, &b, 0.95), welch_t(&b, &a, 0.95)) else {
            return Ok(());
        };
        prop_assert!((test.difference + mirrored.difference).abs() < 1e-12);
        prop_assert!((test.p_value - mirrored.p_value).abs() < 1e-12);
        let excludes_zero = test.interval.low > 0.0 || test.interval.high < 0.0;
        prop_assert!(excludes_zero == (test.p_value < 0.05) || (test.p_value - 0.05).abs() < 1e-9);
        let shown = equivalence(&test, -1.0, 1.0).unwrap().p_value < 0.05;
        let inside = test.lower_bound(0.95).unwrap() > -1.0 && test.upper_bound(0.95).unwrap() < 1.0;
        prop_assert_eq!(shown, inside);
        let not_worse = non_inferiority(&test, 0.5).unwrap().p_value < 0.05;
        prop_assert_eq!(not_worse, test.lower_bound(0.95).unwrap() > -0.5);
        prop_assert!(hedges_g(&a, &b).unwrap().value.abs() <= cohen_d(&a, &b).unwrap().value.abs());
    }

    #[test]
    fn dominance_counts_all_pairs(a in small(), b in small()) {
        let mut sum = 0.0;
        for (x, y) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
            sum += f64::from(i8::from(y > x) - i8::from(y < x));
        }
        let delta = cliffs_delta(&a, &b).unwrap().value;
        prop_assert!((delta - sum / (a.len() * b.len()) as f64).abs() < 1e-12);
        if let Ok(test) = mann_whitney(&a, &b) {
            prop_assert!((2.0 * test.superiority - 1.0 - delta).abs() < 1e-12);
        }
    }

    #[test]
    fn stronger_adjustments_give_larger_p_values(p in prop::collection::vec(0.0..=1.0_f64, 1..20)) {
        let by = |how| adjust(&p, how).unwrap();
        let (holm, yekutieli) = (by(Adjustment::Holm), by(Adjustment::BenjaminiYekutieli));
        let (hommel, hochberg) = (by(Adjustment::Hommel), by(Adjustment::BenjaminiHochberg));
        for (index, bonferroni) in by(Adjustment::Bonferroni).into_iter().enumerate() {
            let chain = [p[index], hochberg[index], hommel[index], holm[index], bonferroni, 1.0];
            prop_assert!(chain.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12), "{:?}", chain);
            prop_assert!(hochberg[index] <= yekutieli[index] + 1e-12);
        }
    }

    #[test]
    fn clusters_of_one_are_no_clusters(a in small()) {
        let zeros = vec![0.0; a.len()];
        let alone: Vec<u32> = (0..a.len() as u32).rev().collect();
        match (paired_t(&zeros, &a, 0.95), clustered_paired_t(&zeros, &a, &alone, 0.95)) {
            (Ok(plain), Ok(clustered)) => {
                prop_assert!((plain.standard_error - clustered.standard_error).abs() < 1e-12);
                prop_assert!((plain.p_value - clustered.p_value).abs() < 1e-9);
            }
            (plain, clustered) => prop_assert!(plain.is_err() && clustered.is_err()),
        }
    }

    #[test]
    fn what_is_needed_is_what_suffices(
        deviation in 0.1..3.0_f64,
        effect in 0.05..1.0_f64,
        power in 0.3..0.97_f64,
        correlation in 0.0..0.9_f64,
    ) {
        let designs = [
            Design::Independent { standard_deviation: deviation, ratio: 1.0 },
            Design::Paired { standard_deviation: deviation },
            Design::Clustered {
                standard_deviation: deviation,
                cluster_size: 4.0,
                size_variation: 0.3,
                intra_cluster_correlation: correlation,
            },
        ];
        for design in designs {
            let units = design.units_needed(effect, 0.05, power).unwrap();
            let reached = design.power(units, effect, 0.05).unwrap();
            prop_assert!(reached >= power - 1e-9);
            if units > 2.0 {
                prop_assert!((reached - power).abs() < 1e-9);
                let detectable = design.detectable_effect(units, 0.05, power).unwrap();
                prop_assert!((detectable / effect - 1.0).abs() < 1e-7);
            }
        }
    }

    #[test]
    fn nothing_panics_and_nothing_is_nan(a in wild(), b in wild(), clusters in prop::collection::vec(0..3_u32, 0..8)) {
        let finite = |what: &str, result: Result<f64, Undefined>| {
            prop_assert!(result.as_ref().map_or(true, |value| value.is_finite()), "{}: {:?}", what, result);
            Ok(())
        };
        let test = |what: &str, result: Result<MeanComparison, Undefined>| {
            finite(what, result.clone().map(|test| test.p_value))?;
            finite(what, result.clone().map(|test| test.statistic))?;
            finite(what, result.map(|test| test.interval.high - test.interval.low))
        };
        test("Welch", welch_t(&a, &b, 0.95))?;
        test("paired", paired_t(&a, &b, 0.95))?;
        test("clustered", clustered_paired_t(&a, &b, &clusters, 0.95))?;
        finite("d", cohen_d(&a, &b).map(|effect| effect.value))?;
        finite("dz", cohen_dz(&a, &b).map(|effect| effect.value))?;
        finite("delta", cliffs_delta(&a, &b).map(|effect| effect.value))?;
        finite("Mann-Whitney", mann_whitney(&a, &b).map(|test| test.p_value))?;
        finite("Wilcoxon", wilcoxon(&a, &b).map(|test| test.p_value))?;
        finite("permutation", permutation_test(&a, &b, 50, 1).map(|test| test.p_value + test.difference))?;
        finite("sign flips", sign_flip_test(&a, &b, 50, 1).map(|test| test.p_value + test.difference))?;
        let bootstrap = Bootstrap { rounds: 100, ..Bootstrap::default() };
        finite("bootstrap", paired_bootstrap(&a, &b, None, &bootstrap).map(|test| test.interval.low))?;
        finite("components", variance_components(&a, &clusters).map(|found| found.intra_cluster_correlation))?;
        finite("z", two_proportion_z((a.len() as u64, 5), (b.len() as u64, 5)).map(|test| test.p_value))?;
    }
}
