//! `fullbench audit export`.

use std::io::Write;

use fullbench_store::AuditLine;

use super::logs;
use crate::arguments::audit::ExportArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Writes the log of an organization to stdout.
pub(super) async fn run(arguments: &ExportArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_whole_existing().await?;
    for (_, log) in logs(&store, Some(&arguments.organization)).await? {
        let Some(head) = log.audit_head().await? else { continue };
        let mut stdout = std::io::stdout().lock();
        let (mut after, mut lines) = (0, Vec::new());
        loop {
            let entries = log.audit_entries_between(after, head.number).await?;
            let Some(last) = entries.last() else { break };
            after = last.number;
            for entry in entries {
                AuditLine::Entry(Box::new(entry)).write(&mut lines)?;
            }
            stdout.write_all(&lines)?;
            lines.clear();
        }
        AuditLine::End { head }.write(&mut lines)?;
        stdout.write_all(&lines)?;
    }
    Ok(Exit::Fine)
}
