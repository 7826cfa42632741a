//! Whether a quote really stands in a text.

use crate::frame::{LINE_PREFIX, unescape};

/// Whether a quote stands in one of the passages, word for word. Case, spaces, line breaks, kinds of quotation marks and dashes do
/// not count; of a quote with `…` each part must be there, in their order.
pub(crate) fn occurs(quote: &str, passages: &[&str]) -> bool {
    let quote = unescape(quote).replace("...", "…");
    let parts: Vec<String> = quote.split('…').map(plain).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return false;
    }
    passages.iter().any(|passage| {
        let passage = plain(passage);
        let mut rest = passage.as_str();
        parts.iter().all(|part| match rest.find(part.as_str()) {
            Some(at) => {
                rest = &rest[at + part.len()..];
                true
            }
            None => false,
        })
    })
}

/// The text as it is compared.
fn plain(text: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix(LINE_PREFIX).unwrap_or(line));
    let joined = lines.collect::<Vec<_>>().join(" ");
    let letters = joined.chars().map(|letter| match letter {
        '“' | '”' | '„' | '«' | '»' => '"',
        '‘' | '’' | '‚' => '\'',
        '–' | '—' | '‑' | '−' => '-',
        letter => letter,
    });
    let text: String = letters.flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_matches(['"', '\'']).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_must_really_stand_there() {
        let passages =
            ["The tower was finished in 1889.\nIt is 330 m high – “very” high.", "Other."];
        for quote in [
            "The tower was finished in 1889",
            "\"the tower  was finished\"",
            "finished in 1889. It is 330 m",
            "finished in 1889.\n| It is 330 m",
            "The tower … 330 m high",
            "high - \"very\" high",
            "other.",
        ] {
            assert!(occurs(quote, &passages), "{quote}");
        }
        for quote in [
            "",
            " … ",
            "\"\"",
            "The tower was built in 1889",
            "330 m high … The tower",
            "1889 Other",
        ] {
            assert!(!occurs(quote, &passages), "{quote}");
        }
    }
}
