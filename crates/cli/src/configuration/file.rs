//! The file, read into settings; every problem is told with its line.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use fullbench_engine::did_you_mean;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::settings::{Kind, SETTINGS, Setting};
use crate::failure::CliError;

/// What the key of a secret that is kept elsewhere ends with.
const ELSEWHERE: &str = "_file";

/// A configuration file.
#[derive(Debug)]
pub(crate) struct ConfigurationFile {
    pub(crate) path: PathBuf,
    pub(crate) settings: Vec<FileSetting>,
}

/// A setting of the file.
#[derive(Debug)]
pub(crate) struct FileSetting {
    pub(crate) setting: &'static Setting,
    pub(crate) values: Vec<String>,
    pub(crate) line: usize,
}

impl ConfigurationFile {
    /// Reads a file; its values are checked as the arguments of this command would be.
    pub(super) fn read(path: &Path, command: &Command) -> Result<Self, CliError> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let hint = "--config or FULLBENCH_CONFIG names the configuration file";
            let message = format!("{} cannot be read: {error}", path.display());
            CliError::input(message, Some(hint.to_owned()))
        })?;
        let mut reader = Reader { path, text: &text, settings: Vec::new(), problems: Vec::new() };
        match DeTable::parse(&text) {
            Ok(table) => reader.read_sections(table.get_ref(), command),
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                reader.problem(start, error.message().trim(), "the file is in TOML");
            }
        }
        if reader.problems.is_empty() {
            return Ok(Self { path: path.to_owned(), settings: reader.settings });
        }
        reader.problems.sort_by_key(|(line, ..)| *line);
        let told = reader.problems.into_iter().map(|(line, message, hint)| {
            (format!("{}:{line}: {message}", path.display()), Some(hint))
        });
        Err(CliError::inputs(told.collect()))
    }

    /// Where the file has the value of an argument.
    pub(crate) fn place_of(&self, argument: &str) -> Option<String> {
        let found = self.settings.iter().find(|one| one.setting.argument == argument)?;
        Some(format!("{}:{}", self.path.display(), found.line))
    }
}

struct Reader<'file> {
    path: &'file Path,
    text: &'file str,
    settings: Vec<FileSetting>,
    problems: Vec<(usize, String, String)>,
}

