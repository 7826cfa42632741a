//! The OpenAPI 3.1 document, made of the endpoints and the schemas of their types.

use axum::http::StatusCode;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::endpoint::{Answer, Endpoint};
use crate::access::Rule;
use crate::problem::{KINDS, ProblemDocument};

/// The document of these endpoints.
pub(crate) fn openapi(endpoints: &[Endpoint]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    let mut tags: Vec<&str> = Vec::new();
    for endpoint in endpoints {
        if !tags.contains(&endpoint.tag) {
            tags.push(endpoint.tag);
        }
        let operation = operation(endpoint, &mut generator);
        let path = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        path[endpoint.method] = operation;
    }
    generator.subschema_for::<ProblemDocument>();
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Fullbench",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Evaluations of language models: data sets, runs, judges, and how sure their numbers are.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "security": [{ "key": [] }, { "session": [] }],
        "tags": tags.iter().map(|tag| json!({ "name": tag })).collect::<Vec<_>>(),
        "paths": paths,
        "x-problems": KINDS.iter().map(|(code, status, title)| {
            json!({ "code": code, "status": status.as_u16(), "title": title })
        }).collect::<Vec<_>>(),
        "components": {
            "securitySchemes": {
                "operator": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The token of who runs the server",
                },
                "key": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key of your organization: `Authorization: Bearer fb_…`",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "fullbench",
                    "description": "The cookie of POST /v1/session (`__Host-fullbench` by TLS). Requests that change something need the header `X-CSRF-Token` too.",
                },
            },
            "schemas": schemas,
        },
    })
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": endpoint.id,
        "tags": [endpoint.tag],
        "summary": endpoint.summary,
    });
    if !endpoint.description.is_empty() {
        operation["description"] = json!(endpoint.description);
    }
    match endpoint.rule {
        Rule::Public => operation["security"] = json!([]),
        Rule::Account => operation["security"] = json!([{ "session": [] }]),
        Rule::Needs(action) => operation["x-action"] = json!(action),
        Rule::Operator => {
            operation["security"] = json!([{ "operator": [] }, {}]);
            operation["x-rule"] = json!("operator");
        }
    }
    let parameters = parameters(endpoint, generator);
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    if let Some(body) = &endpoint.body {
        let schema = body.schema.map(|schema| schema(generator));
        operation["requestBody"] = json!({
            "required": true,
            "content": { body.media_type: { "schema": schema } },
        });
    }
    let mut responses = Map::new();
    for answer in &endpoint.answers {
        add_answer(&mut responses, answer, generator);
    }
    for status in &endpoint.refusals {
        let about = StatusCode::from_u16(*status).ok().and_then(|status| status.canonical_reason());
        let schema = generator.subschema_for::<ProblemDocument>();
        let response = json!({
            "description": about.unwrap_or("Refused"),
            "content": { "application/problem+json": { "schema": schema } },
        });
        responses.entry(status.to_string()).or_insert(response);
    }
    operation["responses"] = Value::Object(responses);
    operation
}

fn add_answer(
    responses: &mut Map<String, Value>,
    answer: &Answer,
    generator: &mut SchemaGenerator,
) {
    let entry = responses
        .entry(answer.status.to_string())
        .or_insert_with(|| json!({ "description": answer.about }));
    if let Some(content) = &answer.content {
        let described = match content.schema {
            Some(schema) => json!({ "schema": schema(generator) }),
            None => json!({}),
        };
        if entry.get("content").is_none() {
            entry["content"] = json!({});
        }
        entry["content"][content.media_type] = described;
    }
    if answer.has_etag {
        entry["headers"] = json!({
            "ETag": { "description": "The revision, for `If-Match`.", "schema": { "type": "string" } },
        });
    }
}

fn parameters(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Vec<Value> {
    let mut parameters = Vec::new();
    for part in endpoint.path.split('/') {
        let Some(name) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
            continue;
        };
        let schema = match name {
            "version_number" => json!({ "type": "integer", "minimum": 1, "maximum": i32::MAX }),
            name if name.ends_with("_id") => json!({ "type": "string", "format": "uuid" }),
            _ => json!({ "type": "string", "minLength": 1 }),
        };
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    if let Some(query) = endpoint.query {
        // Parameters are the fields of the type itself, not of a reference to it.
        let schema = query(generator);
        parameters.extend(query_parameters(&resolved(schema, generator)));
    }
    let header = |name: &str, description: &str, most: usize| {
        json!({ "name": name, "in": "header", "required": false, "description": description,
            "schema": { "type": "string", "minLength": 1, "maxLength": most } })
    };
    if endpoint.is_idempotent_by_key {
        let about = "A word of your own for this request: sent again, it is carried out once.";
        parameters.push(header("Idempotency-Key", about, crate::extract::MAX_KEY));
    }
    if endpoint.takes_if_match {
        let about = "The `ETag` that was seen: a change meanwhile is refused with 412.";
        let mut parameter = header("If-Match", about, 40);
        parameter["schema"]["pattern"] = json!("^(\"[0-9]{1,10}\"|\\*)$");
        parameters.push(parameter);
    }
    if endpoint.takes_last_event_id {
        let about = "The id of the last event that was received: what came after it follows.";
        let mut parameter = header("Last-Event-ID", about, 20);
        parameter["schema"]["pattern"] = json!("^[0-9]{1,18}$");
        parameters.push(parameter);
    }
    parameters
}

fn resolved(schema: Schema, generator: &SchemaGenerator) -> Value {
    let schema = schema.to_value();
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return schema };
    let name = reference.rsplit('/').next().unwrap_or_default();
    generator.definitions().get(name).cloned().unwrap_or(schema)
}

fn query_parameters(schema: &Value) -> Vec<Value> {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let Some(fields) = schema["properties"].as_object() else { return Vec::new() };
    let parameter = |(name, field): (&String, &Value)| {
        let mut field = field.clone();
        let description = field.as_object_mut().and_then(|field| field.remove("description"));
        without_null(&mut field);
        let is_required = required.contains(&name.as_str());
        let mut parameter =
            json!({ "name": name, "in": "query", "required": is_required, "schema": field });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter
    };
    fields.iter().map(parameter).collect()
}

/// A parameter that is not given is left out, never null.
fn without_null(schema: &mut Value) {
    if let Some(kinds) = schema["type"].as_array() {
        let kinds: Vec<Value> = kinds.iter().filter(|kind| *kind != "null").cloned().collect();
        schema["type"] = match kinds.as_slice() {
            [one] => one.clone(),
            _ => json!(kinds),
        };
    }
    if let Some(kinds) = schema["anyOf"].as_array() {
        let mut kinds: Vec<Value> =
            kinds.iter().filter(|kind| kind["type"] != "null").cloned().collect();
        if kinds.len() == 1 {
            *schema = kinds.remove(0);
        }
    }
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
}
