//! `fullbench db status`.

use bytesize::ByteSize;
use fullbench_store::{DatabaseKind, DatabaseStatus, Store};

use crate::arguments::PlainFormat;
use crate::arguments::db::StatusArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Shows what the database is like. What cannot be reached is no better than what is too new.
pub(super) async fn run(arguments: &StatusArguments, home: &Home) -> Result<Exit, CliError> {
    let status = match Store::status_at(home.folder(), home.location()).await {
        Ok(status) => status,
        Err(error) => {
            CliError::from(error).print();
            return Ok(Exit::WrongInput);
        }
    };
    match arguments.output {
        PlainFormat::Json => output::print_json(&status)?,
        PlainFormat::Table => output::print_text(&tables(&status))?,
    }
    if !status.newer.is_empty() {
        write_line(
            "error: the database was made by a newer version of fullbench\n  hint: update fullbench",
        );
        return Ok(Exit::WrongInput);
    }
    if !status.pending.is_empty() {
        write_line("hint: `fullbench db migrate` applies what is pending");
        return Ok(Exit::GateFailed);
    }
    Ok(Exit::Fine)
}

fn tables(status: &DatabaseStatus) -> String {
    let mut facts = output::table(&["", ""]);
    let kind = match status.kind {
        DatabaseKind::Sqlite => "SQLite",
        DatabaseKind::Postgresql => "PostgreSQL",
    };
    let schema = status.applied.last().map_or("no tables yet", String::as_str);
    let state = match (status.newer.len(), status.pending.len()) {
        (0, 0) => "up to date".to_owned(),
        (0, _) => format!("pending: {}", status.pending.join(", ")),
        _ => format!("unknown to this version: {}", status.newer.join(", ")),
    };
    facts.add_row(vec!["database", &status.database]);
    facts.add_row(vec!["kind", kind]);
    facts.add_row(vec!["schema", schema]);
    facts.add_row(vec!["known here", &status.newest_known]);
    facts.add_row(vec!["state", &state]);
    facts.add_row(vec!["size", &ByteSize(status.bytes).display().si().to_string()]);
    facts.add_row(vec!["objects", &status.objects]);
    if status.rows.is_empty() {
        return format!("{facts}\n");
    }
    let mut rows = output::table(&["table", "rows"]);
    for table in &status.rows {
        rows.add_row(vec![table.table.clone(), table.rows.to_string()]);
    }
    format!("{facts}\n{rows}\n")
}
