//! Data sets: reading rows from files of several formats, freezing them, and finding cases that say the same.

mod delimited;
mod duplicates;
mod file;
mod import;
mod json;
mod lines;
mod parquet;
mod rows;
mod texts;

pub use duplicates::{DistinctTexts, Duplicate, DuplicateGroup, Leak, LeakSource};
pub(crate) use file::read_rows;
pub use import::import_dataset;
pub(crate) use rows::Row;
pub use texts::{CaseText, read_texts};
