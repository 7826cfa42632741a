//! The prompt of a batch.

use fullbench_llm::ModelConfig;
use fullbench_types::{ContentHash, Message, Role};
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::config::{JudgeConfig, Method};
use crate::frame::Framer;
use crate::judge::{Judge, Request};
use crate::prompts::{BATCH, environment, format_fields, quoting};
use crate::subject::Subject;

/// Hexadecimal digits of an item's id.
const ID_DIGITS: usize = 6;
/// Most tokens of a reply, however many items it judges: no model here gives more without being asked to.
const MOST_REPLY_TOKENS: u32 = 16_384;

/// How several outputs are asked about.
#[derive(Debug, Clone)]
pub(crate) struct BatchRequest {
    pub(crate) model: ModelConfig,
    format: String,
}

/// A batch as it is sent.
pub(super) struct Batch {
    pub(super) messages: Vec<Message>,
    /// The id of each subject, in the order of the subjects.
    pub(super) ids: Vec<String>,
}

/// The request of a judge that takes several outputs at a time; none for one that does not.
pub(crate) fn batch_request(config: &JudgeConfig, single: &Request) -> Option<BatchRequest> {
    if config.batch <= 1 {
        return None;
    }
    let one = single.schema.clone();
    let mut entry = one.clone();
    let id = json!({ "type": "string", "description": "the item's id, exactly as in its heading" });
    if let Some(properties) = entry.get_mut("properties").and_then(Value::as_object_mut) {
        let fields = std::mem::take(properties);
        properties.insert("id".to_owned(), id);
        properties.extend(fields);
    }
    if let Some(required) = entry.get_mut("required").and_then(Value::as_array_mut) {
        required.insert(0, Value::from("id"));
    }
    let schema = json!({
        "type": "object",
        "properties": { "judgements": { "type": "array", "items": entry } },
        "required": ["judgements"],
        "additionalProperties": false,
    });
    let mut format = format_fields(&one, "Its fields, in this order:");
    if !config.enforces_schema() {
        format.push_str(&format!("\nThe whole object satisfies this JSON Schema:\n{schema}"));
    }
    let mut model = single.model.clone();
    // The numbers of several scores cannot be told apart among log-probabilities.
    model.top_logprobs = None;
    model.max_tokens = model
        .max_tokens
        .map(|tokens| tokens.saturating_mul(config.batch).min(MOST_REPLY_TOKENS.max(tokens)));
    model.json_schema = config.enforces_schema().then_some(schema);
    Some(BatchRequest { model, format })
}

impl Batch {
    /// The messages for these subjects.
    pub(super) fn render(
        judge: &Judge,
        request: &BatchRequest,
        steps: &[String],
        subjects: &[Subject<'_>],
    ) -> Result<Self, minijinja::Error> {
        let references = |subject: &Subject<'_>| match judge.shows_references() {
            true => subject.references.iter().map(|text| (*text).to_owned()).collect(),
            false => Vec::<String>::new(),
        };
        let mut texts: Vec<&str> = Vec::new();
        for subject in subjects {
            texts.extend([subject.input, subject.output]);
            texts.extend(subject.context);
            texts.extend(subject.references);
        }
        let framer = Framer::new(&texts);
        let ids: Vec<String> = (0..subjects.len()).map(|at| id(framer.nonce(), at)).collect();
        let framed = |label: &str, texts: Vec<String>| -> Vec<String> {
            texts.iter().map(|text| framer.frame(label, text)).collect()
        };
        let items: Vec<Value> = subjects
            .iter()
            .zip(&ids)
            .map(|(subject, id)| {
                let context = subject.context.iter().map(|text| (*text).to_owned()).collect();
                json!({
                    "id": id,
                    "input": framer.frame(&format!("input-{id}"), subject.input),
                    "context": framed(&format!("context-{id}"), context),
                    "references": framed(&format!("reference-{id}"), references(subject)),
                    "output": framer.frame(&format!("output-{id}"), subject.output),
                })
            })
            .collect();
        let criterion = &judge.criterion;
        let values = json!({
            "criterion": {
                "name": criterion.name,
                "task_introduction": criterion.task_introduction,
                "evaluation_criteria": criterion.evaluation_criteria,
            },
            "scale": judge.scale,
            "levels": judge.levels,
            "steps": steps,
            "quoting": quoting(),
            "binary": judge.config.method == Method::Binary,
            "task": task(judge),
            "items": items,
            "format": request.format,
        });
        let environment = environment()?;
        let values = minijinja::Value::from(Serde(values));
        let system = environment.get_template("system")?.render(&values)?;
        let user = environment.get_template("batch")?.render(&values)?;
        let messages = vec![Message::new(Role::System, system), Message::new(Role::User, user)];
        Ok(Self { messages, ids })
    }
}

impl Judge {
    /// BLAKE3 of everything that shapes the prompt of a batch.
    pub(super) fn batch_template(&self) -> ContentHash {
        ContentHash::of_parts(&[&self.template().0, BATCH.as_bytes()])
    }
}

/// An id that rests on every text of the prompt, so that none of them can name it.
fn id(nonce: &str, at: usize) -> String {
    let hash = ContentHash::of_parts(&[b"item", nonce.as_bytes(), &(at as u64).to_le_bytes()]);
    let digits: String = hash.to_string().chars().take(ID_DIGITS).collect();
    // The position keeps ids apart whose digits happen to be the same; it is not that of the data.
    format!("{digits}{at:02}")
}

/// What is to be done for every item.
fn task(judge: &Judge) -> String {
    let scale = judge.scale;
    match judge.config.method {
        Method::Binary => "decide \"pass\" when a careful reader would accept the answer, \"fail\" when they would not, \"unsure\" when what you are given does not allow to tell; give the reason in one or two sentences first.".to_owned(),
        Method::Rubric => format!(
            "assess the answer. List what your judgement rests on, with passages quoted from the answer where there are any. Then give a number from {} to {}; use the numbers between the described ones as well.",
            scale.min, scale.max
        ),
        Method::Reference => "compare the answer with the reference, naming what agrees and what does not. Then give the number whose description fits best.".to_owned(),
        _ => "assess the answer, naming passages of the answer that your judgement rests on. Then give the number whose description fits best.".to_owned(),
    }
}
