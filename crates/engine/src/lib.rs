//! Runs: read an evaluation file, freeze its data, plan, execute, record, resume, summarize.
//!
//! ```text
//! spec ─► dataset ─► plan ─► run (lanes ─► recorder ─► scoring ─► recorder) ─► report
//! ```
//! One direction: lanes never read what the recorder wrote, except once, at resume.

mod dataset;
mod error;
mod judge_check;
mod local;
mod observed;
mod prompt;
mod report;
mod review;
mod run;
mod single;
mod spec;
mod traced;

pub use dataset::{
    CaseDifference, CaseFilter, CaseList, CaseSample, CaseText, Column, ColumnType, DatasetDiff,
    DatasetSchema, DiffPaging, DistinctTexts, Duplicate, DuplicateGroup, FileFormat,
    InspectOptions, InspectedCase, Inspection, Leak, LeakSource, MAX_COLUMNS, MAX_ID_CHARACTERS,
    MAX_PROBLEMS, ProblemCode, RetypedColumn, RowProblem, SchemaBuilder, SchemaDiff, TableWriter,
    bytes_in_memory, diff_versions, import_dataset, inspect_file, read_texts, sample_cases,
    with_ground_truth,
};
pub use error::{EngineError, InputProblem};
pub use judge_check::{
    CheckRequest, CheckedRun, JudgeCheck, LabelScale, PassLabels, prepare_check, read_check,
    read_pass_labels,
};
pub use local::HAS_LOCAL_MODELS;
pub use prompt::{PromptTemplates, Prompts};
pub use report::{
    AgreementSummary, CascadeSummary, CaseChange, Change, Clustering, DiffCounts, DiffOptions,
    DiffReport, Estimated, Evidence, GateEvidence, GateResult, GroupSummary, LatencyStep,
    LatencySummary, ModelSummary, RouteNumbers, RouteSummary, RunReport, ScorerInfo, ScorerSummary,
    SimilarSummary, TierSummary, Verdict, Word, check_group_field, compare_runs, metadata_fields,
    summarize,
};
pub use review::{PendingReview, Review, pending_reviews, record_review};
pub use run::{
    CaseSelection, Estimate, JudgeEstimate, LaneSnapshot, ModelEstimate, Plan, PreparedRun,
    Progress, ProgressSnapshot, RunControl, RunEnd, RunRequest, Stratum, estimate, execute,
    prepare_new, prepare_rescore, prepare_resume,
};
pub use single::{AnswerScorers, Connections, SingleScore};
pub use spec::{
    AllowedAddress, BudgetConfig, CacheConfig, DatasetConfig, DatasetMap, Definitions,
    EvaluationFile, EvaluationSpec, ExampleTemplate, GroupField, LoadedEvaluation,
    MessageTemplates, MetricRules, ModelEntry, SampleConfig, SampleStrategy, SendableCases,
    SendableEvaluation, SentRules, StatisticsConfig, did_you_mean, evaluation_schema,
    load_criterion, load_evaluation, load_scorers, load_sent, load_sent_scorers, stored_judge,
    stored_spec,
};
