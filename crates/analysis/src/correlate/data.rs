//! The file: pairs of a judge's and a human value, as numbers or as labels.

use std::collections::BTreeSet;
use std::path::Path;

use super::CorrelateOptions;
use crate::AnalysisError;
use crate::columns::{refuse_repetitions, renamed};
use crate::table::{MISSING, Table, Texts, Wanted};

/// The pairs of a file, and what was left out.
pub(super) struct Data {
    pub(super) pairs: usize,
    pub(super) without_judge: usize,
    pub(super) without_human: usize,
    pub(super) values: Values,
}

pub(super) enum Values {
    Scores(Scores),
    Labels(Labels),
}

/// Pairs of numbers.
pub(super) struct Scores {
    pub(super) judge: Vec<f64>,
    pub(super) human: Vec<f64>,
    pub(super) items: Vec<u32>,
    pub(super) systems: Option<Vec<u32>>,
    /// What correlations are computed inside of.
    pub(super) groups: Option<Vec<u32>>,
    pub(super) groups_are: &'static str,
    /// What pairs depend on each other within; none where each pair stands alone.
    pub(super) clusters: Option<Vec<u32>>,
}

impl Scores {
    pub(super) fn cluster_count(&self) -> Option<usize> {
        self.clusters.as_ref().map(|clusters| clusters.iter().collect::<BTreeSet<_>>().len())
    }

    /// The numbers as labels, smallest first, where there are at most `most` of them and fewer than pairs.
    pub(super) fn as_labels(&self, most: usize) -> Option<Labels> {
        let mut values: Vec<f64> = Vec::new();
        for value in self.judge.iter().chain(&self.human) {
            if !values.contains(value) {
                values.push(*value);
                if values.len() > most {
                    return None;
                }
            }
        }
        if values.len() >= self.judge.len() {
            return None;
        }
        values.sort_by(f64::total_cmp);
        let code = |value: &f64| values.iter().position(|known| known == value).unwrap_or(0) as u32;
        Some(Labels {
            judge: self.judge.iter().map(code).collect(),
            human: self.human.iter().map(code).collect(),
            names: values.iter().map(f64::to_string).collect(),
        })
    }
}

/// Pairs of labels, as codes of names.
pub(super) struct Labels {
    pub(super) judge: Vec<u32>,
    pub(super) human: Vec<u32>,
    pub(super) names: Vec<String>,
}

pub(super) fn read(path: &Path, options: &CorrelateOptions) -> Result<Data, AnalysisError> {
    let wanted = vec![
        Wanted::text("item"),
        Wanted::text("judge").may_be_empty(),
        Wanted::text("human").optional().may_be_empty(),
        Wanted::text("group").optional(),
        Wanted::text("system").optional(),
    ];
    let table = Table::read(path, &renamed(wanted, &options.columns)?)?;
    let problem = |message: String, hint: &str| AnalysisError::Input {
        file: table.file().to_owned(),
        line: None,
        field: None,
        message,
        hint: Some(hint.to_owned()),
    };
    let (Some(judge), Some(human)) = (table.texts("judge"), table.texts("human")) else {
        let message = "there is no human value: the column is absent or empty throughout";
        return Err(problem(message.to_owned(), "fill it in, or say `--column human=NAME`"));
    };
    let rows: Vec<usize> = (0..table.rows())
        .filter(|&row| judge.codes[row] != MISSING && human.codes[row] != MISSING)
        .collect();
    let without_judge = judge.codes.iter().filter(|code| **code == MISSING).count();
    let without_human = table.rows() - rows.len() - without_judge;
    if rows.len() < 2 {
        let (both, all) = (rows.len(), table.rows());
        let message = format!(
            "{both} of {all} rows have both a judge's and a human value, and at least 2 are needed"
        );
        return Err(problem(message, "fill in both columns, or name them with `--column`"));
    }
    refuse_repetitions(&table, rows.iter().copied())?;
    let values = if options.labels {
        Values::Labels(labels(judge, human, &rows))
    } else {
        match (numbers(judge, &rows), numbers(human, &rows)) {
            (Ok(judge), Ok(human)) => Values::Scores(scores(&table, &rows, judge, human)),
            (Err(first), Err(second)) if first.none && second.none => {
                Values::Labels(labels(judge, human, &rows))
            }
            (judged, labelled) => {
                let broken = judged.err().map(|broken| (broken, "judge", judge));
                let broken = broken.or(labelled.err().map(|broken| (broken, "human", human)));
                let Some((broken, role, column)) = broken else {
                    return Err(AnalysisError::question("no values", "give numbers or labels"));
                };
                let text = column.get(broken.row).unwrap_or_default();
                return Err(table.problem(
                    broken.row,
                    Some(role),
                    format!("`{text}` is not a finite number, and other values are numbers"),
                    "mend the value, or compare both columns as labels with `--labels`",
                ));
            }
        }
    };
    Ok(Data { pairs: rows.len(), without_judge, without_human, values })
}

struct NotNumbers {
    /// The first row that is none.
    row: usize,
    /// Whether no row is one.
    none: bool,
}

fn numbers(texts: &Texts, rows: &[usize]) -> Result<Vec<f64>, NotNumbers> {
    let parsed: Vec<Option<f64>> = texts
        .names
        .iter()
        .map(|name| name.parse::<f64>().ok().filter(|value| value.is_finite()))
        .collect();
    let value = |row: usize| parsed.get(texts.codes[row] as usize).copied().flatten();
    match rows.iter().find(|&&row| value(row).is_none()) {
        None => Ok(rows.iter().filter_map(|&row| value(row)).collect()),
        Some(&row) => Err(NotNumbers { row, none: rows.iter().all(|&row| value(row).is_none()) }),
    }
}

/// One list of names for both columns, in alphabetical order.
fn labels(judge: &Texts, human: &Texts, rows: &[usize]) -> Labels {
    let used = |texts: &Texts| -> BTreeSet<String> {
        rows.iter().filter_map(|&row| texts.get(row)).map(str::to_owned).collect()
    };
    let names: Vec<String> = used(judge).union(&used(human)).cloned().collect();
    let codes = |texts: &Texts| -> Vec<u32> {
        let known: Vec<u32> = texts.names.iter().map(|name| known_as(&names, name)).collect();
        rows.iter().map(|&row| known[texts.codes[row] as usize]).collect()
    };
    Labels { judge: codes(judge), human: codes(human), names }
}

/// The place of a name in a sorted list; 0 where it is not there, which no row uses.
fn known_as(sorted: &[String], name: &str) -> u32 {
    sorted.binary_search_by(|other| other.as_str().cmp(name)).unwrap_or(0) as u32
}

fn scores(table: &Table, rows: &[usize], judge: Vec<f64>, human: Vec<f64>) -> Scores {
    let codes = |role| {
        table
            .texts(role)
            .map(|texts| rows.iter().map(|&row| texts.codes[row]).collect::<Vec<u32>>())
    };
    let items = codes("item").unwrap_or_default();
    let (groups, systems) = (codes("group"), codes("system"));
    let repeats = |codes: &[u32]| codes.iter().collect::<BTreeSet<_>>().len() < codes.len();
    let (groups, groups_are) = match groups {
        Some(groups) => (Some(groups), "the column `group`"),
        None if repeats(&items) => (Some(items.clone()), "the items, each with several systems"),
        None => (None, ""),
    };
    let clusters = groups.clone().filter(|groups| repeats(groups));
    Scores { judge, human, items, systems, groups, groups_are, clusters }
}
