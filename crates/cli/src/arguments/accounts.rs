//! `fullbench user`.

use clap::{Args, Subcommand};
use fullbench_types::UserRole;

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct UserArguments {
    #[command(subcommand)]
    pub(crate) command: UserCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserCommand {
    /// Add somebody who signs in with a password, which is asked for
    Add(AddUserArguments),
    /// List who belongs to an organization
    List(ListUsersArguments),
    /// Give somebody a new password, which is asked for, and end all their sessions
    SetPassword(SetPasswordArguments),
    /// Let somebody do nothing from now on, and end all their sessions
    Disable(DisableArguments),
}

/// Which organization is meant.
#[derive(Debug, Args)]
pub(crate) struct OfOrganization {
    /// The slug of the organization; needed where there are several
    #[arg(long, value_name = "SLUG")]
    pub(crate) organization: Option<String>,
}

/// Where the password comes from: on a command line others would see it.
#[derive(Debug, Args)]
pub(crate) struct PasswordSource {
    /// Read the password from the first line of stdin instead of asking for it
    #[arg(long)]
    pub(crate) password_stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct AddUserArguments {
    /// Their mail address
    pub(crate) email: String,

    /// Their name [default: the mail address]
    #[arg(long)]
    pub(crate) name: Option<String>,

    /// What they may do: owner, admin, engineer, annotator or viewer
    #[arg(long, default_value = "engineer", value_parser = role)]
    pub(crate) role: UserRole,

    #[command(flatten)]
    pub(crate) of: OfOrganization,

    #[command(flatten)]
    pub(crate) password: PasswordSource,
}

#[derive(Debug, Args)]
pub(crate) struct ListUsersArguments {
    #[command(flatten)]
    pub(crate) of: OfOrganization,

    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SetPasswordArguments {
    /// Their mail address
    pub(crate) email: String,

    #[command(flatten)]
    pub(crate) of: OfOrganization,

    #[command(flatten)]
    pub(crate) password: PasswordSource,
}

#[derive(Debug, Args)]
pub(crate) struct DisableArguments {
    /// Their mail address
    pub(crate) email: String,

    #[command(flatten)]
    pub(crate) of: OfOrganization,
}

/// A role as it is written.
pub(super) fn role(text: &str) -> Result<UserRole, String> {
    UserRole::from_word(text).ok_or_else(|| {
        let roles: Vec<&str> = UserRole::ALL.iter().map(|role| role.as_str()).collect();
        format!("use one of {}", roles.join(", "))
    })
}
