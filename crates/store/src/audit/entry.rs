//! What an entry says.

use fullbench_types::{AuditPhase, OrganizationId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::chain::{AuditHash, NO_HASH};

/// Letters that a name, an address or a target may have; the rest is left out.
const MAX_WORD: usize = 512;

/// Something to be kept in the audit log.
#[derive(Debug, Clone)]
pub struct NewAuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who, as records say it.
    pub actor: String,
    /// What let them in, by its id: never the key itself.
    pub credential: Option<String>,
    /// Where they called from.
    pub from_address: Option<String>,
    /// The request, as logs name it.
    pub request_id: Option<String>,
    /// What was to be done: the id of the operation.
    pub action: String,
    /// What it was about.
    pub target: Option<String>,
    /// How far it got.
    pub phase: AuditPhase,
    /// The status of the answer.
    pub status: Option<u16>,
    /// What it was like before, without secrets.
    pub before: Option<Value>,
    /// What it was like after, without secrets.
    pub after: Option<Value>,
}

/// Who wants something to be done, as far as it may outlive what is erased.
#[derive(Debug, Clone, Default)]
pub struct AskedBy {
    /// Who, by their part: a name would be left of them.
    pub actor: String,
    /// What let them in, by its id.
    pub credential: Option<String>,
    /// Where they called from.
    pub from_address: Option<String>,
    /// The request, as logs name it.
    pub request_id: Option<String>,
}

impl From<&str> for AskedBy {
    fn from(actor: &str) -> Self {
        Self { actor: actor.to_owned(), ..Self::default() }
    }
}

impl NewAuditEntry {
    /// Something that happens now because somebody asked for it.
    #[must_use]
    pub fn asked_by(by: &AskedBy, action: &str, phase: AuditPhase) -> Self {
        let AskedBy { actor, credential, from_address, request_id } = by.clone();
        let entry = Self::new(action, &actor, phase);
        Self { credential, from_address, request_id, ..entry }
    }

    /// Something that happens now.
    #[must_use]
    pub fn new(action: &str, actor: &str, phase: AuditPhase) -> Self {
        Self {
            at: Timestamp::now(),
            actor: actor.to_owned(),
            credential: None,
            from_address: None,
            request_id: None,
            action: action.to_owned(),
            target: None,
            phase,
            status: None,
            before: None,
            after: None,
        }
    }

    /// The entry with its place in a chain.
    pub(super) fn placed(
        &self,
        organization: OrganizationId,
        number: u64,
        previous_hash: AuditHash,
    ) -> AuditEntry {
        let words = |text: &Option<String>| text.as_deref().map(kept);
        let json = |value: &Option<Value>| value.as_ref().map(ToString::to_string);
        let mut entry = AuditEntry {
            organization_id: organization.0,
            number,
            at: self.at.as_millisecond(),
            actor: kept(&self.actor),
            credential: words(&self.credential),
            from_address: words(&self.from_address),
            request_id: words(&self.request_id),
            action: kept(&self.action),
            target: words(&self.target),
            phase: self.phase.as_str().to_owned(),
            status: self.status.map(i64::from),
            before: json(&self.before),
            after: json(&self.after),
            previous_hash,
            hash: NO_HASH,
        };
        entry.hash = entry.computed_hash();
        entry
    }
}

/// Text as every database keeps it: what comes back must have the same hash.
fn kept(text: &str) -> String {
    text.chars()
        .take(MAX_WORD)
        .map(|letter| if letter == '\0' { '\u{fffd}' } else { letter })
        .collect()
}

/// An entry as it is stored, with whatever somebody may have made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditEntry {
    /// Whose chain it is in.
    pub organization_id: Uuid,
    /// 1 for the first, without gaps.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Who.
    pub actor: String,
    /// What let them in.
    pub credential: Option<String>,
    /// Where they called from.
    pub from_address: Option<String>,
    /// The request.
    pub request_id: Option<String>,
    /// What was to be done.
    pub action: String,
    /// What it was about.
    pub target: Option<String>,
    /// How far it got.
    pub phase: String,
    /// The status of the answer.
    pub status: Option<i64>,
    /// What it was like before, as JSON text: the hash is of its letters.
    pub before: Option<String>,
    /// What it was like after, as JSON text.
    pub after: Option<String>,
    /// The hash of the entry before; zeros for the first.
    pub previous_hash: AuditHash,
    /// The hash of all of the above.
    pub hash: AuditHash,
}
