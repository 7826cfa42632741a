//! Labels of a judge against labels of people.

use serde::Serialize;

use super::value_or_reason;
use crate::{Interval, Undefined, wilson_interval};

/// A confusion table and what is read from it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Confusion {
    /// Counts: a row for each human label, a column for each judge label.
    pub table: Vec<Vec<u64>>,
    /// How many pairs.
    pub pairs: u64,
    /// Share of pairs with the same label.
    pub accuracy: f64,
    /// Wilson interval of the accuracy (1927), for independent pairs.
    pub interval: Interval,
    /// The accuracy of always saying what people say most.
    pub majority_share: f64,
    /// Each label.
    pub classes: Vec<Class>,
}

/// One label of a confusion table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// How often people gave it.
    pub human: u64,
    /// How often the judge gave it.
    pub judge: u64,
    /// Of what the judge called so, the share that people call so; undefined when the judge never did.
    #[serde(serialize_with = "value_or_reason")]
    pub precision: Result<f64, Undefined>,
    /// Wilson interval of the precision.
    #[serde(serialize_with = "value_or_reason")]
    pub precision_interval: Result<Interval, Undefined>,
    /// Of what people call so, the share that the judge called so; undefined when people never did.
    #[serde(serialize_with = "value_or_reason")]
    pub recall: Result<f64, Undefined>,
    /// Wilson interval of the recall.
    #[serde(serialize_with = "value_or_reason")]
    pub recall_interval: Result<Interval, Undefined>,
}

/// The confusion table of two columns of labels, each a code below `labels`. Undefined for no pairs. Precision and recall of
/// a label that a side never gave are undefined, not 0.
pub fn confusion(
    judge: &[u32],
    human: &[u32],
    labels: usize,
    confidence: f64,
) -> Result<Confusion, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    Undefined::unless_paired("labels of the two sides", judge.len(), human.len())?;
    Undefined::unless_enough("pairs", judge.len(), 1)?;
    let mut table = vec![vec![0_u64; labels]; labels];
    for (&judge, &human) in judge.iter().zip(human) {
        match table.get_mut(human as usize).and_then(|row| row.get_mut(judge as usize)) {
            Some(cell) => *cell += 1,
            None => {
                return Err(Undefined::OutOfRange {
                    what: "the code of a label",
                    value: f64::from(judge.max(human)),
                    allowed: "below the number of labels",
                });
            }
        }
    }
    let pairs = judge.len() as u64;
    let same: u64 = table.iter().enumerate().map(|(label, row)| row[label]).sum();
    let classes: Vec<Class> = (0..labels).map(|label| class(&table, label, confidence)).collect();
    let most = classes.iter().map(|class| class.human).max().unwrap_or(0);
    Ok(Confusion {
        pairs,
        accuracy: same as f64 / pairs as f64,
        interval: wilson_interval(same, pairs, confidence)?,
        majority_share: most as f64 / pairs as f64,
        classes,
        table,
    })
}

fn class(table: &[Vec<u64>], label: usize, confidence: f64) -> Class {
    let same = table[label][label];
    let human: u64 = table[label].iter().sum();
    let judge: u64 = table.iter().map(|row| row[label]).sum();
    let share = |what: &'static str, count: u64| {
        Undefined::unless_enough(what, count as usize, 1).map(|()| same as f64 / count as f64)
    };
    let interval = |count: u64| wilson_interval(same, count, confidence);
    Class {
        human,
        judge,
        precision: share("labels of the judge", judge),
        precision_interval: interval(judge),
        recall: share("labels of people", human),
        recall_interval: interval(human),
    }
}
