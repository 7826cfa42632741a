//! `fullbench secrets`.

use clap::{Args, Subcommand};

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct SecretsArguments {
    #[command(subcommand)]
    pub(crate) command: SecretsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsCommand {
    /// Show the master keys, by their ids, and how many keys of organizations are wrapped with each
    ///
    /// Exit codes: 0 all is wrapped with the current key, 1 something is wrapped with an older one, 2 a key is missing.
    Status(SecretsStatusArguments),
    /// Make a new master key and wrap all keys of organizations with it, while servers work
    ///
    /// The new key goes into `secret.key` of the home folder, and the one before stays there until `forget-old`. Where the
    /// environment has the keys, all is wrapped with FULLBENCH_SECRET_KEY; those before are read from
    /// FULLBENCH_SECRET_KEY_OLD, separated by commas.
    Rotate,
    /// Remove older master keys that nothing is wrapped with any more
    ///
    /// Backups from before the rotation still need them.
    ForgetOld,
    /// Delete the keys of an organization, so that nothing that is sealed with them can ever be read again
    DeleteKeys(DeleteKeysArguments),
    /// Seal the texts that an organization kept in plain before its setting `encrypt_texts` was switched on
    ///
    /// It can be stopped and called again, and servers may work meanwhile.
    EncryptTexts(EncryptTextsArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SecretsStatusArguments {
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct EncryptTextsArguments {
    /// The organization, by the name it has in addresses
    pub(crate) organization: String,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteKeysArguments {
    /// The organization, by the name it has in addresses; `system` for the keys of the installation
    pub(crate) organization: String,

    /// It is meant: there is no way back
    #[arg(long)]
    pub(crate) yes: bool,
}
