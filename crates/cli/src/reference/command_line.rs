//! The page of the command line.

use clap::{Arg, Command, CommandFactory};

use crate::arguments::Arguments;

/// The page.
pub(super) fn page() -> String {
    let mut command = Arguments::command();
    command.build();
    let mut text =
        String::from("# Command line\n\nGenerated from the code by `make reference`.\n\n");
    text.push_str(&about(&command));
    text.push_str("\n## Options of every command\n\n");
    text.push_str(&options(&command, true));
    for verb in verbs(&command) {
        let name = format!("fullbench {}", verb.get_name());
        text.push_str(&format!("\n## `{name}`\n\n{}\n", about(verb)));
        text.push_str(&options(verb, false));
        for inner in verbs(verb) {
            text.push_str(&format!("\n### `{name} {}`\n\n{}\n", inner.get_name(), about(inner)));
            text.push_str(&options(inner, false));
        }
    }
    text
}

fn verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "help")
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    about.map(|about| format!("{about}\n")).unwrap_or_default()
}

fn options(command: &Command, global: bool) -> String {
    let shown = |argument: &&Arg| {
        argument.is_global_set() == global
            && !matches!(argument.get_id().as_str(), "help" | "version")
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    if arguments.is_empty() {
        return String::new();
    }
    let mut text = String::from("| argument | meaning | default |\n|---|---|---|\n");
    for argument in arguments {
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let is_switch = !argument.get_action().takes_values();
        let choices = if values.is_empty() || is_switch {
            String::new()
        } else {
            format!(": {}", values.join(", "))
        };
        let default: Vec<String> = argument
            .get_default_values()
            .iter()
            .map(|value| format!("`{}`", value.to_string_lossy()))
            .collect();
        let default = if is_switch { String::new() } else { default.join(" ") };
        let variable = argument.get_env().map(|name| format!(" (or `{}`)", name.to_string_lossy()));
        let choices = choices + &variable.unwrap_or_default();
        text.push_str(&format!(
            "| `{}` | {}{choices} | {default} |\n",
            name(argument),
            cell(&help)
        ));
    }
    text
}

fn name(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes = argument.get_action().takes_values();
    match (argument.get_long(), argument.get_short()) {
        (None, _) => format!("[{}]", value.unwrap_or_default()),
        (Some(long), short) => {
            let short = short.map(|short| format!("-{short}, ")).unwrap_or_default();
            let value =
                value.filter(|_| takes).map(|value| format!(" <{value}>")).unwrap_or_default();
            format!("{short}--{long}{value}")
        }
    }
}

fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
