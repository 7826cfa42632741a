//! A password from who sits before the terminal, or from stdin.

use std::io::{self, BufRead, IsTerminal};
use std::process::{Command, Stdio};

use fullbench_server::password_hash;
use fullbench_store::PasswordHash;

use crate::arguments::accounts::PasswordSource;
use crate::failure::CliError;
use crate::progress::write_line;

/// The hash of a new password.
pub(super) fn asked(source: &PasswordSource, email: &str) -> Result<PasswordHash, CliError> {
    let password = match source.password_stdin {
        true => line()?,
        false => typed()?,
    };
    password_hash(&password, email).map_err(|problem| CliError::input(problem, None))
}

fn typed() -> Result<String, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::input(
            "there is no terminal to ask for a password",
            Some("give it with --password-stdin".to_owned()),
        ));
    }
    write_line("the password, which is not shown:");
    let _unseen = Unseen::begin()?;
    let password = line()?;
    write_line("the same again:");
    if line()? != password {
        return Err(CliError::input("these are two passwords", None));
    }
    Ok(password)
}

fn line() -> Result<String, CliError> {
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line);
    read.map_err(|error| CliError::input(format!("no password can be read: {error}"), None))?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A terminal that does not show what is typed, until this is dropped.
struct Unseen;

impl Unseen {
    fn begin() -> Result<Self, CliError> {
        match set_echo("-echo") {
            true => Ok(Self),
            false => Err(CliError::input(
                "the terminal would show the password",
                Some("give it with --password-stdin".to_owned()),
            )),
        }
    }
}

impl Drop for Unseen {
    fn drop(&mut self) {
        set_echo("echo");
    }
}

fn set_echo(setting: &str) -> bool {
    let mut command = Command::new("stty");
    command.arg(setting).stdin(Stdio::inherit()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
