//! What the simulated models say.

use std::fmt::Write;

use crate::arithmetic::{Fraction, last_expression};
use crate::dice::{Dice, Purpose};
use crate::json_answer::{Wanted, json_answer};
use crate::request::{Format, Request, tokens_of};

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ending {
    Done,
    MetStop(String),
    OutOfTokens,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) ending: Ending,
    pub(crate) tokens: u64,
}

/// The answer with this index among the choices asked for.
pub(crate) fn answer(request: &Request<'_>, dice: Dice, choice: u32, reply_words: usize) -> Answer {
    let mut dice = if choice == 0 { dice } else { dice.with(u64::from(choice)) };
    if let (Some(seed), true) = (request.seed, request.temperature > 0.0) {
        dice = dice.with(seed as u64).with(1);
    }
    let text = match &request.format {
        Format::Text => text_answer(request, dice, reply_words),
        Format::AnyJson => {
            json_answer(None, &wanted(request, solution(request, dice).as_deref()), dice)
        }
        Format::Schema(schema) => {
            json_answer(Some(schema), &wanted(request, solution(request, dice).as_deref()), dice)
        }
    };
    limited(text, request)
}

/// What an answer in JSON is about.
fn wanted<'call>(request: &'call Request<'_>, solution: Option<&'call str>) -> Wanted<'call> {
    Wanted { solution, question: request.question(), skill: skill_of(&request.model) }
}

/// The answer, cut at a stop sequence or at the limit of tokens.
fn limited(mut text: String, request: &Request<'_>) -> Answer {
    let mut ending = Ending::Done;
    let met = request.stops.iter().filter(|stop| !stop.is_empty());
    if let Some((at, stop)) = met.filter_map(|stop| Some((text.find(stop.as_ref())?, stop))).min() {
        text.truncate(at);
        ending = Ending::MetStop(stop.to_string());
    }
    let limit =
        request.max_tokens.and_then(|tokens| usize::try_from(tokens.saturating_mul(4)).ok());
    if let Some(limit) = limit.filter(|limit| *limit < text.len()) {
        text.truncate(text.floor_char_boundary(limit));
        ending = Ending::OutOfTokens;
    }
    let tokens = tokens_of(&text);
    Answer { text, ending, tokens }
}

fn text_answer(request: &Request<'_>, dice: Dice, reply_words: usize) -> String {
    let question = request.question();
    if request.model == "echo" {
        return question.to_owned();
    }
    let Some(skill) = skill_of(&request.model) else { return sentence(dice, reply_words) };
    let letters = choices_of(question);
    if !letters.is_empty() {
        return format!("The answer is {}.", chosen_letter(question, &letters, skill, dice));
    }
    let Some(solved) = last_expression(question) else { return sentence(dice, reply_words) };
    let result = believed(solved.value, skill, dice).text();
    format!("{} = {result}. The answer is {result}.", solved.expression)
}

/// The number a model of some skill takes for the answer, where the question is arithmetic.
fn solution(request: &Request<'_>, dice: Dice) -> Option<String> {
    let skill = skill_of(&request.model).unwrap_or(100);
    last_expression(request.question()).map(|solved| believed(solved.value, skill, dice).text())
}

/// How often in a hundred a model named `sim-NN` is right.
fn skill_of(model: &str) -> Option<u64> {
    model.strip_prefix("sim-")?.parse().ok().filter(|skill| *skill <= 100)
}

fn is_right(skill: u64, dice: Dice) -> bool {
    dice.share(Purpose::Correct) * 100.0 < skill as f64
}

fn believed(value: Fraction, skill: u64, dice: Dice) -> Fraction {
    const SLIPS: [i128; 10] = [1, -1, 2, -2, 10, -10, 9, -9, 100, 3];
    if is_right(skill, dice) {
        return value;
    }
    value.moved(SLIPS[dice.index(Purpose::Error, SLIPS.len())])
}

/// Letters and texts of lines such as `A) …`, `A. …` or `(A) …`; none unless there are two or more.
fn choices_of(question: &str) -> Vec<(char, &str)> {
    let choices: Vec<_> = question.lines().filter_map(choice_of).collect();
    if choices.len() < 2 { Vec::new() } else { choices }
}

fn choice_of(line: &str) -> Option<(char, &str)> {
    let line = line.trim_start();
    let line = line.strip_prefix('(').unwrap_or(line);
    let letter = line.chars().next().filter(char::is_ascii_uppercase)?;
    let text = line[1..].strip_prefix([')', '.', ':'])?;
    Some((letter, text.trim()))
}

fn chosen_letter(question: &str, choices: &[(char, &str)], skill: u64, dice: Dice) -> char {
    let solved =
        last_expression(&question[..stem_length(question)]).map(|solved| solved.value.text());
    let right = solved.and_then(|value| choices.iter().position(|(_, text)| *text == value));
    let Some(right) = right else { return choices[dice.index(Purpose::Letter, choices.len())].0 };
    if is_right(skill, dice) {
        return choices[right].0;
    }
    let step = 1 + dice.index(Purpose::Letter, choices.len() - 1);
    choices[(right + step) % choices.len()].0
}

