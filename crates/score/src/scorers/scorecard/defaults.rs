//! The criteria of a case that names none, by the type of its task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::card::Bands;
use super::criterion::CardCriterion;
use crate::scorers::composite::NestedScorer;

/// What kind of task a case is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskType {
    /// Code is to be written.
    Coding,
    /// A conclusion is to be reached and explained.
    Reasoning,
    /// Anything else.
    #[default]
    General,
}

impl TaskType {
    pub(super) const ALL: [Self; 3] = [Self::Coding, Self::Reasoning, Self::General];

    /// The type that a case's field says.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "coding" | "code" => Some(Self::Coding),
            "reasoning" => Some(Self::Reasoning),
            "general" => Some(Self::General),
            _ => None,
        }
    }
}

/// A criterion, or why it cannot be scored.
pub(super) enum Default {
    Scored(CardCriterion),
    Unavailable {
        name: &'static str,
        weight: f64,
        reason: &'static str,
    },
    /// The share of the patterns in the case's `constraints` that the output matches.
    Constraints {
        name: &'static str,
        weight: f64,
    },
}

/// The criteria of a type of task; those that a judge scores need its model.
pub(super) fn criteria(task: TaskType, model: Option<&Value>) -> Vec<Default> {
    match task {
        TaskType::Coding => vec![
            Default::Unavailable {
                name: "correctness",
                weight: 0.5,
                reason: "code is not run yet: add a criterion of your own that compares its output",
            },
            judged(
                "code_quality",
                0.3,
                "How good the code is to work with, apart from whether it is correct: readability, maintainability, efficiency.",
                model,
            ),
            Default::Constraints { name: "format_compliance", weight: 0.2 },
        ],
        TaskType::Reasoning => vec![
            judged(
                "logical_correctness",
                0.6,
                "Whether the reasoning is logically sound: the premises are those of the task, each step follows, the conclusion is reached.",
                model,
            ),
            judged(
                "explanation_clarity",
                0.4,
                "Whether the explanation is clear and well structured: a reader can follow each step without guessing.",
                model,
            ),
        ],
        TaskType::General => {
            vec![scored("general_quality", 1.0, json!("semantic_similarity"))]
        }
    }
}

fn judged(name: &'static str, weight: f64, criteria: &str, model: Option<&Value>) -> Default {
    let Some(model) = model else {
        let reason = "a judge scores this: give the scorecard a `model`";
        return Default::Unavailable { name, weight, reason };
    };
    let criterion = json!({
        "name": name,
        "task_introduction": "You will be given a task and an answer to it.",
        "evaluation_criteria": criteria,
        "scale": { "min": 0, "max": 100 },
    });
    scored(name, weight, json!({ "type": "rubric", "criterion": criterion, "model": model }))
}

fn scored(name: &'static str, weight: f64, scorer: Value) -> Default {
    match serde_json::from_value(scorer) {
        Ok(config) => Default::Scored(CardCriterion {
            name: name.to_owned(),
            weight,
            max_score: 100.0,
            scorer: NestedScorer(config),
            person_decides: false,
            bands: Bands::default(),
            rules: Vec::new(),
        }),
        Err(_) => Default::Unavailable { name, weight, reason: "its scorer cannot be built" },
    }
}
