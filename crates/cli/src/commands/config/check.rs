//! `fullbench config check`.

use std::io::ErrorKind;

use fullbench_server::{ServingConfig, check_signing_in};
use fullbench_store::{MasterKeySource, Store};

use crate::arguments::config::CheckArguments;
use crate::arguments::serve::ServeArguments;
use crate::commands::serve::{listen, server_config};
use crate::commands::serving::serving_config;
use crate::configuration::Configured;
use crate::failure::{CliError, Exit};
use crate::home::{Home, master_keys};
use crate::logging::trace_settings;
use crate::output;

/// Checks everything, and tells all that is wrong at once. Nothing is made or changed.
pub(super) async fn run(
    arguments: &CheckArguments,
    configured: &Configured,
) -> Result<Exit, CliError> {
    let serve = &arguments.serve;
    let checks = [
        Ok(match &configured.file {
            Some(file) => {
                format!("configuration: {}, {} settings", file.path.display(), file.settings.len())
            }
            None => "configuration: no file".to_owned(),
        }),
        connections(serve),
        address(serve),
        signing_in(serve),
        master_keys(&configured.arguments.place).map(|keys| match keys {
            MasterKeySource::Given(_) => "secrets: kept under the key that is given".to_owned(),
            MasterKeySource::Folder => {
                "secrets: kept under the key in `secret.key` of the home folder".to_owned()
            }
        }),
        traces(serve, configured),
        database(configured).await,
    ];
    let mut wrong = Vec::new();
    for check in checks {
        match check {
            Ok(line) => output::print_text(&format!("ok  {line}\n"))?,
            Err(error) => wrong.push(error),
        }
    }
    match wrong.is_empty() {
        true => Ok(Exit::Fine),
        false => Err(CliError::combined(wrong)),
    }
}

fn connections(serve: &ServeArguments) -> Result<String, CliError> {
    let config = serving_config(serve.listen, &serve.serving)?;
    Ok(match config.tls {
        Some(files) => format!("TLS: certificate of {}", files.certificate.display()),
        None => "TLS: none".to_owned(),
    })
}

/// Whether people could sign in and be written to; nobody is asked.
fn signing_in(serve: &ServeArguments) -> Result<String, CliError> {
    // Whether the certificate can be read is another check.
    let config = server_config(serve, ServingConfig::default())?;
    check_signing_in(&config).map_err(|error| CliError::input(error.to_string(), None))?;
    let mail = if config.mail.is_some() { "by the given server" } else { "none" };
    let issuer = if config.oidc.is_some() { "by the given issuer too" } else { "by password" };
    Ok(format!("mail: {mail}; signing in: {issuer}"))
}

fn traces(serve: &ServeArguments, configured: &Configured) -> Result<String, CliError> {
    Ok(match trace_settings(&serve.traces, configured)? {
        Some(settings) => format!("traces: to {}", settings.collector()),
        None => "traces: none".to_owned(),
    })
}

/// An address that is in use is right as well: a server may run.
fn address(serve: &ServeArguments) -> Result<String, CliError> {
    let address = serve.listen;
    match listen(address) {
        Ok(_) => Ok(format!("address: {address}")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            Ok(format!("address: {address}, in use now"))
        }
        Err(error) => Err(CliError::input(
            format!("{address} cannot be listened on: {error}"),
            Some("choose an address of this machine with --listen".to_owned()),
        )),
    }
}

async fn database(configured: &Configured) -> Result<String, CliError> {
    let home = Home::new(&configured.arguments.place)?;
    let status = Store::status_at(home.folder(), home.location()).await?;
    if !status.newer.is_empty() {
        return Err(CliError::input(
            format!("{} was made by a newer version of fullbench", status.database),
            Some("update fullbench".to_owned()),
        ));
    }
    let state = match status.pending.len() {
        0 => "up to date".to_owned(),
        many => format!("{many} migrations pending"),
    };
    Ok(format!("database: {}, {state}; objects: {}", status.database, status.objects))
}
