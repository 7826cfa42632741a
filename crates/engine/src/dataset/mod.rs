//! Data sets: reading rows from files of several formats and freezing them.

mod delimited;
mod import;
mod json;
mod lines;
mod parquet;
mod rows;

pub use import::import_dataset;
