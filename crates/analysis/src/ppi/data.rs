//! The file: judge scores of all items, human labels of some, by system.

use std::collections::HashMap;
use std::path::Path;

use fullbench_stats::validity::PartlyLabelled;

use super::Design;
use crate::AnalysisError;
use crate::columns::{refuse_repetitions, renamed};
use crate::table::{Table, Texts, Wanted};

/// The samples of a file, one for each system.
pub(super) struct Data {
    pub(super) samples: Vec<Sample>,
}

/// The items of one system.
#[derive(Default)]
pub(super) struct Sample {
    pub(super) name: Option<String>,
    pub(super) items: Vec<u32>,
    pub(super) judge: Vec<f64>,
    pub(super) human: Vec<Option<f64>>,
}

impl Sample {
    pub(super) fn partly(&self) -> PartlyLabelled<'_> {
        PartlyLabelled { items: &self.items, judge: &self.judge, human: &self.human }
    }

    /// Human and judge scores of the labelled items, and judge scores of the others.
    pub(super) fn split(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        self.partly().split()
    }

    /// Whether all scores and labels are 0 or 1.
    pub(super) fn is_yes_or_no(&self) -> bool {
        let scores = self.judge.iter().chain(self.human.iter().flatten());
        scores.into_iter().all(|score| *score == 0.0 || *score == 1.0)
    }
}

impl Data {
    pub(super) fn design(&self, first: &Sample, second: &Sample) -> Design {
        let labelled: HashMap<u32, bool> =
            first.items.iter().copied().zip(first.human.iter().map(Option::is_some)).collect();
        let common = |(item, label): (&u32, &Option<f64>)| {
            labelled.get(item).map(|labelled| *labelled == label.is_some())
        };
        let matches: Vec<Option<bool>> =
            second.items.iter().zip(&second.human).map(common).collect();
        if matches.iter().all(Option::is_none) {
            return Design::Independent;
        }
        let same = first.items.len() == second.items.len();
        if same && matches.iter().all(|matched| *matched == Some(true)) {
            Design::Paired
        } else {
            Design::Overlapping
        }
    }
}

/// The differences of paired samples: human and judge of labelled items, judge of the others.
pub(super) fn differences(first: &Sample, second: &Sample) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let places: HashMap<u32, usize> =
        second.items.iter().enumerate().map(|(place, item)| (*item, place)).collect();
    let (mut human, mut judge, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (index, item) in first.items.iter().enumerate() {
        let Some(&place) = places.get(item) else { continue };
        let score = first.judge[index] - second.judge[place];
        match (first.human[index], second.human[place]) {
            (Some(one), Some(other)) => {
                human.push(one - other);
                judge.push(score);
            }
            _ => rest.push(score),
        }
    }
    (human, judge, rest)
}

pub(super) fn read(path: &Path, columns: &[(String, String)]) -> Result<Data, AnalysisError> {
    let wanted = vec![
        Wanted::text("item"),
        Wanted::number("judge"),
        Wanted::number("human").optional().may_be_empty(),
        Wanted::text("system").optional(),
    ];
    let table = Table::read(path, &renamed(wanted, columns)?)?;
    let empty = Texts::default();
    let items = table.texts("item").unwrap_or(&empty);
    let systems = table.texts("system");
    let judge = table.numbers("judge").unwrap_or_default();
    let Some(human) = table.numbers("human") else { return Err(without_labels(&table)) };
    refuse_repetitions(&table, 0..table.rows())?;
    let names = systems
        .map_or(vec![None], |systems| systems.names.iter().map(str::to_owned).map(Some).collect());
    let mut samples: Vec<Sample> =
        names.into_iter().map(|name| Sample { name, ..Sample::default() }).collect();
    for (row, (&score, &label)) in judge.iter().zip(human).enumerate() {
        let (item, system) = (items.codes[row], systems.map_or(0, |systems| systems.codes[row]));
        if let Some(sample) = samples.get_mut(system as usize) {
            sample.items.push(item);
            sample.judge.push(score);
            sample.human.push((!label.is_nan()).then_some(label));
        }
    }
    Ok(Data { samples })
}

fn without_labels(table: &Table) -> AnalysisError {
    AnalysisError::Input {
        file: table.file().to_owned(),
        line: None,
        field: None,
        message: "there is no human label: the column is absent or empty throughout".to_owned(),
        hint: Some("label some items, or say `--column human=NAME`".to_owned()),
    }
}
