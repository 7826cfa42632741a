//! Reference pages generated from the code: the command line, the configuration file, the evaluation file, the scorers, the roles,
//! the API.

mod command_line;
mod configuration;
mod evaluation_file;
mod roles;
mod scorers;

use crate::failure::CliError;

/// Every generated file with its content, paths seen from the root of the repository.
pub(crate) fn pages() -> Result<Vec<(&'static str, String)>, CliError> {
    let schema = fullbench_engine::evaluation_schema();
    let api = fullbench_server::openapi();
    let schema_text = serde_json::to_string_pretty(&schema)? + "\n";
    Ok(vec![
        ("schema/fullbench.schema.json", schema_text),
        ("docs/reference/evaluation-file.md", evaluation_file::page(&schema)),
        ("docs/reference/scorers.md", scorers::page()),
        ("docs/reference/command-line.md", command_line::page()),
        ("docs/reference/configuration.md", configuration::page()),
        ("docs/reference/roles.md", roles::page(&api)),
        ("schema/openapi.json", serde_json::to_string_pretty(&api)? + "\n"),
    ])
}
