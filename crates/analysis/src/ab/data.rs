//! The arms of an experiment, from one file or two.

use std::collections::BTreeMap;
use std::path::Path;

use fullbench_stats::experiment::{WithCovariate, cuped_values};

use super::{AbInput, AbOptions, CupedSummary, difference};
use crate::AnalysisError;
use crate::columns::renamed;
use crate::table::{Table, Wanted};

/// One arm: its values in the order of their looks, or of the rows where there are none.
#[derive(Debug, Default)]
pub(super) struct Arm {
    pub(super) values: Vec<f64>,
    covariates: Option<Vec<f64>>,
    looks: Option<Vec<String>>,
}

/// Both arms, and the looks.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) control: Arm,
    pub(super) treatment: Arm,
    /// For each look its name and how many values of each arm there are by then.
    pub(super) looks: Option<Vec<LookEnd>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct LookEnd {
    pub(super) label: String,
    pub(super) control: usize,
    pub(super) treatment: usize,
}

impl Data {
    pub(super) fn read(input: &AbInput, options: &AbOptions) -> Result<Self, AnalysisError> {
        let (mut control, mut treatment) = match input {
            AbInput::Files { control, treatment } => {
                (whole(&read(control, options, false)?), whole(&read(treatment, options, false)?))
            }
            AbInput::Variants { file, control } => {
                let table = read(file, options, true)?;
                by_variant(&table, control)?
            }
        };
        let looks = ordered(&mut control, &mut treatment)?;
        Ok(Self { control, treatment, looks })
    }

    /// Every value is 0 or 1.
    pub(super) fn is_yes_no(&self) -> bool {
        let mut values = self.control.values.iter().chain(&self.treatment.values);
        values.all(|value| *value == 0.0 || *value == 1.0)
    }

    /// Both arms have a covariate.
    pub(super) fn has_covariates(&self) -> bool {
        self.control.covariates.is_some() && self.treatment.covariates.is_some()
    }

    /// The values with the noise that the covariate explains taken out; none without a covariate, or where it cannot be used.
    pub(super) fn adjusted(&self) -> Option<Adjusted> {
        let first = self.control.covariates.as_deref()?;
        let second = self.treatment.covariates.as_deref()?;
        let control = WithCovariate { values: &self.control.values, covariates: first };
        let treatment = WithCovariate { values: &self.treatment.values, covariates: second };
        let adjusted = cuped_values(control, treatment).ok()?;
        let summary = CupedSummary {
            theta: adjusted.theta,
            variance_reduction: adjusted.variance_reduction,
            adjusted_difference: difference(&adjusted.control, &adjusted.treatment)?,
        };
        Some(Adjusted { summary, control: adjusted.control, treatment: adjusted.treatment })
    }
}

/// The values of both arms after CUPED.
pub(super) struct Adjusted {
    pub(super) summary: CupedSummary,
    pub(super) control: Vec<f64>,
    pub(super) treatment: Vec<f64>,
}

fn read(path: &Path, options: &AbOptions, variants: bool) -> Result<Table, AnalysisError> {
    let mut wanted = vec![
        Wanted::number("value"),
        Wanted::number("covariate").optional(),
        Wanted::text("look").optional(),
        Wanted::text("day").optional(),
    ];
    if variants {
        wanted.push(Wanted::text("variant"));
    }
    Table::read(path, &renamed(wanted, &options.columns)?)
}

/// All rows of a table as one arm.
fn whole(table: &Table) -> Arm {
    let rows: Vec<usize> = (0..table.rows()).collect();
    chosen(table, &rows)
}

fn chosen(table: &Table, rows: &[usize]) -> Arm {
    let numbers = |role: &str| -> Option<Vec<f64>> {
        let numbers = table.numbers(role)?;
        Some(rows.iter().filter_map(|row| numbers.get(*row).copied()).collect())
    };
    let looks = table.texts("look").or_else(|| table.texts("day")).map(|texts| {
        rows.iter().map(|row| texts.get(*row).unwrap_or_default().to_owned()).collect()
    });
    Arm { values: numbers("value").unwrap_or_default(), covariates: numbers("covariate"), looks }
}

