//! The cases of an evaluation as a version of a data set on the server.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use fullbench_engine::{SendableCases, SendableEvaluation};
use futures::StreamExt;
use reqwest::Body;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

use super::client::{Client, RemoteError};
use crate::failure::CliError;
use crate::progress::write_line;

/// How often the server is asked whether it has looked at the rows.
const LOOK: Duration = Duration::from_millis(200);
/// Problems of rows that are shown.
const SHOWN: usize = 10;
/// Bytes that are read at a time.
const CHUNK: usize = 256 * 1024;

#[derive(Deserialize)]
struct Datasets {
    datasets: Vec<Dataset>,
}

#[derive(Deserialize)]
struct Dataset {
    dataset_id: String,
}

#[derive(Deserialize)]
struct Versions {
    versions: Vec<Version>,
}

#[derive(Deserialize)]
struct Uploaded {
    version_number: u32,
}

/// A version of a data set.
#[derive(Deserialize)]
struct Version {
    version_id: String,
    version_number: u32,
    file_sha256: String,
    validation_status: String,
    validation_errors: Vec<RowProblem>,
    error_count: u64,
}

#[derive(Deserialize)]
struct RowProblem {
    row: Option<u64>,
    column: Option<String>,
    message: String,
}

/// The id of the version with the cases of an evaluation; uploaded unless the newest one is the same file.
pub(super) async fn version(
    client: &Client,
    evaluation: &SendableEvaluation,
    quiet: bool,
) -> Result<String, CliError> {
    let inline = match &evaluation.cases {
        SendableCases::File(_) => None,
        SendableCases::Inline(cases) => {
            let mut file = tempfile::Builder::new().suffix(".jsonl").tempfile()?;
            for case in cases {
                std::io::Write::write_all(&mut file, format!("{case}\n").as_bytes())?;
            }
            Some(file)
        }
    };
    let path = match (&evaluation.cases, &inline) {
        (SendableCases::File(path), _) => path.as_path(),
        (SendableCases::Inline(_), file) => file.as_ref().map_or(Path::new(""), |file| file.path()),
    };
    let hash = hash_of(path).await?;
    let dataset = dataset(client, &evaluation.name).await?;
    let newest: Versions =
        client.get(&["v1", "datasets", &dataset, "versions"], &[("limit", "1")]).await?;
    let same = newest.versions.into_iter().find(|version| version.file_sha256 == hash);
    let number = match same {
        Some(version) if version.validation_status != "INVALID" => version.version_number,
        _ => {
            if !quiet {
                write_line(&format!("sending {}", path.display()));
            }
            send(client, evaluation, &dataset, path).await?.version_number
        }
    };
    looked_at(client, &dataset, number, path).await
}

/// The data set of this name, made if there is none.
async fn dataset(client: &Client, name: &str) -> Result<String, CliError> {
    let found: Datasets =
        client.get(&["v1", "datasets"], &[("name", name), ("limit", "1")]).await?;
    if let Some(dataset) = found.datasets.into_iter().next() {
        return Ok(dataset.dataset_id);
    }
    let new = json!({ "name": name, "type": "EVALUATION" });
    let made: Dataset = client.post(&["v1", "datasets"], &new).await?;
    Ok(made.dataset_id)
}

/// Waits until the rows have been looked at; tells what is wrong with them.
async fn looked_at(
    client: &Client,
    dataset: &str,
    number: u32,
    path: &Path,
) -> Result<String, CliError> {
    let number = number.to_string();
    loop {
        let version: Version =
            client.get(&["v1", "datasets", dataset, "versions", &number], &[]).await?;
        match version.validation_status.as_str() {
            "VALID" => return Ok(version.version_id),
            "INVALID" => return Err(refused(&version, path)),
            _ => tokio::time::sleep(LOOK).await,
        }
    }
}

fn refused(version: &Version, path: &Path) -> CliError {
    let mut message = format!("{}: {} rows are no cases", path.display(), version.error_count);
    for problem in version.validation_errors.iter().take(SHOWN) {
        let row = problem.row.map_or_else(String::new, |row| format!("row {row}"));
        let column = problem.column.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
        let _ = write!(message, "\n  {row}{column}: {}", problem.message);
    }
    CliError::input(message, Some("correct the file and run again".to_owned()))
}

/// Sends a file as a form, piece by piece.
async fn send(
    client: &Client,
    evaluation: &SendableEvaluation,
    dataset: &str,
    path: &Path,
) -> Result<Uploaded, RemoteError> {
    let unreadable = |error: std::io::Error| {
        RemoteError::Failed(CliError::input(format!("{}: {error}", path.display()), None))
    };
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let length = file.metadata().await.map_err(unreadable)?.len();
    let boundary = Uuid::now_v7().simple().to_string();
    let name = path.file_name().map(|name| name.to_string_lossy().replace(['"', '\r', '\n'], "_"));
    let mut head = String::new();
    let fields = [("id", &evaluation.id), ("input", &evaluation.input)];
    let single = fields.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?)));
    let references = evaluation.reference.iter().map(|field| ("reference", field));
    for (name, value) in single.chain(references) {
        let _ = write!(
            head,
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
    }
    let _ = write!(
        head,
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\n\r\n",
        name.unwrap_or_default()
    );
    let tail = format!("\r\n--{boundary}--\r\n");
    let length = head.len() as u64 + length + tail.len() as u64;
    let start = futures::stream::iter([Ok::<_, std::io::Error>(head.into_bytes())]);
    let end = futures::stream::iter([Ok(tail.into_bytes())]);
    let body = Body::wrap_stream(start.chain(chunks(file)).chain(end));
    client.send_form(&["v1", "datasets", dataset, "versions"], &boundary, length, body).await
}

/// A file in pieces.
fn chunks(
    file: tokio::fs::File,
) -> impl futures::Stream<Item = Result<Vec<u8>, std::io::Error>> + Send {
    futures::stream::try_unfold(file, async |mut file| {
        let mut chunk = Vec::with_capacity(CHUNK);
        let read = file.read_buf(&mut chunk).await?;
        Ok((read > 0).then_some((chunk, file)))
    })
}

async fn hash_of(path: &Path) -> Result<String, CliError> {
    let unreadable = |error: std::io::Error| {
        let hint = "paths are seen from the folder of the evaluation file".to_owned();
        CliError::input(format!("{}: {error}", path.display()), Some(hint))
    };
    let mut pieces = std::pin::pin!(chunks(tokio::fs::File::open(path).await.map_err(unreadable)?));
    let mut hash = Sha256::new();
    while let Some(piece) = pieces.next().await {
        hash.update(piece.map_err(unreadable)?);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}
