//! The endpoints of the OpenAPI document.

use fullbench_types::{Action, UserRole};
use serde_json::{Value, json};

use crate::bodies::{Body, body, query};
use crate::common::caller::Caller;
use crate::common::with_json;
use crate::made::Ids;

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    Public,
    /// Who is signed in, whatever their role.
    Account,
    Needs(Action),
    Operator,
}

/// An endpoint.
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) template: String,
    pub(crate) rule: Rule,
    /// What it answers goes on without an end.
    pub(crate) is_stream: bool,
    /// The kind of body it takes, and the schema of that.
    pub(crate) takes: Option<(String, Value)>,
}

impl std::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {} ({})", self.method, self.template, self.id)
    }
}

/// All endpoints: first what only reads, and what removes something at the end.
pub(crate) fn operations() -> Vec<Operation> {
    let api = fullbench_server::openapi();
    let mut operations = Vec::new();
    for (template, methods) in api["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            operations.push(Operation::of(method, template, described));
        }
    }
    assert!(operations.len() > 120, "only {} endpoints were found", operations.len());
    let order = ["GET", "POST", "PATCH", "PUT", "DELETE"];
    operations.sort_by_key(|operation| order.iter().position(|one| *one == operation.method));
    operations
}

/// The endpoint of this name.
pub(crate) fn operation(id: &str) -> Operation {
    let found = operations().into_iter().find(|operation| operation.id == id);
    found.unwrap_or_else(|| panic!("there is no endpoint `{id}`"))
}

impl Operation {
    fn of(method: &str, template: &str, described: &Value) -> Self {
        let action = described["x-action"].as_str().map(|word| Action::from_word(word).unwrap());
        let rule = match (action, &described["security"]) {
            (Some(action), Value::Null) => Rule::Needs(action),
            (None, security) if *security == json!([]) => Rule::Public,
            (None, security) if *security == json!([{ "session": [] }]) => Rule::Account,
            (None, _) if described["x-rule"] == "operator" => Rule::Operator,
            _ => panic!("{method} {template} has no rule"),
        };
        let takes = described["requestBody"]["content"].as_object().map(|content| {
            let (media_type, body) = content.iter().next().unwrap();
            (media_type.clone(), body["schema"].clone())
        });
        let answered = described["responses"]["200"]["content"].as_object();
        Self {
            id: described["operationId"].as_str().unwrap().to_owned(),
            method: method.to_uppercase(),
            template: template.to_owned(),
            rule,
            is_stream: answered.is_some_and(|kinds| kinds.contains_key("text/event-stream")),
            takes,
        }
    }

    /// Whether it is about something that the path names.
    pub(crate) fn names_something(&self) -> bool {
        self.template.contains('{')
    }

    /// Whether it makes what the path names where that is not there, in the caller's own organization.
    pub(crate) fn makes_what_it_names(&self) -> bool {
        matches!(self.id.as_str(), "set_baseline" | "set_provider_key")
    }

    /// Whether the rule lets a role in, with a key or in a browser.
    pub(crate) fn allows(&self, role: UserRole, is_session: bool) -> bool {
        match self.rule {
            Rule::Public => true,
            Rule::Account => is_session,
            Rule::Needs(action) => role.allows(action),
            Rule::Operator => false,
        }
    }

    /// The path with what it names, and the query that it does not do without.
    pub(crate) fn path(&self, named: &Ids) -> String {
        let mut path = String::new();
        for part in self.template.split('/').skip(1) {
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            let part = name.map_or(part, |name| {
                let found = named.get(name).map(String::as_str);
                found.unwrap_or_else(|| panic!("{self}: let `made.rs` make something for `{name}`"))
            });
            path.push_str(&format!("/{part}"));
        }
        path + &query(&self.id, named)
    }

    /// A body that is right where the path names these, with references to one's own.
    pub(crate) fn body(&self, named: &Ids, own: &Ids) -> Option<Body> {
        let (media_type, _) = self.takes.as_ref()?;
        let body = body(&self.id, named, own).unwrap_or_else(|| {
            panic!("{self} takes {media_type}: add a body that is right to `bodies.rs`")
        });
        let is_form = matches!(body, Body::Form(_));
        assert_eq!(is_form, media_type.starts_with("multipart/"), "{self}");
        Some(body)
    }

    /// A request that is right, about what the path names and with references to one's own.
    pub(crate) fn request(
        &self,
        caller: &Caller,
        named: &Ids,
        own: &Ids,
    ) -> reqwest::RequestBuilder {
        let mut request = caller.request(&self.method, &self.path(named));
        if self.is_stream {
            // From the beginning.
            request = request.header("last-event-id", "0");
        }
        match self.body(named, own) {
            Some(Body::Json(body)) => with_json(request, &body),
            Some(Body::Form(fields)) => with_form(request, &fields),
            None => request,
        }
    }
}

/// The request with a form; the field `file` is a file.
pub(crate) fn with_form(
    request: reqwest::RequestBuilder,
    fields: &[(&str, String)],
) -> reqwest::RequestBuilder {
    let boundary = "X-BOUNDARY";
    let mut form = String::new();
    for (name, text) in fields {
        let file = if *name == "file" { "; filename=\"a.jsonl\"" } else { "" };
        form.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n"
        ));
    }
    form.push_str(&format!("--{boundary}--\r\n"));
    request.header("content-type", format!("multipart/form-data; boundary={boundary}")).body(form)
}
