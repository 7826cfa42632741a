//! What one request leaves in the audit log.

use axum::http::StatusCode;
use axum::http::request::Parts;
use fullbench_store::{AskedBy, NewAuditEntry};
use fullbench_types::AuditPhase;

use super::AuditNote;
use crate::access::Caller;
use crate::app::App;
use crate::problem::Problem;
use crate::serving::Peer;

/// What requests are called, as logs name them.
#[derive(Debug, Clone)]
pub(crate) struct RequestId(pub(crate) String);

/// What the audit log is told of an endpoint.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Audited {
    /// The id of the operation.
    pub(crate) action: &'static str,
    /// The path with its parameters.
    pub(crate) path: &'static str,
    /// Whether each request is noted, and not those alone that are not allowed.
    pub(crate) always: bool,
}

/// A request on its way through the server.
pub(crate) struct Trail {
    app: App,
    caller: Caller,
    entry: NewAuditEntry,
    /// It is being carried out.
    is_open: bool,
}

impl Trail {
    /// The trail of a request by somebody.
    pub(crate) fn of(app: &App, caller: &Caller, audited: Audited, parts: &Parts) -> Self {
        let credential = format!("{}:{}", caller.credential.kind(), caller.credential.id());
        let entry = NewAuditEntry {
            credential: Some(credential),
            from_address: from_address(parts),
            request_id: parts.extensions.get::<RequestId>().map(|id| id.0.clone()),
            target: target(audited.path, parts.uri.path()),
            ..NewAuditEntry::new(audited.action, &caller.name, AuditPhase::Asked)
        };
        Self { app: app.clone(), caller: caller.clone(), entry, is_open: false }
    }

    /// Notes that it is about to be carried out, which it is not where this fails.
    pub(crate) async fn begin(&mut self) -> Result<(), Problem> {
        self.app.audit().note(&self.caller.store, self.entry.clone()).await?;
        self.is_open = true;
        Ok(())
    }

    /// What the handler can say of it.
    pub(crate) fn note(&self) -> AuditNote {
        let NewAuditEntry { actor, credential, from_address, request_id, .. } = self.entry.clone();
        AuditNote::of(AskedBy { actor, credential, from_address, request_id })
    }

    /// Notes how it ended. What was done is done, even where this fails: that it was begun is known.
    pub(crate) async fn end(&mut self, status: StatusCode, note: &AuditNote) {
        let said = note.take();
        self.is_open = false;
        if said.is_over {
            return;
        }
        let phase = match status {
            status if status.is_server_error() => AuditPhase::Failed,
            status if status.is_client_error() => AuditPhase::Refused,
            _ => AuditPhase::Done,
        };
        // What was to be changed and was not is as it was before.
        let after = said.after.filter(|_| phase == AuditPhase::Done);
        let entry = NewAuditEntry {
            at: jiff::Timestamp::now(),
            target: self
                .entry
                .target
                .clone()
                .or(said.created.filter(|_| phase == AuditPhase::Done)),
            phase,
            status: Some(status.as_u16()),
            before: said.before,
            after,
            ..self.entry.clone()
        };
        // The writer has told the log of the server why it failed.
        let _ = self.app.audit().note(&self.caller.store, entry).await;
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        let (at, phase) = (jiff::Timestamp::now(), AuditPhase::BrokenOff);
        let entry = NewAuditEntry { at, phase, ..self.entry.clone() };
        self.app.audit().note_later(self.caller.store.clone(), entry);
    }
}

/// Where a request came from.
fn from_address(parts: &Parts) -> Option<String> {
    parts.extensions.get::<Peer>().map(|peer| peer.0.to_string())
}

/// The parameters of a path, in their order.
fn target(path: &str, called: &str) -> Option<String> {
    let parts = path.split('/').zip(called.split('/'));
    let values: Vec<&str> =
        parts.filter(|(name, _)| name.starts_with('{')).map(|(_, value)| value).collect();
    (!values.is_empty()).then(|| values.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_about_what_its_path_names() {
        let version = "/v1/datasets/{dataset_id}/versions/{version_number}/publish";
        let called = "/v1/datasets/7/versions/2/publish";
        assert_eq!(target(version, called).as_deref(), Some("7/2"));
        assert_eq!(target("/v1/datasets", "/v1/datasets"), None);
    }
}