/// The two variants of a table, the control first.
fn by_variant(table: &Table, control: &str) -> Result<(Arm, Arm), AnalysisError> {
    let Some(variants) = table.texts("variant") else {
        return Err(AnalysisError::question(
            "the file has no column `variant`",
            "add one, or give a file for each arm",
        ));
    };
    let names = || {
        let shown: Vec<String> =
            variants.names.iter().take(5).map(|name| format!("`{name}`")).collect();
        shown.join(", ")
    };
    if let Some(row) = (variants.names.len() > 2).then(|| variants.first_row(2)).flatten() {
        let message = format!("there are {} variants: {}", variants.names.len(), names());
        let hint = "an A/B test has two: keep the control and one treatment in the file";
        return Err(table.problem(row, Some("variant"), message, hint));
    }
    let Some(code) = variants.names.iter().position(|name| name == control) else {
        return Err(AnalysisError::question(
            format!("no variant is named `{control}`: there is {}", names()),
            "say which variant is the control",
        ));
    };
    let (first, second): (Vec<usize>, Vec<usize>) =
        (0..table.rows()).partition(|row| variants.codes.get(*row) == Some(&(code as u32)));
    if second.is_empty() {
        return Err(AnalysisError::question(
            format!("the file has only the variant `{control}`"),
            "add the rows of the treatment",
        ));
    }
    Ok((chosen(table, &first), chosen(table, &second)))
}

/// Puts the values of both arms into the order of their looks.
fn ordered(control: &mut Arm, treatment: &mut Arm) -> Result<Option<Vec<LookEnd>>, AnalysisError> {
    let (first, second) = match (control.looks.take(), treatment.looks.take()) {
        (Some(first), Some(second)) => (first, second),
        (None, None) => return Ok(None),
        _ => {
            return Err(AnalysisError::question(
                "only one of the files says when its values came",
                "give both a column `look` or `day`, or neither",
            ));
        }
    };
    let mut labels: Vec<&String> = first.iter().chain(&second).collect();
    labels.sort_unstable();
    labels.dedup();
    // Numbers are put in their own order; anything else, such as dates, in that of its letters.
    let numbers: Option<Vec<f64>> = labels
        .iter()
        .map(|label| label.parse().ok().filter(|number: &f64| number.is_finite()))
        .collect();
    if let Some(numbers) = numbers {
        let mut pairs: Vec<_> = numbers.into_iter().zip(labels).collect();
        pairs.sort_by(|one, other| one.0.total_cmp(&other.0));
        labels = pairs.into_iter().map(|(_, label)| label).collect();
    }
    let ranks: BTreeMap<&str, usize> =
        labels.iter().enumerate().map(|(rank, label)| (label.as_str(), rank)).collect();
    let ends = |looks: &[String], arm: &mut Arm| -> Vec<usize> {
        let rank = |row: usize| looks.get(row).and_then(|look| ranks.get(look.as_str())).copied();
        let mut rows: Vec<usize> = (0..looks.len()).collect();
        rows.sort_by_key(|row| rank(*row));
        arm.values = rows.iter().filter_map(|row| arm.values.get(*row).copied()).collect();
        if let Some(covariates) = &mut arm.covariates {
            *covariates = rows.iter().filter_map(|row| covariates.get(*row).copied()).collect();
        }
        let mut counts = vec![0; labels.len()];
        for count in rows.iter().filter_map(|row| rank(*row)) {
            counts[count] += 1;
        }
        let mut total = 0;
        counts
            .iter()
            .map(|count| {
                total += count;
                total
            })
            .collect()
    };
    let (control_ends, treatment_ends) = (ends(&first, control), ends(&second, treatment));
    let looks = labels.iter().zip(control_ends.into_iter().zip(treatment_ends));
    let end = |(label, (control, treatment)): (&&String, (usize, usize))| LookEnd {
        label: (*label).clone(),
        control,
        treatment,
    };
    Ok(Some(looks.map(end).collect()))
}
