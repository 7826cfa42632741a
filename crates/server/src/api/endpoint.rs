//! One endpoint.

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};
use fullbench_types::Action;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::access::Rule;
use crate::app::App;
use crate::audit::Audited;

type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A body, or a parameter of the query or of a header.
pub(crate) struct Described {
    pub(crate) media_type: &'static str,
    pub(crate) schema: Option<SchemaOf>,
}

/// A response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) about: &'static str,
    pub(crate) content: Option<Described>,
    pub(crate) has_etag: bool,
}

/// One method on one path.
pub(crate) struct Endpoint {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) id: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) rule: Rule,
    pub(crate) query: Option<SchemaOf>,
    pub(crate) body: Option<Described>,
    pub(crate) answers: Vec<Answer>,
    pub(crate) refusals: Vec<u16>,
    pub(crate) is_idempotent_by_key: bool,
    pub(crate) takes_if_match: bool,
    pub(crate) takes_last_event_id: bool,
    pub(crate) audit: Audit,
    pub(crate) router: MethodRouter<App>,
}

/// Whether the audit log tells of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audit {
    /// It only reads.
    Reads,
    /// Each time.
    Always,
    /// It changes something, and is not noted, because of this.
    Not(&'static str),
}

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Whether texts of cases and answers are what such an endpoint is about: they may be gone with their key.
fn touches_texts(rule: &Rule) -> bool {
    use Action::{ChangeDatasets, ReadDatasets, ReadRuns, StartRuns, WriteLabels};
    matches!(rule, Rule::Needs(ReadRuns | StartRuns | ReadDatasets | ChangeDatasets | WriteLabels))
}

impl Endpoint {
    fn new<H, T>(
        method: &'static str,
        filter: MethodFilter,
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        let rule = rule.into();
        let mut refusals = match rule {
            Rule::Public => vec![400],
            Rule::Account | Rule::Needs(_) => vec![400, 401, 403, 429],
            Rule::Operator => vec![400, 401, 403],
        };
        if path.contains('{') {
            refusals.push(404);
        }
        if touches_texts(&rule) {
            refusals.push(410);
        }
        if method != "get" && rule != Rule::Public {
            refusals.push(503);
        }
        Self {
            method,
            path,
            id,
            tag: "",
            summary: "",
            description: "",
            rule,
            query: None,
            body: None,
            answers: Vec::new(),
            refusals,
            is_idempotent_by_key: false,
            takes_if_match: false,
            takes_last_event_id: false,
            audit: if method == "get" { Audit::Reads } else { Audit::Always },
            router: on(filter, handler),
        }
    }

    /// Reads something.
    pub(crate) fn get<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self {
        Self::new("get", MethodFilter::GET, path, id, rule, handler)
    }

    /// Creates or starts something; sent again with the same `Idempotency-Key` it does so once.
    pub(crate) fn post<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self {
        let endpoint = Self::new("post", MethodFilter::POST, path, id, rule, handler);
        // What is said about an account may hold passwords, of which nothing is noted.
        let is_idempotent_by_key = matches!(endpoint.rule, Rule::Needs(_));
        let endpoint = Self { is_idempotent_by_key, ..endpoint }.refuses(&[409, 422]);
        match is_idempotent_by_key {
            // The answer that was kept for the key may be gone.
            true => endpoint.refuses(&[410]),
            false => endpoint,
        }
    }

    /// Changes something.
    pub(crate) fn patch<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self {
        Self::new("patch", MethodFilter::PATCH, path, id, rule, handler).refuses(&[409, 422])
    }

    /// Puts something in a place.
    pub(crate) fn put<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self {
        Self::new("put", MethodFilter::PUT, path, id, rule, handler).refuses(&[409, 422])
    }

    /// Removes or ends something.
    pub(crate) fn delete<H: Handler<T, App>, T: 'static>(
        path: &'static str,
        id: &'static str,
        rule: impl Into<Rule>,
        handler: H,
    ) -> Self {
        Self::new("delete", MethodFilter::DELETE, path, id, rule, handler)
    }

    /// What it is for: the group it is shown in, a line, and more about it.
    pub(crate) fn about(
        self,
        tag: &'static str,
        summary: &'static str,
        description: &'static str,
    ) -> Self {
        Self { tag, summary, description, ..self }
    }

    /// Its parameters in the query are the fields of this type.
    pub(crate) fn query<T: JsonSchema>(self) -> Self {
        Self { query: Some(schema_of::<T>), ..self }.refuses(&[422])
    }

    /// It takes a JSON body.
    pub(crate) fn takes<T: JsonSchema>(self) -> Self {
        let body = Described { media_type: "application/json", schema: Some(schema_of::<T>) };
        Self { body: Some(body), ..self }.refuses(&[408, 413, 415, 422])
    }

    /// It takes a form with a file.
    pub(crate) fn takes_form<T: JsonSchema>(self) -> Self {
        let body = Described { media_type: "multipart/form-data", schema: Some(schema_of::<T>) };
        Self { body: Some(body), ..self }.refuses(&[408, 413, 415, 422])
    }

    /// It answers with JSON.
    pub(crate) fn gives<T: JsonSchema>(mut self, status: u16, about: &'static str) -> Self {
        let content = Described { media_type: "application/json", schema: Some(schema_of::<T>) };
        self.answers.push(Answer { status, about, content: Some(content), has_etag: false });
        self
    }

    /// It answers with something else.
    pub(crate) fn gives_as(
        mut self,
        status: u16,
        media_type: &'static str,
        about: &'static str,
    ) -> Self {
        let content = Described { media_type, schema: None };
        self.answers.push(Answer { status, about, content: Some(content), has_etag: false });
        self
    }

    /// It answers with nothing but a status.
    pub(crate) fn gives_nothing(mut self, status: u16, about: &'static str) -> Self {
        self.answers.push(Answer { status, about, content: None, has_etag: false });
        self
    }

    /// What it answers with has a revision, as an `ETag`.
    pub(crate) fn with_etag(mut self) -> Self {
        self.answers.iter_mut().for_each(|answer| answer.has_etag = true);
        self
    }

    /// It may be called for a revision that was seen, with `If-Match`.
    pub(crate) fn if_match(self) -> Self {
        Self { takes_if_match: true, ..self }.refuses(&[412])
    }

    /// It goes on after the event named by `Last-Event-ID`.
    pub(crate) fn resumable(self) -> Self {
        Self { takes_last_event_id: true, ..self }
    }

    /// The audit log tells of it although it only reads: what it gives away is not for everybody.
    pub(crate) fn audited(self) -> Self {
        Self { audit: Audit::Always, ..self }.refuses(&[503])
    }

    /// The audit log does not tell of it, although it is no GET, because of this.
    pub(crate) fn unaudited(self, reason: &'static str) -> Self {
        Self { audit: Audit::Not(reason), ..self }
    }

    /// What the audit log is told.
    pub(crate) fn audited_as(&self) -> Audited {
        let always = self.audit == Audit::Always;
        Audited { action: self.id, path: self.path, always }
    }

    /// It may refuse with these statuses.
    pub(crate) fn refuses(mut self, statuses: &[u16]) -> Self {
        self.refusals.extend_from_slice(statuses);
        self.refusals.sort_unstable();
        self.refusals.dedup();
        self
    }
}
