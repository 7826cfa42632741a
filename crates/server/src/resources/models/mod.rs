//! Models that judge: who serves them, and how they are asked.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_llm::ModelConfig;
use fullbench_store::{ModelRecord, NewModel};
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, NewId, PageQuery, PathParts, Query, page, slice};
use crate::problem::{Problem, internal};

/// Letters of a name, at most.
const MAX_NAME: usize = 255;

/// A model that judges.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoredModel")]
struct Model {
    model_id: Uuid,
    /// Who serves it.
    provider: String,
    /// The provider's name for it, or the name it was given.
    name: String,
    /// How it is asked, as in an evaluation file.
    config: Value,
    created_at: Timestamp,
}

/// A page of models.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StoredModels")]
struct Models {
    /// By provider and name.
    models: Vec<Model>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let added = "It keeps its configuration for good: judges that ask it stay what they are. Give another configuration of the \
        same model a `name` of its own.";
    vec![
        Endpoint::get("/v1/models", "list_models", Action::ReadDefinitions, list)
            .about("models", "All models that judge", "By provider and name.")
            .query::<PageQuery>()
            .gives::<Models>(200, "A page of models"),
        Endpoint::post("/v1/models", "create_model", Action::ChangeDefinitions, create)
            .about("models", "Add a model", added)
            .takes::<ModelConfig>()
            .gives::<Model>(201, "The model"),
        Endpoint::get("/v1/models/{model_id}", "get_model", Action::ReadDefinitions, get)
            .about("models", "A model", "")
            .gives::<Model>(200, "The model"),
    ]
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Models>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (shown, total, has_more) = slice(caller.store.models().await?, page);
    let models = shown.into_iter().map(Model::from).collect();
    Ok(Json(Models { models, total, has_more }))
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    Body(sent): Body<Map<String, Value>>,
) -> Result<(StatusCode, Json<Model>), Problem> {
    let checked = checked(&app, Value::Object(sent));
    let named = checked.map_err(|problem| problem.renamed("model.", ""))?;
    let NamedModel { provider, name, config } = named;
    let record = caller.store.create_model(NewModel { id, provider, name, config }).await?;
    Ok((StatusCode::CREATED, Json(record.into())))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Model>, Problem> {
    Ok(Json(caller.store.model_of_id(id).await?.into()))
}

/// A model as the store names it.
pub(crate) struct NamedModel {
    pub(crate) provider: String,
    pub(crate) name: String,
    pub(crate) config: Value,
}

/// A model that was sent, if it may be asked; a problem is in the field `model`.
pub(crate) fn checked(app: &App, sent: Value) -> Result<NamedModel, Problem> {
    let model = app.config().rules.check_model(sent)?;
    // A name of its own tells apart configurations of one model.
    let name = model.name.clone().or_else(|| model.model.clone());
    let Some(name) = name else {
        return Err(Problem::field("model.model", "the model has no name"));
    };
    if name.chars().count() > MAX_NAME {
        let field = if model.name.is_some() { "model.name" } else { "model.model" };
        return Err(Problem::field(field, format!("use at most {MAX_NAME} letters")));
    }
    let provider = model.provider.as_str().to_owned();
    let config = serde_json::to_value(&model).map_err(|error| internal(&error))?;
    Ok(NamedModel { provider, name, config })
}

/// A configuration without the names of variables that hold keys: they are the server's own matter.
pub(crate) fn without_keys(mut config: Value) -> Value {
    match &mut config {
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = without_keys(item.take()));
        }
        Value::Object(fields) => {
            fields.remove("api_key_env");
            fields.values_mut().for_each(|value| *value = without_keys(value.take()));
        }
        _ => {}
    }
    config
}

impl From<ModelRecord> for Model {
    fn from(record: ModelRecord) -> Self {
        Self {
            model_id: record.id,
            provider: record.provider,
            name: record.name,
            config: without_keys(record.config),
            created_at: record.created_at,
        }
    }
}
