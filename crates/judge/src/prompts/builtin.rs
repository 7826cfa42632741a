//! The built-in templates and schemas, from the files in `prompts/`.

use serde_json::Value;

use super::{Prompt, PromptKind};

/// What a judge is told about frames.
pub(super) const QUOTING: &str = include_str!("../../prompts/quoting.txt");
/// The criterion with its scale; templates may include it.
pub(super) const CRITERION: &str = include_str!("../../prompts/criterion.jinja");
/// Input, context and references; templates may include it.
pub(super) const BACKGROUND: &str = include_str!("../../prompts/background.jinja");

/// Several answers in one prompt.
pub(crate) const BATCH: &str = include_str!("../../prompts/batch.user.jinja");
/// What every judge is.
pub(super) const JUDGE: &str = include_str!("../../prompts/judge.system.jinja");
const SCORE: &str = include_str!("../../prompts/g_eval.schema.json");

/// The built-in prompt of a kind.
pub(super) fn prompt(kind: PromptKind) -> Prompt {
    let (system, user, schema) = match kind {
        PromptKind::GEval => (JUDGE, include_str!("../../prompts/g_eval.user.jinja"), SCORE),
        PromptKind::GEvalSteps => (
            include_str!("../../prompts/g_eval_steps.system.jinja"),
            include_str!("../../prompts/g_eval_steps.user.jinja"),
            include_str!("../../prompts/g_eval_steps.schema.json"),
        ),
        PromptKind::Rubric => (
            JUDGE,
            include_str!("../../prompts/rubric.user.jinja"),
            include_str!("../../prompts/rubric.schema.json"),
        ),
        PromptKind::Binary => (
            JUDGE,
            include_str!("../../prompts/binary.user.jinja"),
            include_str!("../../prompts/binary.schema.json"),
        ),
        PromptKind::Reference => (JUDGE, include_str!("../../prompts/reference.user.jinja"), SCORE),
        PromptKind::ClaimsSplit => (
            include_str!("../../prompts/claims_split.system.jinja"),
            include_str!("../../prompts/claims_split.user.jinja"),
            include_str!("../../prompts/claims_split.schema.json"),
        ),
        PromptKind::ClaimsCheck => (
            include_str!("../../prompts/claims_check.system.jinja"),
            include_str!("../../prompts/claims_check.user.jinja"),
            include_str!("../../prompts/claims_check.schema.json"),
        ),
        PromptKind::Pairwise => (
            JUDGE,
            include_str!("../../prompts/pairwise.user.jinja"),
            include_str!("../../prompts/pairwise.schema.json"),
        ),
    };
    // A test reads every file; a schema that is no JSON would be null and refused by the model's configuration.
    let schema = serde_json::from_str(schema).unwrap_or(Value::Null);
    Prompt { system: system.to_owned(), user: user.to_owned(), schema }
}
