//! Answers that must have a JSON Schema: which tokens may come next.
//!
//! llguidance compiles the schema and refuses what it cannot enforce; llama.cpp's own converter leaves such parts out
//! in silence. Between keys and values there is one space, and no other space is allowed outside strings, so that
//! a small model cannot lose itself in white space.

use std::sync::Arc;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use llguidance::api::TopLevelGrammar;
use llguidance::{JsonCompileOptions, Matcher, ParserFactory};
use serde_json::Value;
use toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};

/// What marks the text of a control token in a token tree: a byte that no UTF-8 text has.
const CONTROL_MARK: u8 = 0xff;

/// Compiles schemas for one vocabulary.
pub(crate) struct Schemas {
    factory: ParserFactory,
}

/// Follows one answer through its schema.
pub(crate) struct SchemaMatcher(Matcher);

impl Schemas {
    /// Reads the vocabulary of a model.
    pub(crate) fn new(model: &LlamaModel) -> Result<Self, String> {
        let mut factory =
            ParserFactory::new_simple(&token_tree(model)).map_err(|error| error.to_string())?;
        factory.quiet();
        Ok(Self { factory })
    }

    /// A matcher for a schema, or why the schema cannot be enforced.
    pub(crate) fn matcher(&self, schema: &Value) -> Result<SchemaMatcher, String> {
        let mut schema = schema.clone();
        if !schema.is_object() {
            return Err("it is not a JSON object".to_owned());
        }
        let spacing = JsonCompileOptions {
            item_separator: ", ".to_owned(),
            key_separator: ": ".to_owned(),
            whitespace_flexible: false,
            ..JsonCompileOptions::default()
        };
        spacing.apply_to(&mut schema);
        let grammar = TopLevelGrammar::from_json_schema(schema);
        let matcher = Matcher::new(self.factory.create_parser(grammar));
        match matcher.get_error() {
            Some(error) => Err(error),
            None => Ok(SchemaMatcher(matcher)),
        }
    }
}

impl SchemaMatcher {
    /// Whether the answer is complete and nothing may follow.
    pub(crate) fn is_complete(&self) -> bool {
        self.0.is_stopped()
    }

    /// The tokens that may come next; tokens that end the answer are among them when it is complete.
    pub(crate) fn allowed(&mut self) -> Result<SimpleVob, String> {
        self.0.compute_mask_or_eos().map_err(|error| error.to_string())
    }

    /// Goes on with a token that is allowed.
    pub(crate) fn accept(&mut self, token: usize) -> Result<(), String> {
        self.0.consume_token(token as u32).map_err(|error| error.to_string())
    }
}

/// Every token with its bytes.
fn token_tree(model: &LlamaModel) -> TokEnv {
    let vocabulary = model.vocab();
    let size = vocabulary.n_tokens().unsigned_abs();
    let bytes_of = |token: LlamaToken| {
        let bytes = vocabulary.token_to_piece(token, false, None);
        if !bytes.is_empty() {
            return bytes;
        }
        let text = vocabulary.token_to_piece(token, true, None);
        if text.is_empty() { text } else { [&[CONTROL_MARK], text.as_slice()].concat() }
    };
    let words: Vec<Vec<u8>> = vocabulary.tokens().map(bytes_of).collect();
    let ends: Vec<u32> = vocabulary
        .tokens()
        .filter(|token| vocabulary.is_eog(*token))
        .map(|token| token.0.unsigned_abs())
        .collect();
    let end = ends.first().copied().unwrap_or(size.saturating_sub(1));
    let tree = TokTrie::from(&TokRxInfo::new(size, end), &words).with_eos_tokens(&ends);
    Arc::new(ApproximateTokEnv::new(tree))
}
