//! What becomes of what an organization owns: removed with its data set, after its time, or with the organization, and taken
//! along. What happens to a table is said in one list, [`catalogue`], in which none can be forgotten.

pub(crate) mod catalogue;
mod datasets;
mod erasure;
mod objects;
mod retention;
mod runs;
#[cfg(test)]
mod tests;

pub use datasets::RemovedDataset;
pub use erasure::ErasureReceipt;
pub(crate) use objects::{blobs_of, remove_unused};
pub use retention::RetentionReport;
pub(crate) use retention::older_than;
pub(crate) use runs::OPEN;

use serde::Serialize;

/// Rows of a table that were removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedRows {
    /// The table.
    pub table: String,
    /// How many.
    pub rows: u64,
}

/// Rows that were removed, by table.
#[derive(Debug, Default)]
struct Removed(Vec<RemovedRows>);

impl Removed {
    fn add(&mut self, table: &str, rows: u64) {
        if rows == 0 {
            return;
        }
        match self.0.iter_mut().find(|found| found.table == table) {
            Some(found) => found.rows += rows,
            None => self.0.push(RemovedRows { table: table.to_owned(), rows }),
        }
    }

    fn append(&mut self, others: Self) {
        others.0.iter().for_each(|other| self.add(&other.table, other.rows));
    }

    /// In the order of their names.
    fn sorted(mut self) -> Vec<RemovedRows> {
        self.0.sort_by(|one, other| one.table.cmp(&other.table));
        self.0
    }
}
