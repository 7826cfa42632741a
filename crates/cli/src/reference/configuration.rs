//! The page of the configuration file.

use clap::CommandFactory;

use crate::arguments::Arguments;
use crate::configuration::{Kind, SETTINGS, argument_of};

/// The page.
pub(super) fn page() -> String {
    let command = Arguments::command();
    let mut text = String::from(
        "# Configuration file\n\nGenerated from the code by `make reference`. A TOML file, named by `--config` or `FULLBENCH_CONFIG`, else \
         `fullbench.toml` in the home folder. A flag goes before the environment, the environment before the file. In the environment, \
         lists are separated by commas.\n",
    );
    let mut section = "";
    for setting in SETTINGS {
        let Some(argument) = argument_of(&command, setting.argument) else { continue };
        let (of, key) = setting.parts();
        if of != section {
            section = of;
            text.push_str(&format!(
                "\n## `[{section}]`\n\n| key | flag | environment | meaning | default |\n|---|---|---|---|---|\n"
            ));
        }
        let key = match setting.kind {
            Kind::Secret => format!("`{key}`, or the file that holds it: `{key}_file`"),
            Kind::Plain | Kind::Path => format!("`{key}`"),
        };
        let flag = match argument.is_hide_set() {
            true => String::new(),
            false => format!("`--{}`", argument.get_long().unwrap_or_default()),
        };
        let variable = argument.get_env().unwrap_or_default().to_string_lossy();
        let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
        let default: Vec<String> = argument
            .get_default_values()
            .iter()
            .map(|value| format!("`{}`", value.to_string_lossy()))
            .collect();
        let default = default.join(", ");
        text.push_str(&format!("| {key} | {flag} | `{variable}` | {help} | {default} |\n"));
    }
    text
}
