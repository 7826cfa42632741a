//! Whether the judge likes answers of its own family.

use fullbench_analysis::Measured;
use fullbench_stats::compare::welch_t;
use fullbench_stats::{Moments, Undefined};
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Judged};

/// Families of models, with the words of model names that tell them.
const FAMILIES: [(&str, &[&str]); 17] = [
    ("gpt", &["gpt", "chatgpt", "o1", "o3", "o4"]),
    ("claude", &["claude"]),
    ("gemini", &["gemini", "gemma"]),
    ("llama", &["llama", "codellama"]),
    ("qwen", &["qwen", "qwq"]),
    ("mistral", &["mistral", "mixtral", "ministral", "magistral", "codestral", "pixtral"]),
    ("deepseek", &["deepseek"]),
    ("grok", &["grok"]),
    ("phi", &["phi"]),
    ("command", &["command"]),
    ("nova", &["nova"]),
    ("glm", &["glm", "chatglm"]),
    ("kimi", &["kimi", "moonshot"]),
    ("granite", &["granite"]),
    ("olmo", &["olmo"]),
    ("falcon", &["falcon"]),
    ("yi", &["yi"]),
];

/// The family of a model, by the first word of its name that is that of a well-known family; the part after the last `/` or
/// `:` counts before those in front of it. A number may follow the word: `llama3`.
#[must_use]
pub fn family(model: &str) -> Option<&'static str> {
    let name = model.to_lowercase();
    name.rsplit(['/', ':']).find_map(|part| {
        part.split(|letter: char| !letter.is_alphanumeric()).find_map(family_of_word)
    })
}

fn family_of_word(word: &str) -> Option<&'static str> {
    let is = |known: &str| {
        let rest = word.strip_prefix(known);
        let numbered = |rest: &str| {
            rest.is_empty()
                || (rest.starts_with(|letter: char| letter.is_ascii_digit())
                    && !known.ends_with(|letter: char| letter.is_ascii_digit()))
        };
        rest.is_some_and(numbered)
    };
    FAMILIES.iter().find(|(_, words)| words.iter().any(|known| is(known))).map(|(name, _)| *name)
}

/// Whether the judge likes answers of its own family.
#[derive(Debug, Clone, Serialize)]
pub struct SelfPreference {
    /// The judge's family; none where its name tells none.
    pub family: Option<&'static str>,
    /// The systems that were taken as its own.
    pub own_systems: Vec<String>,
    /// Mean of judge − human on answers of its own.
    pub own: Measured<Estimate>,
    /// Mean of judge − human on answers of others.
    pub others: Measured<Estimate>,
    /// Own minus others, with Welch's interval.
    pub difference: Measured<Estimate>,
}

pub(super) fn of(data: &Data<'_>) -> SelfPreference {
    let options = data.options;
    let family_of_judge = family(&options.model);
    let is_own = |system: &String| {
        if options.own_systems.is_empty() {
            family_of_judge.is_some() && family(system) == family_of_judge
        } else {
            options.own_systems.contains(system)
        }
    };
    let (mut own, mut others, mut own_systems) = (Vec::new(), Vec::new(), Vec::new());
    for one in &data.labelled {
        let Some(system) = &data.examples[one.example].system else { continue };
        let side = if is_own(system) { &mut own } else { &mut others };
        side.push(one.judge - one.human);
        if is_own(system) && !own_systems.contains(system) {
            own_systems.push(system.clone());
        }
    }
    own_systems.sort_unstable();
    let mean = |values: &[f64], of: &str| mean_of(values, of, options.confidence);
    SelfPreference {
        own: mean(&own, "labelled answers of the judge's own family"),
        others: mean(&others, "labelled answers of other families"),
        difference: difference(data, family_of_judge, &own, &others),
        family: family_of_judge,
        own_systems,
    }
}

fn mean_of(values: &[f64], of: &str, confidence: f64) -> Measured<Estimate> {
    let moments: Moments = values.iter().copied().collect();
    match moments.mean() {
        Ok(mean) => {
            let interval = fullbench_stats::mean_interval(&moments, confidence);
            Measured::Value(Estimate::new(values.len(), mean, interval))
        }
        Err(_) => Measured::undefined(format!("there are no {of}")),
    }
}

fn difference(
    data: &Data<'_>,
    family: Option<&str>,
    own: &[f64],
    others: &[f64],
) -> Measured<Estimate> {
    if data.judged == Judged::Pairs {
        return Measured::undefined("who gave the other answer of a pair is not known");
    }
    if own.is_empty() && others.is_empty() {
        return Measured::undefined("no answer that people and judge scored names its system");
    }
    if own.is_empty() {
        return Measured::undefined(match family {
            Some(family) => format!("no labelled answer is by a system of the family {family}"),
            None => "the family of the judge's model is not known".to_owned(),
        });
    }
    let n = own.len() + others.len();
    match welch_t(others, own, data.options.confidence) {
        Ok(found) => Measured::Value(Estimate::new(n, found.difference, Ok(found.interval))),
        Err(reason @ Undefined::NoVariation { .. }) => {
            let first = |values: &[f64]| values.first().copied().unwrap_or_default();
            Measured::Value(Estimate::new(n, first(own) - first(others), Err(reason)))
        }
        Err(reason) => Err(reason).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn families_are_told_by_whole_words() {
        for (model, expected) in [
            ("gpt-4o-mini", Some("gpt")),
            ("openai/o3-mini", Some("gpt")),
            ("anthropic:claude-sonnet-4", Some("claude")),
            ("google/gemma-2-9b-it", Some("gemini")),
            ("llama3.1:8b", Some("llama")),
            ("meta-llama/Llama-3.3-70B", Some("llama")),
            ("deepseek-r1-distill-llama-70b", Some("deepseek")),
            ("Qwen2.5-72B-Instruct", Some("qwen")),
            ("mixtral-8x7b", Some("mistral")),
            ("philosopher", None),
            ("o14", None),
            ("baseline", None),
            ("", None),
        ] {
            assert_eq!(family(model), expected, "{model}");
        }
    }
}
