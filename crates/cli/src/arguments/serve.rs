//! What can be said to `fullbench serve`.

use std::net::SocketAddr;

use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use fullbench_engine::AllowedAddress;
use fullbench_server::PlanLimit;
use fullbench_types::NanoDollars;

use super::plans::{dollars, plan_limit};
use super::serving::{ServingArguments, size};
use super::signing_in::SigningInArguments;
use super::traces::TraceArguments;

/// Serve the REST API: data sets, evaluations, judges and their results for a team
///
/// The first start makes an organization's owner key and prints it, once. `/docs` describes every endpoint, `/openapi.json`
/// is the same for programs. Ctrl-C lets requests and calls in flight finish; runs go on when the server is started again.
///
/// Secrets are kept under the master key in `FULLBENCH_SECRET_KEY`, else under one that is made at the first start and kept in
/// the home folder as `secret.key`. Servers that share a database need the same key.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The address to listen on; one that other machines reach needs TLS, or --insecure
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "FULLBENCH_LISTEN",
        default_value = "127.0.0.1:8787"
    )]
    pub(crate) listen: SocketAddr,

    /// An address, beside those of the providers, that evaluations may reach; `URL=VARIABLE` sends it that variable's key
    #[arg(
        long,
        value_name = "URL",
        env = "FULLBENCH_ALLOW_MODEL_URL",
        value_delimiter = ',',
        value_parser = allowed_address
    )]
    pub(crate) allow_model_url: Vec<AllowedAddress>,

    /// Let webhooks go to private addresses, such as those of this machine
    #[arg(
        long,
        value_name = "BOOL",
        env = "FULLBENCH_ALLOW_PRIVATE_WEBHOOKS",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true"
    )]
    pub(crate) allow_private_webhooks: bool,

    /// Runs that are worked on at the same time
    #[arg(
        long,
        value_name = "N",
        env = "FULLBENCH_CONCURRENT_RUNS",
        default_value_t = 4,
        value_parser = clap::value_parser!(u16).range(1..)
    )]
    pub(crate) concurrent_runs: u16,

    /// Requests that an organization may make in a minute, unless it wants less; 0 for no limit
    #[arg(long, value_name = "N", env = "FULLBENCH_REQUESTS_PER_MINUTE", default_value_t = 60_000)]
    pub(crate) requests_per_minute: u32,

    /// The bytes of files that an organization may have; as much as there is room for unless it is said
    #[arg(long, value_name = "SIZE", env = "FULLBENCH_QUOTA_STORAGE", value_parser = size)]
    pub(crate) quota_storage: Option<ByteSize>,

    /// Runs of an organization that may wait or be worked on; 0 for no limit
    #[arg(long, value_name = "N", env = "FULLBENCH_QUOTA_OPEN_RUNS", default_value_t = 10_000)]
    pub(crate) quota_open_runs: u64,

    /// Results and documents that an organization may have, 0 for as many as there is room for, as where it is not said
    #[arg(long, value_name = "N", env = "FULLBENCH_QUOTA_RECORDS")]
    pub(crate) quota_records: Option<u64>,

    /// Dollars that an organization may spend in a month, whatever budget it gives itself; as much as it likes unless it is said
    #[arg(long, value_name = "USD", env = "FULLBENCH_QUOTA_MONTH_USD", value_parser = dollars)]
    pub(crate) quota_month_usd: Option<NanoDollars>,

    /// What is otherwise for organizations of a plan: `PLAN.LIMIT=VALUE`, for example `FREE.storage=1GiB`
    ///
    /// Limits are `requests_per_minute`, `storage`, `open_runs` and `records`, 0 for no limit, and `month_usd`, or `none`; plans `FREE`, `STARTER`, `PROFESSIONAL`,
    /// `ENTERPRISE`, given by `fullbench organization set-plan`.
    #[arg(
        long,
        value_name = "PLAN.LIMIT=VALUE",
        env = "FULLBENCH_PLAN_LIMIT",
        value_delimiter = ',',
        value_parser = plan_limit
    )]
    pub(crate) plan_limit: Vec<PlanLimit>,

    /// How often what alerts watch is looked at, in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        env = "FULLBENCH_ALERT_SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u16).range(1..=3600)
    )]
    pub(crate) alert_seconds: u16,

    /// Who sends this as a bearer key may read `/metrics`; without it, only this machine
    #[arg(long, value_name = "TOKEN", env = "FULLBENCH_METRICS_TOKEN", hide_env_values = true)]
    pub(crate) metrics_token: Option<String>,

    /// How the log is written: lines for people, or JSON for programs
    #[arg(long, value_name = "FORMAT", env = "FULLBENCH_LOG_FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,

    #[command(flatten)]
    pub(crate) serving: ServingArguments,

    #[command(flatten)]
    pub(crate) signing_in: SigningInArguments,

    #[command(flatten)]
    pub(crate) traces: TraceArguments,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// An object in each line.
    Json,
}

fn allowed_address(text: &str) -> Result<AllowedAddress, String> {
    text.parse()
}
