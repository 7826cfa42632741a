//! Everything an organization owns: taken along, or erased.

use axum::body::Body as ResponseBody;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{ErasureReceipt, ExportContents};
use fullbench_types::Action;
use futures::stream;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use uuid::Uuid;

use super::TAG;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::Body;
use crate::files::Files;
use crate::problem::{Problem, internal};
use crate::work::erase;

/// Bytes of an export that are sent at a time.
const PIECE: usize = 256 * 1024;
/// The header with the SHA-256 of an export.
const DIGEST: &str = "x-content-sha256";

/// The slug of the organization, so that nobody erases another one by mistake.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Erasure {
    /// The slug of your organization, typed again.
    slug: String,
}

/// What was erased.
#[derive(Serialize, JsonSchema)]
struct Erased {
    organization_id: Uuid,
    erased_at: Timestamp,
    /// Rows that were removed, by table.
    rows: Vec<ErasedRows>,
    /// Blocks of data sets that nobody else had.
    blobs: u64,
    /// Uploaded files.
    files: u64,
    /// Replies of providers in the response cache.
    cached_replies: u64,
    /// SHA-256 of the receipt, which the log of the installation has too.
    sha256: String,
}

/// Rows of a table.
#[derive(Serialize, JsonSchema)]
struct ErasedRows {
    table: String,
    rows: u64,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let exported = "A tar compressed with Zstandard: rows as lines of JSON, blocks of data sets, uploaded files, and \
        `manifest.json` with counts and SHA-256. The same contents give the same bytes. Secrets and hashes of secrets are not in \
        it; the audit log has an export of its own. The header `X-Content-SHA256` has the digest of the whole.";
    let erased = "Runs are stopped, then every row, file, block and cached reply goes, and all keys with them. It cannot be undone. \
        The receipt is kept in the log of the installation.";
    vec![
        Endpoint::get(
            "/v1/organization/export",
            "export_organization",
            Action::ExportOrganization,
            export,
        )
        .about(TAG, "Take everything along", exported)
        .audited()
        .gives_as(200, "application/zstd", "The archive"),
        Endpoint::post(
            "/v1/organization/erase",
            "erase_organization",
            Action::EraseOrganization,
            erase_all,
        )
        .about(TAG, "Erase the organization", erased)
        .takes::<Erasure>()
        .gives::<Erased>(200, "What was erased"),
    ]
}

async fn export(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
) -> Result<Response, Problem> {
    let files = Files::of(&caller.store).await?;
    let path = files.temporary().await.map_err(|error| internal(&error))?;
    let organization = caller.store.organization();
    let contents = app.store().export_organization(organization, path.path(), true).await?;
    note.after(&contents);
    let ExportContents { bytes, sha256, .. } = contents;
    let file = tokio::fs::File::open(path.path()).await.map_err(|error| internal(&error))?;
    let pieces = stream::try_unfold((file, path), async |(mut file, path)| {
        let mut piece = bytes::BytesMut::with_capacity(PIECE);
        let read = file.read_buf(&mut piece).await?;
        Ok::<_, std::io::Error>((read > 0).then(|| (piece.freeze(), (file, path))))
    });
    let mut response = ResponseBody::from_stream(pieces).into_response();
    let headers = response.headers_mut();
    let name = HeaderValue::from_static("attachment; filename=\"organization.tar.zst\"");
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zstd"));
    headers.insert(header::CONTENT_DISPOSITION, name);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
    if let Ok(digest) = HeaderValue::from_str(&sha256) {
        headers.insert(DIGEST, digest);
    }
    Ok(response)
}

async fn erase_all(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    Body(wanted): Body<Erasure>,
) -> Result<Json<Erased>, Problem> {
    let organization = caller.store.organization_record().await?;
    if wanted.slug != organization.slug {
        let problem = Problem::field("slug", "this is not the slug of your organization");
        return Err(problem.hint("GET /v1/organization shows it"));
    }
    // Only owners may; a name would be left of them.
    let by = note.asked_by("owner");
    // A task of its own: it goes on when the caller goes away.
    let erasing = app.tasks().clone().spawn(async move { erase(&app, organization.id, by).await });
    let receipt = erasing.await.map_err(|error| internal(&error))??;
    note.was_erased();
    Ok(Json(receipt.into()))
}

impl From<ErasureReceipt> for Erased {
    fn from(receipt: ErasureReceipt) -> Self {
        let rows = receipt.rows.into_iter();
        Self {
            organization_id: receipt.organization_id.0,
            erased_at: receipt.erased_at,
            rows: rows.map(|rows| ErasedRows { table: rows.table, rows: rows.rows }).collect(),
            blobs: receipt.blobs,
            files: receipt.files,
            cached_replies: receipt.cached_replies,
            sha256: receipt.sha256,
        }
    }
}
