//! `stats ab`: a treatment against a control, looked at once, by Bayes' rule, or again and again.

mod conclusion;
mod data;
mod given;
mod grids;
mod plan;
mod report;
mod sequential;

use std::path::PathBuf;

use fullbench_stats::experiment::{
    BetaPrior, NormalInverseGamma, Spending, bayesian_means, bayesian_rates, frequentist_test,
    sample_ratio,
};
use fullbench_stats::{Moments, Undefined};
use serde::{Deserialize, Serialize};

pub use report::{
    AbReport, AbResult, ArmSummary, BayesianReport, CupedSummary, PriorUsed, SampleRatio,
};
pub use sequential::{LabelledGroupLook, LabelledLook, SequentialReport, TunedSequence};

use crate::{AnalysisError, Conclusion};
use data::Data;

/// How the arms are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbMethod {
    /// Welch's test, for one look at a size that was fixed beforehand.
    #[default]
    Frequentist,
    /// Probabilities and expected losses by Bayes' rule.
    Bayesian,
    /// Tests that may be looked at more than once.
    Sequential,
}

/// Which test that may be looked at more than once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequentialKind {
    /// An asymptotic confidence sequence: any number of looks.
    #[default]
    ConfidenceSequence,
    /// The mixture sequential probability ratio test: any number of looks, with a p-value.
    Msprt,
    /// O'Brien and Fleming's bounds at planned looks.
    OBrienFleming,
    /// Pocock's bounds at planned looks.
    Pocock,
    /// Bounds that spend alpha by how much of the planned data there is.
    Spending,
}

/// What is believed of means before the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbPrior {
    /// Next to nothing, for values of the order of 0.01 to 100.
    #[default]
    Weak,
    /// A thousandth of an observation at 0.
    Thousandth,
    /// Nothing, for values of any size.
    Reference,
}

/// Where the arms are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AbInput {
    /// One file for each arm, with a column `value`.
    Files {
        /// The control's file.
        control: PathBuf,
        /// The treatment's file.
        treatment: PathBuf,
    },
    /// One file with columns `variant` and `value`.
    Variants {
        /// The file.
        file: PathBuf,
        /// The variant that is the control; the other one is the treatment.
        control: String,
    },
}

/// How to compare.
#[derive(Debug, Clone, PartialEq)]
pub struct AbOptions {
    /// How the arms are compared.
    pub method: AbMethod,
    /// The level: how often a difference may be found where there is none; intervals hold 1 − alpha.
    pub alpha: f64,
    /// The share of all units that should be in the treatment.
    pub expected_share: f64,
    /// What is believed of means before the data, for the Bayesian method: weak unless it is given.
    pub prior: Option<AbPrior>,
    /// Which sequential test: a confidence sequence unless it is given.
    pub sequential: Option<SequentialKind>,
    /// How alpha is spent: like O'Brien and Fleming unless it is given.
    pub spending: Option<Spending>,
    /// How many looks are planned.
    pub planned_looks: Option<usize>,
    /// How many units are planned, both arms together. Where the file does not say when values came, the planned looks are at equal
    /// steps of these.
    pub planned_units: Option<u64>,
    /// How many looks are shown of a test that is valid at any time, where the file names none: at equal steps of its rows, 10
    /// unless it is given.
    pub looks: Option<usize>,
    /// Size of the differences the mixture test is tuned for, in standard deviations: 0.2 unless it is given.
    pub tau: Option<f64>,
    /// Names of columns by role: `value`, `covariate`, `look`, `day`, `variant`.
    pub columns: Vec<(String, String)>,
}

impl Default for AbOptions {
    fn default() -> Self {
        Self {
            method: AbMethod::default(),
            alpha: 0.05,
            expected_share: 0.5,
            prior: None,
            sequential: None,
            spending: None,
            planned_looks: None,
            planned_units: None,
            looks: None,
            tau: None,
            columns: Vec::new(),
        }
    }
}

