//! A chain as lines of JSON: its entries, then its end. Whoever has the file can check it without the database.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

use super::{
    AuditBeginning, AuditEntry, AuditFinding, AuditHash, AuditHead, AuditKey, AuditReport,
    ChainCheck,
};

/// A line of an exported chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AuditLine {
    /// The end of the chain, in the last line.
    End {
        /// The end.
        head: AuditHead,
    },
    /// An entry.
    Entry(Box<AuditEntry>),
}

impl AuditLine {
    /// Adds the line to others.
    pub fn write(&self, lines: &mut Vec<u8>) -> io::Result<()> {
        serde_json::to_writer(&mut *lines, self)?;
        lines.push(b'\n');
        Ok(())
    }
}

/// Checks an exported chain, one of whose entries is expected to have this hash.
pub fn check_audit_file(
    file: impl BufRead,
    key: Option<&AuditKey>,
    expected: Option<AuditHash>,
) -> io::Result<AuditReport> {
    let mut check = ChainCheck::new(None, expected, None);
    let mut head = None;
    for (place, line) in file.split(b'\n').enumerate() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        match read(&line) {
            Ok(AuditLine::Entry(entry)) => check.entry(&entry),
            Ok(AuditLine::End { head: found }) => head = Some(found),
            Err(problem) => {
                check.found(AuditFinding::Unreadable { line: place as u64 + 1, problem });
            }
        }
    }
    Ok(check.finish(head.as_ref(), key, AuditBeginning::Needed))
}

/// A line, or what is wrong with it.
fn read(line: &[u8]) -> Result<AuditLine, String> {
    let text = |error: serde_json::Error| error.to_string();
    let value: serde_json::Value = serde_json::from_slice(line).map_err(text)?;
    match value.get("head") {
        Some(_) => serde_json::from_value(value).map_err(text),
        None => Ok(AuditLine::Entry(serde_json::from_value(value).map_err(text)?)),
    }
}
