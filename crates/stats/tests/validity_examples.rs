//! Judges against people: examples checked by hand, degenerate input, and properties.
#![allow(clippy::unwrap_used)]

use fullbench_stats::validity::{
    Against, Coefficient, JudgedRates, LabelDesign, LabelsNeeded, PartlyLabelled, Resampled,
    Resampling, bias, bias_slope, clustered_interval, confusion, correlate, correlation,
    group_correlation, labels_needed, prediction_powered_difference, prediction_powered_mean,
    rogan_gladen, system_correlations,
};
use fullbench_stats::{Undefined, student_t_quantile};
use proptest::prelude::*;

const FEW: Resampling = Resampling { rounds: 200, seed: 1, confidence: 0.95 };

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// The example of `scipy.stats.kendalltau`.
#[test]
fn kendall_with_ties() {
    let (x, y) = ([12.0, 2.0, 1.0, 12.0, 2.0], [1.0, 4.0, 7.0, 1.0, 0.0]);
    let found = correlate(Coefficient::Kendall, &x, &y, 0.95).unwrap();
    close(found.value, -0.471_404_520_791_031_73);
    close(found.p_value.unwrap(), 0.282_745_459_932_774_8);
}

/// A side that does not vary is not "no correlation" and not a perfect one.
#[test]
fn no_variation_is_undefined_and_named() {
    let (flat, varied) = ([3.0; 5], [1.0, 2.0, 3.0, 4.0, 5.0]);
    let rounded = [0.1 + 0.2, 0.3, 0.1 + 0.2, 0.3, 0.3];
    for coefficient in Coefficient::ALL {
        let found = correlate(coefficient, &flat, &varied, 0.95);
        assert!(matches!(found, Err(Undefined::NoVariation { .. })), "{found:?}");
        assert!(correlation(coefficient, &varied, &flat).is_err());
    }
    assert!(correlation(Coefficient::Pearson, &varied, &rounded).is_err());
    assert!(correlation(Coefficient::Pearson, &[1.0], &[2.0]).is_err());
    assert!(correlation(Coefficient::Pearson, &[1.0, f64::NAN], &[2.0, 3.0]).is_err());
    assert!(correlation(Coefficient::Pearson, &[1.0, 2.0], &[2.0]).is_err());
}

/// A perfect correlation has a value; an interval of no width and a p-value of zero would be made up. Kendall's p-value is
/// exact: one order of all has no exchange.
#[test]
fn perfect_correlations_have_no_interval() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0];
    for coefficient in Coefficient::ALL {
        let found = correlate(coefficient, &x, &x.map(|x| 2.0 * x + 1.0), 0.95).unwrap();
        close(found.value, 1.0);
        assert!(matches!(found.interval, Err(Undefined::NoVariation { .. })));
        match coefficient {
            Coefficient::Kendall => close(found.p_value.unwrap(), 2.0 / 120.0),
            _ => assert!(found.p_value.is_err()),
        }
        assert!(clustered_interval(coefficient, &x, &x, &[0, 1, 2, 3, 4], 0.95).is_err());
    }
    let many: Vec<f64> = (0..500).map(f64::from).collect();
    let found = correlate(Coefficient::Kendall, &many, &many, 0.95).unwrap();
    assert!(found.p_value.unwrap() > 0.0);
}

#[test]
fn enormous_and_tiny_scores_do_not_overflow() {
    let x = [-1.7e308, 1.7e308, 1e308, -1e308, 0.0];
    let y = [-1e-300, 2e-300, 1e-300, -3e-300, 0.0];
    for coefficient in Coefficient::ALL {
        let value = correlation(coefficient, &x, &y).unwrap();
        assert!(value > 0.5 && value <= 1.0, "{value}");
    }
    assert!(bias(&x, &y, None, 0.95).is_err());
    assert!(bias_slope(&x, &y, Against::Mean, None, 0.95).is_err());
    let powered = prediction_powered_mean(&x, &y, &[1.0, 2.0], 0.95);
    assert!(powered.is_err(), "{powered:?}");
}

