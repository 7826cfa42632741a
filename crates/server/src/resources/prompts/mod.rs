//! Prompts: named, with a description; their texts are in versions that never change.

mod versions;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{NewPrompt, PromptChange, PromptRecord};
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::audit::AuditNote;
use crate::extract::{
    Body, Etagged, IfMatch, NewId, PathParts, Query, given, has_more, page, usual_limit,
};
use crate::problem::Problem;

const TAG: &str = "prompts";
/// Letters of a name, at most.
const MAX_NAME: usize = 255;
/// Letters of a description, at most.
const MAX_DESCRIPTION: usize = 10_000;

/// A prompt to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewPrompt")]
struct Wanted {
    /// A name that no other prompt of the organization has.
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: String,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    description: Option<String>,
}

/// What of a prompt to change; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PromptChange")]
struct Change {
    /// Another name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 255), regex(pattern = r"\S"))]
    name: Option<String>,
    /// Another description; null removes it.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = 10_000))]
    description: Option<Option<String>>,
}

/// Which prompts to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PromptsQuery")]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// With this name.
    #[serde(default)]
    #[schemars(length(max = 255))]
    name: Option<String>,
}

/// A named prompt; its texts are in its versions.
#[derive(Serialize, JsonSchema)]
struct Prompt {
    prompt_id: Uuid,
    name: String,
    /// What it is for.
    description: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
}

/// A page of prompts.
#[derive(Serialize, JsonSchema)]
struct Prompts {
    /// The newest first.
    prompts: Vec<Prompt>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/prompts/{prompt_id}";
    let mut endpoints = vec![
        Endpoint::post("/v1/prompts", "create_prompt", Action::ChangeDefinitions, create)
            .about(TAG, "Make a prompt", "Its texts are added as versions.")
            .takes::<Wanted>()
            .gives::<Prompt>(201, "The prompt")
            .with_etag(),
        Endpoint::get("/v1/prompts", "list_prompts", Action::ReadDefinitions, list)
            .about(TAG, "All prompts", "The newest first.")
            .query::<ListQuery>()
            .gives::<Prompts>(200, "A page of prompts"),
        Endpoint::get(one, "get_prompt", Action::ReadDefinitions, get)
            .about(TAG, "A prompt", "")
            .gives::<Prompt>(200, "The prompt")
            .with_etag(),
        Endpoint::patch(one, "change_prompt", Action::ChangeDefinitions, change)
            .about(TAG, "Change the name or the description", "")
            .takes::<Change>()
            .gives::<Prompt>(200, "The changed prompt")
            .with_etag()
            .if_match(),
    ];
    endpoints.extend(versions::endpoints());
    endpoints
}

async fn create(
    caller: Caller,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    check(Some(&wanted.name), wanted.description.as_deref())?;
    let Wanted { name, description } = wanted;
    let new = NewPrompt { id, name, description, created_by: Some(caller.name) };
    let record = caller.store.create_prompt(new).await?;
    Ok((StatusCode::CREATED, shown(record)).into_response())
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Prompts>, Problem> {
    let page = page(query.limit, query.offset)?;
    if query.name.as_ref().is_some_and(|name| name.chars().count() > MAX_NAME) {
        return Err(Problem::field("name", format!("use at most {MAX_NAME} letters")));
    }
    let (records, total) = caller.store.prompts(query.name.as_deref(), page).await?;
    let prompts = records.into_iter().map(Prompt::from).collect();
    Ok(Json(Prompts { prompts, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Etagged<Prompt>, Problem> {
    Ok(shown(caller.store.prompt(id).await?))
}

async fn change(
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
    Body(change): Body<Change>,
) -> Result<Etagged<Prompt>, Problem> {
    let Change { name, description } = change;
    check(name.as_deref(), description.as_ref().and_then(Option::as_deref))?;
    let change = PromptChange { name, description };
    note.before(&Prompt::from(caller.store.prompt(id).await?));
    let changed = caller.store.change_prompt(id, seen, change).await?;
    note.after(&Prompt::from(changed.clone()));
    Ok(shown(changed))
}

fn check(name: Option<&str>, description: Option<&str>) -> Result<(), Problem> {
    if let Some(name) = name
        && (name.trim().is_empty() || name.chars().count() > MAX_NAME)
    {
        return Err(Problem::field("name", format!("a name has 1 to {MAX_NAME} letters")));
    }
    check_description(description)
}

fn check_description(description: Option<&str>) -> Result<(), Problem> {
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        let message = format!("use at most {MAX_DESCRIPTION} letters");
        return Err(Problem::field("description", message));
    }
    Ok(())
}

fn shown(record: PromptRecord) -> Etagged<Prompt> {
    Etagged(record.revision, record.into())
}

impl From<PromptRecord> for Prompt {
    fn from(record: PromptRecord) -> Self {
        Self {
            prompt_id: record.id,
            name: record.name,
            description: record.description,
            created_at: record.created_at,
            updated_at: record.updated_at,
            created_by: record.created_by,
        }
    }
}
