//! What paired results show: difference, interval, test, verdict.

use fullbench_stats::compare::{
    Adjustment, EffectSize, MeanComparison, adjust, clustered_paired_t, cohen_dz, equivalence,
    mcnemar_detectable_difference, mcnemar_exact, minimum_detectable_effect, paired_t,
};
use fullbench_stats::sampling::{PairedWeightedSums, Target};
use fullbench_stats::{Interval, PairedProportions, Undefined};
use serde::{Deserialize, Serialize};

use super::Word;
use super::diff::Change;
use super::pairs::Series;

/// The confidence of the interval of a difference.
pub(super) const CONFIDENCE: f64 = 0.95;
/// The level of every test.
pub(super) const LEVEL: f64 = 0.05;
/// The power of the detectable difference.
const POWER: f64 = 0.8;
/// Quantiles of the normal distribution: of 97.5% and 95% for tests at the level, of 80% and 90% for the power of one test
/// and of two that must both reject.
const TWO_SIDED: f64 = 1.959_963_984_540_054;
const ONE_SIDED: f64 = 1.644_853_626_951_473;
const ONE_SIDED_POWER: f64 = 0.841_621_233_572_914;
const TWO_SIDED_POWER: f64 = 1.281_551_565_544_6;

/// What a comparison comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The second run is better, after correction for the number of tests.
    Better,
    /// The second run is worse, after correction for the number of tests.
    Worse,
    /// Neither a difference nor its absence is shown.
    NoEvidence,
    /// The difference is shown to lie within the margin.
    Equivalent,
    /// Every pair has the same value in both runs.
    Identical,
    /// There is no test for these pairs; `undefined` says why.
    Undefined,
}

impl Verdict {
    /// The verdict in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::NoEvidence => "no evidence",
            Self::Equivalent => "equivalent",
            Self::Identical => "identical",
            Self::Undefined => "undefined",
        }
    }
}

/// What the pairs of one model and scorer show.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Evidence {
    /// The test: `mcnemar_exact`, `paired_t`, `clustered_paired_t`, or `weighted_t` for cascades; none where there is none.
    pub test: Option<Word>,
    /// What counts as one observation: `pair`, `case` or `group`.
    pub observation: Word,
    /// How many observations there are.
    pub observations: u64,
    /// Mean after minus mean before.
    pub difference: Option<f64>,
    /// Its 95% interval.
    pub interval: Option<Interval>,
    /// How the interval was made: `tango` or `t`.
    pub interval_method: Option<Word>,
    /// Cohen's dz: the difference in standard deviations of the differences.
    pub effect_size: Option<EffectSize>,
    /// Two-sided p-value of no difference.
    pub p_value: Option<f64>,
    /// The same after Holm's correction for all tests of the comparison.
    pub adjusted_p_value: Option<f64>,
    /// p-value of a difference outside of the margin, by two one-sided tests.
    pub equivalence_p_value: Option<f64>,
    /// The same after Holm's correction for all tests of equivalence.
    pub adjusted_equivalence_p_value: Option<f64>,
    /// The smallest true difference that the test finds in 80 of 100 such comparisons, before the correction; none where it
    /// finds none so often, because too few yes/no values change.
    pub minimum_detectable_effect: Option<f64>,
    /// The standard deviation of an observation's difference, where any changed: what larger runs are planned by.
    #[serde(skip)]
    pub(super) spread: Option<f64>,
    /// Why there is no test.
    pub undefined: Option<String>,
    /// What it comes to.
    pub verdict: Verdict,
}

impl Evidence {
    /// So many observations that show nothing yet.
    fn nothing(observation: &'static str, observations: u64) -> Self {
        Self {
            test: None,
            observation: observation.into(),
            observations,
            difference: None,
            interval: None,
            interval_method: None,
            effect_size: None,
            p_value: None,
            adjusted_p_value: None,
            equivalence_p_value: None,
            adjusted_equivalence_p_value: None,
            minimum_detectable_effect: None,
            spread: None,
            undefined: None,
            verdict: Verdict::Undefined,
        }
    }

