//! Experiments: properties that hold for any data, what the first design of these tests got wrong, and examples by hand.
#![allow(clippy::unwrap_used)]

use fullbench_stats::experiment::{
    Arms, BetaPrior, ConfidenceSequence, Decision, MixtureTest, NormalInverseGamma, Posterior,
    Rewards, Spending, WithCovariate, alpha_spending, bayesian_means, bayesian_rates,
    compare_posteriors, confidence_sequence, cuped, frequentist_test, group_sequential,
    mixture_test, o_brien_fleming, pocock, probability_best, sample_ratio, thompson,
    top_two_shares, top_two_thompson, ucb1, ucb1_bounds, value_remaining,
};
use fullbench_stats::{Undefined, normal_cdf, normal_pdf, normal_quantile};
use proptest::prelude::*;

fn normal(mean: f64, standard_deviation: f64) -> Posterior {
    Posterior::Normal { mean, standard_deviation }
}

fn any_posterior() -> impl Strategy<Value = Posterior> {
    let size = (-9.0..9.0_f64).prop_map(|exponent| 10_f64.powf(exponent));
    prop_oneof![
        (-1e6..1e6_f64, size.clone()).prop_map(|(mean, deviation)| normal(mean, deviation)),
        (-1e6..1e6_f64, size, 0.31..7.5_f64).prop_map(|(location, scale, degrees)| {
            Posterior::StudentT { location, scale, degrees_of_freedom: 10_f64.powf(degrees) }
        }),
        (-0.3..7.0_f64, -0.3..7.0_f64).prop_map(|(alpha, beta)| Posterior::Beta {
            alpha: 10_f64.powf(alpha),
            beta: 10_f64.powf(beta),
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Of two normal beliefs everything is known in closed form.
    #[test]
    fn integrals_of_normal_beliefs_are_exact(
        difference in -6.0..6.0_f64,
        first in -3.0..3.0_f64,
        second in -3.0..3.0_f64,
        alpha in 0.01..0.5_f64,
    ) {
        let (first, second) = (10_f64.powf(first), 10_f64.powf(second));
        let deviation = first.hypot(second);
        let (control, treatment) = (normal(0.3, first), normal(0.3 + difference * deviation, second));
        let test = compare_posteriors(control, treatment, alpha).unwrap();
        prop_assert!((test.probability_of_improvement - normal_cdf(difference)).abs() < 1e-11);
        let excess = |z: f64| deviation * (normal_pdf(z) + z * normal_cdf(z));
        prop_assert!((test.risk_of_choosing_control - excess(difference)).abs() < 1e-10 * deviation);
        prop_assert!((test.risk_of_choosing_treatment - excess(-difference)).abs() < 1e-10 * deviation);
        let z = -normal_quantile(alpha / 2.0).unwrap();
        let low = (difference - z) * deviation;
        prop_assert!((test.credible_interval.low - low).abs() < 1e-8 * deviation);
        let excludes = test.credible_interval.low > 0.0 || test.credible_interval.high < 0.0;
        prop_assert_eq!(excludes, test.significant);
    }

    /// Whatever is compared, numbers are finite and fit together.
    #[test]
    fn any_two_beliefs_give_numbers_that_fit_together(one in any_posterior(), other in any_posterior()) {
        let test = compare_posteriors(one, other, 0.05).unwrap();
        let reverse = compare_posteriors(other, one, 0.05).unwrap();
        let both = test.probability_of_improvement + reverse.probability_of_improvement;
        prop_assert!((both - 1.0).abs() < 1e-7, "{}", both);
        let (gain, loss) = (test.risk_of_choosing_control, test.risk_of_choosing_treatment);
        let size = gain.abs() + loss.abs() + 1e-12;
        prop_assert!(gain >= 0.0 && loss >= 0.0 && gain.is_finite() && loss.is_finite());
        prop_assert!((gain - loss - test.expected_lift).abs() < 1e-6 * size, "{} {} {}", gain, loss, test.expected_lift);
        let interval = test.credible_interval;
        prop_assert!(interval.low < interval.high && interval.low.is_finite() && interval.high.is_finite());
        let best = probability_best(&[one, other]).unwrap();
        prop_assert!((best[1] - test.probability_of_improvement).abs() < 1e-7);
    }

    /// Spending takes all of alpha by the end, at any times.
    #[test]
    fn bounds_spend_all_of_alpha(
        mut steps in prop::collection::vec(0.01..1.0_f64, 1..8),
        alpha in 0.001..0.3_f64,
        early in any::<bool>(),
    ) {
        let total: f64 = steps.iter().sum();
        let mut sum = 0.0;
        for step in &mut steps {
            sum += *step / total;
            *step = sum.min(1.0);
        }
        *steps.last_mut().unwrap() = 1.0;
        let function = if early { Spending::Pocock } else { Spending::OBrienFleming };
        let design = alpha_spending(function, &steps, alpha).unwrap();
        prop_assert!((design.spent.last().unwrap() - alpha).abs() < 1e-9);
        prop_assert!(design.critical.iter().all(|bound| bound.is_finite() && *bound > 0.0));
    }
}

/// A belief that is a step beside another: found once by chance, with an error of 4e-6.
#[test]
fn beliefs_of_very_different_widths_fit_together() {
    let wide = Posterior::Normal { mean: 31_248.2, standard_deviation: 92_103.6 };
    for narrow in [
        Posterior::Beta { alpha: 1.0, beta: 3.47 },
        Posterior::Beta { alpha: 400.0, beta: 2.0 },
        Posterior::Normal { mean: 3.0, standard_deviation: 1e-7 },
    ] {
        let compared = compare_posteriors(narrow, wide, 0.05).unwrap();
        let best = probability_best(&[narrow, wide]).unwrap();
        assert!((best[1] - compared.probability_of_improvement).abs() < 1e-10, "{narrow:?}");
        assert!((best[0] + best[1] - 1.0).abs() < 1e-10, "{narrow:?}: {best:?}");
    }
}

/// The seed had the two risks the wrong way round: a better treatment must be the smaller risk.
#[test]
fn choosing_the_better_arm_risks_less() {
    let better = compare_posteriors(normal(0.0, 1.0), normal(2.0, 1.0), 0.05).unwrap();
    assert!(better.risk_of_choosing_treatment < 0.1 && better.risk_of_choosing_control > 1.9);
}

/// The seed called P > 0.95 significant, a test at 10% whose 95% interval holds 0.
#[test]
fn significance_agrees_with_the_interval() {
    let deviation = 0.5_f64.sqrt();
    let moved = |p: f64| normal(normal_quantile(p).unwrap(), deviation);
    let test = compare_posteriors(normal(0.0, deviation), moved(0.96), 0.05).unwrap();
    assert!((test.probability_of_improvement - 0.96).abs() < 1e-10);
    assert!(!test.significant && test.credible_interval.low < 0.0);
    assert_eq!(test.recommendation, "Moderate evidence treatment is better, consider more data");
    let at_ten = compare_posteriors(normal(0.0, deviation), moved(0.96), 0.1).unwrap();
    assert!(at_ten.significant && at_ten.credible_interval.low > 0.0);
    for (p, text) in [
        (0.99, "High confidence treatment is BETTER (>95%)"),
        (0.01, "High confidence treatment is WORSE (<5%)"),
        (0.85, "Moderate evidence treatment is better, consider more data"),
        (0.15, "Moderate evidence treatment is worse, consider more data"),
        (0.5, "Insufficient evidence, continue experiment"),
    ] {
        let test = compare_posteriors(normal(0.0, deviation), moved(p), 0.05).unwrap();
        assert_eq!(test.recommendation, text, "{p}");
    }
}

/// The seed gave p = 0 or 1 where nothing varies.
#[test]
fn nothing_varying_is_no_test() {
    let no_variation = |result: Result<(), Undefined>| {
        assert!(matches!(result, Err(Undefined::NoVariation { .. })), "{result:?}");
    };
    no_variation(frequentist_test(&[1.0, 1.0], &[2.0, 2.0], 0.05).map(drop));
    let weak = NormalInverseGamma::weak();
    no_variation(bayesian_means(&[1.0, 1.0], &[2.0, 2.5], &weak, 0.05).map(drop));
    let arm = |covariates| WithCovariate { values: &[1.0, 2.0], covariates };
    no_variation(cuped(arm(&[3.0, 3.0]), arm(&[3.0, 3.0]), 0.95).map(drop));
    let arms = Arms {
        control: [1.0, 1.0].into_iter().collect(),
        treatment: [2.0, 2.0].into_iter().collect(),
    };
    let sequence = ConfidenceSequence::tuned(0.05, 100.0).unwrap();
    let looks = confidence_sequence(&[Arms::default(), arms], &sequence, 2);
    assert_eq!((looks[0].interval, looks[1].interval), (None, None));
    assert_eq!((looks[0].difference, looks[1].difference), (None, Some(1.0)));
    assert_eq!((looks[1].decision, looks[1].p_value), (Decision::Continue, 1.0));
    no_variation(looks[1].undefined.clone().map_or(Ok(()), Err));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let arm = normal(0.0, 1.0);
    assert!(compare_posteriors(arm, arm, 0.0).is_err());
    assert!(compare_posteriors(arm, normal(0.0, 0.0), 0.05).is_err());
    assert!(compare_posteriors(arm, normal(f64::NAN, 1.0), 0.05).is_err());
    let cauchy = Posterior::StudentT { location: 0.0, scale: 1.0, degrees_of_freedom: 1.0 };
    assert!(compare_posteriors(arm, cauchy, 0.05).is_err());
    assert!((probability_best(&[arm, cauchy]).unwrap()[0] - 0.5).abs() < 1e-9);
    assert!(bayesian_rates((5, 4), (1, 4), &BetaPrior::uniform(), 0.05).is_err());
    assert!(bayesian_rates((0, 0), (1, 4), &BetaPrior::uniform(), 0.05).is_err());
    assert!(bayesian_means(&[1.0], &[1.0, 2.0], &NormalInverseGamma::weak(), 0.05).is_err());
    assert!(
        bayesian_means(&[1.0, f64::NAN], &[1.0, 2.0], &NormalInverseGamma::weak(), 0.05).is_err()
    );
    assert!(NormalInverseGamma::reference().marginal_mean().is_err());
    assert!(Posterior::gaussian(0.0, 0.0, 1.0, 3, 1.0).is_err());
    assert!(sample_ratio(&[5], &[1.0]).is_err());
    assert!(sample_ratio(&[0, 0], &[0.5, 0.5]).is_err());
    assert!(sample_ratio(&[5, 4], &[0.5, 0.0]).is_err());
    assert!(ConfidenceSequence::tuned(0.05, 0.0).is_err());
    assert!(MixtureTest::with_tau(0.05, -1.0).is_err());
    assert!(o_brien_fleming(0, 0.05).is_err() && pocock(100_000, 0.05).is_err());
    for fractions in [vec![], vec![0.5, 0.5], vec![0.7, 0.2], vec![0.5, 1.1], vec![f64::NAN]] {
        assert!(alpha_spending(Spending::Pocock, &fractions, 0.05).is_err(), "{fractions:?}");
    }
    assert!(probability_best(&[]).is_err() && thompson(&[], 1, 0).is_err());
    assert!(top_two_thompson(&[arm], 0.5, 1, 0).is_err() && ucb1(&[]).is_err());
    assert!(top_two_shares(&[1.0, 0.0], 0.5).is_err());
    assert!(ucb1(&[Rewards { count: 3, mean: 1.5 }]).is_err());
    assert!(value_remaining(&[arm], 1.0).is_err());
}

#[test]
fn one_planned_look_is_the_fixed_test_and_many_cost_more() {
    for design in [o_brien_fleming(1, 0.05), pocock(1, 0.05)] {
        assert!((design.unwrap().critical[0] - 1.959_963_984_540_054).abs() < 1e-9);
    }
    let mut before = 1.96;
    for looks in [2, 3, 10, 30] {
        let bound = pocock(looks, 0.05).unwrap().critical[0];
        assert!(bound > before);
        before = bound;
    }
    let design = o_brien_fleming(100, 0.05).unwrap();
    assert!((design.spent.last().unwrap() - 0.05).abs() < 1e-9);
    // Next to nothing to spend makes a bound that is never reached, not an infinite one.
    let design = alpha_spending(Spending::OBrienFleming, &[0.001, 1.0], 0.05).unwrap();
    assert!(design.critical[0] > 30.0 && design.critical[0] < 100.0);
    assert!((design.critical[1] - 1.96).abs() < 0.001);
}

#[test]
fn planned_looks_decide_once_and_end_with_the_plan() {
    let control: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 101)).collect();
    let treatment: Vec<f64> = control.iter().map(|value| value + 30.0).collect();
    let prefixes = |values: &[f64], counts: &[usize]| -> Vec<Vec<f64>> {
        counts.iter().map(|count| values[..*count].to_vec()).collect()
    };
    let design = o_brien_fleming(4, 0.05).unwrap();
    let counts = [1, 200, 300, 400];
    let (first, second) = (prefixes(&control, &counts), prefixes(&treatment, &counts));
    let slices: Vec<(&[f64], &[f64])> =
        first.iter().zip(&second).map(|(one, other)| (one.as_slice(), other.as_slice())).collect();
    let looks = group_sequential(&design, &slices).unwrap();
    assert!(looks[0].undefined.is_some() && looks[0].decision == Decision::Continue);
    assert!(looks[1..].iter().all(|look| look.decision == Decision::TreatmentBetter));
    let interval = looks[3].interval.unwrap();
    assert!(interval.low < 30.0 && interval.high > 30.0);
    let same: Vec<(&[f64], &[f64])> =
        first.iter().map(|one| (one.as_slice(), one.as_slice())).collect();
    let looks = group_sequential(&design, &same).unwrap();
    assert_eq!(looks[2].decision, Decision::Continue);
    assert_eq!(looks[3].decision, Decision::NoDifferenceShown);
    assert!(group_sequential(&pocock(3, 0.05).unwrap(), &slices).is_err());
}

#[test]
fn a_decision_at_any_time_stands() {
    let arms = |shift: f64, count: i32| Arms {
        control: (0..count).map(|i| f64::from(i * 37 % 101)).collect(),
        treatment: (0..count).map(|i| f64::from(i * 37 % 101) + shift).collect(),
    };
    let looks = [arms(0.0, 20), arms(-60.0, 200), arms(0.0, 400)];
    let test = MixtureTest::new(0.05).unwrap();
    let results = mixture_test(&looks, &test, 30);
    assert_eq!(
        results[0].undefined,
        Some(Undefined::TooFew { what: "values in an arm", given: 20, needed: 30 })
    );
    assert_eq!(results[1].decision, Decision::TreatmentWorse);
    assert_eq!(results[2].decision, Decision::TreatmentWorse);
    assert_eq!(results[2].p_value.to_bits(), results[1].p_value.to_bits());
}

#[test]
fn a_sequence_of_one_mean_holds_it() {
    let values = (0..500).map(|i| f64::from(i * 37 % 101)).collect();
    let sequence = ConfidenceSequence::tuned(0.05, 500.0).unwrap();
    let interval = sequence.interval_of_mean(&values).unwrap();
    assert!(interval.low < 50.0 && interval.high > 50.0);
    let half = sequence.half_width(values.variance().unwrap(), 500).unwrap();
    assert!(((interval.high - interval.low) / 2.0 - half).abs() < 1e-9);
    assert!(sequence.interval_of_mean(&[1.0, 1.0].into_iter().collect()).is_err());
}

#[test]
fn thompson_plays_arms_as_often_as_they_are_probably_best() {
    let arms = [
        Posterior::Beta { alpha: 20.0, beta: 30.0 },
        Posterior::Beta { alpha: 25.0, beta: 25.0 },
        Posterior::StudentT { location: 0.45, scale: 0.05, degrees_of_freedom: 8.0 },
        normal(0.42, 0.06),
    ];
    let best = probability_best(&arms).unwrap();
    let top_two = top_two_shares(&best, 0.5).unwrap();
    assert!((top_two.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    let rounds = 20_000;
    let (mut plain, mut two) = ([0_u32; 4], [0_u32; 4]);
    for round in 0..rounds {
        plain[thompson(&arms, 7, round).unwrap()] += 1;
        two[top_two_thompson(&arms, 0.5, 7, round).unwrap()] += 1;
    }
    for (counts, shares) in [(plain, best), (two, top_two)] {
        for (count, share) in counts.iter().zip(shares) {
            let allowed = 4.0 * (share * (1.0 - share) / rounds as f64).sqrt();
            assert!((f64::from(*count) / rounds as f64 - share).abs() < allowed, "{counts:?}");
        }
    }
    assert_eq!(thompson(&arms, 3, 5), thompson(&arms, 3, 5));
}

#[test]
fn a_leader_beyond_doubt_leaves_the_second_place_to_the_second_best() {
    let arms = [normal(0.0, 0.1), normal(100.0, 0.1), normal(50.0, 0.1)];
    let plays: Vec<usize> =
        (0..50).map(|round| top_two_thompson(&arms, 0.5, 1, round).unwrap()).collect();
    assert!(plays.contains(&1) && plays.contains(&2) && !plays.contains(&0), "{plays:?}");
    let remaining = value_remaining(&arms, 0.95).unwrap();
    assert_eq!((remaining.best, remaining.absolute, remaining.relative), (1, 0.0, Some(0.0)));
    assert_eq!(value_remaining(&[arms[0], arms[0]], 0.95).unwrap().relative, None);
}

/// By hand: 0.4 + √(2 ln 15 / 10) = 1.1359, 0.5 + √(2 ln 15 / 5) = 1.5408.
#[test]
fn upper_bounds_by_hand() {
    let arms = [Rewards { count: 10, mean: 0.4 }, Rewards { count: 5, mean: 0.5 }];
    let bounds = ucb1_bounds(&arms).unwrap();
    assert!((bounds[0].unwrap() - 1.135_941_6).abs() < 1e-6, "{bounds:?}");
    assert!((bounds[1].unwrap() - 1.540_778_6).abs() < 1e-6, "{bounds:?}");
    assert_eq!(ucb1(&arms), Ok(1));
    assert_eq!(ucb1(&[arms[0], Rewards { count: 0, mean: 0.0 }, arms[1]]), Ok(1));
}

/// A normal prior worth as much as the data meets it half way.
#[test]
fn a_gaussian_belief_by_hand() {
    let belief = Posterior::gaussian(0.0, 1.0, 2.0, 4, 3.0).unwrap();
    let Posterior::Normal { mean, standard_deviation } = belief else { panic!("{belief:?}") };
    assert!((mean - 1.5).abs() < 1e-15 && (standard_deviation - 0.5_f64.sqrt()).abs() < 1e-15);
}
