//! From text to tokens, as the reference libraries do it. Tokens are ranges of the text; nothing is copied unless
//! the text must change.

mod bleu;
mod separate;
mod tercom;

pub(crate) use bleu::{Preparation, tokens};
pub(crate) use tercom::tercom;
