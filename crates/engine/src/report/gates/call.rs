//! `no_regression(scorer, baseline: "main", margin: 0.02)` inside a condition.
//!
//! The expression language knows neither the colon nor our runs, so that each call is read here and a name stands in for it.

use crate::InputProblem;

/// The function's name.
const NAME: &str = "no_regression";
/// How a call is written.
pub(super) const EXAMPLE: &str =
    "write it like `no_regression(exact_match, baseline: \"main\", margin: 0.02)`";

/// A condition with its calls taken out.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Condition {
    /// The expression; [`placeholder`] stands for each call.
    pub(super) expression: String,
    /// The calls in order.
    pub(super) calls: Vec<Call>,
}

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    /// The scorer that must not have become worse.
    pub(super) scorer: String,
    /// The baseline it is compared with.
    pub(super) baseline: String,
    /// By how much it may be worse.
    pub(super) margin: f64,
    /// It is asked for the opposite: `not` stands before it.
    pub(super) negated: bool,
}

/// The name that stands for a call.
pub(super) fn placeholder(index: usize) -> String {
    format!("__{NAME}_{index}")
}

/// Takes the calls out of a condition.
pub(super) fn parse(gate: &str) -> Result<Condition, InputProblem> {
    let mut condition = Condition { expression: String::new(), calls: Vec::new() };
    let mut rest = gate;
    while let Some(letter) = rest.chars().next() {
        let token = match letter {
            '"' | '\'' => quoted(rest),
            letter if is_word(letter) => &rest[..word_length(rest)],
            letter => &rest[..letter.len_utf8()],
        };
        let after = &rest[token.len()..];
        let is_field = condition.expression.trim_end().ends_with('.');
        if token == NAME && !is_field && after.trim_start().starts_with('(') {
            let (mut call, behind) = call(gate, &after.trim_start()[1..])?;
            call.negated = ends_with_not(&condition.expression);
            condition.expression.push_str(&placeholder(condition.calls.len()));
            condition.calls.push(call);
            rest = behind;
            continue;
        }
        condition.expression.push_str(token);
        rest = after;
    }
    Ok(condition)
}

/// Whether what follows this text is negated by its last word, through opened parentheses.
fn ends_with_not(text: &str) -> bool {
    let text = text.trim_end_matches(|letter: char| letter.is_whitespace() || letter == '(');
    let before = text.strip_suffix("not");
    before.is_some_and(|before| !before.ends_with(|letter| is_word(letter) || letter == '.'))
}

/// Reads the arguments up to the closing parenthesis, and returns what follows it.
fn call<'gate>(gate: &str, text: &'gate str) -> Result<(Call, &'gate str), InputProblem> {
    let wrong = |message: String| {
        InputProblem::new(format!("the condition `{gate}` is wrong: {message}")).hint(EXAMPLE)
    };
    let (mut scorer, mut baseline, mut margin) = (None, None, None);
    let (arguments, behind) =
        arguments(text).ok_or_else(|| wrong(format!("`{NAME}(` is not closed")))?;
    for argument in arguments {
        match named(argument) {
            None if scorer.is_none() && baseline.is_none() && margin.is_none() => {
                let name = unquoted(argument).unwrap_or_else(|| argument.to_owned());
                if name.is_empty() || (name == argument && !name.chars().all(is_word)) {
                    return Err(wrong(format!("`{argument}` is no scorer")));
                }
                scorer = Some(name);
            }
            None => return Err(wrong(format!("`{argument}` has no name"))),
            Some(("baseline", value)) if baseline.is_none() => {
                let name = unquoted(value).filter(|name| !name.is_empty());
                let message = "`baseline` is the name of a baseline in quotes";
                baseline = Some(name.ok_or_else(|| wrong(message.to_owned()))?);
            }
            Some(("margin", value)) if margin.is_none() => {
                let number = value.parse::<f64>().ok().filter(|value| (0.0..1.0).contains(value));
                let message = format!("`margin` is a number from 0 to below 1, not `{value}`");
                margin = Some(number.ok_or_else(|| wrong(message))?);
            }
            Some((name @ ("baseline" | "margin"), _)) => {
                return Err(wrong(format!("`{name}` is given twice")));
            }
            Some((name, _)) => return Err(wrong(format!("`{NAME}` has no `{name}`"))),
        }
    }
    let missing = |what: &str| wrong(format!("`{NAME}` needs {what}"));
    let call = Call {
        scorer: scorer.ok_or_else(|| missing("a scorer"))?,
        baseline: baseline.ok_or_else(|| missing("a `baseline`"))?,
        margin: margin.ok_or_else(|| missing("a `margin`"))?,
        negated: false,
    };
    Ok((call, behind))
}

