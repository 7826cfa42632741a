//! Looks through the rows of uploaded versions: finds their schema and their problems, keeps their cases and freezes them.
//!
//! A version that was not looked through to the end when the server ended is taken up again at the next start. That it is begun
//! is noted before: a file that ends the process is read alone from then on, and is given up after a few times.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fullbench_engine::{
    EngineError, FileFormat, InspectOptions, InspectedCase, Inspection, ProblemCode, RowProblem,
    SchemaBuilder, bytes_in_memory, inspect_file,
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
static PLACES: Semaphore = Semaphore::const_new(ALL_PLACES as usize);
const ALL_PLACES: u32 = 2;
/// Cases that are written together at most.
const GROUP: usize = 500;
/// What they may take together in memory, roughly.
const GROUP_BYTES: usize = 4 << 20;
/// Groups that may wait to be written.
const WAITING: usize = 2;
/// How often a file is looked through when the server fails at it, or is ended by it.
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
        let is_begun = AtomicBool::new(false);
        tokio::select! {
            () = stop.cancelled() => {}
            () = look_through(&store, version, &is_begun) => {}
        }
        give_up(&store, version, &is_begun).await;
    });
}

/// Takes back that it was begun, where it was not finished: that the server was stopped is no fault of the file.
async fn give_up(store: &ScopedStore, version: Uuid, is_begun: &AtomicBool) {
    if is_begun.swap(false, Ordering::Relaxed)
        && let Err(error) = store.give_up_validation(version).await
    {
        tracing::warn!(%version, %error, "that a version is not looked through could not be kept");
    }
}

async fn look_through(store: &ScopedStore, version: Uuid, is_begun: &AtomicBool) {
    let mut failures = 0;
    loop {
        // What may have ended the server is read alone, so that it is known which file it was.
        let is_suspect =
            store.validation_attempts(version).await.is_ok_and(|attempts| attempts > 0);
        let places = if is_suspect { ALL_PLACES } else { 1 };
        let Ok(place) = PLACES.acquire_many(places).await else { return };
        let ended = look_through_once(store, version, is_begun).await;
        drop(place);
        give_up(store, version, is_begun).await;
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

async fn look_through_once(
    store: &ScopedStore,
    id: Uuid,
    is_begun: &AtomicBool,
) -> Result<(), EngineError> {
    let _lock = store.lock_run(RunId(id)).await?;
    let version = store.version(id).await?;
    if version.validation != ValidationStatus::Pending {
        return Ok(());
    }
    store.clear_cases(id).await?;
    if store.validation_attempts(id).await? >= ATTEMPTS {
        tracing::error!(version = %id, "a version is given up: reading it ended the server");
        return finish(store, &version, unreadable()).await;
    }
    store.begin_validation(id).await?;
    is_begun.store(true, Ordering::Relaxed);
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
    finish(store, &version, inspection).await?;
    is_begun.store(false, Ordering::Relaxed);
    Ok(())
}

/// What is said of a file whose reading ended the server each time.
fn unreadable() -> Inspection {
    let schema = SchemaBuilder::default().schema();
    let problem = RowProblem {
        row: None,
        line: None,
        column: None,
        code: ProblemCode::Unreadable,
        message: format!("the server ended {ATTEMPTS} times while it read this file"),
        hint: Some(
            "upload it again as JSON Lines, or in smaller parts, and tell who runs the server"
                .to_owned(),
        ),
    };
    Inspection {
        rows: 0,
        schema_hash: schema.hash(),
        schema,
        problems: vec![problem],
        problem_count: 1,
        version: None,
        unused_blocks: Vec::new(),
    }
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
