//! What is decided by looking at the data, and said.

use fullbench_stats::Undefined;
use fullbench_stats::ranking::{BradleyTerry, Covariance, Ties};
use serde::Serialize;

use super::RankOptions;
use super::data::{Duels, listed};

/// How the covariance of ratings is found.
///
/// Where none is named: the bootstrap of whole groups where there are groups, since duels of one judge or question are not
/// independent; the sandwich otherwise; and the curvature of the posterior where some model won or lost everything, because the
/// others take what never varied for certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CovarianceMethod {
    /// The inverse information.
    Hessian,
    /// Robust against a wrong model; duels are independent.
    Sandwich,
    /// Robust against a wrong model; only groups are independent.
    Cluster,
    /// The spread over resamples of duels, or of groups where there are groups.
    Bootstrap,
}

impl CovarianceMethod {
    /// The same for the fit.
    pub(super) fn covariance(self, options: &RankOptions) -> Covariance {
        match self {
            Self::Hessian => Covariance::Hessian,
            Self::Sandwich => Covariance::Sandwich,
            Self::Cluster => Covariance::Cluster,
            Self::Bootstrap => Covariance::Bootstrap { rounds: options.rounds, seed: options.seed },
        }
    }
}

/// How ties are counted: without ties or without wins, Davidson's parameter does not exist.
pub(super) fn ties(asked: Ties, duels: &Duels) -> (Ties, Vec<String>) {
    let useless = duels.ties == 0 || duels.ties == duels.outcomes.len();
    if asked == Ties::Davidson && useless {
        let found = if duels.ties == 0 { "no ties" } else { "nothing but ties" };
        let note = format!(
            "There are {found}, so that Davidson's tie parameter does not exist: a tie counts as half a win."
        );
        return (Ties::Half, vec![note]);
    }
    let mut notes = Vec::new();
    if asked == Ties::Half && duels.ties > 0 {
        notes.push(format!("A tie counts as half a win for each ({} ties).", duels.ties));
    }
    (asked, notes)
}

/// The method that was asked for, or the one that fits the data.
pub(super) fn covariance(
    options: &RankOptions,
    duels: &Duels,
    fit: &BradleyTerry,
    notes: &mut Vec<String>,
) -> CovarianceMethod {
    let method = options.covariance.unwrap_or(match (&fit.separated, duels.group_count) {
        (Some(_), _) => CovarianceMethod::Hessian,
        (None, Some(_)) => CovarianceMethod::Bootstrap,
        (None, None) => CovarianceMethod::Sandwich,
    });
    if let Some(Undefined::Separated { above, below }) = &fit.separated {
        notes.push(format!(
            "{} never lost a point to {}. No finite ratings fit that best, so ratings are drawn together by a ridge of {} (a normal prior of standard deviation {:.2} on log-strengths).",
            listed(above.iter().map(|player| duels.models[*player].as_str())),
            listed(below.iter().map(|player| duels.models[*player].as_str())),
            fit.ridge,
            (0.5 / fit.ridge).sqrt(),
        ));
        notes.push(if method == CovarianceMethod::Hessian {
            let groups = if duels.group_count.is_some() { " Groups are not accounted for." } else { "" };
            format!("Intervals come from the curvature of that posterior: what never varied has no spread to measure.{groups}")
        } else {
            "Intervals come from the spread of the duels, and that of models without a loss or without a win is far too small: prefer the method `hessian` here.".to_owned()
        });
    } else if fit.ridge > 0.0 {
        notes.push(format!(
            "Ratings are drawn together by a ridge of {}, as asked for: differences are somewhat too small.",
            fit.ridge
        ));
    }
    if duels.group_count.is_some()
        && matches!(method, CovarianceMethod::Sandwich | CovarianceMethod::Hessian)
        && fit.separated.is_none()
    {
        notes.push(
            "The column `group` is not accounted for by this method: duels are taken as independent."
                .to_owned(),
        );
    }
    method
}

/// Says when resamples had no finite maximum.
pub(super) fn note_rounds(fit: &BradleyTerry, confidence: f64, notes: &mut Vec<String>) {
    let Some(resamples) = fit.resamples.as_ref().filter(|resamples| resamples.regularized > 0)
    else {
        return;
    };
    let many = resamples.regularized as f64 > (1.0 - confidence) / 2.0 * resamples.rounds as f64;
    let so = if many {
        " These are many: read the intervals as lower bounds of the uncertainty."
    } else {
        ""
    };
    notes.push(format!(
        "In {} of {} resamples some model won or lost everything; those were fitted with the default ridge.{so}",
        resamples.regularized, resamples.rounds
    ));
}
