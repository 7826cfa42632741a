//! Documents: texts to be judged, with what they answer. They are never changed.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::{DocumentRecord, NewDocument, StoreError};
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId, PageQuery, PathParts, Query, has_more, page};
use crate::problem::Problem;

/// A text to be judged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewDocument")]
struct Wanted {
    /// What was asked.
    #[serde(default)]
    input: Option<String>,
    /// The text to be judged.
    actual_output: String,
    /// The accepted text.
    #[serde(default)]
    expected_output: Option<String>,
    /// Anything beside it. Judges see the field that they take the context from: `context` unless they say otherwise.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// A text to be judged.
#[derive(Serialize, JsonSchema)]
struct Document {
    document_id: Uuid,
    /// What was asked.
    input: Option<String>,
    /// The text to be judged; null only where it is gone.
    actual_output: Option<String>,
    /// The accepted text.
    expected_output: Option<String>,
    metadata: Map<String, Value>,
    created_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
    /// The texts are gone with the key that they were sealed with.
    texts_deleted: bool,
}

/// A page of documents.
#[derive(Serialize, JsonSchema)]
struct Documents {
    /// The newest first.
    documents: Vec<Document>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let kept =
        "It is never changed, so that its judgements stay true; several judges can judge it.";
    vec![
        Endpoint::post("/v1/documents", "create_document", Action::StartRuns, create)
            .about("documents", "Keep a text to be judged", kept)
            .takes::<Wanted>()
            .gives::<Document>(201, "The document")
            .unaudited("a document says who made it and when, and never changes"),
        Endpoint::get("/v1/documents", "list_documents", Action::ReadRuns, list)
            .about("documents", "All documents", "The newest first.")
            .query::<PageQuery>()
            .gives::<Documents>(200, "A page of documents"),
        Endpoint::get("/v1/documents/{document_id}", "get_document", Action::ReadRuns, get)
            .about("documents", "A document", "")
            .gives::<Document>(200, "The document"),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Document>), Problem> {
    let Wanted { input, actual_output, expected_output, metadata } = wanted;
    let created_by = Some(caller.name);
    let new = NewDocument { id, input, actual_output, expected_output, metadata, created_by };
    let record = match caller.store.document(id).await {
        // A request that is sent again adds nothing.
        Ok(made) => made,
        Err(StoreError::NameNotFound { .. }) => {
            let place = app.records().place(caller.quotas, &caller.store).await?;
            let made = caller.store.create_document(new).await?;
            place.keep();
            made
        }
        Err(error) => return Err(error.into()),
    };
    Ok((StatusCode::CREATED, Json(record.into())))
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Documents>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (records, total) = caller.store.documents(page).await?;
    let documents = records.into_iter().map(Document::from).collect();
    Ok(Json(Documents { documents, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Document>, Problem> {
    Ok(Json(caller.store.document(id).await?.into()))
}

impl From<DocumentRecord> for Document {
    fn from(record: DocumentRecord) -> Self {
        Self {
            document_id: record.id,
            input: record.input.filter(|_| !record.texts_deleted),
            actual_output: Some(record.actual_output).filter(|_| !record.texts_deleted),
            expected_output: record.expected_output.filter(|_| !record.texts_deleted),
            metadata: record.metadata,
            created_at: record.created_at,
            created_by: record.created_by,
            texts_deleted: record.texts_deleted,
        }
    }
}
