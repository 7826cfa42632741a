//! The columns of the user's file: which has which role.

use crate::AnalysisError;
use crate::table::Wanted;

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
