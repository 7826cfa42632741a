//! `stats power`: how many cases it takes, or what a number of them can show.

mod conclusion;
mod pilot;
mod report;
mod spread;
mod test;

use std::path::Path;

use fullbench_stats::Undefined;
use serde::{Deserialize, Serialize};

pub use pilot::Pilot;
pub use report::{Plan, PowerReport};
use spread::Spread;
use test::Test;

use crate::{AnalysisError, Conclusion};

/// The power that is planned for unless another is given.
const USUAL_POWER: f64 = 0.8;

/// How the two sides of a comparison are measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerDesign {
    /// Different cases on each side.
    Independent,
    /// The same cases on both sides.
    #[default]
    Paired,
    /// The same cases on both sides, in clusters such as several questions on one text.
    Clustered,
}

/// What is known of a planned comparison. Of `units`, `effect` and `power` the one that is not given is computed.
#[derive(Debug, Clone, PartialEq)]
pub struct PowerOptions {
    /// How the two sides are measured.
    pub design: PowerDesign,
    /// Cases in the first sample, pairs, or clusters.
    pub units: Option<u64>,
    /// The true difference of means that should be seen.
    pub effect: Option<f64>,
    /// The probability of seeing it; 0.8 unless `units` and `effect` are both given.
    pub power: Option<f64>,
    /// The level of the two-sided test.
    pub alpha: f64,
    /// Standard deviation of the scores; of paired and clustered designs that of the differences, unless `correlation` is
    /// given.
    pub standard_deviation: Option<f64>,
    /// The rate of yes/no scores, from which the standard deviation of the scores follows.
    pub rate: Option<f64>,
    /// Correlation of the two sides of a pair.
    pub correlation: Option<f64>,
    /// The share of cases whose yes/no score differs between the two sides.
    pub changed: Option<f64>,
    /// Cases in the second sample for each in the first.
    pub ratio: f64,
    /// Cases in a cluster, on average.
    pub cluster_size: Option<f64>,
    /// Coefficient of variation of the cluster sizes.
    pub size_variation: Option<f64>,
    /// Correlation of the differences of two cases in a cluster.
    pub intra_cluster_correlation: Option<f64>,
    /// How often each case is run on each side, its scores averaged.
    pub repetitions: u32,
    /// The share of the variance, of single scores or differences, that is chance within a case.
    pub within_share: Option<f64>,
    /// Names of the pilot's columns by role: `item`, `value`, `before`, `after`, `group`.
    pub columns: Vec<(String, String)>,
}

impl Default for PowerOptions {
    fn default() -> Self {
        Self {
            design: PowerDesign::default(),
            units: None,
            effect: None,
            power: None,
            alpha: 0.05,
            standard_deviation: None,
            rate: None,
            correlation: None,
            changed: None,
            ratio: 1.0,
            cluster_size: None,
            size_variation: None,
            intra_cluster_correlation: None,
            repetitions: 1,
            within_share: None,
            columns: Vec::new(),
        }
    }
}

/// What was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Solved {
    /// The number of cases, pairs or clusters.
    Units,
    /// The smallest difference that is seen with the given power.
    Effect,
    /// The probability of seeing the given difference.
    Power,
}

/// Plans a comparison: the number of cases, the smallest difference they show, or the probability of seeing one. A pilot file
/// (`item,value[,group]` or `item,before,after[,group]`) gives what is not stated of the spread.
pub fn power(pilot: Option<&Path>, options: &PowerOptions) -> Result<PowerReport, AnalysisError> {
    check(options)?;
    let pilot = pilot.map(|path| Pilot::read(path, options)).transpose()?;
    let spread = Spread::of(options, pilot.as_ref())?;
    let design = spread.design(options, options.repetitions)?;
    let undefined = |reason| {
        AnalysisError::undefined(
            "the plan",
            reason,
            "check the options: each must make sense by itself",
        )
    };
    let test = Test::of(options, design, options.repetitions);
    let goal = options.power.unwrap_or(USUAL_POWER);
    let (solved, units, effect) = match (options.units, options.effect) {
        (Some(units), Some(effect)) => (Solved::Power, units, Some(effect.abs())),
        (Some(units), None) => {
            let effect = detectable(test, units, options.alpha, goal).map_err(undefined)?;
            (Solved::Effect, units, effect)
        }
        (None, Some(effect)) => {
            let units = test.units_needed(effect, options.alpha, goal).map_err(undefined)?;
            (Solved::Units, units, Some(effect.abs()))
        }
        (None, None) => {
            return Err(AnalysisError::question(
                "neither a number of cases nor a difference is given",
                "give one of them to get the other, or both to get the power",
            ));
        }
    };
    let power = effect.map(|effect| test.power(units, effect, options.alpha)).transpose();
    let power = power.map_err(undefined)?;
    let standard_error = design.standard_error(units as f64).map_err(undefined)?;
    let mut report = PowerReport {
        design: options.design,
        solved,
        units,
        second_units: second_units(options, units),
        cases: cases(options, &spread, units),
        repetitions: options.repetitions,
        effect,
        power,
        goal,
        alpha: options.alpha,
        standard_deviation: spread.standard_deviation,
        spread_from: spread.source,
        within_share: spread.within_share,
        intra_cluster_correlation: spread.intra_cluster_correlation,
        cluster_size: spread.cluster_size,
        design_effect: design.design_effect(),
        standard_error,
        degrees_of_freedom: match test {
            Test::Means(design) => Some(design.degrees_of_freedom(units as f64)),
            Test::Changes(_) => None,
        },
        plans: plans(options, &spread, units, goal)?,
        pilot,
        method: test.method(),
        conclusion: Conclusion::default(),
    };
    let endless =
        spread.design(options, u32::MAX)?.standard_error(units as f64).map_err(undefined)?;
    report.conclusion = conclusion::conclusion(&report, test, options, endless);
    Ok(report)
}