/// The arguments of a call and what follows its closing parenthesis; none when it is not closed.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let mut arguments = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(letter) = text[at..].chars().next() {
        match letter {
            '"' | '\'' => {
                at += quoted(&text[at..]).len();
                continue;
            }
            ',' | ')' => {
                arguments.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += letter.len_utf8();
        if letter == ')' {
            let trailing_comma = arguments.last().is_some_and(|last| last.is_empty());
            arguments.truncate(arguments.len() - usize::from(trailing_comma));
            return Some((arguments, &text[at..]));
        }
    }
    None
}

/// `name: value` or `name = value`; none for anything else.
fn named(argument: &str) -> Option<(&str, &str)> {
    let length = word_length(argument);
    let (name, rest) = argument.split_at(length);
    let value = rest.trim_start().strip_prefix([':', '='])?;
    (!name.is_empty() && !value.starts_with('=')).then(|| (name, value.trim()))
}

/// The content of a text in quotes; none for anything else.
fn unquoted(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let inner = text.get(1..)?.strip_suffix(quote)?;
    let mut content = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => content.push(letters.next()?),
            letter if letter == quote => return None,
            letter => content.push(letter),
        }
    }
    Some(content)
}

/// A text in quotes with its quotes, or all of it when it does not end.
fn quoted(text: &str) -> &str {
    let mut letters = text.char_indices();
    let quote = letters.next().map(|(_, quote)| quote);
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if Some(letter) == quote {
            return &text[..=at];
        }
    }
    text
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn word_length(text: &str) -> usize {
    text.find(|letter| !is_word(letter)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(gate: &str) -> Condition {
        parse(gate).unwrap_or_else(|problem| panic!("{}", problem.message))
    }

    #[test]
    fn colons_and_equals_signs_say_the_same() {
        let expected = Call {
            scorer: "exact_match".to_owned(),
            baseline: "main".to_owned(),
            margin: 0.02,
            negated: false,
        };
        for gate in [
            "no_regression(exact_match, baseline: \"main\", margin: 0.02)",
            "no_regression(exact_match, baseline=\"main\", margin=0.02)",
            "no_regression ( exact_match,margin = 0.02,baseline:'main', )",
            "no_regression(\"exact_match\", baseline: 'main', margin: .02)",
        ] {
            let condition = read(gate);
            assert_eq!(condition.expression, "__no_regression_0", "{gate}");
            assert_eq!(condition.calls.as_slice(), std::slice::from_ref(&expected), "{gate}");
        }
    }

    #[test]
    fn a_call_stands_among_other_conditions() {
        let gate = "(a.mean > 0.5 or no_regression(a, baseline: \"x, y)\", margin: 0)) and not no_regression(b, baseline: 'z', margin: 0.1)";
        let condition = read(gate);
        assert_eq!(
            condition.expression,
            "(a.mean > 0.5 or __no_regression_0) and not __no_regression_1"
        );
        assert_eq!(condition.calls[0].baseline, "x, y)");
        assert_eq!(
            condition.calls.iter().map(|call| call.negated).collect::<Vec<_>>(),
            [false, true]
        );
        let untouched =
            "a.no_regression(b) and 'no_regression(' != c.mean and no_regression.mean > 1";
        assert_eq!(read(untouched).expression, untouched);
    }

    #[test]
    fn mistakes_are_named() {
        for (gate, message) in [
            ("no_regression(a, baseline: \"main\"", "`no_regression(` is not closed"),
            ("no_regression(baseline: 'm', margin: 0)", "needs a scorer"),
            ("no_regression(a, margin: 0.1)", "needs a `baseline`"),
            ("no_regression(a, baseline: 'm')", "needs a `margin`"),
            ("no_regression(a, baseline: main, margin: 0)", "the name of a baseline in quotes"),
            ("no_regression(a, baseline: 'm', margin: 2)", "not `2`"),
            ("no_regression(a, baseline: 'm', margin: nan)", "not `nan`"),
            ("no_regression(a, 'm', margin: 0)", "`'m'` has no name"),
            ("no_regression(a, baseline: 'm', margin: 0, margin: 1)", "given twice"),
            ("no_regression(a, baseline: 'm', marign: 0)", "no `marign`"),
            ("no_regression(a.mean, baseline: 'm', margin: 0)", "`a.mean` is no scorer"),
            ("no_regression(a, baseline: 'm, margin: 0)", "is not closed"),
        ] {
            let problem = parse(gate).err().unwrap_or_default();
            assert!(problem.message.contains(message), "{gate}: {}", problem.message);
        }
    }
}
