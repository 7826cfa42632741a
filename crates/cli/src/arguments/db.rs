//! `fullbench db`.

use clap::{Args, Subcommand};

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct DbArguments {
    #[command(subcommand)]
    pub(crate) command: DbCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Show which database it is, its version, its size and its rows, without changing anything
    ///
    /// Exit codes: 0 up to date, 1 migrations are pending, 2 it was made by a newer version or cannot be reached.
    Status(StatusArguments),
    /// Apply pending migrations, as every command that opens the store does
    Migrate,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}
