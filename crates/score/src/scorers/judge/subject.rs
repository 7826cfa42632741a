//! What a judge is shown of an item, as text.

use fullbench_judge::Subject;
use fullbench_types::{TestCase, text_of};
use serde_json::Value;

use crate::scorer::Item;

/// The texts of an item.
pub(super) struct Shown {
    input: String,
    references: Vec<String>,
    context: Vec<String>,
}

impl Shown {
    /// The texts of an item whose context is in a field of the case.
    pub(super) fn new(item: &Item<'_>, context_field: &str) -> Self {
        Self {
            input: conversation(&item.case.input),
            references: item.case.references.iter().map(|one| text_of(one).into_owned()).collect(),
            context: context(item.case, context_field),
        }
    }

    /// Shows the item to a function that needs no time.
    pub(super) fn shown<T>(&self, item: &Item<'_>, look: impl FnOnce(&Subject<'_>) -> T) -> T {
        let references: Vec<&str> = self.references.iter().map(String::as_str).collect();
        let context: Vec<&str> = self.context.iter().map(String::as_str).collect();
        look(&self.subject(item, &references, &context))
    }

    /// References and context as lists of borrowed texts.
    pub(super) fn lists(&self) -> (Vec<&str>, Vec<&str>) {
        let references = self.references.iter().map(String::as_str).collect();
        (references, self.context.iter().map(String::as_str).collect())
    }

    /// The item as a judge sees it.
    pub(super) fn subject<'text>(
        &'text self,
        item: &Item<'text>,
        references: &'text [&'text str],
        context: &'text [&'text str],
    ) -> Subject<'text> {
        Subject {
            key: &item.case.key,
            input: &self.input,
            output: &item.generation.text,
            references,
            context,
            repetition: item.round,
        }
    }

    /// Asks a judge about the item. Borrowed lists of the texts live as long as the answer takes.
    pub(super) async fn with<T>(
        &self,
        item: &Item<'_>,
        ask: impl AsyncFnOnce(&Subject<'_>) -> T,
    ) -> T {
        let references: Vec<&str> = self.references.iter().map(String::as_str).collect();
        let context: Vec<&str> = self.context.iter().map(String::as_str).collect();
        ask(&self.subject(item, &references, &context)).await
    }
}

/// The passages in a field of a case: a text, or a list of them.
fn context(case: &TestCase, field: &str) -> Vec<String> {
    match case.field(field) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(passages)) => {
            passages.iter().map(|passage| text_of(passage).into_owned()).collect()
        }
        Some(passage) => vec![text_of(passage).into_owned()],
    }
}

/// An input as text; a conversation line by line, each with who speaks.
fn conversation(input: &Value) -> String {
    let Value::Array(messages) = input else { return text_of(input).into_owned() };
    let line = |message: &Value| {
        let role = message.get("role")?.as_str()?;
        Some(format!("{role}: {}", text_of(message.get("content")?)))
    };
    let lines: Option<Vec<String>> = messages.iter().map(line).collect();
    lines.map_or_else(|| input.to_string(), |lines| lines.join("\n"))
}
