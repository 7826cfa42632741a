//! The ends of chains as this machine saw them last, kept in files outside of the database.
//!
//! A seal tells that the server wrote an end once, not that nothing came after it. Whoever owns the database can put an older
//! state back, or remove all logs at once; the files still name an entry that must be there. They are no part of the log: one
//! that is behind is as true as a new one, and one that is missing says nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fullbench_types::{AuditPhase, ContentHash, OrganizationId, SYSTEM_ORGANIZATION};
use jiff::Timestamp;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::append::NewEnds;
use super::{AskedBy, AuditHash, AuditHead, AuditKey, BACKUP_RESTORED, NewAuditEntry};
use crate::connection::{SYSTEM, ScopedTransaction};
use crate::database::make_folder;
use crate::entity::platform::audit_entry;
use crate::{DatabaseLocation, ScopedStore, Store, StoreError, StoreLocation};

/// The folder in the home folder.
const FOLDER: &str = "audit-witness";
/// What every file ends with.
const EXTENSION: &str = "json";
/// After this time a file that is not named yet is one of a process that was killed.
const UNFINISHED: Duration = Duration::from_secs(3600);

/// The end of a log as it was seen last.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct SeenEnd {
    pub(super) head: AuditHead,
    /// When, in milliseconds since 1970.
    pub(super) at: i64,
}

/// Where the ends of the logs of one database are kept.
#[derive(Debug, Clone)]
pub(crate) struct AuditWitness {
    folder: PathBuf,
    /// Whether it was told that nothing can be kept.
    told: Arc<AtomicBool>,
}

impl AuditWitness {
    /// The witness of the database at a location. It is known by its place, and not by anything in it: whoever puts another
    /// one there is seen.
    pub(crate) fn new(home: &Path, location: &StoreLocation) -> Self {
        let database = match &location.database {
            DatabaseLocation::Folder => "sqlite".to_owned(),
            DatabaseLocation::Postgres { url, .. } => {
                ContentHash::of(url.place().as_bytes()).to_string()[..32].to_owned()
            }
        };
        Self { folder: home.join(FOLDER).join(database), told: Arc::default() }
    }

    fn file(&self, organization: OrganizationId) -> PathBuf {
        self.folder.join(organization.0.to_string()).with_extension(EXTENSION)
    }

    /// The ends of all logs of organizations as they were seen last.
    pub(super) fn all_seen(&self) -> Vec<SeenEnd> {
        let Ok(files) = fs::read_dir(&self.folder) else { return Vec::new() };
        let seen = |file: io::Result<fs::DirEntry>| {
            let name = file.ok()?.file_name().into_string().ok()?;
            let id = name.strip_suffix(EXTENSION)?.strip_suffix('.')?;
            self.seen(OrganizationId(id.parse().ok()?))
        };
        let is_own = |seen: &SeenEnd| seen.head.organization_id != SYSTEM_ORGANIZATION;
        files.filter_map(seen).filter(is_own).collect()
    }

    /// The end of a log as it was seen last; none where none was, or what is there cannot be read.
    pub(super) fn seen(&self, organization: OrganizationId) -> Option<SeenEnd> {
        let path = self.file(organization);
        let read = match fs::read(&path) {
            Ok(content) => serde_json::from_slice(&content).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => Err(error),
        };
        read.inspect_err(|error| {
            let path = path.display();
            tracing::warn!(%error, %path, "the end of an audit log as it was seen last cannot be read");
        })
        .ok()
        .filter(|seen: &SeenEnd| seen.head.organization_id == organization && seen.head.number > 0)
    }

    /// Keeps the ends of logs that are committed. Where they cannot be kept the logs are whole all the same.
    pub(crate) fn keep(&self, ends: &NewEnds) {
        let NewEnds { own, installation } = ends;
        [Some(*own), *installation].into_iter().flatten().for_each(|head| self.keep_end(head));
    }

    pub(super) fn keep_end(&self, head: AuditHead) {
        let seen = SeenEnd { head, at: Timestamp::now().as_millisecond() };
        let Err(error) = self.write(&seen) else { return };
        if !self.told.swap(true, Ordering::Relaxed) {
            let path = self.folder.display();
            tracing::warn!(%error, %path, "the ends of audit logs cannot be kept outside of the database");
        }
    }

    /// Writes the file under another name first, and waits for no disk: one that a power cut took is only missing.
    fn write(&self, seen: &SeenEnd) -> Result<(), StoreError> {
        make_folder(&self.folder)?;
        let path = self.file(seen.head.organization_id);
        let unfinished = path.with_extension(format!("{}.tmp", Uuid::now_v7().simple()));
        let content = serde_json::json!(seen).to_string();
        let written = fs::write(&unfinished, content).map_err(StoreError::file(&unfinished));
        let named =
            written.and_then(|()| fs::rename(&unfinished, &path).map_err(StoreError::file(&path)));
        if named.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        named
    }

