//! Agreement of two annotators corrected for chance.

use serde::Serialize;

use super::FEWEST_ITEMS;
use super::category_weights::CategoryWeights;
use crate::{Interval, Undefined, normal_quantile};

/// Cohen's kappa or Scott's pi of two annotators.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Kappa {
    /// The coefficient: 1 for perfect agreement, 0 for what chance gives.
    pub coefficient: f64,
    /// Agreement of the two, weighted.
    pub observed: f64,
    /// Agreement that chance gives.
    pub expected: f64,
    /// Large-sample standard error.
    pub standard_error: f64,
    /// `coefficient ± z · standard_error`, cut off at −1 and 1; none for fewer than ten items, and when the standard error is 0, as
    /// for perfect agreement.
    pub interval: Option<Interval>,
    /// Items that both rated.
    pub items: u64,
}

/// Cohen's kappa of a square table of counts (Cohen 1960; with weights Cohen 1968). Chance: each annotator draws from their own
/// distribution of categories. The standard error is that of Fleiss, Cohen and Everitt (1969), for many independent items.
///
/// Undefined for a table that is not square or not of the weights' size, for no items, and when chance agreement is
/// complete: both always gave the same one value.
pub fn cohen_kappa(
    counts: &[Vec<u64>],
    weights: &CategoryWeights,
    confidence: f64,
) -> Result<Kappa, Undefined> {
    let table = Shares::new(counts, weights)?;
    let towards_rows = weights.times(&table.columns);
    let towards_columns = weights.times(&table.rows);
    let expected = table.rows.iter().zip(&towards_rows).map(|(share, weight)| share * weight).sum();
    table.kappa(weights, expected, &towards_rows, &towards_columns, confidence)
}

/// Scott's pi of a square table of counts (Scott 1955): as [`cohen_kappa`] without weights, but chance draws both from the pooled
/// distribution of categories. The standard error is by the delta method, for many independent items. Undefined as for
/// [`cohen_kappa`].
pub fn scott_pi(counts: &[Vec<u64>], confidence: f64) -> Result<Kappa, Undefined> {
    let weights = CategoryWeights::identity(counts.len())?;
    let table = Shares::new(counts, &weights)?;
    let pooled: Vec<f64> = table
        .rows
        .iter()
        .zip(&table.columns)
        .map(|(row, column)| f64::midpoint(*row, *column))
        .collect();
    let expected = pooled.iter().map(|share| share * share).sum();
    table.kappa(&weights, expected, &pooled, &pooled, confidence)
}

/// A table as shares of its total.
struct Shares<'a> {
    counts: &'a [Vec<u64>],
    rows: Vec<f64>,
    columns: Vec<f64>,
    items: u64,
}

impl<'a> Shares<'a> {
    fn new(counts: &'a [Vec<u64>], weights: &CategoryWeights) -> Result<Self, Undefined> {
        Undefined::unless_paired("rows and weights", counts.len(), weights.categories())?;
        for row in counts {
            Undefined::unless_paired("rows and columns", counts.len(), row.len())?;
        }
        let items: u64 = counts.iter().flatten().sum();
        Undefined::unless_enough("items that both rated", items as usize, 1)?;
        let total = items as f64;
        let rows = counts.iter().map(|row| row.iter().sum::<u64>() as f64 / total).collect();
        let column =
            |column: usize| counts.iter().map(|row| row[column]).sum::<u64>() as f64 / total;
        let columns = (0..counts.len()).map(column).collect();
        Ok(Self { counts, rows, columns, items })
    }

    /// The coefficient for an expected agreement whose derivatives by the share of a row and of a column are given.
    fn kappa(
        &self,
        weights: &CategoryWeights,
        expected: f64,
        by_row: &[f64],
        by_column: &[f64],
        confidence: f64,
    ) -> Result<Kappa, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let room = 1.0 - expected;
        if room <= 1e-12 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        let total = self.items as f64;
        let cells = || {
            let rows = self.counts.iter().enumerate();
            rows.flat_map(|(row, counts)| {
                counts
                    .iter()
                    .enumerate()
                    .map(move |(column, &count)| (row, column, count as f64 / total))
            })
        };
        let observed: f64 =
            cells().map(|(row, column, share)| share * weights.of(row, column)).sum();
        let coefficient = (observed - expected) / room;
        // Influence of one item in each cell; its mean over the table is that of the whole.
        let influence = |row: usize, column: usize| {
            weights.of(row, column) * room - (by_row[row] + by_column[column]) * (1.0 - observed)
        };
        let mean: f64 = cells().map(|(row, column, share)| share * influence(row, column)).sum();
        let variance: f64 = cells()
            .map(|(row, column, share)| share * (influence(row, column) - mean).powi(2))
            .sum::<f64>()
            / (total * room.powi(4));
        let standard_error = variance.max(0.0).sqrt();
        let reach = normal_quantile(f64::midpoint(1.0, confidence))? * standard_error;
        let enough = standard_error > 1e-13 && self.items >= FEWEST_ITEMS as u64;
        let interval = enough.then(|| Interval {
            low: (coefficient - reach).max(-1.0),
            high: (coefficient + reach).min(1.0),
        });
        Ok(Kappa { coefficient, observed, expected, standard_error, interval, items: self.items })
    }
}