impl Reader<'_> {
    fn read_sections(&mut self, table: &DeTable<'_>, command: &Command) {
        let sections = SETTINGS.iter().map(|setting| setting.parts().0);
        for (name, section) in table {
            let (at, name) = (name.span().start, name.get_ref().as_ref());
            match section.get_ref() {
                DeValue::Table(section) if sections.clone().any(|known| known == name) => {
                    self.read_section(name, section, command);
                }
                DeValue::Table(_) => {
                    let hint = did_you_mean(name, sections.clone());
                    self.problem(at, &format!("there is no section `{name}`"), &hint);
                }
                _ => {
                    let of_name = SETTINGS.iter().find(|setting| setting.parts().1 == name);
                    let hint = match of_name.map(Setting::parts) {
                        Some((section, key)) => format!("write `{key}` below `[{section}]`"),
                        None => "settings are in sections, such as `[server]`".to_owned(),
                    };
                    self.problem(at, &format!("`{name}` is in no section"), &hint);
                }
            }
        }
    }

    fn read_section(&mut self, section: &str, table: &DeTable<'_>, command: &Command) {
        for (key, value) in table {
            let (at, key) = (key.span().start, key.get_ref().as_ref());
            let written = format!("{section}.{key}");
            let Some((setting, is_elsewhere)) = setting_of(&written) else {
                let keys = SETTINGS.iter().filter(|one| one.parts().0 == section);
                let hint = did_you_mean(key, keys.map(|one| one.parts().1).collect::<Vec<_>>());
                self.problem(at, &format!("there is no setting `{written}`"), &hint);
                continue;
            };
            if self.settings.iter().any(|one| one.setting == setting) {
                let hint = format!("keep one of `{0}` and `{0}{ELSEWHERE}`", setting.name);
                self.problem(at, &format!("`{}` is given twice", setting.name), &hint);
                continue;
            }
            let Some(argument) = argument_of(command, setting.argument) else { continue };
            match self.values_of(setting, is_elsewhere, value, argument) {
                Ok(values) => {
                    let line = self.line(at);
                    self.settings.push(FileSetting { setting, values, line });
                }
                Err(message) => {
                    let hint = argument.get_help().map(ToString::to_string).unwrap_or_default();
                    self.problem(at, &format!("`{written}`: {message}"), &hint);
                }
            }
        }
    }

    /// What a setting is, as it would be written on the command line.
    fn values_of(
        &self,
        setting: &Setting,
        is_elsewhere: bool,
        value: &Spanned<DeValue<'_>>,
        argument: &Arg,
    ) -> Result<Vec<String>, String> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut values = texts(value.get_ref()).ok_or("expected a text, a number, or a list")?;
        let takes_many = matches!(argument.get_action(), ArgAction::Append);
        if values.len() != 1 && (!takes_many || is_elsewhere) {
            return Err("expected one value".to_owned());
        }
        if is_elsewhere {
            let file = folder.join(&values[0]);
            let content = std::fs::read_to_string(&file)
                .map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
            values = vec![content.trim().to_owned()];
        } else if setting.kind == Kind::Path {
            values = vec![folder.join(&values[0]).to_string_lossy().into_owned()];
        }
        for value in &values {
            check(argument, value, setting.kind)?;
        }
        Ok(values)
    }

    fn problem(&mut self, at: usize, message: &str, hint: &str) {
        self.problems.push((self.line(at), message.to_owned(), hint.to_owned()));
    }

    fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|byte| *byte == b'\n').count()
    }
}

/// The setting of a name, and whether the name says that its value is in a file of its own.
fn setting_of(written: &str) -> Option<(&'static Setting, bool)> {
    let of_name = |name: &str| SETTINGS.iter().find(|setting| setting.name == name);
    if let Some(setting) = of_name(written) {
        return Some((setting, false));
    }
    let setting = of_name(written.strip_suffix(ELSEWHERE)?)?;
    (setting.kind == Kind::Secret).then_some((setting, true))
}

/// The argument of this name: of every command, or of `serve`.
pub(crate) fn argument_of<'command>(command: &'command Command, id: &str) -> Option<&'command Arg> {
    let serve = command.find_subcommand("serve");
    let of_serve = serve.into_iter().flat_map(Command::get_arguments);
    command.get_arguments().chain(of_serve).find(|argument| argument.get_id() == id)
}

fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    let one = match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(is_so) => is_so.to_string(),
        DeValue::Array(list) => {
            let each = list.iter().map(|one| texts(one.get_ref()).filter(|texts| texts.len() == 1));
            return each.collect::<Option<Vec<_>>>().map(|each| each.concat());
        }
        DeValue::Datetime(_) | DeValue::Table(_) => return None,
    };
    Some(vec![one])
}

/// Checks a value as it would be checked on the command line.
fn check(argument: &Arg, value: &str, kind: Kind) -> Result<(), String> {
    let long = argument.get_long().unwrap_or_default();
    let command = Command::new("").no_binary_name(true).arg(argument.clone());
    let Err(error) = command.try_get_matches_from([format!("--{long}={value}")]) else {
        return Ok(());
    };
    if kind == Kind::Secret {
        return Err("this value cannot be used".to_owned());
    }
    let reason = match std::error::Error::source(&error) {
        Some(reason) => reason.to_string(),
        None => {
            let told = error.to_string();
            let first = told.lines().next().unwrap_or_default();
            let choices = told.lines().find(|line| line.contains("possible values"));
            let first = first.trim_start_matches("error: ");
            choices.map_or_else(|| first.to_owned(), |choices| choices.trim().to_owned())
        }
    };
    Err(format!("`{value}` cannot be used: {reason}"))
}
