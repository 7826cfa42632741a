//! Uploads of versions: a form with a file, received piece by piece.

use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{NewVersion, VersionRecord};
use fullbench_types::{Action, ErrorCode, FileFormat, ValidationStatus};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{TAG, check_text};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{NewId, PathParts};
use crate::files::{Files, Incoming};
use crate::problem::{INTERNAL, MALFORMED, MEDIA_TYPE, Problem, internal};
use crate::quotas::{Room, room_for_a_file};
use crate::serving::read_on;
use crate::work::{Reading, validate};

const MAX_DESCRIPTION: usize = 10_000;
const MAX_NAME: usize = 512;
/// Fields with references, at most.
const MAX_REFERENCES: usize = 16;
/// What a form may have besides its file.
const FORM_BYTES: u64 = 1 << 20;

/// A file with cases, and how to read it.
#[derive(JsonSchema)]
#[schemars(rename = "NewDatasetVersion")]
#[allow(dead_code, reason = "describes the form, which is read field by field")]
struct Form {
    /// CSV with a header line, one JSON list, JSON Lines, or Parquet.
    #[schemars(extend("format" = "binary"))]
    file: String,
    /// What is new in this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(max = 10_000))]
    description: Option<String>,
    /// The format of the file. Default: what the ending of its name says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "FormFormat")]
    format: Option<FormFormat>,
    /// The field with the input. Default: the first of `input`, `prompt`, `question` and `conversation` that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 512), regex(pattern = r"\S"))]
    input: Option<String>,
    /// The fields with accepted answers. Default: `expected_output`, `reference` and `references`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(min = 1, max = 512), regex(pattern = r"\S")))]
    reference: Vec<String>,
    /// The field with the id of a case. Default: `id`, or a hash of the input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", length(min = 1, max = 512), regex(pattern = r"\S"))]
    id: Option<String>,
}

/// The format of an uploaded file.
#[derive(JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "UploadFormat")]
#[allow(dead_code, reason = "describes a field of the form")]
enum FormFormat {
    Csv,
    Json,
    Jsonl,
    Parquet,
}

/// What became of the rows of an upload.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UploadStatus {
    /// They are being looked at.
    Validating,
    /// All are cases.
    Valid,
    /// Some are not.
    Invalid,
}

/// A version that was uploaded.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UploadedVersion")]
struct Uploaded {
    version_id: Uuid,
    dataset_id: Uuid,
    version_number: u32,
    status: UploadStatus,
    /// Rows, once they are counted.
    row_count: Option<u64>,
    /// Names the file.
    file_uri: String,
    file_format: FileFormat,
    /// The size of the file.
    file_bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    file_sha256: String,
    created_at: Timestamp,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "The file is kept as it is, and its rows are looked at next: ask for the version until `validation_status` is \
        VALID or INVALID, or wait for the event `dataset.validated`.";
    let mut endpoint = Endpoint::post(
        "/v1/datasets/{dataset_id}/versions",
        "upload_dataset_version",
        Action::ChangeDatasets,
        upload,
    )
    .about(TAG, "Upload a version", about)
    .takes_form::<Form>()
    .gives::<Uploaded>(202, "The version; its rows are being looked at");
    // Files have a limit of their own.
    endpoint.router = endpoint.router.layer(DefaultBodyLimit::disable());
    vec![endpoint]
}

async fn upload(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    PathParts(dataset): PathParts<Uuid>,
    request: Request,
) -> Result<Response, Problem> {
    caller.store.dataset_record(dataset).await?;
    match caller.store.version(id).await {
        // The same request came before, and its answer got lost.
        Ok(made) => return Ok(accepted(made)),
        Err(error) if error.code() == ErrorCode::NotFound => {}
        Err(error) => return Err(error.into()),
    }
    let files = Files::of(&caller.store).await?;
    let room = room_for_a_file(&app, &caller).await?;
    let form = receive(request, &app, &files, room).await?;
    let Received { file, format, description, reading } = form;
    let reading = serde_json::to_value(reading).map_err(|error| internal(&error))?;
    // From here on it does not matter whether the caller is still there.
    let keeping = app.tasks().clone().spawn(async move {
        let (uri, kept) = files.keep(file, dataset, id, format).await?;
        let new = NewVersion {
            id,
            dataset,
            description,
            file_uri: uri.clone(),
            file_format: format,
            file_bytes: kept.size,
            file_hash: kept.sha256,
            reading,
            created_by: Some(caller.name),
            quota: caller.quotas.stored_bytes,
        };
        match caller.store.add_version(new).await {
            Ok(version) => {
                validate(&app, caller.store.organization(), version.id);
                Ok(version)
            }
            // It may be there, and only the word of it got lost: a file that no version has is removed with others of its kind.
            Err(error) if error.is_passing() => Err(Problem::from(error)),
            Err(error) => {
                if let Err(error) = files.remove(&uri).await {
                    tracing::warn!(%error, "a file that no version has could not be removed");
                }
                Err(Problem::from(error))
            }
        }
    });
    let version = keeping
        .await
        .map_err(|_| Problem::new(INTERNAL, "the server failed on this request"))??;
    Ok(accepted(version))
}