    /// What a series shows, before any correction for other tests. `grouped` says whether its clusters are groups or cases.
    pub(super) fn of(series: &Series, binary: bool, grouped: bool, margin: Option<f64>) -> Self {
        let pairs = series.before.len() as u64;
        let clusters = distinct(&series.clusters);
        let clustered = !series.clusters.is_empty() && clusters < pairs;
        let observation = match (clustered, grouped) {
            (false, _) => "pair",
            (true, false) => "case",
            (true, true) => "group",
        };
        let sum = |values: &[f64]| values.iter().sum::<f64>();
        let difference =
            (pairs > 0).then(|| (sum(&series.after) - sum(&series.before)) / pairs as f64);
        let observations = if clustered { clusters } else { pairs };
        let mut evidence = Self {
            difference,
            effect_size: cohen_dz(&series.before, &series.after).ok(),
            ..Self::nothing(observation, observations)
        };
        let comparison = if clustered {
            clustered_paired_t(&series.before, &series.after, &series.clusters, CONFIDENCE)
        } else {
            paired_t(&series.before, &series.after, CONFIDENCE)
        };
        if let Ok(comparison) = &comparison {
            evidence.spread =
                Some(comparison.standard_error * (evidence.observations as f64).sqrt());
            evidence.minimum_detectable_effect = minimum_detectable_effect(
                comparison.standard_error,
                comparison.degrees_of_freedom,
                LEVEL,
                POWER,
            )
            .ok();
        }
        let count = |change| series.changes.get(&change).copied().unwrap_or_default();
        let (fixed, broken) = (count(Change::Fixed), count(Change::Broken));
        let told = if pairs == 0 {
            Err(Undefined::TooFew { what: "pairs", given: 0, needed: 1 })
        } else if fixed + broken == 0 {
            evidence.unchanged(margin)
        } else if binary && yes_or_no(series) && !clustered {
            evidence.of_yes_and_no(fixed, broken, pairs, margin)
        } else {
            let test = if clustered { "clustered_paired_t" } else { "paired_t" };
            comparison.and_then(|comparison| evidence.of_means(&comparison, test, margin))
        };
        if let Err(undefined) = told {
            evidence.verdict = Verdict::Undefined;
            evidence.undefined = Some(undefined.to_string());
        }
        evidence
    }

    /// What the estimates of a cascade on both sides show: each case with the distance of its values from the means, by their chances.
    pub(super) fn of_weighted(sums: &PairedWeightedSums, margin: Option<f64>) -> Self {
        let (first, second) = (sums.first(), sums.second());
        let mut evidence = Self::nothing("pair", first.judged().max(second.judged()));
        let means = first.mean().ok().zip(second.mean().ok());
        evidence.difference = means.map(|(before, after)| after - before);
        let told = sums.difference(Target::OtherOutputs, CONFIDENCE).and_then(|found| {
            let freedom = first.effective_size()?.min(second.effective_size()?) - 1.0;
            let error = found.standard_error;
            let comparison =
                MeanComparison::from_standard_error(found.estimate, error, freedom, CONFIDENCE)?;
            evidence.minimum_detectable_effect =
                minimum_detectable_effect(error, freedom, LEVEL, POWER).ok();
            evidence.of_means(&comparison, "weighted_t", margin)
        });
        let told = match told {
            // The same outputs were judged on both sides, with the same values: as good as so many that count alike.
            Err(Undefined::NoVariation { .. }) if evidence.difference == Some(0.0) => {
                let alike = first.effective_size().unwrap_or_default();
                evidence.observations = alike as u64;
                evidence.unchanged(margin)
            }
            told => told,
        };
        if let Err(undefined) = told {
            evidence.undefined = Some(undefined.to_string());
        }
        evidence
    }

    /// Nothing changed. As a value lies between 0 and 1, the mean cannot differ by more than the share of observations that
    /// change, and that share has an interval although none was seen.
    fn unchanged(&mut self, margin: Option<f64>) -> Result<(), Undefined> {
        let none = PairedProportions::new(0, 0, self.observations)?;
        self.interval = Some(none.interval(CONFIDENCE)?);
        self.interval_method = Some("tango".into());
        self.equivalence_p_value = margin.map(|margin| equivalence_of(&none, margin));
        self.verdict = Verdict::Identical;
        Ok(())
    }

