//! What can be said on the command line.

pub(crate) mod accounts;
pub(crate) mod audit;
pub(crate) mod baseline;
pub(crate) mod config;
pub(crate) mod dataset;
pub(crate) mod db;
pub(crate) mod judge_check;
pub(crate) mod judging;
pub(crate) mod metric;
pub(crate) mod organization;
pub(crate) mod plans;
pub(crate) mod rescore;
pub(crate) mod review;
pub(crate) mod secrets;
pub(crate) mod serve;
pub(crate) mod serving;
pub(crate) mod signing_in;
pub(crate) mod stats;
pub(crate) mod traces;
pub(crate) mod weights;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Evaluate language models: run them on test cases, score the answers, and know how sure you are.
///
/// Start with `fullbench init`, then `fullbench run`. Everything a run did is kept in ./.fullbench, so that it can
/// be resumed, shown and compared. Exit codes: 0 fine, 1 a gate failed, 2 the input is wrong, 3 the run is incomplete.
#[derive(Debug, Parser)]
#[command(name = "fullbench", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,

    /// The configuration file of the server, in TOML [default: fullbench.toml in the home folder, if there]
    #[arg(long, global = true, env = "FULLBENCH_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Work on this server instead of this machine (run, resume, list, show, export); its key is in FULLBENCH_API_KEY
    #[arg(long, global = true, env = "FULLBENCH_SERVER", value_name = "URL")]
    pub(crate) server: Option<String>,

    /// Say more on stderr; twice for debugging
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where the state is.
#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The folder with runs, data and cache [default: ./.fullbench, or the one above that has it]
    #[arg(long, global = true, env = "FULLBENCH_HOME", value_name = "FOLDER")]
    pub(crate) home: Option<PathBuf>,

    /// Keep runs and everything else with rows in this PostgreSQL database instead of a file in the home folder
    #[arg(
        long,
        global = true,
        value_name = "URL",
        env = "FULLBENCH_DATABASE",
        hide_env_values = true
    )]
    pub(crate) database: Option<String>,

    /// Keep files and blobs there instead of in the home folder: `s3://bucket/prefix` or `file:///folder`
    #[arg(long, global = true, value_name = "URL", env = "FULLBENCH_OBJECTS")]
    pub(crate) objects: Option<String>,

    /// The master key that secrets are kept under; not to be given on a command line, where others would see it
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        env = "FULLBENCH_SECRET_KEY",
        hide = true,
        hide_env_values = true
    )]
    pub(crate) secret_key: Option<String>,

    /// Master keys before it, separated by commas, that something may still be wrapped with
    #[arg(
        long,
        global = true,
        value_name = "KEYS",
        env = "FULLBENCH_SECRET_KEY_OLD",
        hide = true,
        hide_env_values = true
    )]
    pub(crate) secret_key_old: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a working example evaluation into a folder
    Init(InitArguments),
    /// Run an evaluation file
    Run(RunArguments),
    /// Go on with a run: open units, and those that failed
    Resume(ResumeArguments),
    Rescore(rescore::RescoreArguments),
    /// Score outputs as a person, where the evaluation waits for one
    Review(review::ReviewArguments),
    /// Say what a run would take, before anything is spent
    Estimate(EstimateArguments),
    /// List runs, newest first
    List(ListArguments),
    /// Show a run's numbers, or one of its cases
    Show(ShowArguments),
    /// Compare two runs case by case, and say what the differences show
    Diff(DiffArguments),
    /// Name runs that others are compared with
    Baseline(baseline::BaselineArguments),
    /// What can be judged: criteria with their rubrics
    Criterion(judging::CriterionArguments),
    /// From which score on a criterion passes, and since when
    Threshold(judging::ThresholdArguments),
    /// Models that judge: make them, and see what their judgements show
    Judge(judging::JudgeArguments),
    /// Write every result of a run to stdout
    Export(ExportArguments),
    Serve(Box<serve::ServeArguments>),
    /// The settings of the server: where each comes from, and whether they are right
    Config(config::ConfigArguments),
    /// The audit log: who did what, and whether anybody changed it
    Audit(audit::AuditArguments),
    /// People of an organization: add them, give them passwords, on the database itself
    User(accounts::UserArguments),
    /// Organizations: make and list them, take everything along that one owns, or erase it
    Organization(organization::OrganizationArguments),
    /// Data that is older than an organization keeps it
    Retention(organization::RetentionArguments),
    /// The database: its state, its upgrades, backups of everything
    Db(db::DbArguments),
    /// The master key that secrets are kept under: see it, change it
    Secrets(secrets::SecretsArguments),
    /// Score text files by a metric, with intervals and paired tests
    Metric(Box<metric::MetricArguments>),
    /// Statistics of files: agreement, rankings, experiments, judges against people
    Stats(Box<stats::StatsArguments>),
    /// Work on data sets outside of a run: find near-duplicates and leaks
    Dataset(dataset::DatasetArguments),
    /// Fetch and find the weights of models that run on this machine
    Weights(weights::WeightsArguments),
    /// Print the JSON Schema of the evaluation file
    Schema,
    /// Check keys, providers, disk and versions
    Doctor(DoctorArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Write the reference pages and the schema file
    #[command(hide = true)]
    Reference(ReferenceArguments),
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// The folder, made if missing
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The evaluation file
    #[arg(default_value = "fullbench.yaml")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) control: ControlArguments,

    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    #[command(flatten)]
    pub(crate) control: ControlArguments,

    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ControlArguments {
    /// Neither read nor write the response cache
    #[arg(long, conflicts_with = "cache_only")]
    pub(crate) no_cache: bool,

    /// Answer from the response cache alone and call no provider
    #[arg(long)]
    pub(crate) cache_only: bool,

    /// Send requests in batches at half the price, answered within 24 hours
    ///
    /// OpenAI and Anthropic take batches; other providers are called as usual. Answers and judgements both go this way.
    /// The run waits; when it is stopped or killed, the batches stay at the provider and `fullbench resume` fetches
    /// them, with this flag or without, and sends none of them again.
    #[arg(long, conflicts_with = "cache_only")]
    pub(crate) provider_batch: bool,

    /// What the run may spend in all, in dollars; replaces the file's budget
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) budget: Option<f64>,

    /// Show no progress
    #[arg(short, long)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) traces: traces::TraceArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// How the numbers are printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,

    /// Also write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Results in the HTML report at most; those that failed come first
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub(crate) html_cases: u64,

    /// Also give the numbers for each value of a field, for example `category`
    #[arg(long, value_name = "FIELD")]
    pub(crate) by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EstimateArguments {
    /// The evaluation file
    #[arg(default_value = "fullbench.yaml")]
    pub(crate) file: PathBuf,

    /// What it would cost with `--provider-batch`: half for OpenAI and Anthropic
    #[arg(long)]
    pub(crate) provider_batch: bool,

    /// How the numbers are printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// How many runs at most
    #[arg(short = 'n', long, default_value_t = 20)]
    pub(crate) limit: u64,

    /// How the list is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    /// Show everything about one case instead
    #[arg(long, value_name = "KEY")]
    pub(crate) case: Option<String>,

    #[command(flatten)]
    pub(crate) report: ReportArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The run before: a baseline, its id, some letters of it, its name, or `latest`
    pub(crate) before: String,

    /// The run after
    #[arg(default_value = "latest")]
    pub(crate) after: String,

    /// A difference that does not matter, for example 0.02: smaller ones can be shown to be equivalent
    #[arg(long, value_name = "DIFFERENCE", value_parser = margin)]
    pub(crate) margin: Option<f64>,

    /// Changed cases shown in the table at most
    #[arg(long, default_value_t = 50)]
    pub(crate) cases: usize,

    /// How the comparison is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    /// The format
    #[arg(short, long, value_enum, default_value_t = ExportFormat::Jsonl)]
    pub(crate) output: ExportFormat,

    /// Also the providers' raw replies, and what judges were asked and said (jsonl and json)
    #[arg(long)]
    pub(crate) raw: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    /// An evaluation file whose models are checked too
    pub(crate) file: Option<PathBuf>,

    /// Connect to nothing
    #[arg(long)]
    pub(crate) offline: bool,

    /// How the findings are printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// The root of the repository
    #[arg(default_value = ".")]
    pub(crate) root: PathBuf,

    /// Only check that the files are up to date
    #[arg(long)]
    pub(crate) check: bool,
}

/// How a run's numbers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned tables for people
    Table,
    /// One JSON document
    Json,
    /// One JSON object for each model and scorer, a line each
    Jsonl,
    /// One row for each model and scorer
    Csv,
    /// Tables in Markdown
    Markdown,
    /// JUnit XML with a test for each unit and each gate
    Junit,
    /// GitHub Actions annotations, and a job summary where GITHUB_STEP_SUMMARY is set
    Github,
}

/// A table for people, or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlainFormat {
    /// Aligned tables for people
    Table,
    /// One JSON document
    Json,
}

/// How results are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line
    Jsonl,
    /// One JSON list
    Json,
    /// One row for each unit, a column for each scorer
    Csv,
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(margin) if margin > 0.0 && margin < 1.0 => Ok(margin),
        _ => Err("give a number between 0 and 1, for example 0.02".to_owned()),
    }
}

fn dollars(text: &str) -> Result<f64, String> {
    match text.trim_start_matches('$').parse::<f64>() {
        Ok(amount) if amount.is_finite() && amount >= 0.0 => Ok(amount),
        _ => Err("give dollars, for example 5.00".to_owned()),
    }
}
