//! The columns of the user's file: which has which role, and what may not be twice in them.

use std::collections::HashMap;

use crate::AnalysisError;
use crate::table::{Table, Wanted};

/// The wanted columns under the names that the user gave some roles. A role that does not exist is an error.
pub(crate) fn renamed(
    wanted: Vec<(&'static str, Wanted)>,
    columns: &[(String, String)],
) -> Result<Vec<Wanted>, AnalysisError> {
    for (role, _) in columns {
        if !wanted.iter().any(|(known, _)| known == role) {
            let roles: Vec<String> = wanted.iter().map(|(role, _)| format!("`{role}`")).collect();
            return Err(AnalysisError::question(
                format!("there is no role `{role}`"),
                format!("the roles are {}", roles.join(", ")),
            ));
        }
    }
    let named = |(role, wanted): (&'static str, Wanted)| match columns
        .iter()
        .rev()
        .find(|(known, _)| known == role)
    {
        Some((_, column)) => wanted.named(column),
        None => wanted,
    };
    Ok(wanted.into_iter().map(named).collect())
}

/// Refuses an `item` that occurs twice for one `system` among the rows: it would count twice.
pub(crate) fn refuse_repetitions(
    table: &Table,
    rows: impl Iterator<Item = usize>,
) -> Result<(), AnalysisError> {
    let Some(items) = table.texts("item") else { return Ok(()) };
    let systems = table.texts("system");
    let mut seen = HashMap::with_capacity(table.rows());
    for row in rows {
        let system = systems.map(|systems| systems.codes[row]);
        if let Some(before) = seen.insert((items.codes[row], system), row) {
            let item = items.get(row).unwrap_or_default();
            let of = systems.and_then(|systems| systems.get(row));
            let of = of.map(|system| format!(" of system `{system}`")).unwrap_or_default();
            return Err(table.problem(
                row,
                Some("item"),
                format!("item `{item}`{of} is already on line {}", table.line(before)),
                "one row for each answer: average several ratings of it first; answers of several systems need a column `system`",
            ));
        }
    }
    Ok(())
}
