//! When the looks of an experiment are.

use super::data::{Data, LookEnd};
use super::{AbOptions, AbReport, SequentialKind, SequentialReport};
use crate::AnalysisError;

/// How many looks the plan has.
pub(super) fn planned_count(
    kind: SequentialKind,
    data: &Data,
    options: &AbOptions,
) -> Result<usize, AnalysisError> {
    let spends_by_units = kind == SequentialKind::Spending && options.planned_units.is_some();
    let named = data.looks.as_ref().map(Vec::len);
    options.planned_looks.or(named.filter(|_| spends_by_units)).ok_or_else(|| {
        let hint = if spends_by_units {
            "add `--planned-looks`: the file has no column `look` or `day` that says when the looks were"
        } else {
            "give `--planned-looks`; `--sequential spending` with `--planned-units` and a column `look` or `day` plans only the units, and `--sequential confidence-sequence` nothing"
        };
        let flag = kind.flag();
        AnalysisError::question(
            format!("`{flag}` needs to know how many looks are planned"),
            hint,
        )
    })
}

/// How many values, both arms together, there are at a look: its share of the planned units, rounded up.
fn units_at(look: usize, count: usize, units: u64) -> u64 {
    (u128::from(units) * look as u128).div_ceil(count.max(1) as u128) as u64
}

/// The planned looks that there are enough values for, each at its share of the planned units. Of each arm they have the first rows, in
/// proportion to its size.
pub(super) fn reached(
    control: usize,
    treatment: usize,
    count: usize,
    units: u64,
) -> Result<Vec<LookEnd>, AnalysisError> {
    if count as u64 > units {
        return Err(AnalysisError::question(
            format!("{count} looks are planned at {units} units"),
            "`--planned-units` is how many values both arms are to have in the end, and `--planned-looks` how often they are looked at on the way",
        ));
    }
    let all = (control + treatment) as u64;
    if all > units {
        return Err(beyond(units, "the data have", all));
    }
    let looks = (1..=count).map(|look| (look, units_at(look, count, units)));
    let end = |(look, at): (usize, u64)| {
        let first = (control as u128 * u128::from(at) / u128::from(all.max(1))) as usize;
        LookEnd { label: look.to_string(), control: first, treatment: at as usize - first }
    };
    Ok(looks.take_while(|(_, at)| *at <= all).map(end).collect())
}

/// Refuses looks with more values than are planned.
pub(super) fn unless_beyond(ends: &[LookEnd], units: u64) -> Result<(), AnalysisError> {
    for end in ends {
        let count = (end.control + end.treatment) as u64;
        if count > units {
            return Err(beyond(units, &format!("look `{}` has", end.label), count));
        }
    }
    Ok(())
}

fn beyond(units: u64, what: &str, count: u64) -> AnalysisError {
    AnalysisError::question(
        format!("{units} units are planned, and {what} {count}"),
        "all of alpha is spent at `--planned-units`: end the data there",
    )
}

/// The share of the planned information at each look: by units where their number is planned, or else in equal steps. Looks of the
/// file that are still to come follow in equal steps.
pub(super) fn fractions(
    data: &Data,
    ends: &[LookEnd],
    count: usize,
    units: Option<u64>,
) -> Vec<f64> {
    let Some(units) = units else {
        return (1..=count).map(|look| look as f64 / count as f64).collect();
    };
    let share = |count: u64| count as f64 / units as f64;
    if data.looks.is_none() {
        return (1..=count).map(|look| share(units_at(look, count, units))).collect();
    }
    let mut fractions: Vec<f64> =
        ends.iter().map(|end| share((end.control + end.treatment) as u64)).collect();
    let (last, open) = (fractions.last().copied().unwrap_or_default(), count - ends.len());
    if last < 1.0 {
        let open = open.max(1);
        let step = (1.0 - last) / open as f64;
        fractions.extend((1..open).map(|look| last + step * look as f64));
        fractions.push(1.0);
    }
    fractions
}

/// Looks at equal steps of the rows.
pub(super) fn equal_steps(control: &[f64], treatment: &[f64], count: usize) -> Vec<LookEnd> {
    let end = |length: usize, look: usize| (length as u128 * look as u128 / count as u128) as usize;
    (1..=count)
        .map(|look| LookEnd {
            label: look.to_string(),
            control: end(control.len(), look),
            treatment: end(treatment.len(), look),
        })
        .collect()
}

/// What is taken for granted about when planned looks are, where the file does not say.
pub(super) fn taken_for_granted(
    report: &AbReport,
    sequential: &SequentialReport,
    data: &Data,
    options: &AbOptions,
) -> Option<String> {
    let design = sequential.design.as_ref().filter(|_| data.looks.is_none())?;
    let (planned, done) = (design.critical.len(), sequential.planned.len());
    let Some(units) = options.planned_units else {
        return Some(format!(
            "The data were taken as complete, with all {planned} planned looks made at equal steps of the rows: if more values are to come, this is wrong, and `--planned-units` must say how many are planned in all."
        ));
    };
    if done == planned {
        return None;
    }
    let count = report.control.count + report.treatment.count;
    let used = if done == 0 { 0 } else { units_at(done, planned, units) };
    let waiting = match count - used.min(count) {
        0 => String::new(),
        waiting => format!(" {waiting} values wait for it and are not tested yet."),
    };
    Some(format!(
        "Look {} of {planned} is due at {} values; there are {count}.{waiting}",
        done + 1,
        units_at(done + 1, planned, units),
    ))
}