/// Refuses options that contradict each other.
fn check(options: &PowerOptions) -> Result<(), AnalysisError> {
    if options.units.is_some() && options.effect.is_some() && options.power.is_some() {
        return Err(AnalysisError::question(
            "the number of cases, the difference and the power are all given",
            "leave out the one that is to be computed",
        ));
    }
    if options.units.is_some_and(|units| units < 2) {
        return Err(AnalysisError::question(
            "fewer than two cases, pairs or clusters show nothing",
            "give at least 2",
        ));
    }
    if options.effect.is_some_and(|effect| !(effect.is_finite() && effect != 0.0)) {
        return Err(AnalysisError::question(
            "no number of cases shows a difference of nothing",
            "give the smallest difference that would matter to you",
        ));
    }
    if options.repetitions == 0 {
        return Err(AnalysisError::question("each case must be run", "give at least 1 repetition"));
    }
    if options.design != PowerDesign::Independent && options.ratio != 1.0 {
        return Err(AnalysisError::question(
            "a ratio of sample sizes makes sense only for independent samples",
            "pairs have one case on each side",
        ));
    }
    let impossible = |(rate, effect): (f64, f64)| effect.abs() >= rate.max(1.0 - rate);
    if let Some((rate, effect)) = options.rate.zip(options.effect).filter(|pair| impossible(*pair))
    {
        return Err(AnalysisError::question(
            format!("a rate of {rate} cannot change by {effect}"),
            "the difference is in the unit of the rate: 0.05 is five percentage points",
        ));
    }
    Ok(())
}

fn second_units(options: &PowerOptions, units: u64) -> Option<u64> {
    let independent = options.design == PowerDesign::Independent;
    independent.then(|| (units as f64 * options.ratio - 1e-9).ceil() as u64)
}

/// Cases on one side, or in the first sample.
fn cases(options: &PowerOptions, spread: &Spread, units: u64) -> u64 {
    match (options.design, spread.cluster_size) {
        (PowerDesign::Clustered, Some(size)) => (units as f64 * size).ceil() as u64,
        _ => units,
    }
}

/// What fewer and more units would show, and fewer and more repetitions.
fn plans(
    options: &PowerOptions,
    spread: &Spread,
    units: u64,
    goal: f64,
) -> Result<Vec<Plan>, AnalysisError> {
    let mut sizes = vec![(units / 2, options.repetitions), (units, options.repetitions)];
    sizes.extend([
        (units.saturating_mul(2), options.repetitions),
        (units.saturating_mul(4), options.repetitions),
    ]);
    if spread.within_share.is_some_and(|share| share > 0.0) {
        let others = [1, 2, 4, 8].into_iter().filter(|count| *count != options.repetitions);
        sizes.extend(others.map(|repetitions| (units, repetitions)));
    }
    let mut plans = Vec::new();
    for (units, repetitions) in sizes {
        let test = Test::of(options, spread.design(options, repetitions)?, repetitions);
        // A plan that is too small for the test is left out.
        if let Ok(effect) = detectable(test, units, options.alpha, goal) {
            plans.push(Plan { units, repetitions, effect });
        }
    }
    Ok(plans)
}

/// The smallest difference that is seen with the power that is planned for; none where changes of so few cases are never seen
/// so often, even if all go one way.
fn detectable(test: Test, units: u64, alpha: f64, goal: f64) -> Result<Option<f64>, Undefined> {
    match test.detectable_effect(units, alpha, goal) {
        Err(Undefined::TooFew { .. }) if units > 0 && matches!(test, Test::Changes(_)) => Ok(None),
        found => found.map(Some),
    }
}
