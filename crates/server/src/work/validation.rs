//! Looks through the rows of uploaded versions: finds their schema and their problems, keeps their cases and freezes them.
//!
//! A version that was not looked through to the end when the server ended is taken up again at the next start.

use std::time::Duration;

use fullbench_engine::{
    EngineError, FileFormat, InspectOptions, InspectedCase, Inspection, bytes_in_memory,
    inspect_file,
};
use fullbench_store::{
    NewCase, NewEvent, ObjectStore, ScopedStore, StoreError, VersionRecord, VersionValidation,
};
use fullbench_types::{ContentHash, ErrorCode, EventKind, OrganizationId, RunId, ValidationStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use uuid::Uuid;

use crate::app::App;
use crate::files::{self, Files, LocalFile};

/// Files that are looked through at the same time.
static PLACES: Semaphore = Semaphore::const_new(2);
/// Cases that are written together at most.
const GROUP: usize = 500;
/// What they may take together in memory, roughly.
const GROUP_BYTES: usize = 4 << 20;
/// Groups that may wait to be written.
const WAITING: usize = 2;
/// How often a file is looked through when the server fails at it.
const ATTEMPTS: u32 = 3;
/// How long to wait before it is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// How the rows of a version are to be read, as its record keeps it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Reading {
    pub(crate) input: Option<String>,
    pub(crate) references: Option<Vec<String>>,
    pub(crate) id: Option<String>,
}

/// Removes files that a killed server left, and takes up versions that it did not look through to the end.
pub(super) async fn start(app: &App) -> Result<(), EngineError> {
    files::clean(app.store()).await?;
    for (organization, version) in app.store().unvalidated_versions().await? {
        validate(app, organization, version);
    }
    Ok(())
}

/// Looks through the rows of a version, when there is room for it.
pub(crate) fn validate(app: &App, organization: OrganizationId, version: Uuid) {
    let (stop, store) = (app.stop().clone(), app.store().scoped(organization));
    app.tasks().spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            () = look_through(&store, version) => {}
        }
    });
}

async fn look_through(store: &ScopedStore, version: Uuid) {
    let mut failures = 0;
    loop {
        let Ok(place) = PLACES.acquire().await else { return };
        let ended = look_through_once(store, version).await;
        drop(place);
        match ended {
            Ok(()) => return,
            // Another process is at it, which may end before it is done.
            Err(EngineError::Store(StoreError::RunLocked(_))) => {}
            Err(error) if error.is_passing() => {
                tracing::warn!(%version, %error, "a version waits until it can be looked through");
            }
            Err(error) => {
                let is_gone = |error: StoreError| error.code() == ErrorCode::NotFound;
                if store.version(version).await.is_err_and(is_gone) {
                    return;
                }
                failures += 1;
                tracing::error!(%version, %error, failures, "a version could not be looked through");
                if failures >= ATTEMPTS {
                    return;
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn look_through_once(store: &ScopedStore, id: Uuid) -> Result<(), EngineError> {
    let _lock = store.lock_run(RunId(id)).await?;
    let version = store.version(id).await?;
    if version.validation != ValidationStatus::Pending {
        return Ok(());
    }
    store.clear_cases(id).await?;
    let file = Files::of(store).await?.local(&version.file_uri).await?;
    let (sender, mut receiver) = mpsc::channel(WAITING);
    let reading = tokio::task::spawn_blocking({
        let (objects, version) = (store.objects().await?, version.clone());
        move || read(objects, &version, &file, Groups::new(sender))
    });
    while let Some(cases) = receiver.recv().await {
        if let Err(error) = store.add_cases(id, &cases).await {
            // The reader ends when nobody takes what it reads; until then the version is held.
            drop(receiver);
            let _ = reading.await;
            return Err(error.into());
        }
    }
    let inspection =
        reading.await.map_err(|_| EngineError::Interrupted("the reading of a file"))??;
    finish(store, &version, inspection).await
}

/// Reads the file, row by row.
fn read(
    objects: ObjectStore,
    version: &VersionRecord,
    file: &LocalFile,
    mut groups: Groups,
) -> Result<Inspection, EngineError> {
    let Reading { input, references, id } =
        serde_json::from_value(version.reading.clone()).unwrap_or_default();
    let source = version.file_uri.clone();
    let options = InspectOptions { source, input, references, id, columns: None };
    let format = engine_format(version.file_format);
    let inspection =
        inspect_file(file.path(), format, &options, objects, &mut |case| groups.add(case))?;
    groups.send()?;
    Ok(inspection)
}

/// Keeps what was found, and tells it.
async fn finish(
    store: &ScopedStore,
    version: &VersionRecord,
    inspection: Inspection,
) -> Result<(), EngineError> {
    let Inspection {
        rows,
        schema,
        schema_hash,
        problems,
        problem_count,
        version: frozen,
        unused_blocks,
    } = inspection;
    let content = match &frozen {
        Some(frozen) => {
            let reading = version.reading.to_string();
            let parts = [b"upload".as_slice(), version.file_hash.as_bytes(), reading.as_bytes()];
            store.save_dataset(frozen, &ContentHash::of_parts(&parts)).await?;
            Some(frozen.hash)
        }
        None => {
            store.clear_cases(version.id).await?;
            store.remove_unused_blocks(unused_blocks).await?;
            None
        }
    };
    let json = |value: serde_json::Result<Value>| {
        value.map_err(|error| StoreError::Damaged(error.to_string()))
    };
    let found = VersionValidation {
        rows,
        columns: json(serde_json::to_value(schema))?,
        schema_hash,
        errors: json(serde_json::to_value(problems))?,
        error_count: problem_count,
        content,
    };
    let validated = store.set_validation(version.id, found).await?;
    let data = json!({
        "dataset_id": validated.dataset,
        "version_id": validated.id,
        "version_number": validated.number,
        "validation_status": validated.validation,
        "row_count": validated.rows,
        "error_count": validated.error_count,
    });
    let event = NewEvent { run: None, kind: EventKind::DatasetValidated, data };
    Ok(store.add_events(&[event]).await?)
}

/// The format as the engine calls it.
pub(crate) fn engine_format(format: fullbench_types::FileFormat) -> FileFormat {
    match format {
        fullbench_types::FileFormat::Csv => FileFormat::Csv,
        fullbench_types::FileFormat::Json => FileFormat::Json,
        fullbench_types::FileFormat::Jsonl => FileFormat::Jsonl,
        fullbench_types::FileFormat::Parquet => FileFormat::Parquet,
    }
}

/// Cases on their way to the database, in groups: the reader waits while they are written.
struct Groups {
    sender: mpsc::Sender<Vec<NewCase>>,
    cases: Vec<NewCase>,
    bytes: usize,
}

impl Groups {
    fn new(sender: mpsc::Sender<Vec<NewCase>>) -> Self {
        Self { sender, cases: Vec::new(), bytes: 0 }
    }

    fn add(&mut self, case: InspectedCase) -> Result<(), StoreError> {
        let InspectedCase { index, key, input, expected_output, metadata } = case;
        self.bytes += bytes_in_memory(&input)
            + metadata.values().map(bytes_in_memory).sum::<usize>()
            + expected_output.as_ref().map_or(0, String::len);
        self.cases.push(NewCase { row: index, key, input, expected_output, metadata });
        if self.cases.len() >= GROUP || self.bytes >= GROUP_BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), StoreError> {
        self.bytes = 0;
        let cases = std::mem::take(&mut self.cases);
        // Nobody takes them when the server shuts down or the database fails: there is no use in reading on.
        self.sender.blocking_send(cases).map_err(|_| StoreError::Busy)
    }
}
