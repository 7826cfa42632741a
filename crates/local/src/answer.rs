//! Puts an answer together from the bytes of its tokens: whole characters, stop texts, and each token's share of it.

/// The text of one answer as it grows.
#[derive(Debug)]
pub(crate) struct AnswerText<'request> {
    stop: &'request [String],
    text: String,
    /// Bytes of a character that is not whole yet.
    pending: Vec<u8>,
    /// Where each token ends in the text.
    ends: Vec<usize>,
    /// Text that was handed on already.
    shown: usize,
    stopped: bool,
}

impl<'request> AnswerText<'request> {
    /// An empty answer that ends at any of the stop texts.
    pub(crate) fn new(stop: &'request [String]) -> Self {
        Self {
            stop,
            text: String::new(),
            pending: Vec::new(),
            ends: Vec::new(),
            shown: 0,
            stopped: false,
        }
    }

    /// Adds the bytes of a token; true when a stop text has appeared, which is then cut off with all that follows.
    ///
    /// A character whose bytes are spread over several tokens belongs to the token that completes it.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        let before = self.text.len();
        self.pending.extend_from_slice(bytes);
        self.take_whole_characters();
        if let Some(cut) = self.first_stop(before) {
            self.text.truncate(cut);
            self.pending.clear();
            self.stopped = true;
            for end in &mut self.ends {
                *end = (*end).min(cut);
            }
        }
        self.ends.push(self.text.len());
        self.stopped
    }

    /// What can be handed on now: everything but what may turn out to be the beginning of a stop text.
    pub(crate) fn next_piece(&mut self, is_last: bool) -> &str {
        let held = if is_last || self.stopped { 0 } else { self.begun_stop() };
        let from = self.shown.min(self.text.len());
        self.shown = self.text.len() - held;
        &self.text[from..self.shown.max(from)]
    }

    /// The answer, and the text of each token; together they spell it. Half a character at the end is left out.
    pub(crate) fn finish(self) -> (String, Vec<String>) {
        let mut from = 0;
        let mut pieces = Vec::with_capacity(self.ends.len());
        for end in self.ends {
            pieces.push(self.text[from..end].to_owned());
            from = end;
        }
        (self.text, pieces)
    }

    fn take_whole_characters(&mut self) {
        loop {
            match std::str::from_utf8(&self.pending) {
                Ok(whole) => {
                    self.text.push_str(whole);
                    self.pending.clear();
                    return;
                }
                Err(error) => {
                    let valid = error.valid_up_to();
                    self.text.push_str(&String::from_utf8_lossy(&self.pending[..valid]));
                    let Some(invalid) = error.error_len() else {
                        self.pending.drain(..valid);
                        return;
                    };
                    self.text.push(char::REPLACEMENT_CHARACTER);
                    self.pending.drain(..valid + invalid);
                }
            }
        }
    }

    /// Where the first stop text begins, if one ends in what was added after `before`.
    fn first_stop(&self, before: usize) -> Option<usize> {
        let longest = self.stop.iter().map(String::len).max()?;
        let mut from = (before + 1).saturating_sub(longest);
        while !self.text.is_char_boundary(from) {
            from -= 1;
        }
        let found = self.stop.iter().filter_map(|stop| self.text[from..].find(stop.as_str()));
        found.min().map(|position| from + position)
    }

    /// Bytes at the end of the text that may be the beginning of a stop text.
    fn begun_stop(&self) -> usize {
        let begun = |stop: &String| {
            let ends = stop.char_indices().map(|(end, _)| end).skip(1);
            ends.filter(|end| self.text.ends_with(&stop[..*end])).max().unwrap_or(0)
        };
        self.stop.iter().map(begun).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(stop: &[&str], tokens: &[&[u8]]) -> (String, Vec<String>, String) {
        let stop: Vec<String> = stop.iter().map(|text| (*text).to_owned()).collect();
        let mut text = AnswerText::new(&stop);
        let mut shown = String::new();
        for token in tokens {
            let stopped = text.push(token);
            shown.push_str(text.next_piece(false));
            if stopped {
                break;
            }
        }
        shown.push_str(text.next_piece(true));
        let (whole, pieces) = text.finish();
        assert_eq!(pieces.concat(), whole, "the tokens spell the answer");
        (whole, pieces, shown)
    }

    #[test]
    fn a_character_of_several_tokens_belongs_to_the_last() {
        let (text, pieces, shown) = answer(&[], &["a".as_bytes(), b"\xf0\x9f", b"\x98\x80", b"!"]);
        assert_eq!(text, "a😀!");
        assert_eq!(pieces, ["a", "", "😀", "!"]);
        assert_eq!(shown, text);
    }

    #[test]
    fn broken_bytes_are_replaced_and_half_a_character_at_the_end_is_left_out() {
        let (text, _, shown) = answer(&[], &[b"a\xff", b"b", b"\xe2\x82"]);
        assert_eq!(text, "a\u{fffd}b");
        assert_eq!(shown, text);
    }

    #[test]
    fn the_answer_ends_before_the_first_stop_text() {
        let (text, pieces, shown) = answer(&["END", "two"], &[b"one t", b"wo three E", b"ND"]);
        assert_eq!(text, "one ");
        assert_eq!(pieces, ["one ", ""]);
        assert_eq!(shown, text);
        let (text, ..) = answer(&["END"], &[b"E", b"N", b"x", b"EN", b"D", b"never"]);
        assert_eq!(text, "ENx");
        let (text, ..) = answer(&["é"], &["a\u{e9}".as_bytes()]);
        assert_eq!(text, "a");
    }

    #[test]
    fn what_may_become_a_stop_text_is_not_shown_early() {
        let stop = ["###".to_owned()];
        let mut text = AnswerText::new(&stop);
        text.push(b"a##");
        assert_eq!(text.next_piece(false), "a");
        text.push(b"b");
        assert_eq!(text.next_piece(false), "##b");
        text.push(b"##");
        assert_eq!(text.next_piece(false), "");
        assert_eq!(text.next_piece(true), "##");
    }
}
