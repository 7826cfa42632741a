//! The guard before a judgement of one text is used for another: what differs is found, and what does not passes.

mod different;
mod harmless;

use std::time::{Duration, Instant};

use different::DIFFERENT;
use fullbench_embed::{DifferenceKind, differs};
use harmless::HARMLESS;
use proptest::prelude::*;

#[test]
fn what_matters_is_found() {
    let pairs: usize = DIFFERENT.iter().map(|(_, pairs)| pairs.len()).sum();
    assert!(pairs >= 150, "{pairs}");
    let mut missed = Vec::new();
    for (kind, pairs) in DIFFERENT {
        for (first, second) in *pairs {
            if differs(first, second).is_none() || differs(second, first).is_none() {
                missed.push((kind, first, second));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_harmless_passes() {
    assert!(HARMLESS.len() >= 40);
    let refused: Vec<_> = HARMLESS
        .iter()
        .flat_map(|(first, second)| [(first, second), (second, first)])
        .filter_map(|(first, second)| Some((first, second, differs(first, second)?.to_string())))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn differences_say_what_they_are() {
    for (first, second, kind, words) in [
        ("It is 42.", "It is 43.", DifferenceKind::Number, "a number: “42” against “43”"),
        ("It is 5%.", "It is 5.", DifferenceKind::Number, "a number: “%” against nothing"),
        ("It is.", "It isn't.", DifferenceKind::Negation, "a negation: nothing against “not”"),
        ("It is.", "It is?", DifferenceKind::Question, "a question: nothing against “?”"),
        (
            "Alice beat Bob in it.",
            "Bob beat Alice in it.",
            DifferenceKind::Order,
            "the order of words: “Alice beat Bob” against “Bob beat Alice”",
        ),
        ("It was Ann.", "It was Eve.", DifferenceKind::Name, "a name: “Ann” against “Eve”"),
        ("It is red.", "It is blue.", DifferenceKind::Word, "words: “red” against “blue”"),
        ("Use `a`.", "Use `b`.", DifferenceKind::Code, "code: “`a`” against “`b`”"),
        (
            "It is, red.",
            "It is red.",
            DifferenceKind::Punctuation,
            "punctuation: “,” against nothing",
        ),
    ] {
        let found = differs(first, second);
        let said = found.as_ref().map(|found| (found.kind, found.to_string()));
        assert_eq!(said, Some((kind, words.to_owned())), "{first} / {second}");
    }
}

#[test]
fn hostile_texts_take_no_long() {
    let texts = ["“", "`", "\"", "*a ", "**a ", "the ", "` `` ", "1,", "so, "];
    for text in texts {
        let (one, other) = (text.repeat(100_000), text.repeat(100_001));
        let start = Instant::now();
        assert!(differs(&one, &one.clone()).is_none());
        assert!(differs(&one, &other).is_some(), "{text}");
        assert!(start.elapsed() < Duration::from_secs(20), "{text}: {:?}", start.elapsed());
    }
}

/// Sentences of words that the lists know, numbers, signs and code.
fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "the",
        "The",
        "is",
        "a",
        "sure,",
        "Sure,",
        "so,",
        "it's",
        "can't",
        "equals",
        "42",
        "1,000",
        "3.14",
        "two",
        "one",
        "and",
        ", and",
        "please",
        "big",
        "Bob",
        "US",
        "us",
        "`x = 1`",
        "\"the end\"",
        "**bold**",
        "*",
        "?",
        ".",
        "-5",
        "5%",
        "5 kg",
        "in order to",
        "approximately",
        "le",
        "水",
        "“",
        "`",
        "\n",
        "well:",
    ]);
    proptest::collection::vec(word, 1..12).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn every_text_is_the_same_as_itself(text in ".{0,60}") {
        prop_assert_eq!(differs(&text, &text), None);
        prop_assert_eq!(differs(&text, &format!("{text} \n")).filter(|_| !text.contains(['`', '"', '“'])), None);
    }

    #[test]
    fn the_order_of_two_texts_makes_no_difference(first in text(), second in text()) {
        prop_assert_eq!(differs(&first, &second).is_some(), differs(&second, &first).is_some());
    }

    #[test]
    fn another_digit_is_always_found(text in text(), pick in any::<prop::sample::Index>(), by in 1_u8..10) {
        let text = format!("{text} 1,234.5");
        let digits: Vec<usize> =
            text.char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(index, _)| index).collect();
        let mut bytes = text.clone().into_bytes();
        let digit = &mut bytes[digits[pick.index(digits.len())]];
        *digit = b'0' + (*digit - b'0' + by) % 10;
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        prop_assert!(differs(&text, &changed).is_some(), "{} / {}", text, changed);
    }

    #[test]
    fn a_negation_is_always_found(
        text in text(),
        pick in any::<prop::sample::Index>(),
        negation in prop::sample::select(vec!["not", "never", "no", "without", "Not"]),
    ) {
        let mut words: Vec<&str> = text.split(' ').collect();
        words.insert(pick.index(words.len() + 1), negation);
        let changed = words.join(" ");
        prop_assert!(differs(&text, &changed).is_some(), "{} / {}", text, changed);
    }
}
