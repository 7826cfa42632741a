//! All results of a batch as a file, written while it is read.

use std::io;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use fullbench_engine::{FileFormat, TableWriter};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::batch_run;
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PathParts, Query};
use crate::problem::Problem;
use crate::resources::runs::RunReader;
use crate::stream::{ChunkWriter, written_body};

/// Results read together.
const PAGE: u64 = 1000;

/// How to write the results.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportQuery {
    #[serde(default)]
    format: ExportFormat,
}

/// A format of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ExportFormat {
    /// One object a line.
    #[default]
    Jsonl,
    /// Comma-separated values.
    Csv,
    /// Columns.
    Parquet,
}

impl ExportFormat {
    fn file_format(self) -> FileFormat {
        match self {
            Self::Jsonl => FileFormat::Jsonl,
            Self::Csv => FileFormat::Csv,
            Self::Parquet => FileFormat::Parquet,
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::Jsonl => "application/jsonl",
            Self::Csv => "text/csv",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get(
            "/v1/evaluations/batch/{job_id}/export",
            "export_batch_results",
            Action::ReadRuns,
            export,
        )
        .about("evaluations", "All results of a batch as a file", "")
        .query::<ExportQuery>()
        .gives_as(200, "application/jsonl", "The results, a row for each unit")
        .gives_as(200, "text/csv", "The results, a row for each unit")
        .gives_as(
            200,
            "application/vnd.apache.parquet",
            "The results, a row for each unit",
        ),
    ]
}

async fn export(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, Problem> {
    let run = batch_run(&caller.store, id).await?;
    let mut reader = RunReader::open(&caller.store, &run).await?;
    reader.check_texts().await?;
    let (writer, body) = written_body();
    let format = query.format;
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let breaker = writer.breaker();
        if let Err(error) = write_all(reader, writer, format, &runtime) {
            tracing::debug!(%error, "an export ended early");
            ChunkWriter::fail(&breaker, error);
        }
    });
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.media_type()));
    let ending = format.file_format().word();
    let name = format!("attachment; filename=\"{}.{ending}\"", run.id);
    if let Ok(name) = HeaderValue::from_str(&name) {
        headers.insert(header::CONTENT_DISPOSITION, name);
    }
    Ok(response)
}

fn write_all(
    mut reader: RunReader,
    writer: ChunkWriter,
    format: ExportFormat,
    runtime: &Handle,
) -> io::Result<()> {
    let failed = |problem: Problem| io::Error::other(problem.detail);
    let mut table = TableWriter::new(writer, format.file_format(), &reader.schema())?;
    let mut after = None;
    loop {
        let page = runtime.block_on(reader.page(after, PAGE)).map_err(failed)?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in &page {
            table.write(&reader.row(unit).map_err(failed)?)?;
        }
    }
    let mut writer = table.finish()?;
    io::Write::flush(&mut writer)
}
