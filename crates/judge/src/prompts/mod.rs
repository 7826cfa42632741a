//! Prompts of judges: templates beside the schema of their reply, which the user may replace.
//!
//! A template gets the criterion and the framed texts as values. Values are put in as they are and never rendered themselves, so
//! that template syntax in a judged text means nothing.

mod builtin;
mod check;
mod format;

use std::collections::BTreeMap;
use std::fmt;

use fullbench_types::{ContentHash, Criterion, Message, Role, RubricLevel, Scale};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value as TemplateValue};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(crate) use builtin::BATCH;
pub(crate) use format::{format_fields, format_text, schema_for};

use crate::frame::Framer;

/// Steps that rendering a prompt may take: what somebody sent must not keep the others from working.
const MOST_STEPS: u64 = 250_000;

/// The requests judges make, each with a prompt of its own.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// A number by a criterion, its rubric and steps.
    GEval,
    /// The steps of a criterion.
    GEvalSteps,
    /// A number from 0 to 100 with feedback and evidence.
    Rubric,
    /// Pass, fail or unsure.
    Binary,
    /// A number against a reference.
    Reference,
    /// The claims of an answer.
    ClaimsSplit,
    /// One claim against the context.
    ClaimsCheck,
    /// The better of two answers.
    Pairwise,
}

impl PromptKind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::GEval,
        Self::GEvalSteps,
        Self::Rubric,
        Self::Binary,
        Self::Reference,
        Self::ClaimsSplit,
        Self::ClaimsCheck,
        Self::Pairwise,
    ];

    /// The word in files and stored replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GEval => "g_eval",
            Self::GEvalSteps => "g_eval_steps",
            Self::Rubric => "rubric",
            Self::Binary => "binary",
            Self::Reference => "reference",
            Self::ClaimsSplit => "claims_split",
            Self::ClaimsCheck => "claims_check",
            Self::Pairwise => "pairwise",
        }
    }
}

impl fmt::Display for PromptKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One prompt as templates, with the schema of the reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Template of the system message.
    pub system: String,
    /// Template of the user message.
    pub user: String,
    /// JSON Schema of the reply; the numbers of the scale are filled in.
    pub schema: Value,
}

impl Prompt {
    /// BLAKE3 of everything that shapes the prompt: templates, what they include, schema.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let schema = self.schema.to_string();
        ContentHash::of_parts(&[
            self.system.as_bytes(),
            self.user.as_bytes(),
            schema.as_bytes(),
            builtin::QUOTING.as_bytes(),
            builtin::CRITERION.as_bytes(),
            builtin::BACKGROUND.as_bytes(),
        ])
    }
}

/// Templates a user puts in the place of built-in ones. The schema stays: the reply is read by it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptOverride {
    /// Template of the system message; the built-in one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Template of the user message; the built-in one unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
}

/// A template that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {part} template of `{prompt}`{}: {message}", at_line(*line))]
pub struct PromptError {
    /// Which prompt.
    pub prompt: PromptKind,
    /// `system` or `user`.
    pub part: &'static str,
    /// The line, counted from 1, where it is known.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

fn at_line(line: Option<usize>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

/// What a template is given besides the framed texts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'judge> {
    pub(crate) criterion: &'judge Criterion,
    pub(crate) scale: Scale,
    pub(crate) levels: &'judge [RubricLevel],
    pub(crate) steps: &'judge [String],
    pub(crate) format: &'judge str,
}

/// A text or a list of texts to be framed, under the name templates know it by.
#[derive(Debug, Clone)]
pub(crate) enum Slot<'text> {
    One(&'static str, &'text str),
    Many(&'static str, &'static str, Vec<&'text str>),
}

/// The prompts of a judge, compiled.
#[derive(Debug, Clone)]
pub struct PromptSet {
    prompts: BTreeMap<PromptKind, (Prompt, Environment<'static>)>,
}

impl PromptSet {
    /// The built-in prompts.
    ///
    /// # Errors
    /// Never for the texts that are there; a template that does not compile is told as one of the user would be.
    pub fn builtin() -> Result<Self, PromptError> {
        let mut prompts = BTreeMap::new();
        for kind in PromptKind::ALL {
            let prompt = builtin::prompt(kind);
            let environment = compiled(kind, &prompt)?;
            prompts.insert(kind, (prompt, environment));
        }
        Ok(Self { prompts })
    }

    /// Puts templates of the user in the place of built-in ones, once they are checked: they compile, use what there is,
    /// and contain every text of the prompt in its frame.
    ///
    /// # Errors
    /// Says which template is wrong, where, and what to do.
    pub fn replace(&mut self, kind: PromptKind, own: &PromptOverride) -> Result<(), PromptError> {
        let mut prompt = builtin::prompt(kind);
        if let Some(system) = &own.system {
            prompt.system.clone_from(system);
        }
        if let Some(user) = &own.user {
            prompt.user.clone_from(user);
        }
        let environment = compiled(kind, &prompt)?;
        self.prompts.insert(kind, (prompt, environment));
        check::check(self, kind)
    }

