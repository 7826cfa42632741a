//! Cheap estimates of token counts, for pacing, reservations and estimates before a run.
//!
//! Not a tokenizer: what a call did use is what the provider reports.

use fullbench_types::Message;

/// Tokens a chat format adds per message (role and separators), as OpenAI documents for its chat models.
const TOKENS_PER_MESSAGE: u64 = 4;

/// About how many tokens a text has: 4 bytes of ASCII, or 1.5 characters of anything else, are one token.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    // The first byte of each character that is not ASCII.
    let others = text.bytes().filter(|byte| *byte >= 0xC0).count() as u64;
    ascii.div_ceil(4) + (others * 2).div_ceil(3)
}

/// About how many tokens a conversation has as a prompt.
#[must_use]
pub fn estimate_messages(messages: &[Message]) -> u64 {
    messages.iter().map(|message| estimate_tokens(&message.content) + TOKENS_PER_MESSAGE).sum()
}

/// More tokens than a conversation is likely to have as a prompt, for reservations: 2 bytes are one token.
#[must_use]
pub fn upper_estimate_messages(messages: &[Message]) -> u64 {
    let bytes: u64 = messages.iter().map(|message| message.content.len() as u64).sum();
    bytes.div_ceil(2) + (messages.len() as u64 + 1) * 2 * TOKENS_PER_MESSAGE
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbench_types::Role;

    #[test]
    fn estimates_are_near_what_tokenizers_count() {
        // 9 tokens with o200k_base.
        let english = "The quick brown fox jumps over the lazy dog";
        assert!((9..=12).contains(&estimate_tokens(english)), "{}", estimate_tokens(english));
        let japanese = "今日は良い天気です";
        assert_eq!(estimate_tokens(japanese), 6);
        assert_eq!(estimate_tokens(""), 0);
    }

    #[test]
    fn reservations_are_above_the_estimate() {
        for text in ["", "hello", "今日は良い天気です", "1234567890 {}[]()"] {
            let messages = [Message::new(Role::User, text)];
            assert!(upper_estimate_messages(&messages) >= estimate_messages(&messages), "{text}");
        }
    }
}
