//! The audit log: who did what and when, one chain of hashes for each organization, and one for the installation itself.
//!
//! Every entry holds the hash of the one before, and the newest is named by a head that is sealed with a key outside of the
//! database. So a changed, removed, inserted or cut-off entry is found, and named, by whoever reads the chain again. That a chain
//! began is told in the one of the installation, so that a whole one is missed too; and the end of each is kept in a file outside
//! of the database, so that an older state of everything is no state of now.

mod append;
mod beginning;
mod chain;
mod check;
mod entry;
mod explained;
mod export;
mod read;
#[cfg(test)]
mod tests;
mod witness;

pub use chain::{AuditHash, AuditHead, AuditKey};
pub use check::{AuditBeginning, AuditFinding, AuditReport, ChainCheck};
pub use entry::{AskedBy, AuditEntry, NewAuditEntry};
pub use export::{AuditLine, check_audit_file};
pub use read::AuditFilter;
pub(crate) use witness::AuditWitness;

/// What an entry says that was added because the end of the chain was not as this server had left it.
pub const SEAL_BROKEN: &str = "audit_seal_broken";
/// What an entry in the log of the installation says of another log, whose first entry was written then.
pub const LOG_BEGAN: &str = "audit_log_began";
/// What an entry in the log of the installation says when a backup was restored, and all logs with it.
pub(crate) const BACKUP_RESTORED: &str = "restore_backup";
/// What an entry in the log of the installation says of an organization that was erased, and its log with it.
pub(crate) const ORGANIZATION_ERASED: &str = "erase_organization";