/// One group says 1, one says −1, one has a tie on one side throughout, and one a single pair: the mean is over two.
#[test]
fn groups_without_variation_are_left_out_not_zero() {
    let groups = [0, 0, 0, 1, 1, 2, 2, 2, 3];
    let judge = [1.0, 2.0, 3.0, 1.0, 2.0, 4.0, 4.0, 4.0, 5.0];
    let human = [1.0, 2.0, 4.0, 2.0, 1.0, 1.0, 2.0, 3.0, 5.0];
    let found = group_correlation(Coefficient::Kendall, &judge, &human, &groups, &FEW).unwrap();
    close(found.value, 0.0);
    assert_eq!((found.groups, found.single, found.without_variation), (2, 1, 1));
    let without = &groups[5..];
    let none = group_correlation(Coefficient::Kendall, &judge[5..], &human[5..], without, &FEW);
    assert_eq!(
        none,
        Err(Undefined::TooFew { what: "groups with a correlation", given: 0, needed: 1 })
    );
}

#[test]
fn few_systems_have_wide_intervals_and_two_have_none() {
    let systems: Vec<u32> = (0..60).map(|row| row % 3).collect();
    let items: Vec<u32> = (0..60).map(|row| row / 3).collect();
    let noise = |row: u32, salt: u32| f64::from((row * 7919 + salt) % 101) / 10.0;
    let judge: Vec<f64> = (0..60).map(|row| f64::from(row % 3) * 9.0 + noise(row, 3)).collect();
    let human: Vec<f64> = (0..60).map(|row| f64::from(row % 3) * 9.0 + noise(row, 57)).collect();
    let of = |resampled, systems: &[u32]| {
        let all = &Coefficient::ALL;
        system_correlations(all, &judge, &human, systems, &items, resampled, &FEW)
    };
    let both = of(Resampled::Both, &systems).unwrap();
    let same = of(Resampled::Items, &systems).unwrap();
    for (both, same) in both.into_iter().zip(same) {
        let (both, same) = (both.unwrap(), same.unwrap());
        assert!(both.value > 0.9 && both.systems == 3);
        // All three draws are one system in a ninth of the rounds.
        assert!(both.undefined_rounds > 5 && both.undefined_rounds < 45, "{both:?}");
        assert_eq!(same.undefined_rounds, 0);
        assert!(same.interval.is_err() || same.interval.unwrap().low > 0.5);
    }
    let two: Vec<u32> = systems.iter().map(|system| system % 2).collect();
    assert!(of(Resampled::Both, &two).is_err());
}

/// Differences 1, 1, 1, 1 are a bias without a spread; the slope of one far point alone is not a slope.
#[test]
fn constant_bias_is_shown_without_an_interval() {
    let human = [1.0, 2.0, 3.0, 4.0];
    let shifted = human.map(|score| score + 1.0);
    let found = bias(&shifted, &human, None, 0.95).unwrap();
    close(found.mean_difference, 1.0);
    assert_eq!(found.interval, Err(Undefined::NoVariation { what: "differences" }));
    assert!(found.limits.is_err() && found.limit_error.is_none());
    let slope = bias_slope(&shifted, &human, Against::Human, None, 0.95);
    assert_eq!(slope, Err(Undefined::NoVariation { what: "distances from the line" }));
    let lone = [2.0, 2.0, 2.0, 5.0];
    let slope = bias_slope(&[1.0, 3.0, 2.0, 5.0], &lone, Against::Human, None, 0.95);
    assert_eq!(slope, Err(Undefined::NoVariation { what: "scores but one" }));
    assert!(bias_slope(&shifted, &[2.0; 4], Against::Human, None, 0.95).is_err());
}

#[test]
fn a_label_never_given_has_no_precision() {
    let found = confusion(&[0, 0, 1, 0], &[0, 1, 1, 2], 3, 0.95).unwrap();
    assert_eq!(found.table, [[1, 0, 0], [1, 1, 0], [1, 0, 0]]);
    close(found.accuracy, 0.5);
    close(found.majority_share, 0.5);
    assert!(found.classes[2].precision.is_err());
    assert_eq!(found.classes[2].recall, Ok(0.0));
    assert!(confusion(&[], &[], 2, 0.95).is_err());
    assert!(confusion(&[3], &[0], 2, 0.95).is_err());
}

