//! `stats rank`.

use fullbench_analysis::rank::{self, CovarianceMethod, RankOptions};
use fullbench_stats::ranking::{DEFAULT_RIDGE, RankAdjustment, Regularization, Scale, Ties};

use super::print;
use crate::arguments::stats::{CovarianceChoice, RankArguments, ScaleChoice, TiesChoice};
use crate::failure::{CliError, Exit};

/// The mean of ratings on the scale of Elo.
const ELO_MEAN: f64 = 1000.0;

pub(super) fn rank(arguments: &RankArguments) -> Result<Exit, CliError> {
    let options = RankOptions {
        columns: arguments.table.columns.clone(),
        ties: match arguments.ties {
            TiesChoice::Half => Ties::Half,
            TiesChoice::Davidson => Ties::Davidson,
        },
        regularization: match arguments.ridge {
            Some(ridge) => Regularization::Always { ridge },
            None if arguments.no_ridge => Regularization::Never,
            None => Regularization::WhereNeeded { ridge: DEFAULT_RIDGE },
        },
        order_effect: arguments.order_effect,
        covariates: arguments.covariates.clone(),
        group_within_pairs: arguments.group_within_pairs,
        covariance: arguments.covariance.map(|choice| match choice {
            CovarianceChoice::Hessian => CovarianceMethod::Hessian,
            CovarianceChoice::Sandwich => CovarianceMethod::Sandwich,
            CovarianceChoice::Cluster => CovarianceMethod::Cluster,
            CovarianceChoice::Bootstrap => CovarianceMethod::Bootstrap,
        }),
        rounds: arguments.resampling.rounds,
        seed: arguments.resampling.seed,
        confidence: arguments.confidence.confidence,
        rank_adjustment: match arguments.unadjusted_ranks {
            true => RankAdjustment::None,
            false => RankAdjustment::Holm,
        },
        scale: match arguments.scale {
            ScaleChoice::Elo => Scale::Elo { mean: ELO_MEAN },
            ScaleChoice::Natural => Scale::Natural,
        },
    };
    print(&rank::rank(&arguments.file, &options)?, arguments.table.output)
}
