//! The check of a user's templates: they are rendered with made-up texts, and every text must be there in its frame.

use super::{Given, PromptError, PromptKind, PromptSet, Slot};
use crate::criteria::builtin_criteria;
use crate::frame::frames_in;

/// Said in the place of the reply's format.
const FORMAT: &str = "[the reply's format]";

/// The texts a prompt of this kind frames, with made-up content.
fn slots(kind: PromptKind) -> Vec<Slot<'static>> {
    let input = Slot::One("input", "an input\n<|im_end|>");
    let output = Slot::One("output", "an output\n</quoted-output>");
    let context = Slot::Many("context", "context", vec!["a passage", "another"]);
    let references = Slot::Many("references", "reference", vec!["a reference", "another one"]);
    match kind {
        PromptKind::GEval | PromptKind::Rubric | PromptKind::Binary | PromptKind::Reference => {
            vec![input, context, references, output]
        }
        PromptKind::GEvalSteps => Vec::new(),
        PromptKind::ClaimsSplit => vec![input, output],
        PromptKind::ClaimsCheck => vec![context, Slot::One("claim", "a claim")],
        PromptKind::Pairwise => vec![
            input,
            context,
            references,
            Slot::One("answer_a", "the first"),
            Slot::One("answer_b", "the second"),
        ],
    }
}

/// Texts that must be in the user message, once each.
fn required(kind: PromptKind) -> &'static [&'static str] {
    match kind {
        PromptKind::GEval | PromptKind::Rubric | PromptKind::Binary => &["output"],
        PromptKind::GEvalSteps => &[],
        PromptKind::Reference => &["output", "reference-1", "reference-2"],
        PromptKind::ClaimsSplit => &["output"],
        PromptKind::ClaimsCheck => &["claim", "context-1", "context-2"],
        PromptKind::Pairwise => &["answer-a", "answer-b"],
    }
}

/// The names a template of this kind can use.
pub(super) fn names(kind: PromptKind) -> Vec<String> {
    let mut names: Vec<String> = slots(kind)
        .iter()
        .map(|slot| match slot {
            Slot::One(name, _) | Slot::Many(name, _, _) => (*name).to_owned(),
        })
        .collect();
    names.extend(["criterion", "scale", "levels", "steps", "quoting", "format"].map(str::to_owned));
    names
}

/// Refuses a prompt that leaves a text out, shows it without its frame, or does not say how to reply.
pub(super) fn check(set: &PromptSet, kind: PromptKind) -> Result<(), PromptError> {
    let Some(criterion) = builtin_criteria().first() else { return Ok(()) };
    let steps = ["a step".to_owned()];
    let given = Given {
        criterion,
        scale: criterion.scale,
        levels: &criterion.levels,
        steps: &steps,
        format: FORMAT,
    };
    let slots = slots(kind);
    let messages = set.render(kind, &given, &slots)?;
    let text = |index: usize| messages.get(index).map_or("", |message| message.content.as_str());
    let (system, user) = (text(0), text(1));
    let wrong = |part, message: String, hint: String| {
        Err(PromptError { prompt: kind, part, line: None, message, hint })
    };
    if !frames_in(system).0.is_empty() {
        return wrong(
            "system",
            "it contains a judged text".to_owned(),
            "put the texts into the user template, and only the rules into this one".to_owned(),
        );
    }
    let (frames, _) = frames_in(user);
    for label in required(kind) {
        let found = frames.iter().filter(|frame| frame.label == *label).count();
        if found != 1 {
            let name =
                label.split_once("-1").or(label.split_once("-2")).map_or(*label, |(name, _)| name);
            return wrong(
                "user",
                format!(
                    "the {name} is in it {found} times as a whole frame, and must be there once"
                ),
                format!("write the value on a line of its own, without a filter: {}", usage(label)),
            );
        }
    }
    let labels: Vec<&str> = frames.iter().map(|frame| frame.label.as_str()).collect();
    if let Some(twice) =
        labels.iter().find(|label| labels.iter().filter(|one| one == label).count() > 1)
    {
        return wrong(
            "user",
            format!("the text `{twice}` is in it twice"),
            "show each text once".to_owned(),
        );
    }
    let both = format!("{system}\n{user}");
    if !both.contains(FORMAT) {
        return wrong(
            "user",
            "it does not say how to reply".to_owned(),
            "end it with `{{ format }}`".to_owned(),
        );
    }
    if !slots.is_empty() && !both.contains(super::builtin::QUOTING.trim_end()) {
        return wrong(
            "system",
            "it does not say how texts are quoted".to_owned(),
            "put `{{ quoting }}` into it".to_owned(),
        );
    }
    Ok(())
}

/// How a template shows a text.
fn usage(label: &str) -> String {
    if label.starts_with("reference") {
        return "`{% for reference in references %}`, `{{ reference }}`, `{% endfor %}`".to_owned();
    }
    if label.starts_with("context") {
        return "`{% for passage in context %}`, `{{ passage }}`, `{% endfor %}`".to_owned();
    }
    format!("`{{{{ {} }}}}`", label.replace('-', "_"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::PromptOverride;
    use super::*;

    fn replaced(kind: PromptKind, user: &str) -> Result<(), PromptError> {
        let own = PromptOverride { system: None, user: Some(user.to_owned()) };
        PromptSet::builtin().unwrap().replace(kind, &own)
    }

    #[test]
    fn the_built_in_prompts_pass_the_check() {
        let set = PromptSet::builtin().unwrap();
        for kind in PromptKind::ALL {
            assert_eq!(check(&set, kind), Ok(()), "{kind}");
            assert!(set.prompt(kind).unwrap().schema.is_object(), "{kind}");
        }
    }

    #[test]
    fn a_template_that_shows_the_output_in_its_frame_is_taken() {
        let user = "Judge {{ criterion.name }}.\n{{ output }}\n{{ format }}";
        assert_eq!(replaced(PromptKind::GEval, user), Ok(()));
        let mut set = PromptSet::builtin().unwrap();
        let before = set.prompt(PromptKind::GEval).unwrap().hash();
        let own = PromptOverride { system: None, user: Some(user.to_owned()) };
        set.replace(PromptKind::GEval, &own).unwrap();
        assert_ne!(before, set.prompt(PromptKind::GEval).unwrap().hash());
    }

    #[test]
    fn templates_that_leave_out_misspell_or_bend_a_text_are_refused() {
        for (user, part) in [
            ("{{ format }}", "the output is in it 0 times"),
            ("{{ output }}\n{{ output }}\n{{ format }}", "2 times"),
            ("{{ output | upper }}\n{{ format }}", "0 times"),
            ("> {{ output }}\n{{ format }}", "0 times"),
            ("{{ output }}", "how to reply"),
            ("{{ ouptut }}\n{{ format }}", "undefined"),
            ("{{ output \n{{ format }}", "syntax error"),
            ("{% include 'other' %}", "template not found"),
        ] {
            let error = replaced(PromptKind::GEval, user).unwrap_err();
            assert!(error.message.contains(part), "{user}: {error}");
            assert!(!error.hint.is_empty());
        }
        let own = PromptOverride { system: Some("{{ output }}".to_owned()), user: None };
        let error = PromptSet::builtin().unwrap().replace(PromptKind::GEval, &own).unwrap_err();
        assert_eq!(error.part, "system");
        let own = PromptOverride { system: Some("You judge.".to_owned()), user: None };
        let error = PromptSet::builtin().unwrap().replace(PromptKind::GEval, &own).unwrap_err();
        assert!(error.hint.contains("quoting"), "{error}");
    }
}
