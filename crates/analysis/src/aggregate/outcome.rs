//! The labels of each method, in one shape.

use fullbench_stats::agreement::Level;
use fullbench_stats::labels::{
    DawidSkeneOptions, Decision, MaceOptions, Posteriors, Vote, dawid_skene, lower_median, mace,
    majority, weighted_majority,
};

use super::{AggregateOptions, Method, ModelReport};
use crate::AnalysisError;
use crate::ratings::NamedRatings;

/// Below this probability a model's label needs adjudication, as a vote does below two thirds.
const SURE: f64 = 2.0 / 3.0;

/// What a method says about items and annotators.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) votes: Vec<Vote>,
    pub(super) confidence_is: &'static str,
    /// For each annotator the model's quality.
    pub(super) qualities: Vec<Option<f64>>,
    /// For each annotator the weight.
    pub(super) weights: Vec<f64>,
    /// For each annotator the confusion matrix.
    pub(super) confusions: Vec<Vec<Vec<f64>>>,
    /// For each label the model's share.
    pub(super) priors: Vec<f64>,
    pub(super) model: Option<ModelReport>,
}

impl Outcome {
    pub(super) fn of(
        named: &NamedRatings,
        options: &AggregateOptions,
    ) -> Result<Self, AnalysisError> {
        let ratings = &named.ratings;
        let undefined = |reason| {
            AnalysisError::undefined(
                "the labels",
                reason,
                "with one label there is nothing to decide",
            )
        };
        match options.method {
            Method::Majority | Method::Weighted => by_votes(named, options),
            Method::DawidSkene => {
                let fit_options = DawidSkeneOptions {
                    iterations: options.iterations,
                    ..DawidSkeneOptions::default()
                };
                let fit = dawid_skene(ratings, &fit_options).map_err(undefined)?;
                let annotators = 0..ratings.annotators();
                Ok(Self {
                    votes: votes(named, &fit.posteriors),
                    confidence_is: "probability under the model of Dawid and Skene",
                    qualities: annotators.clone().map(|who| fit.accuracy(who)).collect(),
                    confusions: annotators.map(|who| fit.confusion(who)).collect(),
                    model: Some(ModelReport {
                        log_likelihood: fit.log_likelihood,
                        iterations: fit.iterations,
                        converged: fit.converged,
                        starts_at_best: None,
                        restarts: None,
                        seed: None,
                    }),
                    priors: fit.priors,
                    weights: Vec::new(),
                })
            }
            Method::Mace => {
                let fit_options = MaceOptions {
                    iterations: options.iterations,
                    restarts: options.restarts,
                    seed: options.seed,
                    ..MaceOptions::default()
                };
                let fit = mace(ratings, &fit_options).map_err(undefined)?;
                Ok(Self {
                    votes: votes(named, &fit.posteriors),
                    confidence_is: "probability under MACE",
                    qualities: fit.competences.iter().copied().map(Some).collect(),
                    model: Some(ModelReport {
                        log_likelihood: fit.log_likelihood,
                        iterations: fit.iterations,
                        converged: fit.converged,
                        starts_at_best: Some(fit.starts_at_best),
                        restarts: Some(options.restarts),
                        seed: Some(options.seed),
                    }),
                    ..Self::default()
                })
            }
        }
    }
}

fn by_votes(named: &NamedRatings, options: &AggregateOptions) -> Result<Outcome, AnalysisError> {
    let weights = match options.method {
        Method::Weighted => annotator_weights(named)?,
        _ => Vec::new(),
    };
    let given = (options.method == Method::Weighted).then_some(weights.as_slice());
    let (votes, confidence_is) = match (options.level, given) {
        (Level::Ordinal, None) => {
            (lower_median(&named.ratings, None), "share of ratings that gave the median")
        }
        (Level::Ordinal, Some(weights)) => {
            (lower_median(&named.ratings, Some(weights)), "share of weight that gave the median")
        }
        (_, None) => (Ok(majority(&named.ratings)), "share of votes"),
        (_, Some(weights)) => (weighted_majority(&named.ratings, weights), "share of weight"),
    };
    let votes = votes
        .map_err(|reason| AnalysisError::undefined("the labels", reason, "check the weights"))?;
    Ok(Outcome { votes, confidence_is, weights, ..Outcome::default() })
}

/// The weight of each annotator, which is the same in all of their rows.
fn annotator_weights(named: &NamedRatings) -> Result<Vec<f64>, AnalysisError> {
    let table = &named.table;
    let (Some(numbers), Some(annotators)) = (table.numbers("weight"), table.texts("annotator"))
    else {
        let hint = "add it, with each annotator's accuracy on known answers; or use `--method dawid-skene`, which learns weights";
        return Err(AnalysisError::question("weighted votes need the column `weight`", hint));
    };
    let mut weights: Vec<Option<(f64, usize)>> = vec![None; annotators.names.len()];
    for (row, (&weight, &code)) in numbers.iter().zip(&annotators.codes).enumerate() {
        if weight < 0.0 {
            let hint = "weights are zero or positive";
            return Err(table.problem(
                row,
                Some("weight"),
                format!("the weight {weight} is negative"),
                hint,
            ));
        }
        match weights.get_mut(code as usize) {
            Some(Some((known, first))) if *known != weight => {
                let message = format!(
                    "`{}` has the weight {weight} here, and {known} on line {}",
                    annotators.get(row).unwrap_or_default(),
                    table.line(*first)
                );
                let hint = "a weight belongs to an annotator: give one for each";
                return Err(table.problem(row, Some("weight"), message, hint));
            }
            Some(place @ None) => *place = Some((weight, row)),
            _ => {}
        }
    }
    Ok(weights.into_iter().map(|weight| weight.map_or(0.0, |(weight, _)| weight)).collect())
}

/// The most probable labels as votes.
fn votes(named: &NamedRatings, posteriors: &Posteriors) -> Vec<Vote> {
    let vote = |item: usize| {
        let Some((label, share, tie)) = posteriors.best(item) else {
            return Vote { label: None, share: 0.0, tie: false, decision: Decision::Insufficient };
        };
        let decision = match named.ratings.item(item).1.len() {
            ..2 => Decision::Insufficient,
            _ if tie || share < SURE => Decision::NeedsAdjudication,
            _ => Decision::Consensus,
        };
        Vote { label: (!tie).then_some(label), share, tie, decision }
    };
    (0..named.ratings.items()).map(vote).collect()
}
