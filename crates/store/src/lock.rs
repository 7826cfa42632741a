//! One process at a time works on a run.
//!
//! With SQLite a locked file says so, with PostgreSQL an advisory lock, which holds on every machine that uses the database.

mod advisory;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fullbench_types::RunId;

use crate::{PostgresUrl, ScopedStore, StoreError};
use advisory::{AdvisoryLock, AdvisoryLocks};

/// Held while a process works on a run; released even when the process is killed.
#[derive(Debug)]
pub struct RunLock {
    held: Held,
}

impl RunLock {
    /// Waits until another process took the run, which can happen where the connection to the database was lost; whoever works on
    /// it must stop.
    pub async fn lost(&self) {
        match &self.held {
            Held::File { .. } => std::future::pending().await,
            Held::Advisory { lock } => lock.lost().await,
        }
    }

    /// Whether another process took the run.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        match &self.held {
            Held::File { .. } => false,
            Held::Advisory { lock } => lock.is_lost(),
        }
    }
}

#[derive(Debug)]
enum Held {
    File { _file: File },
    Advisory { lock: AdvisoryLock },
}

/// Where runs are locked.
#[derive(Debug, Clone)]
pub(crate) enum RunLocks {
    Folder(PathBuf),
    Database(AdvisoryLocks),
}

impl RunLocks {
    /// Locks as files of a folder.
    pub(crate) fn in_folder(folder: PathBuf) -> Self {
        Self::Folder(folder)
    }

    /// Removes what is left of locks that nobody has taken since a time.
    pub(crate) fn remove_old(&self, before: SystemTime) -> Result<(), StoreError> {
        match self {
            Self::Folder(folder) => {
                remove_old_files(folder, before).map_err(StoreError::file(folder))
            }
            Self::Database(_) => Ok(()),
        }
    }

    /// Locks of a database, on a connection of their own.
    pub(crate) fn in_database(url: PostgresUrl) -> Self {
        Self::Database(AdvisoryLocks::new(url))
    }
}

/// Waits until no other process is making or migrating the database of this folder.
pub(crate) async fn while_opening(home: &Path) -> Result<File, StoreError> {
    let path = home.join("opening.lock");
    let locking = tokio::task::spawn_blocking(move || {
        let locked = File::create(&path).and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| StoreError::Unopened { path, reason: error.to_string() })
    });
    locking.await.map_err(|error| StoreError::Damaged(format!("the lock: {error}")))?
}

impl ScopedStore {
    /// Takes the run for this process, or says that another one has it.
    pub async fn lock_run(&self, run: RunId) -> Result<RunLock, StoreError> {
        let held = match &self.locks {
            RunLocks::Folder(folder) => Held::File { _file: lock_file(folder, run)? },
            RunLocks::Database(locks) => Held::Advisory { lock: locks.lock(run).await? },
        };
        Ok(RunLock { held })
    }
}

fn lock_file(folder: &Path, run: RunId) -> Result<File, StoreError> {
    std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    let path = folder.join(format!("{run}.lock"));
    loop {
        let file = File::create(&path).map_err(StoreError::file(&path))?;
        match file.try_lock() {
            // One that was removed before it was locked is nobody's lock.
            Ok(()) if is_at(&file, &path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(StoreError::RunLocked(run.to_string())),
            Err(TryLockError::Error(source)) => return Err(StoreError::File { path, source }),
        }
    }
}

/// Whether a file is the one at a path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), path.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Where files cannot be told apart none is removed.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Removes the files of locks that nobody has taken since a time.
#[cfg(unix)]
fn remove_old_files(folder: &Path, before: SystemTime) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let is_lock = path.extension().is_some_and(|ending| ending == "lock");
        let is_old = path.metadata().and_then(|found| found.modified()).is_ok_and(|at| at < before);
        // It is held while it is removed: whoever opened it before finds that it is gone.
        if is_lock
            && is_old
            && let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn remove_old_files(_: &Path, _: SystemTime) -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn files_of_locks_go_when_nobody_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (RunId::generate(), RunId::generate());
        let held = lock_file(folder.path(), one).unwrap();
        drop(lock_file(folder.path(), other).unwrap());
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let hour = std::time::Duration::from_secs(3600);
        remove_old_files(folder.path(), SystemTime::now() - hour).unwrap();
        assert_eq!(files(), 2, "one that was just taken may be taken again");
        remove_old_files(folder.path(), SystemTime::now() + hour).unwrap();
        assert_eq!(files(), 1);
        assert!(matches!(lock_file(folder.path(), one), Err(StoreError::RunLocked(_))));
        drop(held);
        lock_file(folder.path(), one).unwrap();
    }
}
