//! Reads a chain again, and says what somebody did to it.

use std::fmt;

use fullbench_types::OrganizationId;
use serde::Serialize;

use super::chain::NO_HASH;
use super::{AuditEntry, AuditHash, AuditHead, AuditKey, SEAL_BROKEN};

/// Findings that are told one by one.
const MAX_FINDINGS: usize = 1000;

/// What was found in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    /// Whose chain it is; none of a file without entries.
    pub organization_id: Option<OrganizationId>,
    /// The entries that were read.
    pub entries: u64,
    /// The number of the newest entry.
    pub number: u64,
    /// The hash of the newest entry: whoever keeps it can tell later that nothing before it was changed.
    pub hash: AuditHash,
    /// Whether the seal on the end of the chain was checked, which needs the key of the server. Where it was not, a chain that
    /// was cut off or written anew from some entry on is not told from a whole one.
    pub head_checked: bool,
    /// Whether nothing was found.
    pub intact: bool,
    /// What was found, the first 1,000.
    pub findings: Vec<AuditFinding>,
    /// How much was found in all.
    pub finding_count: u64,
}

/// Something that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AuditFinding {
    /// The hash of an entry is not that of its fields.
    Changed {
        /// The entry.
        number: u64,
    },
    /// Entries are missing in their place.
    Missing {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// An entry is not in its place, or there twice.
    Misplaced {
        /// The entry.
        number: u64,
        /// The one that should be there.
        expected: u64,
    },
    /// An entry does not follow the one before: one of them was changed, inserted or put in the place of another.
    Unlinked {
        /// The entry.
        number: u64,
    },
    /// An entry of another chain.
    Foreign {
        /// The entry.
        number: u64,
    },
    /// The server found that the end of the chain was not as it had left it.
    SealBroken {
        /// The entry that says so.
        number: u64,
    },
    /// A line of a file cannot be read.
    Unreadable {
        /// The line.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// The chain goes on after the entries that are there.
    CutOff {
        /// The first that is missing.
        first: u64,
        /// The last one.
        last: u64,
    },
    /// Entries follow that the server did not write.
    Appended {
        /// The first of them.
        first: u64,
        /// The last of them.
        last: u64,
    },
    /// The newest entry is not the one that the server wrote.
    Replaced {
        /// The entry.
        number: u64,
    },
    /// The end of the chain is missing, or the whole chain.
    HeadMissing,
    /// The log of the installation does not tell that this one began: it was cut off, or removed.
    BeginningMissing,
    /// The log of an organization is gone, which was not erased.
    LogMissing {
        /// The organization.
        organization_id: OrganizationId,
    },
    /// There is a log of an organization that is gone, and was not erased.
    OrganizationMissing {
        /// The organization.
        organization_id: OrganizationId,
    },
    /// The entry that this machine saw at the end of the chain is not in it any more.
    Forgotten {
        /// The entry.
        number: u64,
    },
    /// The end of the chain was not written by the server, or the server had another key.
    HeadForged {
        /// The entry it names.
        number: u64,
    },
    /// The newest entry is not the one that was expected, and it is not among those before.
    Unexpected {
        /// The hash that was expected.
        expected: AuditHash,
    },
}

impl fmt::Display for AuditFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = |first: &u64, last: &u64| match first == last {
            true => format!("entry {first}"),
            false => format!("entries {first} to {last}"),
        };
        match self {
            Self::Changed { number } => write!(formatter, "entry {number} was changed"),
            Self::Missing { first, last } => {
                write!(formatter, "missing in their place: {}", several(first, last))
            }
            Self::Misplaced { number, expected } => {
                write!(formatter, "entry {number} stands where entry {expected} should")
            }
            Self::Unlinked { number } => write!(
                formatter,
                "entry {number} does not follow the one before it: one of them was changed, inserted or replaced"
            ),
            Self::Foreign { number } => write!(formatter, "entry {number} is of another chain"),
            Self::SealBroken { number } => write!(
                formatter,
                "entry {number} says that the end of the chain was not as the server had left it: entries before may have been cut off, or the key of the server was changed"
            ),
            Self::Unreadable { line, problem } => {
                write!(formatter, "line {line} cannot be read: {problem}")
            }
            Self::CutOff { first, last } => {
                write!(formatter, "cut off at the end: {}", several(first, last))
            }
            Self::Appended { first, last } => {
                write!(formatter, "not written by the server: {}", several(first, last))
            }
            Self::Replaced { number } => {
                write!(formatter, "entry {number} is not the one that the server wrote")
            }
            Self::HeadMissing => write!(formatter, "the end of the chain is missing"),
            Self::BeginningMissing => write!(
                formatter,
                "the log of the installation does not say that this one began: entries of that log were removed"
            ),
            Self::LogMissing { organization_id } => write!(
                formatter,
                "the log of organization {} is missing, and no sealed entry tells that it was erased",
                organization_id.0
            ),
            Self::OrganizationMissing { organization_id } => write!(
                formatter,
                "organization {} is missing, which has a log, and no sealed entry tells that it was erased",
                organization_id.0
            ),
            Self::Forgotten { number } => write!(
                formatter,
                "entry {number}, as this machine saw it last, is not there any more: the log was removed, or an older state put in its place"
            ),
            Self::HeadForged { number } => write!(
                formatter,
                "the end of the chain, which names entry {number}, is not sealed with the key at hand"
            ),
            Self::Unexpected { expected } => {
                write!(formatter, "no entry has the expected hash {expected}")
            }
        }
    }
}

