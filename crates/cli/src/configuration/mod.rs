//! Settings from a file, below those of the environment and of the command line.
//!
//! A setting of the file becomes the default of the argument that it stands for, so that the order of precedence, the check of a
//! value and its meaning are in one place. The file is for `serve`; where it says where the store is, it is for every command that
//! uses the store.

mod file;
mod settings;

use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command, CommandFactory, FromArgMatches};

pub(crate) use file::{ConfigurationFile, argument_of};
pub(crate) use settings::{Kind, SETTINGS};

use crate::arguments::Arguments;
use crate::failure::CliError;
use crate::home::nearest_folder;

/// The name of the file in the home folder.
pub(crate) const NAME: &str = "fullbench.toml";
/// Commands that know of no store.
const WITHOUT_STORE: [&str; 8] =
    ["init", "metric", "stats", "dataset", "weights", "schema", "completions", "reference"];

/// What was said on the command line, in the environment and in the file.
pub(crate) struct Configured {
    pub(crate) arguments: Arguments,
    matches: ArgMatches,
    pub(crate) file: Option<ConfigurationFile>,
}

impl Configured {
    /// Reads all of it. What is wrong on the command line ends the process, with clap's own message.
    pub(crate) fn read() -> Result<Self, CliError> {
        let command = Arguments::command();
        let matches = command.clone().get_matches();
        let file = match place(&matches) {
            Some(path) => Some(ConfigurationFile::read(&path, &command)?),
            None => None,
        };
        if let Some(file) = &file
            && matches.get_one::<PathBuf>("config").is_none()
            && let Some(place) = file.place_of("home")
        {
            return Err(CliError::input(
                format!("{place}: the file lies in the home folder, and cannot say where that is"),
                Some("name the file with --config, or leave `store.home` out".to_owned()),
            ));
        }
        let matches = match &file {
            Some(file) => file.below(command).get_matches(),
            None => matches,
        };
        let arguments = Arguments::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
        Ok(Self { arguments, matches, file })
    }

    /// What was said to the innermost command.
    pub(crate) fn said_to_command(&self) -> &ArgMatches {
        leaf(&self.matches)
    }
}

fn leaf(matches: &ArgMatches) -> &ArgMatches {
    matches.subcommand().map_or(matches, |(_, inner)| leaf(inner))
}

/// Where the file is: named by the user, or in the home folder; none for commands that need none.
fn place(matches: &ArgMatches) -> Option<PathBuf> {
    let is_without = matches.subcommand_name().is_none_or(|verb| WITHOUT_STORE.contains(&verb));
    let is_remote = matches.get_one::<String>("server").is_some_and(|server| !server.is_empty());
    if is_without || is_remote {
        return None;
    }
    if let Some(path) = matches.get_one::<PathBuf>("config") {
        return Some(path.clone());
    }
    let home = matches.get_one::<PathBuf>("home").cloned().unwrap_or_else(nearest_folder);
    Some(home.join(NAME)).filter(|path| Path::new(path).is_file())
}

impl ConfigurationFile {
    /// The command with what the file says as its defaults.
    fn below(&self, command: Command) -> Command {
        let with_defaults = |command: Command| {
            self.settings.iter().fold(command, |command, one| {
                let argument = one.setting.argument;
                if command.get_arguments().all(|known| known.get_id() != argument) {
                    return command;
                }
                command.mut_arg(argument, |known| known.default_values(one.values.clone()))
            })
        };
        with_defaults(command).mut_subcommand("serve", with_defaults).mut_subcommand(
            "config",
            |config| {
                config.mut_subcommand("show", with_defaults).mut_subcommand("check", with_defaults)
            },
        )
    }
}
