//! A pilot: what a small study says about spread, repetitions and clusters.

use std::collections::HashMap;
use std::path::Path;

use fullbench_stats::compare::variance_components;
use fullbench_stats::{Moments, Undefined};
use serde::Serialize;

use super::{PowerDesign, PowerOptions};
use crate::AnalysisError;
use crate::columns::renamed;
use crate::table::{Table, Wanted};

/// What a pilot file shows. Shares are of the variance of single differences where it has `before` and `after` and the design
/// has pairs, else of single scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pilot {
    /// Rows of the file.
    pub rows: usize,
    /// Distinct items.
    pub cases: usize,
    /// It has both sides of each case.
    pub paired: bool,
    /// Standard deviation of single scores.
    pub score_deviation: Option<f64>,
    /// Standard deviation of single differences, after − before.
    pub difference_deviation: Option<f64>,
    /// Correlation of before and after.
    pub correlation: Option<f64>,
    /// The share of the variance that is chance within an item; none where no item is repeated.
    pub within_share: Option<f64>,
    /// Distinct groups.
    pub clusters: Option<usize>,
    /// Cases in a group, on average.
    pub cluster_size: Option<f64>,
    /// Coefficient of variation of the group sizes.
    pub size_variation: Option<f64>,
    /// Correlation of single values of two cases in a group; a negative estimate is taken as 0.
    pub intra_cluster_correlation: Option<f64>,
}

/// The parts of the variance of single values.
struct Parts {
    total: f64,
    within: Option<f64>,
}

impl Parts {
    fn averaged(&self, other: &Self) -> Self {
        Self {
            total: f64::midpoint(self.total, other.total),
            within: self.within.zip(other.within).map(|(one, two)| f64::midpoint(one, two)),
        }
    }
}

impl Pilot {
    pub(super) fn read(path: &Path, options: &PowerOptions) -> Result<Self, AnalysisError> {
        let table = Table::read(path, &wanted(options)?)?;
        let undefined = |reason: Undefined| {
            AnalysisError::undefined(
                "the spread in the pilot",
                reason,
                "add cases to the pilot, or state the spread",
            )
        };
        let rows = table.rows();
        let items: Vec<u32> = match table.texts("item") {
            Some(texts) => texts.codes.clone(),
            None => (0..rows as u32).collect(),
        };
        let cases = distinct(&items);
        let mut pilot = Self {
            rows,
            cases,
            paired: false,
            score_deviation: None,
            difference_deviation: None,
            correlation: None,
            within_share: None,
            clusters: None,
            cluster_size: None,
            size_variation: None,
            intra_cluster_correlation: None,
        };
        let (values, parts) =
            match (table.numbers("before"), table.numbers("after"), table.numbers("value")) {
                (Some(before), Some(after), _) => {
                    let differences: Vec<f64> =
                        before.iter().zip(after).map(|(x, y)| y - x).collect();
                    let first = parts(before, &items).map_err(undefined)?;
                    let second = parts(after, &items).map_err(undefined)?;
                    let of_differences = parts(&differences, &items).map_err(undefined)?;
                    let of_scores = first.averaged(&second);
                    let product = (first.total * second.total).sqrt();
                    let covariance = of_scores.total - of_differences.total / 2.0;
                    pilot.paired = true;
                    pilot.score_deviation = positive(of_scores.total.sqrt());
                    pilot.difference_deviation = positive(of_differences.total.sqrt());
                    pilot.correlation =
                        positive(product).map(|product| (covariance / product).clamp(-1.0, 1.0));
                    match options.design {
                        PowerDesign::Independent => (before.to_vec(), of_scores),
                        PowerDesign::Paired | PowerDesign::Clustered => {
                            (differences, of_differences)
                        }
                    }
                }
                (None, None, Some(values)) => {
                    let parts = parts(values, &items).map_err(undefined)?;
                    pilot.score_deviation = positive(parts.total.sqrt());
                    (values.to_vec(), parts)
                }
                _ => {
                    return Err(table.problem(
                        0,
                        None,
                        "the pilot has neither a column `value` nor both `before` and `after`",
                        "name them with the columns option",
                    ));
                }
            };
        if parts.total <= 0.0 {
            return Err(undefined(Undefined::NoVariation { what: "values" }));
        }
        pilot.within_share = parts.within.map(|within| within / parts.total);
        let groups = table.texts("group").filter(|_| options.design == PowerDesign::Clustered);
        if let Some(groups) = groups {
            let cases = by_case(&table, &values, &items, &groups.codes)?;
            pilot.cluster(&cases, parts.within.unwrap_or(0.0))?;
        }
        Ok(pilot)
    }