    fn of_yes_and_no(
        &mut self,
        fixed: u64,
        broken: u64,
        pairs: u64,
        margin: Option<f64>,
    ) -> Result<(), Undefined> {
        let proportions = PairedProportions::new(fixed, broken, pairs)?;
        let changed = (fixed + broken) as f64 / pairs as f64;
        self.test = Some("mcnemar_exact".into());
        self.minimum_detectable_effect =
            mcnemar_detectable_difference(pairs, changed, LEVEL, POWER).ok();
        self.spread = Some(changed.sqrt());
        self.p_value = Some(mcnemar_exact(fixed, broken)?);
        self.interval = Some(proportions.interval(CONFIDENCE)?);
        self.interval_method = Some("tango".into());
        self.equivalence_p_value = margin.map(|margin| equivalence_of(&proportions, margin));
        self.verdict = Verdict::NoEvidence;
        Ok(())
    }

    fn of_means(
        &mut self,
        comparison: &MeanComparison,
        test: &'static str,
        margin: Option<f64>,
    ) -> Result<(), Undefined> {
        self.test = Some(test.into());
        self.p_value = Some(comparison.p_value);
        self.interval = Some(comparison.interval);
        self.interval_method = Some("t".into());
        let within = margin.map(|margin| equivalence(comparison, -margin, margin)).transpose()?;
        self.equivalence_p_value = within.map(|within| within.p_value);
        self.verdict = Verdict::NoEvidence;
        Ok(())
    }

    /// Observations that would show, in 80 of 100 runs, that what really changed nothing stays above the margin at the lower
    /// end of its 95% interval (normal approximation; Julious 2004). None for no margin, and where nothing varies.
    pub(super) fn needed_for_no_regression(&self, margin: f64) -> Option<f64> {
        self.needed(TWO_SIDED + ONE_SIDED_POWER, margin)
    }

    /// The same for two one-sided tests of equivalence, which must both reject.
    pub(super) fn needed_for_equivalence(&self, margin: f64) -> Option<f64> {
        self.needed(ONE_SIDED + TWO_SIDED_POWER, margin)
    }

    fn needed(&self, standard_errors: f64, margin: f64) -> Option<f64> {
        let needed = (standard_errors * self.spread? / margin).powi(2).ceil();
        (margin > 0.0 && needed.is_finite()).then_some(needed)
    }

    fn decide(&mut self) {
        if self.verdict != Verdict::NoEvidence {
            return;
        }
        let shown = |p: Option<f64>| p.is_some_and(|p| p <= LEVEL);
        if shown(self.adjusted_equivalence_p_value) {
            self.verdict = Verdict::Equivalent;
        } else if shown(self.adjusted_p_value) {
            let better = self.difference.is_some_and(|difference| difference > 0.0);
            self.verdict = if better { Verdict::Better } else { Verdict::Worse };
        }
    }
}

fn equivalence_of(proportions: &PairedProportions, margin: f64) -> f64 {
    proportions.p_at_or_below(-margin).max(proportions.p_at_or_above(margin))
}

/// Corrects the tests of one comparison for being many, each kind for itself, and gives every one its verdict.
pub(super) fn decide(all: &mut [&mut Evidence]) {
    let corrected = |p_values: Vec<Option<f64>>| {
        let tests: Vec<f64> = p_values.iter().copied().flatten().collect();
        let mut adjusted = adjust(&tests, Adjustment::Holm).unwrap_or_default().into_iter();
        p_values.into_iter().map(move |p| p.and_then(|_| adjusted.next())).collect::<Vec<_>>()
    };
    let differences = corrected(all.iter().map(|evidence| evidence.p_value).collect());
    let margins = corrected(all.iter().map(|evidence| evidence.equivalence_p_value).collect());
    for (evidence, (difference, margin)) in all.iter_mut().zip(differences.into_iter().zip(margins))
    {
        evidence.adjusted_p_value = difference;
        evidence.adjusted_equivalence_p_value = margin;
        evidence.decide();
    }
}

fn yes_or_no(series: &Series) -> bool {
    series.before.iter().chain(&series.after).all(|value| *value == 0.0 || *value == 1.0)
}

fn distinct(clusters: &[u32]) -> u64 {
    let mut sorted = clusters.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len() as u64
}