/// 34% judged yes with sensitivity 0.9 and specificity 0.8 are (0.34 + 0.8 − 1) / 0.7 = 20%. The interval is by the formulas of
/// Lang and Reiczigel (2014), computed apart.
#[test]
fn rogan_gladen_by_hand() {
    let counts = JudgedRates {
        human_yes: 100,
        judge_yes_of_human_yes: 90,
        human_no: 100,
        judge_no_of_human_no: 80,
        unlabelled: 1000,
        judge_yes_of_unlabelled: 340,
    };
    let found = rogan_gladen(&counts, 0.95).unwrap();
    close(found.estimate, 0.2);
    close(found.interval.low, 0.085_056_032_268_923_65);
    close(found.interval.high, 0.290_636_538_598_964_93);
    assert!(!found.estimate_clipped && !found.interval_clipped);
    let rare = JudgedRates { judge_yes_of_unlabelled: 100, ..counts };
    let found = rogan_gladen(&rare, 0.95).unwrap();
    assert!(found.estimate == 0.0 && found.estimate_clipped && found.interval_clipped);
    let blind = JudgedRates { judge_yes_of_human_yes: 20, ..counts };
    assert!(matches!(rogan_gladen(&blind, 0.95), Err(Undefined::OutOfRange { .. })));
    assert!(rogan_gladen(&JudgedRates { human_no: 0, ..counts }, 0.95).is_err());
    assert!(rogan_gladen(&JudgedRates { judge_yes_of_human_yes: 101, ..counts }, 0.95).is_err());
}

/// With a judge that never varies the estimate is the mean of the labels; with labels that never vary there is no interval.
#[test]
fn a_judge_that_never_varies_is_not_relied_on() {
    let human = [1.0, 0.0, 1.0, 1.0];
    let found = prediction_powered_mean(&human, &[0.5; 4], &[0.5; 9], 0.95).unwrap();
    assert_eq!((found.lambda, found.estimate), (0.0, 0.75));
    close(found.variance_ratio, 1.0);
    close(found.effective_labels, 4.0);
    let plain = found.human_only_interval.unwrap();
    close(found.student_interval.low, plain.low);
    close(found.student_interval.high, plain.high);
    let flat = prediction_powered_mean(&[1.0; 4], &human, &human, 0.95);
    assert_eq!(flat, Err(Undefined::NoVariation { what: "human labels" }));
    assert!(prediction_powered_mean(&human, &human, &[1.0], 0.95).is_err());
    let empty = PartlyLabelled { items: &[], judge: &[], human: &[] };
    assert!(prediction_powered_difference(empty, empty, 0.95).is_err());
}

/// 100 labels of variance 1/4 and a useless judge: ±0.05 at 95% takes about (1.96 · 0.5 / 0.05)² = 385 labels, and by Student's t
/// 388, the first n with t · 0.5 / √(n−1) ≤ 0.05. 1,000 scored items cannot give ±0.01.
#[test]
fn labels_needed_by_hand() {
    let human: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
    let useless = vec![0.0; 100];
    let sample = || [LabelDesign::of(&human, &useless, &[0.0; 900]).unwrap()];
    for with_judge in [false, true] {
        let found = labels_needed(&sample(), 0.05, 0.95, with_judge).unwrap();
        assert_eq!(found, LabelsNeeded::Reachable { more: 288, total: 388 });
        let found = labels_needed(&sample(), 0.01, 0.95, with_judge).unwrap();
        let LabelsNeeded::OutOfReach { smallest } = found else { panic!("{found:?}") };
        close(smallest, student_t_quantile(0.975, 999.0).unwrap() * 0.5 / 999_f64.sqrt());
    }
    assert!(labels_needed(&sample(), 0.0, 0.95, true).is_err());
    assert!(labels_needed(&[], 0.1, 0.95, true).is_err());
}

fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let score = prop_oneof![(0..6_i32).prop_map(f64::from), -1e3..1e3_f64];
    prop::collection::vec((score.clone(), score), 0..40).prop_map(|rows| rows.into_iter().unzip())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn coefficients_are_symmetric_and_ranks_ignore_the_scale((x, y) in pairs()) {
        for coefficient in Coefficient::ALL {
            let Ok(value) = correlation(coefficient, &x, &y) else {
                prop_assert!(correlation(coefficient, &y, &x).is_err());
                continue;
            };
            prop_assert!((-1.0..=1.0).contains(&value));
            let swapped = correlation(coefficient, &y, &x).unwrap();
            let negated: Vec<f64> = y.iter().map(|y| -y).collect();
            let opposite = correlation(coefficient, &x, &negated).unwrap();
            prop_assert!((value - swapped).abs() < 1e-12 && (value + opposite).abs() < 1e-12);
            if coefficient != Coefficient::Pearson {
                let curved: Vec<f64> = x.iter().map(|x| x.cbrt()).collect();
                prop_assert!((correlation(coefficient, &curved, &y).unwrap() - value).abs() < 1e-12);
            }
            let whole = correlate(coefficient, &x, &y, 0.9).unwrap();
            if let Ok(interval) = whole.interval {
                prop_assert!(-1.0 <= interval.low && interval.low <= value);
                prop_assert!(value <= interval.high && interval.high <= 1.0);
            }
            if let Ok(p) = whole.p_value {
                prop_assert!(p > 0.0 && p <= 1.0);
            }
        }
    }

    #[test]
    fn kendall_counts_every_pair((x, y) in pairs()) {
        let Ok(value) = correlation(Coefficient::Kendall, &x, &y) else { return Ok(()) };
        let sign = |left: f64, right: f64| if left == right { 0.0 } else { (left - right).signum() };
        let (mut both, mut first, mut second) = (0.0, 0.0, 0.0_f64);
        for i in 0..x.len() {
            for j in 0..i {
                let (a, b) = (sign(x[i], x[j]), sign(y[i], y[j]));
                both += a * b;
                first += a * a;
                second += b * b;
            }
        }
        let expected: f64 = both / (first * second).sqrt();
        prop_assert!((value - expected).abs() < 1e-12);
    }

    /// Clusters of one pair each leave the error of Kendall's tau as it is for independent pairs.
    #[test]
    fn single_pairs_are_clusters_too((x, y) in pairs()) {
        let clusters: Vec<u32> = (0..x.len() as u32).collect();
        let Ok(whole) = correlate(Coefficient::Kendall, &x, &y, 0.95) else { return Ok(()) };
        let clustered = clustered_interval(Coefficient::Kendall, &x, &y, &clusters, 0.95);
        if let (Ok(plain), Ok(clustered)) = (whole.interval, clustered) {
            prop_assert!((plain.low - clustered.low).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_needed_is_enough_and_one_less_is_not(
        (human, judge) in pairs(),
        rest in prop::collection::vec(-1e3..1e3_f64, 2..300),
        share in 0.05..1.2_f64,
    ) {
        let Ok(now) = prediction_powered_mean(&human, &judge, &rest, 0.95) else { return Ok(()) };
        prop_assert!((0.0..=1.0).contains(&now.lambda));
        let design = || [LabelDesign::of(&human, &judge, &rest).unwrap()];
        let half_width = (now.student_interval.high - now.student_interval.low) / 2.0;
        let enough = LabelsNeeded::Reachable { more: 0, total: human.len() };
        prop_assert_eq!(labels_needed(&design(), half_width, 0.95, true).unwrap(), enough);
        let wanted = labels_needed(&design(), share * half_width, 0.95, true).unwrap();
        let wider = labels_needed(&design(), 1.1 * share * half_width, 0.95, true).unwrap();
        match (wanted, wider) {
            (LabelsNeeded::Reachable { more, total }, LabelsNeeded::Reachable { more: fewer, .. }) => {
                prop_assert!(fewer <= more && total <= human.len() + rest.len());
            }
            (LabelsNeeded::Reachable { .. }, LabelsNeeded::OutOfReach { .. }) => {
                prop_assert!(false, "a wider interval takes no more labels");
            }
            (LabelsNeeded::OutOfReach { smallest }, _) => prop_assert!(smallest > share * half_width),
        }
    }

    #[test]
    fn nothing_panics_and_nothing_is_infinite(
        (judge, human) in pairs(),
        codes in prop::collection::vec(0..5_u32, 40),
    ) {
        let clusters = &codes[..judge.len()];
        if let Ok(found) = bias(&judge, &human, Some(clusters), 0.95) {
            prop_assert!(found.mean_difference.is_finite() && found.standard_deviation.is_finite());
        }
        for against in [Against::Mean, Against::Human] {
            for clusters in [None, Some(clusters)] {
                if let Ok(found) = bias_slope(&judge, &human, against, clusters, 0.95) {
                    prop_assert!(found.interval.low.is_finite() && found.interval.high.is_finite());
                    prop_assert!((0.0..=1.0).contains(&found.p_value));
                }
            }
        }
        for coefficient in Coefficient::ALL {
            if let Ok(interval) = clustered_interval(coefficient, &judge, &human, clusters, 0.95) {
                prop_assert!(interval.low <= interval.high && interval.low.is_finite());
            }
            let _ = group_correlation(coefficient, &judge, &human, clusters, &FEW);
        }
    }
}
