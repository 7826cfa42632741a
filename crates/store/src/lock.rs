//! One process at a time works on a run.
//!
//! With SQLite a locked file says so, with PostgreSQL an advisory lock, which holds on every machine that uses the database.

mod advisory;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use fullbench_types::RunId;

use crate::{PostgresUrl, ScopedStore, StoreError};
use advisory::{AdvisoryLock, AdvisoryLocks};

/// Held while a process works on a run; released even when the process is killed.
#[derive(Debug)]
pub struct RunLock {
    _held: Held,
}

#[derive(Debug)]
enum Held {
    File { _file: File },
    Advisory { _lock: AdvisoryLock },
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
            RunLocks::Database(locks) => Held::Advisory { _lock: locks.lock(run).await? },
        };
        Ok(RunLock { _held: held })
    }
}

fn lock_file(folder: &Path, run: RunId) -> Result<File, StoreError> {
    std::fs::create_dir_all(folder).map_err(StoreError::file(folder))?;
    let path = folder.join(format!("{run}.lock"));
    let file = File::create(&path).map_err(StoreError::file(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::RunLocked(run.to_string())),
        Err(TryLockError::Error(source)) => Err(StoreError::File { path, source }),
    }
}
