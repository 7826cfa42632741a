//! The evaluation file: its shape, how it is read and checked, and the frozen spec a run keeps.

mod conditions;
mod criterion_file;
mod decode;
mod definitions;
mod file;
mod load;
mod metrics;
mod schema;
mod scorers;
mod sendable;
mod sent;
mod statistics;
mod stored;
mod suggest;
mod yaml;

pub use criterion_file::load_criterion;
pub use definitions::Definitions;
pub(crate) use definitions::default_criterion;
pub use file::{
    BudgetConfig, CacheConfig, DatasetConfig, DatasetMap, EvaluationFile, EvaluationSpec,
    ExampleTemplate, MessageTemplates, ModelEntry, SampleConfig, SampleStrategy,
};
pub(crate) use load::unreadable as unreadable_file;
pub use load::{LoadedEvaluation, load_evaluation};
pub use metrics::MetricRules;
pub use schema::evaluation_schema;
pub(crate) use scorers::check_opponent;
pub use scorers::{load_scorers, stored_judge};
pub use sendable::{SendableCases, SendableEvaluation};
pub use sent::{AllowedAddress, SentRules, load_sent, load_sent_scorers};
pub(crate) use statistics::DEFAULT_GROUP;
pub use statistics::{GroupField, StatisticsConfig};
pub use stored::stored_spec;
pub use suggest::did_you_mean;
