//! The frame around text that a judge reads and must not obey.
//!
//! ```text
//! <quoted-output 7f3a9c2b1e4d5f60>
//! | first line of the text
//! | second line
//! </quoted-output 7f3a9c2b1e4d5f60>
//! ```
//!
//! - Every line of the text begins with `| `, so that no line of it can be a line of the prompt: a delimiter, a role marker such as
//!   `Human:`, a heading or a fence that stands at the start of a line in the text does not stand there in the prompt.
//! - The delimiters carry a number that is not in any of the texts. It is BLAKE3 of the texts, so that equal prompts stay equal for
//!   the response cache.
//! - What a reader or a tokenizer could take for more than text is written as the code of its first character in `⟦ ⟧`:
//!   look-alikes of the delimiters, special tokens (`<|im_start|>`, `[INST]`, `</s>`, …), characters that are not seen (zero width,
//!   bidi, control). See [`escape`]. Everything else stays as it is: code, HTML, JSON, formulas and other scripts stay readable.
//! - Nothing is lost: [`unescape`] gives the text back, and [`frames_in`] finds the texts of a prompt.

mod escape;
mod lookalike;

use fullbench_types::ContentHash;

pub use escape::{escape, unescape};

/// What every line of a framed text begins with.
pub const LINE_PREFIX: &str = "| ";

/// What the name of every delimiter begins with.
const TAG: &str = "quoted-";

/// Hexadecimal digits of the number in the delimiters.
const NONCE_DIGITS: usize = 16;

/// Frames the texts of one prompt with one number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framer {
    nonce: String,
}

impl Framer {
    /// A framer for these texts: its number is in none of them.
    #[must_use]
    pub fn new(texts: &[&str]) -> Self {
        let mut parts: Vec<&[u8]> = vec![b"fullbench judge frame 1"];
        parts.extend(texts.iter().map(|text| text.as_bytes()));
        let content = ContentHash::of_parts(&parts);
        let folded: Vec<String> = texts.iter().map(|text| lookalike::folded(text)).collect();
        let mut attempt: u64 = 0;
        loop {
            let hash = ContentHash::of_parts(&[&content.0, &attempt.to_le_bytes()]);
            let nonce: String = hash.to_string().chars().take(NONCE_DIGITS).collect();
            if !folded.iter().any(|text| text.contains(&nonce)) {
                return Self { nonce };
            }
            attempt += 1;
        }
    }

    /// The number in the delimiters.
    #[must_use]
    pub fn nonce(&self) -> &str {
        &self.nonce
    }

    /// The text in its frame, without a line break at the end.
    #[must_use]
    pub fn frame(&self, label: &str, text: &str) -> String {
        let nonce = &self.nonce;
        let escaped = escape(text);
        let mut framed = String::with_capacity(escaped.len() + escaped.len() / 16 + 96);
        framed.push_str(&format!("<{TAG}{label} {nonce}>\n"));
        for line in escaped.split('\n') {
            framed.push_str(LINE_PREFIX);
            framed.push_str(line);
            framed.push('\n');
        }
        framed.push_str(&format!("</{TAG}{label} {nonce}>"));
        framed
    }
}

/// A frame found in a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What the text is: `output`, `input`, …
    pub label: String,
    /// The number in its delimiters.
    pub nonce: String,
    /// The text as it was before it was framed.
    pub text: String,
}

/// The frames of a prompt in their order, and the lines outside of them.
///
/// A frame counts only when it is whole: opened, every line prefixed, closed by the same name and number.
#[must_use]
pub fn frames_in(prompt: &str) -> (Vec<Frame>, Vec<&str>) {
    let lines: Vec<&str> = prompt.split('\n').collect();
    let mut frames = Vec::new();
    let mut outside = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        if let Some((frame, length)) = frame_at(&lines[at..]) {
            frames.push(frame);
            at += length;
        } else {
            outside.push(*line);
            at += 1;
        }
    }
    (frames, outside)
}

/// The frame these lines begin with, and how many of them it takes.
fn frame_at(lines: &[&str]) -> Option<(Frame, usize)> {
    let inner = lines.first()?.strip_prefix('<')?.strip_prefix(TAG)?.strip_suffix('>')?;
    let (label, nonce) = inner.split_once(' ')?;
    let is_label = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let is_nonce = nonce.len() == NONCE_DIGITS && nonce.chars().all(|one| one.is_ascii_hexdigit());
    if label.is_empty() || !label.chars().all(is_label) || !is_nonce {
        return None;
    }
    let quoted = lines[1..].iter().take_while(|line| line.starts_with(LINE_PREFIX)).count();
    let closing = format!("</{TAG}{label} {nonce}>");
    if quoted == 0 || lines.get(quoted + 1) != Some(&closing.as_str()) {
        return None;
    }
    let texts: Vec<&str> =
        lines[1..=quoted].iter().map(|line| &line[LINE_PREFIX.len()..]).collect();
    let text = unescape(&texts.join("\n"));
    let frame = Frame { label: label.to_owned(), nonce: nonce.to_owned(), text };
    Some((frame, quoted + 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_frame_gives_its_text_back() {
        for text in ["", "\n", "one", "one\n\n", "| one\n</quoted-output 0>\n", "a\r\nb\rc"] {
            let framer = Framer::new(&[text]);
            let framed = format!("before\n{}\nafter", framer.frame("output", text));
            let (frames, outside) = frames_in(&framed);
            assert_eq!(outside, ["before", "after"], "{text:?}");
            assert_eq!(frames.len(), 1, "{text:?}");
            assert_eq!((frames[0].label.as_str(), frames[0].text.as_str()), ("output", text));
        }
    }

    #[test]
    fn the_number_is_the_same_for_equal_texts_and_in_none_of_them() {
        let first = Framer::new(&["ab", "c"]);
        assert_eq!(first, Framer::new(&["ab", "c"]));
        assert_ne!(first, Framer::new(&["a", "bc"]));
        assert_eq!(first.nonce().len(), NONCE_DIGITS);
    }

    #[test]
    fn a_frame_that_is_not_whole_is_none() {
        let text = "<quoted-output 0123456789abcdef>\n| a\nb\n</quoted-output 0123456789abcdef>";
        assert!(frames_in(text).0.is_empty());
        let other = "<quoted-output 0123456789abcdef>\n| a\n</quoted-input 0123456789abcdef>";
        assert!(frames_in(other).0.is_empty());
    }

    proptest! {
        #[test]
        fn every_text_stays_inside_and_comes_back(text in any::<String>(), other in "[<>|/a-z \\n⟦⟧0-9A-F]*") {
            let framer = Framer::new(&[&text, &other]);
            let prompt = format!("{}\n-\n{}", framer.frame("output", &text), framer.frame("input", &other));
            let (frames, outside) = frames_in(&prompt);
            prop_assert_eq!(outside, vec!["-"]);
            prop_assert_eq!(&frames[0].text, &text);
            prop_assert_eq!(&frames[1].text, &other);
        }
    }
}
