//! Reference pages generated from the code: the command line, the evaluation file, the scorers, the API.

mod command_line;
mod evaluation_file;
mod scorers;

use crate::failure::CliError;

/// Every generated file with its content, paths seen from the root of the repository.
pub(crate) fn pages() -> Result<Vec<(&'static str, String)>, CliError> {
    let schema = fullbench_engine::evaluation_schema();
    let schema_text = serde_json::to_string_pretty(&schema)? + "\n";
    Ok(vec![
        ("schema/fullbench.schema.json", schema_text),
        ("docs/reference/evaluation-file.md", evaluation_file::page(&schema)),
        ("docs/reference/scorers.md", scorers::page()),
        ("docs/reference/command-line.md", command_line::page()),
        ("schema/openapi.json", serde_json::to_string_pretty(&fullbench_server::openapi())? + "\n"),
    ])
}
