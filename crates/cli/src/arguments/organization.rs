//! `fullbench organization` and `fullbench retention`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use fullbench_types::Plan;

use super::PlainFormat;
use super::plans::plan;

#[derive(Debug, Args)]
pub(crate) struct OrganizationArguments {
    #[command(subcommand)]
    pub(crate) command: OrganizationCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrganizationCommand {
    /// Make an organization
    Add(AddOrganizationArguments),
    /// Give an organization another plan; servers know within ten seconds
    ///
    /// What a plan allows is set for the server, with `--plan-limit`.
    SetPlan(SetPlanArguments),
    /// List all organizations
    List(ListOrganizationsArguments),
    /// Write everything an organization owns into one file, without secrets
    ///
    /// The same contents give the same bytes. The audit log has an export of its own: `fullbench audit export`. Exit code 3: it is
    /// written, but something that the database names was gone already.
    Export(ExportArguments),
    /// Erase an organization with everything it owns; this cannot be undone
    ///
    /// Its runs must not go on. What was erased is told, by numbers only, to the audit log of the installation.
    Erase(EraseArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AddOrganizationArguments {
    /// Its name
    pub(crate) name: String,

    /// Its name in addresses: lower-case letters, digits and `-`
    #[arg(long)]
    pub(crate) slug: String,

    /// What it pays for: FREE, STARTER, PROFESSIONAL or ENTERPRISE
    #[arg(long, default_value = "FREE", value_parser = plan)]
    pub(crate) plan: Plan,
}

#[derive(Debug, Args)]
pub(crate) struct SetPlanArguments {
    /// The organization
    pub(crate) slug: String,

    /// What it pays for: FREE, STARTER, PROFESSIONAL or ENTERPRISE
    #[arg(value_parser = plan)]
    pub(crate) plan: Plan,
}

#[derive(Debug, Args)]
pub(crate) struct ListOrganizationsArguments {
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The organization
    pub(crate) slug: String,

    /// The file to write, for example `organization.tar.zst`; it is there when it is whole, and not before
    pub(crate) file: PathBuf,

    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EraseArguments {
    /// The organization
    pub(crate) slug: String,

    /// Yes, erase it
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RetentionArguments {
    #[command(subcommand)]
    pub(crate) command: RetentionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RetentionCommand {
    /// Remove what is older than each organization keeps its data, as a server does every hour
    Run(RunArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// Only say what would be removed
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}
