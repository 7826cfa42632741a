//! Entries as they are shown.

use fullbench_store::{AuditEntry, AuditReport};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// A page of the audit log.
#[derive(Serialize, JsonSchema)]
pub(super) struct AuditLog {
    /// The newest first.
    pub(super) entries: Vec<Entry>,
    /// Where the next page begins; null after the last one.
    pub(super) next_cursor: Option<u64>,
}

/// Something that was done, or was to be done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AuditEntry")]
pub(super) struct Entry {
    /// 1 for the first, without gaps.
    number: u64,
    at: Timestamp,
    /// Who.
    actor: String,
    /// What let them in, by its id.
    credential: Option<String>,
    /// Where they called from.
    from_address: Option<String>,
    /// The request, as logs name it.
    request_id: Option<String>,
    /// The operation.
    action: String,
    /// What it was about: the ids in its path, or of what was made.
    target: Option<String>,
    /// How far it got: `asked`, then `done`, `refused`, `failed` or `broken_off`.
    phase: String,
    /// The status of the answer.
    status: Option<i64>,
    /// What it was like before, without secrets.
    before: Option<Value>,
    /// What it was like after, without secrets.
    after: Option<Value>,
    /// SHA-256 of the entry and of the one before.
    hash: String,
}

impl From<AuditEntry> for Entry {
    fn from(entry: AuditEntry) -> Self {
        // Text that is no JSON any more is shown as it is.
        let json = |text: Option<String>| {
            text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)))
        };
        Self {
            number: entry.number,
            at: Timestamp::from_millisecond(entry.at).unwrap_or_default(),
            actor: entry.actor,
            credential: entry.credential,
            from_address: entry.from_address,
            request_id: entry.request_id,
            action: entry.action,
            target: entry.target,
            phase: entry.phase,
            status: entry.status,
            before: json(entry.before),
            after: json(entry.after),
            hash: entry.hash.to_string(),
        }
    }
}

/// What was found in the audit log.
#[derive(Serialize, JsonSchema)]
pub(super) struct AuditVerification {
    /// Whether nothing was found.
    intact: bool,
    /// The entries that were read.
    entries: u64,
    /// The hash of the newest entry.
    hash: String,
    /// What was found, in words, the first 1,000.
    findings: Vec<String>,
    /// How much was found in all.
    finding_count: u64,
}

impl From<AuditReport> for AuditVerification {
    fn from(report: AuditReport) -> Self {
        Self {
            intact: report.intact,
            entries: report.entries,
            hash: report.hash.to_string(),
            findings: report.findings.iter().map(ToString::to_string).collect(),
            finding_count: report.finding_count,
        }
    }
}
