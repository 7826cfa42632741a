//! `fullbench db`.

use std::path::PathBuf;

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
    /// Write everything into one file: all organizations, results, data sets and uploaded files
    ///
    /// It holds what is there at one moment, while servers and runs go on. It is restored into SQLite or PostgreSQL,
    /// whichever it comes from. The response cache is not in it. Exit code 3: it is written, but something that the
    /// database names was gone already.
    Backup(BackupArguments),
    /// Restore a backup into an empty database, and bring it up to date
    ///
    /// The backup is read as a whole and checked first. It is there all at once or, where something fails, not at all.
    Restore(RestoreArguments),
}

#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// The file to write, for example `fullbench.tar.zst`; it is there when it is whole, and not before
    pub(crate) file: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// The backup
    pub(crate) file: PathBuf,

    /// Only check the backup and say what is in it
    #[arg(long)]
    pub(crate) check: bool,
}
