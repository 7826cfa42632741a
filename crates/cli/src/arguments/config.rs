//! What can be said to `fullbench config`.

use clap::{Args, Subcommand};

use super::PlainFormat;
use super::serve::ServeArguments;

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, its value, and where it comes from; takes the arguments of `serve`
    Show(Box<ShowArguments>),
    /// Check the configuration as `serve` would, and whether certificate, address and database can be used
    Check(Box<CheckArguments>),
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// How the settings are printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,

    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
}
