//! Planned looks at two arms: the decision at each.

use serde::Serialize;

use super::{Decision, GroupDesign};
use crate::compare::welch_t;
use crate::{Interval, Undefined, student_t_quantile};

/// One look of a group-sequential test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupLook {
    /// Values of the control so far.
    pub control_count: u64,
    /// Values of the treatment so far.
    pub treatment_count: u64,
    /// The share of the planned information.
    pub fraction: f64,
    /// The critical value of the standardized difference if the variances were known.
    pub critical: f64,
    /// The critical value of Welch's statistic, at the degrees of freedom of this look: larger than `critical`, the more so the fewer values
    /// there are. None where there is no statistic, or no finite value.
    pub critical_statistic: Option<f64>,
    /// The p-value below which this look decides.
    pub nominal: f64,
    /// Mean of the treatment − mean of the control.
    pub difference: Option<f64>,
    /// Welch's statistic.
    pub statistic: Option<f64>,
    /// Welch's two-sided p-value of this look alone, to be compared with `nominal`, not with alpha.
    pub p_value: Option<f64>,
    /// The repeated confidence interval (Jennison and Turnbull 1989): those of all looks together hold the true difference with
    /// probability 1 − alpha.
    pub interval: Option<Interval>,
    /// Why there is no statistic.
    pub undefined: Option<Undefined>,
    /// What this look, with those before it, allows to say.
    pub decision: Decision,
}

/// Goes through the looks that have taken place: for each, all values of control and treatment up to it. Each look compares Welch's
/// p-value with the nominal level of its bound, the "significance level approach" of Pocock (1977) for unknown
/// variances. A look without variation says nothing. After the last look of the plan there is nothing left to wait for. Undefined for more
/// looks than the design has.
pub fn group_sequential(
    design: &GroupDesign,
    looks: &[(&[f64], &[f64])],
) -> Result<Vec<GroupLook>, Undefined> {
    if looks.len() > design.critical.len() {
        return Err(Undefined::LengthsDiffer {
            what: "planned looks and looks",
            left: design.critical.len(),
            right: looks.len(),
        });
    }
    let bounds = design.fractions.iter().zip(&design.critical).zip(&design.nominal);
    let mut decision = Decision::Continue;
    let mut results = Vec::with_capacity(looks.len());
    for ((control, treatment), ((&fraction, &critical), &nominal)) in looks.iter().zip(bounds) {
        let (comparison, undefined) = match welch_t(control, treatment, 1.0 - design.alpha) {
            Ok(comparison) => (Some(comparison), None),
            Err(reason) => (None, Some(reason)),
        };
        if let Some(found) = &comparison
            && decision == Decision::Continue
            && found.p_value < nominal
        {
            decision = Decision::by_sign(found.difference);
        }
        if decision == Decision::Continue && results.len() + 1 == design.critical.len() {
            decision = Decision::NoDifferenceShown;
        }
        let critical_statistic = comparison.as_ref().and_then(|found| {
            let quantile = student_t_quantile(nominal / 2.0, found.degrees_of_freedom).ok()?;
            quantile.is_finite().then_some(-quantile)
        });
        let interval = comparison.as_ref().zip(critical_statistic).and_then(|(found, bound)| {
            let half = bound * found.standard_error;
            let (low, high) = (found.difference - half, found.difference + half);
            (low.is_finite() && high.is_finite()).then_some(Interval { low, high })
        });
        results.push(GroupLook {
            control_count: control.len() as u64,
            treatment_count: treatment.len() as u64,
            fraction,
            critical,
            critical_statistic,
            nominal,
            difference: comparison.as_ref().map(|found| found.difference),
            statistic: comparison.as_ref().map(|found| found.statistic),
            p_value: comparison.as_ref().map(|found| found.p_value),
            interval,
            undefined,
            decision,
        });
    }
    Ok(results)
}
