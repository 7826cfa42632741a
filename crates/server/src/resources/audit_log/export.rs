//! The whole chain as lines of JSON.

use std::io;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use fullbench_store::{AuditHead, AuditLine, ScopedStore};
use futures::stream;

use crate::access::Caller;
use crate::problem::Problem;

/// Where an export is: entries after a number, then the end, then nothing.
struct Position {
    store: ScopedStore,
    head: Option<AuditHead>,
    after: u64,
}

/// Writes all entries that there are now, then the end of the chain.
pub(super) async fn export(caller: Caller) -> Result<Response, Problem> {
    let head = caller.store.audit_head().await?;
    let position = Position { store: caller.store, head, after: 0 };
    let body = Body::from_stream(stream::try_unfold(position, next));
    let headers = [
        (header::CONTENT_TYPE, "application/jsonl"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"audit-log.jsonl\""),
    ];
    Ok((headers, body).into_response())
}

async fn next(mut position: Position) -> io::Result<Option<(Bytes, Position)>> {
    let Some(head) = position.head else { return Ok(None) };
    let entries = position.store.audit_entries_between(position.after, head.number).await;
    let entries = entries.map_err(io::Error::other)?;
    let mut lines = Vec::new();
    match entries.last() {
        Some(last) => position.after = last.number,
        None => {
            position.head = None;
            AuditLine::End { head }.write(&mut lines)?;
        }
    }
    for entry in entries {
        AuditLine::Entry(Box::new(entry)).write(&mut lines)?;
    }
    Ok(Some((lines.into(), position)))
}
