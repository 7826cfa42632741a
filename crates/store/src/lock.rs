//! One process at a time works on a run.

use std::fs::{File, TryLockError};
use std::path::Path;

use fullbench_types::RunId;

use crate::{ScopedStore, StoreError};

/// Held while a process works on a run; the system releases it even when the process is killed.
#[derive(Debug)]
pub struct RunLock {
    _file: File,
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
    pub fn lock_run(&self, run: RunId) -> Result<RunLock, StoreError> {
        let folder = self.home.join("locks");
        std::fs::create_dir_all(&folder).map_err(StoreError::file(&folder))?;
        let path = folder.join(format!("{run}.lock"));
        let file = File::create(&path).map_err(StoreError::file(&path))?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::RunLocked(run.to_string())),
            Err(TryLockError::Error(source)) => Err(StoreError::File { path, source }),
        }
    }
}
