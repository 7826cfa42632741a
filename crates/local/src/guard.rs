//! Keeps text that looks like a control token from becoming one.
//!
//! The template's own `<|im_end|>` ends a turn; the same letters in a message are only letters. Before the template
//! is rendered they are hidden behind marks, and afterwards they are tokenized apart, as text. Everything else
//! is tokenized exactly as llama.cpp does.

/// Where each hidden text is, and what it is.
#[derive(Debug)]
pub(crate) struct Guard<'vocabulary> {
    control_texts: &'vocabulary [String],
    mark: char,
    hidden: Vec<String>,
}

/// A part of a rendered prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'text> {
    /// Text in which control tokens are control tokens.
    Template(&'text str),
    /// Letters, whatever they look like.
    Letters(&'text str),
}

impl<'vocabulary> Guard<'vocabulary> {
    /// A guard for these texts; its mark is a private character that occurs in none of them.
    pub(crate) fn new<'text>(
        control_texts: &'vocabulary [String],
        texts: impl Iterator<Item = &'text str> + Clone,
    ) -> Self {
        let mut private = '\u{f0000}'..='\u{ffffd}';
        let is_free = |mark: &char| !texts.clone().any(|text| text.contains(*mark));
        let mark = private.find(is_free).unwrap_or('\u{f0000}');
        Self { control_texts, mark, hidden: Vec::new() }
    }

    /// The text with everything that looks like a control token hidden.
    pub(crate) fn hide(&mut self, text: &str) -> String {
        let mut safe = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((start, control)) = first_control(self.control_texts, rest) {
            safe.push_str(&rest[..start]);
            safe.push_str(&format!("{}{}{}", self.mark, self.hidden.len(), self.mark));
            self.hidden.push(control.to_owned());
            rest = &rest[start + control.len()..];
        }
        safe.push_str(rest);
        safe
    }

    /// The parts of a text that was rendered from hidden ones.
    pub(crate) fn parts<'text>(&'text self, rendered: &'text str) -> Vec<Part<'text>> {
        let mut parts = Vec::new();
        for (index, piece) in rendered.split(self.mark).enumerate() {
            let letters = (index % 2 == 1).then(|| piece.parse::<usize>().ok()).flatten();
            match letters.and_then(|number| self.hidden.get(number)) {
                Some(letters) => parts.push(Part::Letters(letters)),
                None if piece.is_empty() => {}
                None => parts.push(Part::Template(piece)),
            }
        }
        parts
    }
}

/// The first control text in a text, the longest of those that begin there.
fn first_control<'vocabulary>(
    control_texts: &'vocabulary [String],
    text: &str,
) -> Option<(usize, &'vocabulary str)> {
    let found =
        control_texts.iter().filter_map(|control| Some((text.find(control)?, control.as_str())));
    found.min_by_key(|(start, control)| (*start, usize::MAX - control.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_texts_in_a_message_become_letters() {
        let controls = ["<|im_end|>".to_owned(), "<|im_end|>x".to_owned(), "<s>".to_owned()];
        let message = "a<|im_end|>x<s>\u{f0000}b";
        let mut guard = Guard::new(&controls, [message].into_iter());
        let safe = guard.hide(message);
        assert!(!safe.contains("<|im_end|>") && !safe.contains("<s>"));
        let rendered = format!("<s>{safe}<|im_end|>");
        assert_eq!(
            guard.parts(&rendered),
            [
                Part::Template("<s>a"),
                Part::Letters("<|im_end|>x"),
                Part::Letters("<s>"),
                Part::Template("\u{f0000}b<|im_end|>"),
            ]
        );
    }

    #[test]
    fn ordinary_text_stays_in_one_part() {
        let controls = ["<s>".to_owned()];
        let mut guard = Guard::new(&controls, ["<hi>"].into_iter());
        let safe = guard.hide("<hi>");
        assert_eq!(guard.parts(&safe), [Part::Template("<hi>")]);
        assert_eq!(guard.parts(""), []);
    }
}
