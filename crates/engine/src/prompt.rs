//! Prompts: templates over a case's fields, rendered into messages.

use std::collections::BTreeSet;
use std::io;

use fullbench_types::{Message, Role, TestCase, text_of};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value as TemplateValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::InputProblem;

/// Steps that rendering a template may take: what somebody sent must not keep the others from working.
const MOST_STEPS: u64 = 250_000;
/// Bytes that a message may have.
const MOST_BYTES: usize = 16 << 20;

/// The prompt of an evaluation as templates, with their content; stored with the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTemplates {
    /// The templates in the order of their messages.
    pub messages: Vec<MessageTemplate>,
    /// The case's input follows: as a user message, or as the conversation it is.
    pub then_input: bool,
    /// The user wrote a prompt, so that the input alone is not it.
    pub explicit: bool,
    /// Some model needs the prompt; false when every answer is recorded.
    pub required: bool,
}

/// One message of the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageTemplate {
    /// Where it stands: a file, or a key of the evaluation file.
    pub name: String,
    /// Who speaks.
    pub role: Role,
    /// The template's text.
    pub text: String,
    /// BLAKE3 of the text.
    pub hash: String,
}

/// A template that cannot be used.
#[derive(Debug, Clone)]
pub(crate) struct TemplateError {
    pub(crate) template: String,
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Default for PromptTemplates {
    fn default() -> Self {
        Self { messages: Vec::new(), then_input: true, explicit: false, required: true }
    }
}

impl PromptTemplates {
    /// One user message.
    #[must_use]
    pub fn of_text(name: &str, text: &str) -> Self {
        let mut templates = Self { then_input: false, explicit: true, ..Self::default() };
        templates.push(name, Role::User, text);
        templates
    }

    pub(crate) fn push(&mut self, name: &str, role: Role, text: &str) {
        let hash = fullbench_types::ContentHash::of(text.as_bytes()).to_string();
        self.messages.push(MessageTemplate {
            name: name.to_owned(),
            role,
            text: text.to_owned(),
            hash,
        });
    }

    /// The variables that the templates use, each once; a problem names the template and its line.
    pub fn check(&self) -> Result<Vec<String>, InputProblem> {
        let prompts = self.compile().map_err(|error| {
            let place = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            let problem = InputProblem::new(format!("{place}{}", error.message));
            InputProblem { hint: error.hint, ..problem.in_field(error.template) }
        })?;
        let variables = prompts.variables().into_iter().map(|(_, variable)| variable);
        Ok(variables.collect::<BTreeSet<String>>().into_iter().collect())
    }

    /// Compiles the templates.
    pub(crate) fn compile(&self) -> Result<Prompts, TemplateError> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_fuel(Some(MOST_STEPS));
        for (index, message) in self.messages.iter().enumerate() {
            environment
                .add_template_owned(index.to_string(), message.text.clone())
                .map_err(|error| describe(&message.name, &error))?;
        }
        Ok(Prompts { templates: self.clone(), environment })
    }
}

