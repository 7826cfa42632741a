//! What is judged: the built-in criteria, and the rules every criterion keeps.

mod builtin;

use std::fmt;
use std::sync::LazyLock;

use fullbench_types::{Criterion, Scale};

/// Longest name of a criterion.
const LONGEST_NAME: usize = 64;

static BUILTIN: LazyLock<Vec<Criterion>> = LazyLock::new(builtin::criteria);

/// The criteria that are there without being written, in the order of their names.
#[must_use]
pub fn builtin_criteria() -> &'static [Criterion] {
    &BUILTIN
}

/// The built-in criterion of this name.
#[must_use]
pub fn builtin(name: &str) -> Option<&'static Criterion> {
    BUILTIN.iter().find(|criterion| criterion.name == name)
}

/// A criterion that cannot be used: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CriterionError {
    /// The field: `name`, `scale`, `levels[2].description`, …
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl CriterionError {
    fn new(field: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), hint: hint.into() }
    }
}

impl fmt::Display for CriterionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.field, self.message)
    }
}

impl std::error::Error for CriterionError {}

/// Refuses a criterion that no judge could work by.
///
/// # Errors
/// The first field that is wrong, with a hint.
pub fn check(criterion: &Criterion) -> Result<(), CriterionError> {
    check_name(&criterion.name)?;
    check_text("task_introduction", &criterion.task_introduction)?;
    check_text("evaluation_criteria", &criterion.evaluation_criteria)?;
    check_scale(criterion.scale)?;
    check_levels(criterion)
}

fn check_name(name: &str) -> Result<(), CriterionError> {
    let hint = "write a name such as `tone_of_voice`";
    if name.is_empty() {
        return Err(CriterionError::new("name", "the criterion has no name", hint));
    }
    let starts_well = name.starts_with(|first: char| first.is_ascii_lowercase());
    let is_word = name
        .chars()
        .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !starts_well || !is_word {
        let message = format!("`{name}` is not lower-case letters, digits and underscores");
        return Err(CriterionError::new("name", message, hint));
    }
    if name.len() > LONGEST_NAME {
        let message = format!("the name is longer than {LONGEST_NAME} characters");
        return Err(CriterionError::new("name", message, hint));
    }
    Ok(())
}

fn check_text(field: &str, text: &str) -> Result<(), CriterionError> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    let hint = match field {
        "task_introduction" => "say what the judged texts are and what they were written for",
        "evaluation_criteria" => "say what makes an answer good in this respect",
        _ => "say what an answer is like that deserves this number",
    };
    Err(CriterionError::new(field, "the text is empty", hint))
}

fn check_scale(scale: Scale) -> Result<(), CriterionError> {
    if scale.min < scale.max {
        return Ok(());
    }
    let message = format!("the worst number, {}, is not below the best, {}", scale.min, scale.max);
    Err(CriterionError::new("scale", message, "write for example `{ min: 1, max: 5 }`"))
}

fn check_levels(criterion: &Criterion) -> Result<(), CriterionError> {
    let scale = criterion.scale;
    let mut before: Option<i32> = None;
    for (index, level) in criterion.levels.iter().enumerate() {
        let field = format!("levels[{index}]");
        let number = level.score;
        if !scale.contains(f64::from(number)) {
            let message = format!("{number} is not on the scale");
            let hint =
                format!("use whole numbers from {} to {}, or widen `scale`", scale.min, scale.max);
            return Err(CriterionError::new(format!("{field}.score"), message, hint));
        }
        match before {
            Some(before) if before == number => {
                let message = format!("{number} is described twice");
                let hint = "describe each number once";
                return Err(CriterionError::new(format!("{field}.score"), message, hint));
            }
            Some(before) if before > number => {
                let message = format!("{number} comes after {before}");
                let hint = "list the levels from the worst to the best";
                return Err(CriterionError::new(format!("{field}.score"), message, hint));
            }
            _ => before = Some(number),
        }
        check_text(&format!("{field}.description"), &level.description)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::RubricLevel;

    use super::*;

    const NAMES: [&str; 13] = [
        "accuracy",
        "answer_relevance",
        "clarity",
        "coherence",
        "completeness",
        "context_relevance",
        "faithfulness",
        "fluency",
        "helpfulness",
        "instruction_following",
        "reasoning",
        "relevance",
        "safety",
    ];

    #[test]
    fn every_built_in_criterion_is_sound_and_has_five_levels() {
        let names: Vec<&str> = builtin_criteria().iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, NAMES);
        for criterion in builtin_criteria() {
            assert_eq!(check(criterion), Ok(()), "{}", criterion.name);
            let scores: Vec<i32> = criterion.levels.iter().map(|level| level.score).collect();
            assert_eq!(scores, [1, 2, 3, 4, 5], "{}", criterion.name);
        }
    }

    #[test]
    fn what_an_answer_is_judged_against_is_known() {
        for criterion in builtin_criteria() {
            let needs_context =
                ["faithfulness", "context_relevance"].contains(&criterion.name.as_str());
            assert_eq!(criterion.needs_context, needs_context, "{}", criterion.name);
            assert_eq!(criterion.needs_reference, criterion.name == "accuracy");
        }
        assert!(builtin("tone").is_none());
    }

    #[test]
    fn each_mistake_names_its_field() {
        let level =
            |score, description: &str| RubricLevel { score, description: description.to_owned() };
        type Change = fn(&mut Criterion);
        let changes: [(Change, &str); 9] = [
            (|one| one.name = String::new(), "name"),
            (|one| one.name = "Tone".to_owned(), "name"),
            (|one| one.name = "1st".to_owned(), "name"),
            (|one| one.task_introduction = " ".to_owned(), "task_introduction"),
            (|one| one.evaluation_criteria = "\n".to_owned(), "evaluation_criteria"),
            (|one| one.scale = Scale { min: 5, max: 5 }, "scale"),
            (|one| one.levels[1].score = 9, "levels[1].score"),
            (|one| one.levels[1].score = 1, "levels[1].score"),
            (|one| one.levels[1].description = String::new(), "levels[1].description"),
        ];
        for (change, field) in changes {
            let mut criterion = builtin("clarity").unwrap().clone();
            change(&mut criterion);
            let error = check(&criterion).unwrap_err();
            assert_eq!(error.field, field, "{error}");
            assert!(!error.hint.is_empty());
        }
        let mut descending = builtin("clarity").unwrap().clone();
        descending.levels = vec![level(5, "best"), level(1, "worst")];
        assert!(check(&descending).unwrap_err().hint.contains("worst to the best"));
    }
}
