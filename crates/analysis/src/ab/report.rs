//! What a comparison of arms found.

use fullbench_stats::Undefined;
use fullbench_stats::experiment::{BayesianTest, BetaPrior, FrequentistTest, NormalInverseGamma};
use serde::Serialize;

use super::{AbMethod, SequentialReport, grids};
use crate::{Conclusion, Grid, Report};

/// Two arms compared.
#[derive(Debug, Clone, Serialize)]
pub struct AbReport {
    /// How they were compared.
    pub method: AbMethod,
    /// The level.
    pub alpha: f64,
    /// The control.
    pub control: ArmSummary,
    /// The treatment.
    pub treatment: ArmSummary,
    /// Mean of the treatment − mean of the control.
    pub difference: f64,
    /// Whether the arms have the sizes they should have.
    pub sample_ratio: SampleRatio,
    /// What the covariate took out; none where the files have none, or it was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuped: Option<CupedSummary>,
    /// The comparison, under the name of its method.
    #[serde(flatten)]
    pub result: AbResult,
    /// What it means.
    pub conclusion: Conclusion,
}

/// One arm, with its values as they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmSummary {
    /// How many values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation; none for one value.
    pub standard_deviation: Option<f64>,
}

/// Whether units arrived in the arms as they were meant to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SampleRatio {
    /// The share that should be in the treatment.
    pub expected_share: f64,
    /// The share that is.
    pub share: f64,
    /// How probable a share at least as far off is if assignment works.
    pub p_value: f64,
    /// So improbable that assignment or logging must be suspected: below 0.001.
    pub mismatch: bool,
}

/// What the covariate took out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CupedSummary {
    /// How much the value rises with the covariate.
    pub theta: f64,
    /// The share of the variance that is taken out.
    pub variance_reduction: f64,
    /// The difference of the adjusted means.
    pub adjusted_difference: f64,
}

/// The comparison.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AbResult {
    /// Welch's test.
    Frequentist(FrequentistTest),
    /// By Bayes' rule.
    Bayesian(BayesianReport),
    /// At each look.
    Sequential(SequentialReport),
    /// There is no test, and why.
    Undefined(Undefined),
}

/// A comparison by Bayes' rule, and what it started from.
#[derive(Debug, Clone, Serialize)]
pub struct BayesianReport {
    /// `beta_binomial` or `normal_inverse_gamma`.
    pub model: &'static str,
    /// The prior of both arms.
    pub prior: PriorUsed,
    /// The largest share of an arm's spread that comes from the prior and not from its values; none for rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prior_share_of_spread: Option<f64>,
    /// The comparison.
    #[serde(flatten)]
    pub test: BayesianTest,
}

/// The prior of both arms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PriorUsed {
    /// Of rates.
    Rates(BetaPrior),
    /// Of means.
    Means(NormalInverseGamma),
}

impl Report for AbReport {
    fn grids(&self) -> Vec<Grid> {
        grids::grids(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
