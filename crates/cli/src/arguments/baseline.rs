//! `fullbench baseline`.

use clap::{Args, Subcommand};

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct BaselineArguments {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Let a name stand for a run; setting it again moves it
    Set(SetArguments),
    /// List baselines
    List(ListArguments),
    /// Forget a baseline; its run stays
    Remove(RemoveArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SetArguments {
    /// The name, for example `main`; one that finds no run
    pub(crate) name: String,

    /// The run: another baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// How the list is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// The name
    pub(crate) name: String,
}
