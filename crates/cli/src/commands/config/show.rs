//! `fullbench config show`.

use std::borrow::Cow;

use clap::CommandFactory;
use clap::parser::ValueSource;
use fullbench_store::DatabaseLocation;
use fullbench_traces::without_secrets;
use serde::Serialize;

use crate::arguments::config::ShowArguments;
use crate::arguments::{Arguments, PlainFormat};
use crate::configuration::{Configured, Kind, SETTINGS, argument_of};
use crate::failure::{CliError, Exit};
use crate::home::nearest_folder;
use crate::output;
use crate::progress::write_line;

/// What stands for a secret.
const HIDDEN: &str = "(hidden)";

/// A setting, its value, and where that comes from.
#[derive(Serialize)]
struct Shown {
    setting: &'static str,
    /// Nothing where it is not set.
    value: Option<String>,
    from: String,
}

/// Shows every setting.
pub(super) fn run(arguments: &ShowArguments, configured: &Configured) -> Result<Exit, CliError> {
    let matches = configured.said_to_command();
    let command = Arguments::command();
    let mut all: Vec<Shown> = Vec::new();
    for setting in SETTINGS {
        let values = matches.get_raw(setting.argument).into_iter().flatten();
        let values: Vec<String> =
            values.map(|value| value.to_string_lossy().into_owned()).collect();
        let value = (!values.is_empty()).then(|| match setting.kind {
            Kind::Secret => masked(setting.argument, &values),
            Kind::Plain | Kind::Path => {
                values.iter().map(|value| without_user(value)).collect::<Vec<_>>().join(", ")
            }
        });
        let argument = argument_of(&command, setting.argument);
        let from = match matches.value_source(setting.argument) {
            Some(ValueSource::CommandLine) => {
                format!("--{}", argument.and_then(|one| one.get_long()).unwrap_or_default())
            }
            Some(ValueSource::EnvVariable) => {
                let variable = argument.and_then(|one| one.get_env()).unwrap_or_default();
                variable.to_string_lossy().into_owned()
            }
            _ => {
                let file = configured.file.as_ref();
                let place = file.and_then(|file| file.place_of(setting.argument));
                place.unwrap_or_else(|| "default".to_owned())
            }
        };
        let value = match setting.argument {
            "home" => value.or_else(|| Some(nearest_folder().display().to_string())),
            _ => value,
        };
        all.push(Shown { setting: setting.name, value, from });
    }
    match arguments.output {
        PlainFormat::Json => output::print_json(&all)?,
        PlainFormat::Table => {
            let mut table = output::table(&["setting", "value", "from"]);
            for one in &all {
                let value = one.value.as_deref().unwrap_or("–");
                table.add_row(vec![one.setting, value, &one.from]);
            }
            output::print_text(&format!("{table}\n"))?;
        }
    }
    if configured.file.is_none() {
        write_line("note: there is no configuration file");
    }
    Ok(Exit::Fine)
}

/// An address without who signs in there: `user:password@` is hidden.
fn without_user(value: &str) -> Cow<'_, str> {
    let Some((scheme, rest)) = value.split_once("://") else { return value.into() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match authority.rsplit_once('@') {
        Some((user, _)) => format!("{scheme}://{HIDDEN}{}", &rest[user.len()..]).into(),
        None => value.into(),
    }
}

/// A secret as it may be shown: of an address everything but the password.
fn masked(argument: &str, values: &[String]) -> String {
    let shown = match (argument, values) {
        ("database", [url]) => match url.parse() {
            Ok(DatabaseLocation::Postgres { url, .. }) => Some(url.to_string()),
            _ => None,
        },
        ("otlp_endpoint", [url]) => without_secrets(url),
        _ => None,
    };
    shown.unwrap_or_else(|| HIDDEN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_shown_in_an_address() {
        let shown = without_user("https://ann:pass@models.test/v1=KEY");
        assert_eq!(shown, "https://(hidden)@models.test/v1=KEY");
        for plain in ["https://models.test/v1@2", "s3://bucket/a@b", "127.0.0.1:8080", "a@b"] {
            assert_eq!(without_user(plain), plain);
        }
    }
}
