//! Fields that nobody asked for: every body is read by its fields, and an id, an owner or a price that somebody adds is refused.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::bodies::Body;
use crate::common::{answer, with_json};
use crate::operations::{Operation, Rule, operations, with_form};
use crate::seen::{assert_same, everything};
use crate::world::World;

on_every_backend!(no_field_is_taken_that_is_not_asked_for);

/// What nobody asks for.
const FIELD: &str = "organization_id";

async fn no_field_is_taken_that_is_not_asked_for(place: Place) {
    let world = World::start(place).await;
    let before = everything(&world.home).await;
    let schemas = fullbench_server::openapi()["components"]["schemas"].take();
    let (mut bodies, mut inner) = (0, 0);
    for operation in operations() {
        let ids = &world.home.ids;
        match operation.body(ids, ids) {
            None => continue,
            Some(Body::Form(mut fields)) => {
                fields.push((FIELD, foreign().to_string()));
                let request = request(&operation, &world);
                is_refused(&operation, FIELD, with_form(request, &fields)).await;
            }
            Some(Body::Json(body)) => {
                let mut more = body.clone();
                more[FIELD] = foreign();
                let sent = with_json(request(&operation, &world), &more);
                is_refused(&operation, FIELD, sent).await;
                for (name, fields) in fields_within(&operation, &schemas, &body) {
                    let mut more = body.clone();
                    more[&name] = fields;
                    let sent = with_json(request(&operation, &world), &more);
                    is_refused(&operation, &name, sent).await;
                    inner += 1;
                }
            }
        }
        bodies += 1;
    }
    assert!(bodies >= 42 && inner >= 18, "{bodies} bodies and {inner} fields of them");
    assert_same(&world.home, &before).await;
}

fn foreign() -> Value {
    json!("00000000-0000-0000-0000-000000000001")
}

/// A request of who may do it, about something that there is.
fn request(operation: &Operation, world: &World) -> reqwest::RequestBuilder {
    let owner = world.home.owner(operation.rule == Rule::Account);
    owner.caller.request(&operation.method, &operation.path(&world.home.ids))
}

async fn is_refused(operation: &Operation, place: &str, request: reqwest::RequestBuilder) {
    let (status, problem) = answer(request).await;
    let is_named = problem.to_string().contains(FIELD);
    assert!(status == 422 && is_named, "{operation}, `{place}`: {status} {problem}");
}

/// Fields of a body that have fields of their own, which are known by name, each with one more than that.
fn fields_within(operation: &Operation, schemas: &Value, body: &Value) -> Vec<(String, Value)> {
    let (_, schema) = operation.takes.as_ref().unwrap();
    // What says nothing of other fields means to take none: it is the test that finds out.
    let has_names = |schema: &Value| {
        let schema = resolved(schema, schemas);
        schema["properties"].is_object() && schema["additionalProperties"] != json!(true)
    };
    let mut found = Vec::new();
    for (name, field) in resolved(schema, schemas)["properties"].as_object().into_iter().flatten() {
        let kinds = field["anyOf"].as_array().map_or(vec![field], |kinds| kinds.iter().collect());
        if kinds.into_iter().any(has_names) {
            let mut more = Value::Object(body[name].as_object().cloned().unwrap_or_default());
            more[FIELD] = foreign();
            found.push((name.clone(), more));
        } else if has_names(&field["items"]) {
            found.push((name.clone(), json!([{ FIELD: foreign() }])));
        }
    }
    found
}

fn resolved<'schemas>(schema: &'schemas Value, schemas: &'schemas Value) -> &'schemas Value {
    let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
    name.map_or(schema, |name| &schemas[name])
}