/// Bytes before the first choice.
fn stem_length(question: &str) -> usize {
    let mut length = 0;
    for line in question.split_inclusive('\n') {
        if choice_of(line).is_some() {
            break;
        }
        length += line.len();
    }
    length
}

const WORDS: [&str; 48] = [
    "the",
    "model",
    "answer",
    "depends",
    "on",
    "question",
    "and",
    "its",
    "context",
    "while",
    "some",
    "evidence",
    "suggests",
    "that",
    "careful",
    "reading",
    "of",
    "every",
    "line",
    "helps",
    "a",
    "result",
    "may",
    "change",
    "when",
    "data",
    "is",
    "new",
    "people",
    "prefer",
    "short",
    "replies",
    "with",
    "clear",
    "reasons",
    "because",
    "time",
    "matters",
    "in",
    "practice",
    "several",
    "steps",
    "lead",
    "to",
    "one",
    "good",
    "simple",
    "conclusion",
];

/// A sentence of so many words.
pub(crate) fn sentence(dice: Dice, words: usize) -> String {
    let mut text = String::with_capacity(words * 7);
    for index in 0..words {
        let word = WORDS[dice.with(index as u64).index(Purpose::Words, WORDS.len())];
        if index == 0 {
            text.push_str(&word[..1].to_ascii_uppercase());
            text.push_str(&word[1..]);
        } else {
            let _ = write!(text, " {word}");
        }
    }
    text.push('.');
    text
}

/// One word.
pub(crate) fn word(dice: Dice) -> &'static str {
    WORDS[dice.index(Purpose::Words, WORDS.len())]
}

#[cfg(test)]
mod tests {
    use fullbench_types::Role;

    use super::*;
    use crate::request::Turn;
    use crate::wire::Wire;

    fn request<'text>(model: &'text str, question: &'text str) -> Request<'text> {
        Request {
            wire: Wire::OpenAi,
            model: model.into(),
            turns: vec![Turn { role: Role::User, text: question.into() }],
            stream: false,
            stream_usage: false,
            choices: 1,
            temperature: 0.0,
            seed: None,
            top_logprobs: None,
            max_tokens: None,
            stops: Vec::new(),
            format: Format::Text,
        }
    }

    fn said(request: &Request<'_>) -> String {
        answer(request, Dice::new(1, request.answer_key()), 0, 12).text
    }

    #[test]
    fn a_simulated_model_is_right_as_often_as_its_name_says() {
        for skill in [0, 60, 95, 100] {
            let model = format!("sim-{skill}");
            let right = (0..2_000)
                .filter(|number| {
                    let expected = format!("The answer is {}.", number * 7);
                    said(&request(&model, &format!("What is {number} * 7?"))).ends_with(&expected)
                })
                .count();
            let share = right as f64 / 20.0;
            assert!((share - f64::from(skill)).abs() < 4.0, "{model} was right in {share}%");
        }
        assert_eq!(
            said(&request("sim-100", "What is 17 * 23?")),
            "17 * 23 = 391. The answer is 391."
        );
    }

    #[test]
    fn multiple_choice_gets_a_letter_and_the_right_one_where_it_can_be_computed() {
        let open = said(&request("sim-50", "Which one?\nA) red\nB) green\nC) blue"));
        assert!(
            ["The answer is A.", "The answer is B.", "The answer is C."].contains(&open.as_str())
        );
        assert_eq!(said(&request("sim-100", "2 + 3?\nA. 4\nB. 5\nC. 6")), "The answer is B.");
        assert_ne!(said(&request("sim-0", "2 + 3?\nA. 4\nB. 5\nC. 6")), "The answer is B.");
    }

    #[test]
    fn limits_cut_the_answer_and_say_so() {
        let mut short = request("echo", "one two three");
        short.max_tokens = Some(1);
        let cut = answer(&short, Dice::new(1, 1), 0, 12);
        assert_eq!((cut.text.as_str(), cut.ending), ("one ", Ending::OutOfTokens));
        let mut stopped = request("echo", "one two three");
        stopped.stops = vec!["three".into(), "two".into()];
        let cut = answer(&stopped, Dice::new(1, 1), 0, 12);
        assert_eq!((cut.text.as_str(), cut.ending), ("one ", Ending::MetStop("two".to_owned())));
    }

    #[test]
    fn a_request_seed_counts_only_with_a_temperature() {
        let plain = request("other", "hello");
        let mut seeded = request("other", "hello");
        seeded.seed = Some(5);
        assert_eq!(said(&plain), said(&seeded));
        seeded.temperature = 0.7;
        assert_ne!(said(&plain), said(&seeded));
        assert_eq!(said(&plain).split(' ').count(), 12);
    }
}
