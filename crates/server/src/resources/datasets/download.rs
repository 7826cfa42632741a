//! Downloads of a version: its cases as a table in any format, or the file as it was uploaded.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use bytes::Bytes;
use fullbench_engine::{DatasetSchema, SchemaBuilder, TableWriter};
use fullbench_store::{CaseReader, ScopedStore, StoreError, VersionRecord};
use fullbench_types::{Action, FileFormat};
use futures::stream;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use super::{TAG, reader, valid_version};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::files::Files;
use crate::problem::{Problem, internal};
use crate::work::{engine_format, frozen, in_background};

/// A piece of a body is given when it has this many bytes.
const PIECE: usize = 256 << 10;

/// How to give a version.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DownloadQuery {
    #[serde(default)]
    format: Format,
    /// Give the answers that were agreed on in place of the references, as evaluations use them.
    #[serde(default)]
    ground_truth: bool,
}

/// The format of a download.
#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "DownloadFormat")]
enum Format {
    /// One object a line.
    #[default]
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
    /// One list of objects.
    Json,
    /// Columns.
    Parquet,
    /// The file as it was uploaded.
    Original,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "Rows as they were uploaded, or with the answers that were agreed on. The original is there whatever its rows \
        are; any other format once they are valid.";
    let mut endpoint = Endpoint::get(
        "/v1/datasets/{dataset_id}/versions/{version_number}/download",
        "download_dataset_version",
        Action::ReadDatasets,
        download,
    )
    .about(TAG, "Download a version", about)
    .query::<DownloadQuery>()
    .refuses(&[409]);
    for format in FileFormat::ALL {
        endpoint = endpoint.gives_as(200, media_type(*format), "The rows");
    }
    vec![endpoint]
}

async fn download(
    caller: Caller,
    PathParts((dataset, number)): PathParts<(Uuid, u32)>,
    Query(query): Query<DownloadQuery>,
) -> Result<Response, Problem> {
    let name = caller.store.dataset_record(dataset).await?.name;
    let format = match query.format {
        Format::Original if query.ground_truth => {
            let problem = Problem::field("ground_truth", "the original has no agreed answers");
            return Err(problem.hint("ask for another format"));
        }
        Format::Original => {
            let version = caller.store.version_of(dataset, number).await?;
            let body = original(&caller.store, &version).await?;
            let mut response = response(body, &name, number, version.file_format);
            let length = HeaderValue::from(version.file_bytes);
            response.headers_mut().insert(header::CONTENT_LENGTH, length);
            return Ok(response);
        }
        Format::Jsonl => FileFormat::Jsonl,
        Format::Csv => FileFormat::Csv,
        Format::Json => FileFormat::Json,
        Format::Parquet => FileFormat::Parquet,
    };
    let version = valid_version(&caller.store, dataset, number).await?;
    let (cases, schema) = if query.ground_truth {
        with_agreed_answers(&caller.store, &version).await?
    } else {
        let schema = version.columns.clone().map(serde_json::from_value).transpose();
        let schema = schema.map_err(|error| internal(&error))?.unwrap_or_default();
        (reader(&caller.store, &version).await?, schema)
    };
    let table = Table::new(cases, format, &schema).map_err(|error| internal(&error))?;
    Ok(response(table_body(table), &name, number, format))
}

/// The cases as evaluations use them, and their columns, which other references may have changed.
async fn with_agreed_answers(
    store: &ScopedStore,
    version: &VersionRecord,
) -> Result<(CaseReader, DatasetSchema), Problem> {
    let mut cases = store.cases(Arc::new(frozen(store, version.id).await?)).await?;
    let read = in_background(move || {
        let mut columns = SchemaBuilder::default();
        for index in 0..cases.version().cases {
            columns.see(&cases.case(index)?.fields);
        }
        Ok::<_, StoreError>((cases, columns.schema()))
    });
    Ok(read.await??)
}

fn response(body: Body, name: &str, number: u32, format: FileFormat) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type(format)));
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let plain: String = name.chars().filter(is_plain).take(100).collect();
    let stem = if plain.is_empty() { "dataset" } else { &plain };
    let disposition = format!("attachment; filename=\"{stem}-v{number}.{}\"", format.ending());
    if let Ok(disposition) = HeaderValue::from_str(&disposition) {
        headers.insert(header::CONTENT_DISPOSITION, disposition);
    }
    response
}

fn media_type(format: FileFormat) -> &'static str {
    match format {
        FileFormat::Csv => "text/csv",
        FileFormat::Json => "application/json",
        FileFormat::Jsonl => "application/x-ndjson",
        FileFormat::Parquet => "application/vnd.apache.parquet",
    }
}

/// The file as it was uploaded, piece by piece.
async fn original(store: &ScopedStore, version: &VersionRecord) -> Result<Body, Problem> {
    Ok(Body::from_stream(Files::of(store).await?.open(&version.file_uri).await?))
}

/// The table, a piece each time that the reader has room for one: no thread waits for a slow reader.
fn table_body(table: Table) -> Body {
    Body::from_stream(stream::try_unfold(table, async |mut table| {
        let made = tokio::task::spawn_blocking(move || table.piece().map(|piece| (piece, table)));
        let (piece, table) = made.await.map_err(io::Error::other)?.inspect_err(|error| {
            tracing::error!(%error, "a download was broken off");
        })?;
        Ok::<_, io::Error>((!piece.is_empty()).then_some((piece, table)))
    }))
}

/// The cases of a version on their way into a table.
struct Table {
    cases: CaseReader,
    next: u64,
    writer: Option<TableWriter<Written>>,
    written: Written,
}

impl Table {
    fn new(cases: CaseReader, format: FileFormat, schema: &DatasetSchema) -> io::Result<Self> {
        let written = Written::default();
        let writer = Some(TableWriter::new(written.clone(), engine_format(format), schema)?);
        Ok(Self { cases, next: 0, writer, written })
    }

    /// The next piece; an empty one is the end.
    fn piece(&mut self) -> io::Result<Bytes> {
        let total = self.cases.version().cases;
        while let Some(writer) = &mut self.writer {
            if self.written.len() >= PIECE {
                break;
            }
            if self.next < total {
                let case = self.cases.case(self.next).map_err(io::Error::other)?;
                writer.write(&case.fields)?;
                self.next += 1;
            } else if let Some(writer) = self.writer.take() {
                writer.finish()?;
            }
        }
        Ok(self.written.take())
    }
}

/// What was written and not yet given away.
#[derive(Debug, Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
