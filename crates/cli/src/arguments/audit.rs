//! `fullbench audit`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fullbench_store::AuditHash;

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    #[command(subcommand)]
    pub(crate) command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Read the audit log again, and name every entry that was changed, removed, inserted or cut off
    ///
    /// Whether its end was cut off is told by the seal of the server, for which its database and its master key are needed. Exit codes: 0 nothing was found, 1 something was.
    Verify(VerifyArguments),
    /// Write the audit log of an organization as lines of JSON, to be verified anywhere
    Export(ExportArguments),
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    /// An exported log, instead of the database
    #[arg(long, value_name = "FILE", conflicts_with = "organization")]
    pub(crate) file: Option<PathBuf>,

    /// The organization, or `system` for the installation itself [default: all of them]
    #[arg(long, value_name = "SLUG")]
    pub(crate) organization: Option<String>,

    /// The hash of an entry that was there when it was last looked at
    #[arg(long, value_name = "HASH")]
    pub(crate) expect: Option<AuditHash>,

    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The organization, or `system` for the installation itself
    #[arg(long, value_name = "SLUG", default_value = "default")]
    pub(crate) organization: String,
}
