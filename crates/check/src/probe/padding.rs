//! Longer answers that say nothing new.

use super::format::is_prose;
use crate::words;

/// Sentences without content. None promises, praises or concludes anything.
const FILLER: [&str; 12] = [
    "To put it in other words, what has been said above is what there is to say here.",
    "This is stated in the text above, and the text above is where it is stated.",
    "It may be worth noting that the points above were made above.",
    "As was mentioned before, the matter that was asked about is the matter that this is about.",
    "In this context, it should be kept in mind that the context is the one in which this was asked.",
    "When all of this is taken together, it is what was taken together.",
    "There are words above, and these are more words that come after those words.",
    "With respect to what was written earlier, it was written earlier, as can be read there.",
    "At this point one could repeat the above, which would be the same as the above.",
    "The sentences that came before this sentence said what they said, and this one adds to their number.",
    "For the sake of length, it can be said again that it has been said.",
    "Looking at it in another way would be looking at it in another way.",
];

/// Frequent words that tell English from other languages.
const ENGLISH: [&str; 12] =
    ["the", "of", "and", "is", "to", "in", "a", "that", "it", "for", "what", "are"];

/// The answer with about as many words again, at most a paragraph, that say nothing new: filler for English, its own
/// sentences again for other languages. None for what is no prose.
pub(super) fn padded(input: &str, output: &str) -> Option<String> {
    let sentences = words::sentences(output);
    if sentences.is_empty() || !is_prose(output) {
        return None;
    }
    if !is_english(input, output) {
        let again = sentences.join(" ");
        return Some(format!("{}\n\n{again}", output.trim_end()));
    }
    let wanted = words::count(output);
    let (mut filler, mut length) = (String::new(), 0);
    for sentence in FILLER {
        if length >= wanted && !filler.is_empty() {
            break;
        }
        if !filler.is_empty() {
            filler.push(' ');
        }
        filler.push_str(sentence);
        length += words::count(sentence);
    }
    Some(format!("{}\n\n{filler}", output.trim_end()))
}

/// Whether at least one in twelve words of question and answer is a frequent English one.
fn is_english(input: &str, output: &str) -> bool {
    let text = format!("{input} {output}").to_lowercase();
    let (mut all, mut english) = (0, 0);
    for word in text.split(|letter: char| !letter.is_alphanumeric()) {
        if !word.is_empty() {
            all += 1;
            english += usize::from(ENGLISH.contains(&word));
        }
    }
    english > 0 && english * 12 >= all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_in_the_language_of_the_answer() {
        let english = padded("What is the capital of France?", "Paris is the capital.");
        assert!(english.is_some_and(|text| text.starts_with("Paris is the capital.\n\nTo put it")));
        let russian = padded("Столица Франции?", "Столица — Париж.");
        assert_eq!(russian.as_deref(), Some("Столица — Париж.\n\nСтолица — Париж."));
        assert_eq!(padded("x", ""), None);
        assert_eq!(padded("Write the code of it", "```\nlet a = 1;\n```"), None);
    }

    #[test]
    fn padding_is_about_as_long_as_the_answer() {
        let answer = "The answer is that it depends on the weather of the day. ".repeat(8);
        let text = padded("What is it?", &answer).unwrap_or_default();
        let ratio = words::count(&text) as f64 / words::count(&answer) as f64;
        assert!((2.0..2.3).contains(&ratio), "{ratio}");
    }
}