    /// What groups say: the variance of single values is then what differs between groups, between the cases of a group, and
    /// within a case, none of them less than nothing.
    fn cluster(&mut self, cases: &[(Moments, u32)], within: f64) -> Result<(), AnalysisError> {
        let means: Result<Vec<f64>, Undefined> =
            cases.iter().map(|(moments, _)| moments.mean()).collect();
        let groups: Vec<u32> = cases.iter().map(|(_, group)| *group).collect();
        let components = means.and_then(|values| variance_components(&values, &groups));
        let components = components.map_err(|reason| {
            AnalysisError::undefined(
                "the correlation within groups",
                reason,
                "give the pilot at least two groups, one of them with two cases, or leave the column out",
            )
        })?;
        let chance: f64 = cases.iter().map(|(moments, _)| within / moments.count() as f64).sum();
        let between = components.between.max(0.0);
        let of_cases = (components.within - chance / cases.len() as f64).max(0.0);
        let total = between + of_cases + within;
        let deviation =
            if self.paired { &mut self.difference_deviation } else { &mut self.score_deviation };
        *deviation = positive(total.sqrt());
        self.within_share = self.within_share.map(|_| within / total);
        self.clusters = Some(components.clusters);
        self.cluster_size = Some(components.cluster_size);
        self.size_variation = Some(components.size_variation);
        self.intra_cluster_correlation = Some(between / total);
        Ok(())
    }
}

/// The values of each case, and its group.
fn by_case(
    table: &Table,
    values: &[f64],
    items: &[u32],
    groups: &[u32],
) -> Result<Vec<(Moments, u32)>, AnalysisError> {
    let mut cases: Vec<(Moments, u32)> = Vec::new();
    let mut places = HashMap::new();
    for (row, ((value, item), group)) in values.iter().zip(items).zip(groups).enumerate() {
        let place = *places.entry(*item).or_insert(cases.len());
        if place == cases.len() {
            cases.push((Moments::default(), *group));
        }
        let Some((moments, own)) = cases.get_mut(place) else { continue };
        if own != group {
            return Err(table.problem(
                row,
                Some("group"),
                "this item has another group on an earlier line",
                "an item belongs to one group",
            ));
        }
        moments.add(*value);
    }
    Ok(cases)
}

fn positive(value: f64) -> Option<f64> {
    Some(value).filter(|value| *value > 0.0)
}

fn distinct(codes: &[u32]) -> usize {
    let mut sorted = codes.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

/// The variance of single values, and the part of it within items where some are repeated. Constant values have none.
fn parts(values: &[f64], items: &[u32]) -> Result<Parts, Undefined> {
    let moments: Moments = values.iter().copied().collect();
    let variance = moments.variance()?;
    if distinct(items) == values.len() || variance == 0.0 {
        return Ok(Parts { total: variance, within: None });
    }
    let components = variance_components(values, items)?;
    let total = components.between.max(0.0) + components.within;
    Ok(Parts { total, within: Some(components.within) })
}

fn wanted(options: &PowerOptions) -> Result<Vec<Wanted>, AnalysisError> {
    let wanted = vec![
        Wanted::text("item").optional(),
        Wanted::number("value").optional(),
        Wanted::number("before").optional(),
        Wanted::number("after").optional(),
        Wanted::text("group").optional(),
    ];
    renamed(wanted, &options.columns)
}
