//! What a handler says for the audit log: what it is about, and what that was like before and after.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use fullbench_store::AskedBy;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::app::App;

/// What a handler says for the audit log. Only views without secrets go in, and never a body.
#[derive(Debug, Clone, Default)]
pub(crate) struct AuditNote {
    said: Arc<Mutex<Said>>,
    by: AskedBy,
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The id of what is made.
    pub(super) created: Option<String>,
    pub(super) before: Option<Value>,
    pub(super) after: Option<Value>,
    /// There is no log to end it in.
    pub(super) is_over: bool,
}

impl AuditNote {
    /// What a handler says of a request by somebody.
    pub(super) fn of(by: AskedBy) -> Self {
        Self { said: Arc::default(), by }
    }

    /// Who asked for it, under another name.
    pub(crate) fn asked_by(&self, actor: &str) -> AskedBy {
        AskedBy { actor: actor.to_owned(), ..self.by.clone() }
    }

    /// What is made has this id.
    pub(crate) fn creates(&self, id: Uuid) {
        self.said(|said| said.created = Some(id.to_string()));
    }

    /// What it was like before.
    pub(crate) fn before(&self, view: &impl Serialize) {
        self.said(|said| said.before = serde_json::to_value(view).ok());
    }

    /// What it is like now.
    pub(crate) fn after(&self, view: &impl Serialize) {
        self.said(|said| said.after = serde_json::to_value(view).ok());
    }

    /// The organization was erased, and its log with it: the log of the installation tells of it.
    pub(crate) fn was_erased(&self) {
        self.said(|said| said.is_over = true);
    }

    /// What was said.
    pub(super) fn take(&self) -> Said {
        std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn said(&self, say: impl FnOnce(&mut Said)) {
        say(&mut self.said.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl FromRequestParts<App> for AuditNote {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        // Nobody reads it where the endpoint is not audited.
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