/// Compares a treatment with a control. Files have a column `value`; with a column `covariate` in both, known before the experiment,
/// CUPED takes out the noise it explains; a column `look` or `day` says when a value came.
pub fn ab(input: &AbInput, options: &AbOptions) -> Result<AbReport, AnalysisError> {
    given::check(options)?;
    let data = Data::read(input, options)?;
    let summary = |values: &[f64]| -> Result<ArmSummary, AnalysisError> {
        let moments: Moments = values.iter().copied().collect();
        let mean = moments.mean().ok().filter(|mean| mean.is_finite()).ok_or_else(|| {
            AnalysisError::question(
                "the values are too large to be summed",
                "give them in a larger unit",
            )
        })?;
        let standard_deviation = moments.variance().ok().map(f64::sqrt);
        Ok(ArmSummary { count: moments.count(), mean, standard_deviation })
    };
    let control = summary(&data.control.values)?;
    let treatment = summary(&data.treatment.values)?;
    let sample_ratio = ratio(control.count, treatment.count, options.expected_share)?;
    let rates = options.method == AbMethod::Bayesian && data.is_yes_no();
    let adjusted = if rates { None } else { data.adjusted() };
    let (first, second) = match &adjusted {
        Some(adjusted) => (adjusted.control.as_slice(), adjusted.treatment.as_slice()),
        None => (data.control.values.as_slice(), data.treatment.values.as_slice()),
    };
    let result = match options.method {
        AbMethod::Frequentist => {
            frequentist_test(first, second, options.alpha).map(AbResult::Frequentist)
        }
        AbMethod::Bayesian if rates => {
            let prior = BetaPrior::uniform();
            let successes = |values: &[f64]| values.iter().filter(|value| **value == 1.0).count();
            let counts = |values: &[f64]| (successes(values) as u64, values.len() as u64);
            bayesian_rates(counts(first), counts(second), &prior, options.alpha).map(|test| {
                let (model, prior) = ("beta_binomial", PriorUsed::Rates(prior));
                AbResult::Bayesian(BayesianReport {
                    model,
                    prior,
                    prior_share_of_spread: None,
                    test,
                })
            })
        }
        AbMethod::Bayesian => bayesian(first, second, options).map(AbResult::Bayesian),
        AbMethod::Sequential => {
            sequential::looks(&data, first, second, options)?.map(AbResult::Sequential)
        }
    };
    let mut report = AbReport {
        method: options.method,
        alpha: options.alpha,
        difference: difference(&data.control.values, &data.treatment.values)
            .unwrap_or(treatment.mean - control.mean),
        control,
        treatment,
        sample_ratio,
        cuped: adjusted.map(|adjusted| adjusted.summary),
        result: result.unwrap_or_else(AbResult::Undefined),
        conclusion: Conclusion::default(),
    };
    report.conclusion = conclusion::conclusion(&report, &data, options);
    Ok(report)
}

/// Mean of the treatment − mean of the control. Counted from a value of theirs, so that values far from 0 keep the digits in which they differ.
fn difference(control: &[f64], treatment: &[f64]) -> Option<f64> {
    let origin = control.first()?;
    let mean =
        |values: &[f64]| values.iter().map(|value| value - origin).collect::<Moments>().mean().ok();
    Some(mean(treatment)? - mean(control)?).filter(|difference| difference.is_finite())
}

fn bayesian(
    control: &[f64],
    treatment: &[f64],
    options: &AbOptions,
) -> Result<BayesianReport, Undefined> {
    let prior = match options.prior.unwrap_or_default() {
        AbPrior::Weak => NormalInverseGamma::weak(),
        AbPrior::Thousandth => NormalInverseGamma::thousandth(),
        AbPrior::Reference => NormalInverseGamma::reference(),
    };
    let test = bayesian_means(control, treatment, &prior, options.alpha)?;
    let mut share = 0.0_f64;
    for values in [control, treatment] {
        share = share.max(prior.share_of_spread(&values.iter().copied().collect())?);
    }
    Ok(BayesianReport {
        model: "normal_inverse_gamma",
        prior: PriorUsed::Means(prior),
        prior_share_of_spread: Some(share),
        test,
    })
}

fn ratio(control: u64, treatment: u64, expected_share: f64) -> Result<SampleRatio, AnalysisError> {
    let check = sample_ratio(&[treatment, control], &[expected_share, 1.0 - expected_share])
        .map_err(|reason| {
            AnalysisError::undefined("the sample ratio", reason, "check `--expected-share`")
        })?;
    Ok(SampleRatio {
        expected_share,
        share: treatment as f64 / (control + treatment) as f64,
        p_value: check.p_value,
        mismatch: check.p_value < 0.001,
    })
}
