//! Versions of a prompt: one template, or messages; numbered, hashed, never changed.

use axum::http::StatusCode;
use axum::response::Json;
use fullbench_engine::{MessageTemplates, PromptTemplates};
use fullbench_store::{NewPromptVersion, PromptContent, PromptVersionRecord};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{TAG, check_description};
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{Body, NewId, PageQuery, PathParts, Query, has_more, page};
use crate::problem::{Problem, internal};

/// Letters of a template, at most.
const MAX_TEMPLATE: usize = 200_000;
/// Examples among messages, at most.
const MAX_EXAMPLES: usize = 100;

/// A text of a prompt to be added: `template` or `messages`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewPromptVersion")]
struct Wanted {
    /// One message of the user as a Jinja template over a case's fields: `{{ input }}`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200_000))]
    template: Option<String>,
    /// Templates by role, as in an evaluation file.
    #[serde(default)]
    messages: Option<MessageTemplates>,
    /// What is new in it.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    description: Option<String>,
}

/// A version of a prompt.
#[derive(Serialize, JsonSchema)]
struct PromptVersion {
    prompt_version_id: Uuid,
    prompt_id: Uuid,
    /// 1 for the first.
    version_number: u32,
    /// One message of the user as a template; null where there are `messages`.
    template: Option<String>,
    /// Templates by role; null where there is a `template`.
    messages: Option<MessageTemplates>,
    /// The variables that the templates use: fields of a case, `input`, `reference`, `references`.
    variables: Vec<String>,
    /// BLAKE3 of the template, or of the messages as JSON, in hexadecimal digits.
    content_hash: String,
    /// What is new in it.
    description: Option<String>,
    created_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
    /// The text is gone with the key that it was sealed with: there is neither `template` nor `messages`.
    texts_deleted: bool,
}

/// A page of versions.
#[derive(Serialize, JsonSchema)]
struct PromptVersions {
    /// The newest first.
    versions: Vec<PromptVersion>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let all = "/v1/prompts/{prompt_id}/versions";
    let one = "/v1/prompts/{prompt_id}/versions/{version_number}";
    vec![
        Endpoint::post(all, "create_prompt_version", Action::ChangeDefinitions, create)
            .about(TAG, "Add a version of a prompt", "It gets the next number, and never changes.")
            .takes::<Wanted>()
            .gives::<PromptVersion>(201, "The version"),
        Endpoint::get(all, "list_prompt_versions", Action::ReadDefinitions, list)
            .about(TAG, "All versions of a prompt", "The newest first.")
            .query::<PageQuery>()
            .gives::<PromptVersions>(200, "A page of versions"),
        Endpoint::get(one, "get_prompt_version", Action::ReadDefinitions, get)
            .about(TAG, "A version of a prompt", "")
            .gives::<PromptVersion>(200, "The version")
            .refuses(&[410]),
    ]
}

async fn create(
    caller: Caller,
    PathParts(prompt): PathParts<Uuid>,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<PromptVersion>), Problem> {
    check_description(wanted.description.as_deref())?;
    let content = content(wanted.template, wanted.messages)?;
    let (description, created_by) = (wanted.description, Some(caller.name));
    let new = NewPromptVersion { id, prompt, content, description, created_by };
    let record = caller.store.add_prompt_version(new).await?;
    Ok((StatusCode::CREATED, Json(shown(record)?)))
}

async fn list(
    caller: Caller,
    PathParts(prompt): PathParts<Uuid>,
    Query(query): Query<PageQuery>,
) -> Result<Json<PromptVersions>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (records, total) = caller.store.prompt_versions(prompt, page).await?;
    let versions = records.into_iter().map(shown).collect::<Result<_, _>>()?;
    Ok(Json(PromptVersions { versions, total, has_more: has_more(page, total) }))
}

async fn get(
    caller: Caller,
    PathParts((prompt, number)): PathParts<(Uuid, u32)>,
) -> Result<Json<PromptVersion>, Problem> {
    Ok(Json(shown(caller.store.prompt_version(prompt, number).await?)?))
}

/// What is to be kept, if it can be rendered.
fn content(
    template: Option<String>,
    messages: Option<MessageTemplates>,
) -> Result<PromptContent, Problem> {
    match (template, messages) {
        (Some(_), Some(_)) => {
            Err(Problem::field("messages", "there are both `template` and `messages`")
                .hint("keep one of them"))
        }
        (None, None) => Err(Problem::field("template", "there is neither a template nor messages")
            .hint("give `template`, for example \"Answer briefly: {{ input }}\"")),
        (Some(template), None) => {
            let templates = PromptTemplates::of_text("template", &template);
            check(&templates)?;
            Ok(PromptContent::Template(template))
        }
        (None, Some(messages)) => {
            if messages.examples.len() > MAX_EXAMPLES {
                let message = format!("use at most {MAX_EXAMPLES} examples");
                return Err(Problem::field("messages.examples", message));
            }
            let templates = PromptTemplates::of_messages(&messages);
            if templates.messages.is_empty() {
                return Err(Problem::field("messages", "there are no messages")
                    .hint("give `system`, `user` or `examples`"));
            }
            check(&templates)?;
            let messages = serde_json::to_value(&messages).map_err(|error| internal(&error))?;
            Ok(PromptContent::Messages(messages))
        }
    }
}

fn check(templates: &PromptTemplates) -> Result<(), Problem> {
    for message in &templates.messages {
        let length = message.text.chars().count();
        if length == 0 || length > MAX_TEMPLATE {
            let problem = format!("a template has 1 to {MAX_TEMPLATE} letters");
            return Err(Problem::field(&message.name, problem));
        }
        if message.text.contains('\0') {
            return Err(Problem::field(&message.name, "a template has no place for U+0000"));
        }
    }
    templates.check().map(drop).map_err(|problem| vec![problem].into())
}

fn shown(record: PromptVersionRecord) -> Result<PromptVersion, Problem> {
    let texts_deleted = record.content == PromptContent::Deleted;
    let (template, messages) = match record.content {
        PromptContent::Template(template) => (Some(template), None),
        PromptContent::Messages(messages) => {
            let messages: MessageTemplates =
                serde_json::from_value(messages).map_err(|error| internal(&error))?;
            (None, Some(messages))
        }
        PromptContent::Deleted => (None, None),
    };
    let templates = match (&template, &messages) {
        (Some(template), _) => PromptTemplates::of_text("template", template),
        (_, Some(messages)) => PromptTemplates::of_messages(messages),
        (None, None) => PromptTemplates::default(),
    };
    Ok(PromptVersion {
        prompt_version_id: record.id,
        prompt_id: record.prompt,
        version_number: record.number,
        template,
        messages,
        // A newer version of the program may read templates otherwise; they are shown all the same.
        variables: templates.check().unwrap_or_default(),
        content_hash: record.content_hash.to_string(),
        description: record.description,
        created_at: record.created_at,
        created_by: record.created_by,
        texts_deleted,
    })
}
