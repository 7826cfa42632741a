//! Forms that are sent again: whether they have the same file, which is known by its hash in the answer.

use axum::extract::{DefaultBodyLimit, FromRequest, Multipart, Request};
use fullbench_store::KeptAnswer;
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::access::hex;
use crate::app::App;
use crate::problem::{MALFORMED, Problem};

/// What the answer to a form says of its file.
#[derive(Deserialize)]
struct Answered {
    file_sha256: String,
}

/// Whether the file of a form is the one that was answered, read piece by piece.
pub(super) async fn has_same_file(
    app: &App,
    mut request: Request,
    answer: &KeptAnswer,
) -> Result<bool, Problem> {
    // An answer that names no file was no answer to one.
    let Ok(Answered { file_sha256 }) = serde_json::from_str(&answer.body) else { return Ok(true) };
    let unreadable = |problem: String| Problem::new(MALFORMED, problem);
    // Nothing of it is kept: it may be as large as it was the first time.
    DefaultBodyLimit::disable().apply(&mut request);
    let mut form = Multipart::from_request(request, app)
        .await
        .map_err(|error| unreadable(error.body_text()))?;
    let failed = |error: axum::extract::multipart::MultipartError| unreadable(error.body_text());
    while let Some(mut field) = form.next_field().await.map_err(failed)? {
        if field.name() != Some("file") {
            continue;
        }
        let mut hash = Sha256::new();
        while let Some(piece) = field.chunk().await.map_err(failed)? {
            hash.update(&piece);
        }
        let hash: [u8; 32] = hash.finalize().into();
        return Ok(hex(&hash) == file_sha256);
    }
    Ok(false)
}