fn accepted(version: VersionRecord) -> Response {
    let status = match version.validation {
        ValidationStatus::Pending => UploadStatus::Validating,
        ValidationStatus::Valid => UploadStatus::Valid,
        ValidationStatus::Invalid => UploadStatus::Invalid,
    };
    let uploaded = Uploaded {
        version_id: version.id,
        dataset_id: version.dataset,
        version_number: version.number,
        status,
        row_count: version.rows,
        file_uri: version.file_uri,
        file_format: version.file_format,
        file_bytes: version.file_bytes,
        file_sha256: version.file_hash,
        created_at: version.created_at,
    };
    (StatusCode::ACCEPTED, Json(uploaded)).into_response()
}

/// A form that was received whole.
struct Received {
    file: Incoming,
    format: FileFormat,
    description: Option<String>,
    reading: Reading,
}

async fn receive(
    request: Request,
    app: &App,
    files: &Files,
    room: Room,
) -> Result<Received, Problem> {
    check_is_form(request.headers())?;
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if length.is_some_and(|length| length > room.most.saturating_add(FORM_BYTES)) {
        // Who waits to be asked for the body need not send it.
        if !request.headers().contains_key(header::EXPECT) {
            read_on(request.into_body().into_data_stream()).await;
        }
        return Err(room.problem());
    }
    let mut form = Multipart::from_request(request, app)
        .await
        .map_err(|error| Problem::new(MALFORMED, error.body_text()))?;
    let (mut file, mut file_name, mut format) = (None, None, None);
    let (mut description, mut reading) = (None, Reading::default());
    while let Some(field) = form.next_field().await.map_err(|error| unreadable(&error))? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "file" if file.is_none() => {
                file_name = field.file_name().map(str::to_owned);
                file = Some(receive_file(field, files, room).await?);
            }
            "description" if description.is_none() => {
                description = Some(text(field, &name, 0, MAX_DESCRIPTION).await?);
            }
            "format" if format.is_none() => format = Some(text(field, &name, 1, MAX_NAME).await?),
            "input" if reading.input.is_none() => {
                reading.input = Some(text(field, &name, 1, MAX_NAME).await?);
            }
            "id" if reading.id.is_none() => {
                reading.id = Some(text(field, &name, 1, MAX_NAME).await?);
            }
            "reference" => {
                let references = reading.references.get_or_insert_default();
                references.push(text(field, &name, 1, MAX_NAME).await?);
                if references.len() > MAX_REFERENCES {
                    let message = format!("use at most {MAX_REFERENCES} fields");
                    return Err(Problem::field(name, message));
                }
            }
            "file" | "description" | "format" | "input" | "id" => {
                return Err(Problem::field(name, "the form has this field twice"));
            }
            _ => {
                let problem = Problem::field(name, "the form has no such field");
                return Err(problem
                    .hint("use `file`, `description`, `format`, `input`, `reference` and `id`"));
            }
        }
    }
    let Some(file) = file else {
        let problem = Problem::field("file", "the form has no file");
        return Err(problem.hint("send it as the field `file`: curl -F file=@cases.jsonl …"));
    };
    let format = format_of(format.as_deref(), file_name.as_deref())?;
    let description = description.filter(|text| !text.is_empty());
    Ok(Received { file, format, description, reading })
}

fn check_is_form(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let essence = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("multipart/form-data") {
        return Ok(());
    }
    let detail = format!("expected a body of type multipart/form-data, found `{essence}`");
    let hint = "send a form with the file as `file`: curl -F file=@cases.jsonl …";
    Err(Problem::new(MEDIA_TYPE, detail).hint(hint))
}

fn format_of(given: Option<&str>, file_name: Option<&str>) -> Result<FileFormat, Problem> {
    let known = "use csv, json, jsonl or parquet";
    match (given, file_name) {
        (Some(word), _) => FileFormat::of_name(&format!(".{word}")).ok_or_else(|| {
            Problem::field("format", format!("`{word}` is no format of data sets")).hint(known)
        }),
        (None, name) => name.and_then(FileFormat::of_name).ok_or_else(|| {
            let message = "the name of the file does not tell its format";
            Problem::field("format", message).hint(format!("send `format`: {known}"))
        }),
    }
}

async fn receive_file(
    mut field: Field<'_>,
    files: &Files,
    room: Room,
) -> Result<Incoming, Problem> {
    let mut file = files.receive().await.map_err(|error| internal(&error))?;
    while let Some(piece) = field.chunk().await.map_err(|error| unreadable(&error))? {
        if file.bytes() + piece.len() as u64 > room.most {
            drop(file);
            read_on(field).await;
            return Err(room.problem());
        }
        file.write(&piece).await.map_err(|error| internal(&error))?;
    }
    Ok(file)
}

/// The text of a field.
async fn text(
    mut field: Field<'_>,
    name: &str,
    least: usize,
    most: usize,
) -> Result<String, Problem> {
    let mut bytes = Vec::new();
    while let Some(piece) = field.chunk().await.map_err(|error| unreadable(&error))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > 4 * most {
            return Err(Problem::field(name, format!("use {least} to {most} letters")));
        }
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Problem::field(name, "the field is no text in UTF-8"))?;
    check_text(name, &text, least, most)?;
    Ok(text)
}

fn unreadable(error: &MultipartError) -> Problem {
    Problem::new(MALFORMED, format!("the form cannot be read: {}", error.body_text()))
}
