//! `fullbench schema`.

use std::io::Write;

use fullbench_engine::evaluation_schema;

use crate::failure::{CliError, Exit};

/// Prints the JSON Schema of the evaluation file.
pub(crate) fn run() -> Result<Exit, CliError> {
    let mut stdout = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut stdout, &evaluation_schema())?;
    writeln!(stdout)?;
    Ok(Exit::Fine)
}