    /// Removes what a process left that was killed before it had named its file.
    fn remove_unfinished(&self) -> Result<(), StoreError> {
        let Ok(files) = fs::read_dir(&self.folder) else { return Ok(()) };
        for path in files.filter_map(|file| Some(file.ok()?.path())) {
            let age = fs::metadata(&path).and_then(|file| file.modified());
            let is_old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > UNFINISHED));
            if is_old && path.extension().is_some_and(|extension| extension == "tmp") {
                without_missing(fs::remove_file(&path)).map_err(StoreError::file(&path))?;
            }
        }
        Ok(())
    }

    /// Forgets a log that was erased.
    pub(crate) fn forget(&self, organization: OrganizationId) -> Result<(), StoreError> {
        let path = self.file(organization);
        without_missing(fs::remove_file(&path)).map_err(StoreError::file(&path))
    }

    /// Forgets all logs: others are restored in their place.
    pub(crate) fn forget_all(&self) -> Result<(), StoreError> {
        without_missing(fs::remove_dir_all(&self.folder)).map_err(StoreError::file(&self.folder))
    }
}

/// What is not there is forgotten.
fn without_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

impl ScopedStore {
    /// The end that this machine saw last, where the chain, which has this newest entry, does not have it any more.
    pub(super) async fn missed_in(
        &self,
        transaction: &ScopedTransaction,
        key: &AuditKey,
        newest: (u64, AuditHash),
    ) -> Result<Option<AuditHead>, StoreError> {
        let Some(seen) = self.witness.seen(self.organization) else { return Ok(None) };
        let AuditHead { number, hash, .. } = seen.head;
        if (number, hash) == newest {
            return Ok(None);
        }
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let rows = audit_entry::Entity::find()
            .filter(audit_entry::Column::OrganizationId.eq(self.organization.0))
            .filter(audit_entry::Column::Number.eq(number));
        if rows.one(transaction).await?.is_some_and(|row| row.hash == hash.0) {
            return Ok(None);
        }
        self.hold_installation(transaction).await?;
        let is_explained = self.explained_in(transaction, Some(key)).await?.has(&seen);
        Ok((!is_explained).then_some(seen.head))
    }

    /// Lets nobody add to the log of the installation while it is read: its end is that of the entries. In a snapshot, and on SQLite
    /// where whoever writes is alone, it is so by itself.
    async fn hold_installation(&self, transaction: &ScopedTransaction) -> Result<(), StoreError> {
        let is_held = self.organization == SYSTEM_ORGANIZATION;
        if is_held || transaction.get_database_backend() != DbBackend::Postgres {
            return Ok(());
        }
        transaction.seen_by(SYSTEM).await?;
        let sql = "SELECT number FROM audit_heads WHERE organization_id = $1 FOR SHARE";
        let statement = self.statement(sql, vec![SYSTEM_ORGANIZATION.0.into()]);
        transaction.query_one_raw(statement).await?;
        Ok(transaction.seen_by(&self.organization.0.to_string()).await?)
    }
}

impl Store {
    /// Forgets what was seen of logs that are gone by intention: erased here or by another server, or of before a restore.
    pub async fn forget_explained_logs(&self, key: &AuditKey) -> Result<(), StoreError> {
        self.witness().remove_unfinished()?;
        let seen = self.witness().all_seen();
        let system = self.scoped(SYSTEM_ORGANIZATION);
        let snapshot = system.database.snapshot().await?;
        let there = system.logs_in(&snapshot).await?;
        // A log that is as long as it was needs no explanation, and reading them all takes its time.
        let is_gone = |seen: &&SeenEnd| {
            let AuditHead { organization_id, number, .. } = seen.head;
            !there.iter().any(|end| end.organization_id == organization_id && end.number >= number)
        };
        let gone: Vec<&SeenEnd> = seen.iter().filter(is_gone).collect();
        if gone.is_empty() {
            return Ok(());
        }
        let explained = system.explained_in(&snapshot, Some(key)).await?;
        for seen in gone.into_iter().filter(|seen| explained.has(seen)) {
            self.witness().forget(seen.head.organization_id)?;
        }
        Ok(())
    }

    /// Notes in the log of the installation that a backup was restored, where there are logs: what servers saw of them before is
    /// no finding. Says whether there are.
    pub async fn note_restore(&self, by: impl Into<AskedBy>) -> Result<bool, StoreError> {
        let system = self.scoped(SYSTEM_ORGANIZATION);
        let snapshot = system.database.snapshot().await?;
        let has_own = system.audit_head_in(&snapshot).await?.is_some();
        if !has_own && system.logs_in(&snapshot).await?.is_empty() {
            return Ok(false);
        }
        drop(snapshot);
        let entry = NewAuditEntry::asked_by(&by.into(), BACKUP_RESTORED, AuditPhase::Done);
        system.append_audit(&self.audit_key().await?, &[entry]).await?;
        Ok(true)
    }
}
