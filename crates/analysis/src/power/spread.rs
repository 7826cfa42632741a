//! The spread a plan rests on: given, derived from a rate, or measured in a pilot.

use fullbench_stats::Undefined;
use fullbench_stats::compare::{
    Design, paired_deviation, paired_rate_deviation, rate_deviation, repeated_deviation,
};

use super::{Pilot, PowerDesign, PowerOptions};
use crate::AnalysisError;

/// The spread of single scores, or of single differences for designs with pairs.
pub(super) struct Spread {
    pub(super) standard_deviation: f64,
    /// Where it is from, in words.
    pub(super) source: &'static str,
    pub(super) within_share: Option<f64>,
    pub(super) cluster_size: Option<f64>,
    size_variation: f64,
    pub(super) intra_cluster_correlation: Option<f64>,
}

impl Spread {
    pub(super) fn of(options: &PowerOptions, pilot: Option<&Pilot>) -> Result<Self, AnalysisError> {
        let (standard_deviation, source) = deviation(options, pilot)?;
        let within_share = options.within_share.or_else(|| within_share(options, pilot?));
        if options.repetitions > 1 && within_share.is_none() {
            return Err(AnalysisError::question(
                "it is not known how much of the spread repetitions take away",
                "give the share of the variance that is chance within a case, or a pilot with several rows for each item",
            ));
        }
        let clustered = options.design == PowerDesign::Clustered;
        let from_pilot = |given: Option<f64>, measured: fn(&Pilot) -> Option<f64>| {
            given.or_else(|| measured(pilot?)).filter(|_| clustered)
        };
        let cluster_size = from_pilot(options.cluster_size, |pilot| pilot.cluster_size);
        // What differences share with their cluster cannot be more than what repetitions leave, whatever scores share.
        let at_most = 1.0 - within_share.unwrap_or(0.0);
        let measured = from_pilot(None, |pilot| pilot.intra_cluster_correlation);
        let given = options.intra_cluster_correlation.filter(|_| clustered);
        let intra_cluster_correlation = given.or(measured.map(|value| value.min(at_most)));
        if clustered && (cluster_size.is_none() || intra_cluster_correlation.is_none()) {
            return Err(AnalysisError::question(
                "a clustered design needs the cases in a cluster and how much they resemble each other",
                "give the cluster size and the intra-cluster correlation, or a pilot with a column `group`",
            ));
        }
        let size_variation = from_pilot(options.size_variation, |pilot| pilot.size_variation);
        Ok(Self {
            standard_deviation,
            source,
            within_share,
            cluster_size,
            size_variation: size_variation.unwrap_or(0.0),
            intra_cluster_correlation,
        })
    }

    /// The design with this many repetitions of each case. They take away chance within a case, and so leave a larger share of
    /// what is left to the clusters.
    pub(super) fn design(
        &self,
        options: &PowerOptions,
        repetitions: u32,
    ) -> Result<Design, AnalysisError> {
        let within = self.within_share.unwrap_or(0.0);
        let repeated = repeated_deviation(self.standard_deviation, within, f64::from(repetitions));
        let standard_deviation = repeated.map_err(nonsense)?;
        match (options.design, self.cluster_size, self.intra_cluster_correlation) {
            (PowerDesign::Clustered, Some(cluster_size), Some(correlation)) => {
                if correlation + within > 1.0 {
                    return Err(AnalysisError::question(
                        format!(
                            "a share {correlation} of the variance between clusters and {within} within cases are more than all of it"
                        ),
                        "both are shares of the variance of single differences",
                    ));
                }
                let left = (standard_deviation / self.standard_deviation).powi(2);
                Ok(Design::Clustered {
                    standard_deviation,
                    cluster_size,
                    size_variation: self.size_variation,
                    intra_cluster_correlation: if correlation > 0.0 {
                        (correlation / left).min(1.0)
                    } else {
                        correlation
                    },
                })
            }
            (PowerDesign::Independent, ..) => {
                Ok(Design::Independent { standard_deviation, ratio: options.ratio })
            }
            _ => Ok(Design::Paired { standard_deviation }),
        }
    }
}

/// The share of the variance within cases that a pilot shows. Where it has scores of one side only, chance within cases adds up
/// in a difference, and the correlation takes away the rest.
fn within_share(options: &PowerOptions, pilot: &Pilot) -> Option<f64> {
    let share = pilot.within_share?;
    if pilot.paired || options.design == PowerDesign::Independent {
        return Some(share);
    }
    options.correlation.filter(|value| *value < 1.0).map(|value| (share / (1.0 - value)).min(1.0))
}

fn nonsense(reason: Undefined) -> AnalysisError {
    AnalysisError::undefined("the spread", reason, "check the options that describe the scores")
}

/// The standard deviation of single scores or differences, and where it is from.
fn deviation(
    options: &PowerOptions,
    pilot: Option<&Pilot>,
) -> Result<(f64, &'static str), AnalysisError> {
    let given = [options.standard_deviation, options.rate, options.changed];
    if given.iter().flatten().count() > 1 {
        return Err(AnalysisError::question(
            "the spread is described more than once",
            "give one of: the standard deviation, the rate, the share of changed cases",
        ));
    }
    let of_scores = match (options.standard_deviation, options.rate) {
        (Some(deviation), _) => Some((deviation, "the given standard deviation")),
        (None, Some(rate)) => Some((rate_deviation(rate).map_err(nonsense)?, "the rate")),
        (None, None) => pilot.and_then(|pilot| Some((pilot.score_deviation?, "the pilot"))),
    };
    if options.design == PowerDesign::Independent {
        if options.changed.is_some() || options.correlation.is_some() {
            return Err(AnalysisError::question(
                "independent samples have no pairs that change or correlate",
                "plan a paired design, or leave these options out",
            ));
        }
        return of_scores.ok_or_else(|| {
            AnalysisError::question(
                "the spread of the scores is not known",
                "give their standard deviation, a rate for yes/no scores, or a pilot file",
            )
        });
    }
    if let Some(changed) = options.changed {
        let effect = options.effect.unwrap_or(0.0);
        paired_rate_deviation(changed, effect).map_err(nonsense)?;
        // The largest spread that this share of changes can have: that of changes in both directions alike.
        let largest = paired_rate_deviation(changed, 0.0).map_err(nonsense)?;
        return Ok((largest, "the share of changed cases"));
    }
    if let Some(correlation) = options.correlation {
        let Some((deviation, source)) = of_scores else {
            return Err(AnalysisError::question(
                "a correlation alone does not say how far scores spread",
                "give their standard deviation too, a rate for yes/no scores, or a pilot file",
            ));
        };
        let of_differences = paired_deviation(deviation, deviation, correlation);
        return Ok((of_differences.map_err(nonsense)?, source));
    }
    if let Some(deviation) = options.standard_deviation {
        return Ok((deviation, "the given standard deviation"));
    }
    let measured = pilot.and_then(|pilot| pilot.difference_deviation);
    measured.filter(|_| options.rate.is_none()).map(|deviation| (deviation, "the pilot")).ok_or_else(|| {
        AnalysisError::question(
            "the spread of the differences is not known",
            "give their standard deviation, the share of changed cases, a correlation beside the rate, or a pilot with columns `before` and `after`",
        )
    })
}
