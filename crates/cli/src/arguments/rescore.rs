//! `fullbench rescore`.

use clap::Args;

use super::{ControlArguments, ReportArguments};

/// Score the answers of a run by further scorers
///
/// No model is asked again, but judges are, where the new scorers have any. The scorers are added to the run: its
/// tables, exports and comparisons show them beside those it began with.
#[derive(Debug, Args)]
pub(crate) struct RescoreArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    /// A YAML file with `scorers:`, which may be an evaluation file, or names of scorers: `exact_match,token_f1`
    #[arg(long, value_name = "FILE|NAMES")]
    pub(crate) scorers: String,

    #[command(flatten)]
    pub(crate) control: ControlArguments,

    #[command(flatten)]
    pub(crate) report: ReportArguments,
}
