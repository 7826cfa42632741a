//! Texts in batches: what one call carries.

/// Characters of one call, about: OpenAI takes 300,000 tokens, and few languages need more than one for a character.
const BATCH_CHARACTERS: usize = 250_000;

/// What is sent in the place of an empty text, which OpenAI and llama.cpp refuse.
const EMPTY_TEXT: &str = " ";

/// Splits texts into batches of at most so many texts and [`BATCH_CHARACTERS`]; a longer text is a batch of its own.
pub(super) fn batches(texts: &[String], most_texts: usize) -> Vec<Vec<&str>> {
    let mut batches: Vec<Vec<&str>> = Vec::new();
    let mut characters = 0;
    for text in texts {
        let text = if text.is_empty() { EMPTY_TEXT } else { text };
        let length = text.chars().count();
        match batches.last_mut() {
            Some(batch) if batch.len() < most_texts && characters + length <= BATCH_CHARACTERS => {
                batch.push(text);
                characters += length;
            }
            _ => {
                batches.push(vec![text]);
                characters = length;
            }
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(texts: &[String], most_texts: usize) -> Vec<usize> {
        batches(texts, most_texts).iter().map(Vec::len).collect()
    }

    #[test]
    fn batches_keep_the_order_and_both_bounds() {
        let texts: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        assert_eq!(lengths(&texts, 128), [128, 128, 44]);
        assert_eq!(batches(&texts, 128).concat(), texts);
        assert_eq!(lengths(&[], 128), [0; 0]);
        let long = "é".repeat(100_000);
        let texts = [long.clone(), long.clone(), long, "short".to_owned()];
        assert_eq!(lengths(&texts, 128), [2, 2]);
        let too_long = "a".repeat(300_000);
        let texts = ["short".to_owned(), too_long, "short".to_owned()];
        assert_eq!(lengths(&texts, 128), [1, 1, 1]);
    }

    #[test]
    fn an_empty_text_is_sent_as_a_space() {
        let texts = [String::new(), "  ".to_owned(), "a".to_owned()];
        assert_eq!(batches(&texts, 8), [[" ", "  ", "a"]]);
    }
}