/// A text that is being written, up to its largest size.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Bounded {
    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl io::Write for Bounded {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        if self.0.len() + part.len() > MOST_BYTES {
            return Err(io::Error::other("the prompt is too long"));
        }
        self.0.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Compiled templates.
#[derive(Debug)]
pub struct Prompts {
    templates: PromptTemplates,
    environment: Environment<'static>,
}

impl Prompts {
    /// Variables the templates use, with the template that uses them: `context`, `user.name`.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let mut variables = Vec::new();
        for (index, message) in self.templates.messages.iter().enumerate() {
            let Ok(template) = self.environment.get_template(&index.to_string()) else { continue };
            let mut names: Vec<String> = template.undeclared_variables(false).into_iter().collect();
            names.sort_unstable();
            variables.extend(names.into_iter().map(|name| (message.name.clone(), name)));
        }
        variables
    }

    /// Names a template can use besides the case's fields.
    pub(crate) const GIVEN: [&'static str; 3] = ["input", "reference", "references"];

    /// The messages for a case.
    pub(crate) fn render(&self, case: &TestCase) -> Result<Vec<Message>, TemplateError> {
        let mut messages = Vec::with_capacity(self.templates.messages.len() + 1);
        if !self.templates.messages.is_empty() {
            let context = context(case);
            for (index, message) in self.templates.messages.iter().enumerate() {
                let text = self
                    .environment
                    .get_template(&index.to_string())
                    .and_then(|template| {
                        let mut text = Bounded::default();
                        template.render_captured_to(&context, &mut text)?;
                        Ok(text.into_text())
                    })
                    .map_err(|error| self.describe_for(case, &message.name, &error))?;
                messages.push(Message::new(message.role, text));
            }
        }
        if self.templates.then_input {
            match conversation(&case.input) {
                Some(conversation) => messages.extend(conversation),
                None => messages.push(Message::new(Role::User, text_of(&case.input))),
            }
        }
        Ok(messages)
    }
}

impl Prompts {
    /// The error with the names of the fields the case lacks.
    fn describe_for(
        &self,
        case: &TestCase,
        template: &str,
        error: &minijinja::Error,
    ) -> TemplateError {
        let described = describe(template, error);
        let given = |name: &str| match name {
            "input" | "references" => true,
            "reference" => !case.references.is_empty(),
            name => case.fields.contains_key(name),
        };
        let used = self.variables().into_iter().filter(|(used_by, _)| used_by == template);
        let missing: Vec<String> =
            used.filter(|(_, name)| !given(name)).map(|(_, name)| format!("`{name}`")).collect();
        if error.kind() != minijinja::ErrorKind::UndefinedError || missing.is_empty() {
            return described;
        }
        TemplateError { message: format!("the case has no {}", missing.join(", ")), ..described }
    }
}

/// The messages of an input that is a conversation.
pub(crate) fn conversation(input: &Value) -> Option<Vec<Message>> {
    let items = input.as_array().filter(|items| !items.is_empty())?;
    items.iter().map(|item| serde_json::from_value(item.clone()).ok()).collect()
}

fn context(case: &TestCase) -> TemplateValue {
    let mut values = case.fields.clone();
    values.entry("input").or_insert_with(|| case.input.clone());
    values.entry("references").or_insert_with(|| Value::Array(case.references.clone()));
    if let Some(first) = case.references.first() {
        values.entry("reference").or_insert_with(|| first.clone());
    }
    TemplateValue::from(Serde(values))
}

fn describe(template: &str, error: &minijinja::Error) -> TemplateError {
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    let hint = match error.kind() {
        minijinja::ErrorKind::UndefinedError => {
            Some("write `{{ name or \"\" }}` or `{% if name is defined %}` for a field that may be missing".to_owned())
        }
        minijinja::ErrorKind::OutOfFuel => {
            Some(format!("a template takes at most {MOST_STEPS} steps: loop over less"))
        }
        minijinja::ErrorKind::WriteFailure => {
            Some(format!("a prompt has at most {MOST_BYTES} bytes"))
        }
        minijinja::ErrorKind::SyntaxError => Some("the syntax is Jinja: `{{ field }}`, `{% if … %}`".to_owned()),
        _ => None,
    };
    TemplateError {
        template: template.to_owned(),
        line: error.line(),
        message: format!("the template fails: {}{detail}", error.kind()),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn case(fields: Value) -> TestCase {
        let Value::Object(fields) = fields else { unreachable!() };
        let input = fields.get("input").cloned().unwrap_or_default();
        TestCase { index: 0, key: "k".to_owned(), input, references: vec![], fields }
    }

    #[test]
    fn a_template_without_an_end_is_refused() {
        let endless =
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
        let large = "{% for a in range(10000) %}{{ input }}{% endfor %}";
        let input = "x".repeat(10_000);
        for (template, said) in [(endless, "steps"), (large, "bytes")] {
            let prompts = PromptTemplates::of_text("prompt", template).compile();
            let refused =
                prompts.and_then(|prompts| prompts.render(&case(json!({"input": input}))));
            let hint = refused.err().and_then(|error| error.hint).unwrap_or_default();
            assert!(hint.contains(said), "{template}: {hint}");
        }
    }

    #[test]
    fn text_is_not_escaped() {
        let prompts = PromptTemplates::of_text("prompt", "Q: {{ input }}").compile();
        let rendered =
            prompts.and_then(|prompts| prompts.render(&case(json!({"input": "a < b & \"c\""}))));
        assert_eq!(rendered.unwrap_or_default()[0].content, "Q: a < b & \"c\"");
    }

    #[test]
    fn a_conversation_follows_the_system_message() {
        let mut templates = PromptTemplates::default();
        templates.push("messages.system", Role::System, "Be brief.");
        let case = case(json!({"input": [
            {"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}, {"role": "user", "content": "?"}
        ]}));
        let rendered =
            templates.compile().and_then(|prompts| prompts.render(&case)).unwrap_or_default();
        let roles: Vec<&str> = rendered.iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "user"]);
    }

    #[test]
    fn a_check_gives_the_variables_or_the_line() {
        let right = PromptTemplates::of_text("template", "{{ b }} {{ a }}\n{{ b }}").check();
        assert_eq!(right, Ok(vec!["a".to_owned(), "b".to_owned()]));
        let wrong = PromptTemplates::of_text("template", "Hello\n{{ name }").check();
        let Err(InputProblem { field, message, .. }) = wrong else { unreachable!() };
        assert_eq!(field.as_deref(), Some("template"));
        assert!(message.starts_with("line 2: "), "{message}");
    }

    #[test]
    fn a_missing_field_is_an_error_not_an_empty_prompt() {
        let prompts = PromptTemplates::of_text("prompt", "{{ context }}").compile();
        assert!(prompts.and_then(|prompts| prompts.render(&case(json!({"input": "x"})))).is_err());
    }
}