/// What is known from elsewhere of how a chain began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditBeginning {
    /// There must be one: it is in a file, or others would not be there without it.
    Needed,
    /// The log of the installation tells that it began.
    Told,
    /// Nobody tells of it: there may be none, or it is older than that this is told.
    Untold,
}

/// A chain that is being read, entry by entry.
#[derive(Debug)]
pub struct ChainCheck {
    organization: Option<OrganizationId>,
    entries: u64,
    number: u64,
    hash: AuditHash,
    expected: Option<AuditHash>,
    seen: Option<AuditHead>,
    findings: Vec<AuditFinding>,
    finding_count: u64,
}

impl ChainCheck {
    /// A chain of an organization, or of whichever comes first; one of its entries is expected to have this hash, and another
    /// one to be as it was seen at the end once.
    #[must_use]
    pub fn new(
        organization: Option<OrganizationId>,
        expected: Option<AuditHash>,
        seen: Option<AuditHead>,
    ) -> Self {
        let (findings, finding_count) = (Vec::new(), 0);
        Self {
            organization,
            entries: 0,
            number: 0,
            hash: NO_HASH,
            expected,
            seen,
            findings,
            finding_count,
        }
    }

    /// Reads the next entry.
    pub fn entry(&mut self, entry: &AuditEntry) {
        self.entries += 1;
        let number = entry.number;
        let organization = *self.organization.get_or_insert(OrganizationId(entry.organization_id));
        if organization.0 != entry.organization_id {
            self.found(AuditFinding::Foreign { number });
            return;
        }
        if entry.computed_hash() != entry.hash {
            self.found(AuditFinding::Changed { number });
        }
        let expected = self.number + 1;
        if number < expected {
            self.found(AuditFinding::Misplaced { number, expected });
            return;
        }
        if number > expected {
            self.found(AuditFinding::Missing { first: expected, last: number - 1 });
        } else if entry.previous_hash != self.hash {
            self.found(AuditFinding::Unlinked { number });
        }
        if entry.action == SEAL_BROKEN {
            self.found(AuditFinding::SealBroken { number });
        }
        if self.expected == Some(entry.hash) {
            self.expected = None;
        }
        self.seen = self.seen.filter(|seen| (seen.number, seen.hash) != (number, entry.hash));
        (self.number, self.hash) = (number, entry.hash);
    }

    /// How much was found so far.
    pub(super) fn finding_count(&self) -> u64 {
        self.finding_count
    }

    /// Whether the entry that was seen at the end once did not come yet.
    pub(super) fn misses_seen(&self) -> bool {
        self.seen.is_some()
    }

    /// That what was seen at the end once is gone has been explained.
    pub(super) fn forget_seen(&mut self) {
        self.seen = None;
    }

    /// Something that is no entry.
    pub(super) fn found(&mut self, finding: AuditFinding) {
        self.finding_count += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        }
    }

    /// What was found, given the end of the chain.
    #[must_use]
    pub fn finish(
        mut self,
        head: Option<&AuditHead>,
        key: Option<&AuditKey>,
        beginning: AuditBeginning,
    ) -> AuditReport {
        let (number, hash) = (self.number, self.hash);
        let is_of_chain = |head: &&AuditHead| {
            self.organization.is_none_or(|organization| organization == head.organization_id)
        };
        match head.filter(is_of_chain) {
            None if head.is_none()
                && self.entries == 0
                && self.finding_count == 0
                && beginning == AuditBeginning::Untold => {}
            None => self.found(AuditFinding::HeadMissing),
            Some(head) => {
                let is_sealed = |key: &AuditKey| match beginning {
                    // The seal of before is that of an older state, which was put back.
                    AuditBeginning::Told => key.has_sealed_told(head),
                    AuditBeginning::Needed | AuditBeginning::Untold => key.has_sealed(head),
                };
                if key.is_some_and(|key| !is_sealed(key)) {
                    self.found(AuditFinding::HeadForged { number: head.number });
                }
                let is_told = |key: &AuditKey| key.has_sealed_told(head);
                if beginning == AuditBeginning::Untold && key.is_some_and(is_told) {
                    self.found(AuditFinding::BeginningMissing);
                }
                let last = head.number;
                if last > number {
                    self.found(AuditFinding::CutOff { first: number + 1, last });
                } else if last < number {
                    self.found(AuditFinding::Appended { first: last + 1, last: number });
                } else if head.hash != hash {
                    self.found(AuditFinding::Replaced { number });
                }
            }
        }
        if let Some(seen) = self.seen {
            self.found(AuditFinding::Forgotten { number: seen.number });
        }
        if let Some(expected) = self.expected {
            self.found(AuditFinding::Unexpected { expected });
        }
        AuditReport {
            organization_id: self.organization.or(head.map(|head| head.organization_id)),
            entries: self.entries,
            number,
            hash,
            head_checked: key.is_some() && head.is_some(),
            intact: self.finding_count == 0,
            findings: self.findings,
            finding_count: self.finding_count,
        }
    }
}
