//! Local models against a real one: SmolLM2-135M-Instruct, or any GGUF with a chat template.
//!
//! The path is in `FULLBENCH_GGUF`; `scripts/test-llama` sets it, and without it these tests say SKIPPED. The model is
//! small and weak: what is tested is the machinery, never the answers' sense.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod choices;
mod generation;
mod hostile;
mod queue;
mod schema;
mod support;
