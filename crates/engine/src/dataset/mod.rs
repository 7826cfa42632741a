//! Data sets: reading rows from files of several formats, freezing them, and finding cases that say the same.

mod content;
mod delimited;
mod diff;
mod duplicates;
mod file;
mod filter;
mod ground_truth;
mod import;
mod inspect;
mod json;
mod keys;
mod limited;
mod lines;
mod parquet;
mod parts;
mod problem;
mod rows;
mod sample;
mod schema;
mod table;
mod texts;
mod values;

pub use diff::{
    CaseDifference, CaseList, DatasetDiff, DiffPaging, RetypedColumn, SchemaDiff, diff_versions,
};
pub use duplicates::{DistinctTexts, Duplicate, DuplicateGroup, Leak, LeakSource};
pub use file::FileFormat;
pub(crate) use file::read_rows;
pub use filter::CaseFilter;
pub use ground_truth::with_ground_truth;
pub use import::import_dataset;
pub use inspect::{InspectOptions, Inspection, MAX_COLUMNS, MAX_ID_CHARACTERS, inspect_file};
pub use parts::InspectedCase;
pub use problem::{MAX_PROBLEMS, ProblemCode, RowProblem};
pub(crate) use rows::Row;
pub use rows::bytes_in_memory;
pub use sample::{CaseSample, sample_cases};
pub use schema::{Column, ColumnType, DatasetSchema, SchemaBuilder};
pub use table::TableWriter;
pub use texts::{CaseText, read_texts};
