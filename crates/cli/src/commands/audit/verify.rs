//! `fullbench audit verify`.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fullbench_store::{AuditHash, AuditKey, AuditReport, Store, StoreError, check_audit_file};
use serde::Serialize;

use super::logs;
use crate::arguments::PlainFormat;
use crate::arguments::audit::VerifyArguments;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// What was found in one log.
#[derive(Serialize)]
struct Verified {
    log: String,
    #[serde(flatten)]
    report: AuditReport,
}

/// Reads logs again and says what was found.
pub(super) async fn run(arguments: &VerifyArguments, home: &Home) -> Result<Exit, CliError> {
    let VerifyArguments { file, organization, expect, output } = arguments;
    let mut key = None;
    let verified = match file {
        Some(file) => {
            if let Some(store) = home.open_whole_if_there().await? {
                // A file may be of another server.
                key = store.audit_key().await.ok();
            }
            vec![of_file(file, key.as_ref(), *expect)?]
        }
        None => {
            if expect.is_some() && organization.is_none() {
                let hint = "name the organization with --organization".to_owned();
                return Err(CliError::input("--expect is about one log", Some(hint)));
            }
            let store = home.open_whole_existing().await?;
            key = key_at_hand(&store).await?;
            let mut verified = Vec::new();
            for (log, scoped) in logs(&store, organization.as_deref()).await? {
                let report = scoped.verify_audit(key.as_ref(), *expect).await?;
                verified.push(Verified { log, report });
            }
            verified
        }
    };
    match output {
        PlainFormat::Json => output::print_json(&verified)?,
        PlainFormat::Table => {
            let text: String = verified.iter().map(described).collect();
            output::print_text(&text)?;
        }
    }
    if key.is_none() {
        write_line(
            "note: the seal on the end of the log was not checked: the keys of the server are not here",
        );
    }
    match verified.iter().all(|one| one.report.intact) {
        true => Ok(Exit::Fine),
        false => Ok(Exit::GateFailed),
    }
}

/// The key of the seals; none where the keys of the server are elsewhere, or were given up.
async fn key_at_hand(store: &Store) -> Result<Option<AuditKey>, CliError> {
    match store.audit_key().await {
        Ok(key) => Ok(Some(key)),
        Err(StoreError::KeysDeleted) => Ok(None),
        Err(_) if !store.has_master_key()? => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn of_file(
    path: &Path,
    key: Option<&AuditKey>,
    expected: Option<AuditHash>,
) -> Result<Verified, CliError> {
    let unread = |error: std::io::Error| {
        CliError::input(format!("{} cannot be read: {error}", path.display()), None)
    };
    let file = BufReader::new(File::open(path).map_err(unread)?);
    let report = check_audit_file(file, key, expected).map_err(unread)?;
    Ok(Verified { log: path.display().to_string(), report })
}

/// A log in a line, and what was found in one each.
fn described(verified: &Verified) -> String {
    let Verified { log, report } = verified;
    let entries = if report.entries == 1 { "entry" } else { "entries" };
    if report.intact {
        return format!("{log}: {} {entries}, intact; newest {}\n", report.entries, report.hash);
    }
    let mut text = format!("{log}: {} {entries}, NOT intact\n", report.entries);
    for finding in &report.findings {
        text.push_str(&format!("  {finding}\n"));
    }
    let more = report.finding_count - report.findings.len() as u64;
    if more > 0 {
        text.push_str(&format!("  and {more} more\n"));
    }
    text
}