    /// The prompt of a kind.
    #[must_use]
    pub fn prompt(&self, kind: PromptKind) -> Option<&Prompt> {
        self.prompts.get(&kind).map(|(prompt, _)| prompt)
    }

    /// The messages of a prompt.
    pub(crate) fn render(
        &self,
        kind: PromptKind,
        given: &Given<'_>,
        slots: &[Slot<'_>],
    ) -> Result<Vec<Message>, PromptError> {
        let values = values(given, slots);
        let mut messages = Vec::with_capacity(2);
        for (part, role) in [("system", Role::System), ("user", Role::User)] {
            let environment = self.prompts.get(&kind).map(|(_, environment)| environment);
            let template = environment.map(|environment| environment.get_template(part));
            let text = match template {
                Some(template) => template.and_then(|template| template.render(&values)),
                None => continue,
            };
            let text = text.map_err(|error| describe(kind, part, &error))?;
            messages.push(Message::new(role, text));
        }
        Ok(messages)
    }
}

/// What the templates see.
fn values(given: &Given<'_>, slots: &[Slot<'_>]) -> TemplateValue {
    let texts: Vec<&str> = slots
        .iter()
        .flat_map(|slot| match slot {
            Slot::One(_, text) => std::slice::from_ref(text).iter(),
            Slot::Many(_, _, texts) => texts.iter(),
        })
        .copied()
        .collect();
    let framer = Framer::new(&texts);
    let mut values = Map::new();
    for slot in slots {
        match slot {
            Slot::One(name, text) => {
                let label = name.replace('_', "-");
                values.insert((*name).to_owned(), Value::from(framer.frame(&label, text)));
            }
            Slot::Many(name, label, texts) => {
                let framed = texts.iter().enumerate();
                let framed = framed
                    .map(|(index, text)| framer.frame(&format!("{label}-{}", index + 1), text));
                values.insert((*name).to_owned(), framed.collect::<Vec<_>>().into());
            }
        }
    }
    let criterion = given.criterion;
    values.insert(
        "criterion".to_owned(),
        json!({
            "name": criterion.name,
            "task_introduction": criterion.task_introduction,
            "evaluation_criteria": criterion.evaluation_criteria,
        }),
    );
    values.insert("scale".to_owned(), json!(given.scale));
    values.insert("levels".to_owned(), json!(given.levels));
    values.insert("steps".to_owned(), json!(given.steps));
    values.insert("quoting".to_owned(), Value::from(quoting()));
    values.insert("format".to_owned(), Value::from(given.format));
    TemplateValue::from(Serde(values))
}

/// What a judge is told about frames.
pub(crate) fn quoting() -> &'static str {
    builtin::QUOTING.trim_end()
}

/// The templates of a batch: `system` and `batch`.
pub(crate) fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = bare_environment()?;
    for (name, text) in
        [("criterion", builtin::CRITERION), ("system", builtin::JUDGE), ("batch", builtin::BATCH)]
    {
        environment.add_template(name, text.trim_end())?;
    }
    Ok(environment)
}

/// An environment in which every name must be known and nothing is escaped.
fn bare_environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(MOST_STEPS));
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(syntax);
    Ok(environment)
}

fn compiled(kind: PromptKind, prompt: &Prompt) -> Result<Environment<'static>, PromptError> {
    let mut environment = bare_environment().map_err(|error| describe(kind, "system", &error))?;
    let templates = [
        ("criterion", builtin::CRITERION.trim_end()),
        ("background", builtin::BACKGROUND.trim_end()),
        ("system", prompt.system.trim_end()),
        ("user", prompt.user.trim_end()),
    ];
    for (name, text) in templates {
        let part = if name == "user" { "user" } else { "system" };
        environment
            .add_template_owned(name.to_owned(), text.to_owned())
            .map_err(|error| describe(kind, part, &error))?;
    }
    Ok(environment)
}

fn describe(prompt: PromptKind, part: &'static str, error: &minijinja::Error) -> PromptError {
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let hint = match error.kind() {
        minijinja::ErrorKind::UndefinedError => format!(
            "a template of `{prompt}` has {}",
            check::names(prompt)
                .iter()
                .map(|name| format!("`{name}`"))
                .collect::<Vec<_>>()
                .join(", ")
        ),
        minijinja::ErrorKind::TemplateNotFound => {
            "a template can include `criterion` and `background`".to_owned()
        }
        _ => "the syntax is Jinja: `{{ output }}`, `{% if … %}`".to_owned(),
    };
    PromptError {
        prompt,
        part,
        line: error.line(),
        message: format!("{}{detail}", error.kind()),
        hint,
    }
}
