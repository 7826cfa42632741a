//! How fast a local model reads and writes, for `bench/local.py`.
//!
//! Usage: `local_speed MODEL.gguf THREADS TOKENS < QUESTIONS`. Reads one question a line, as JSON, and prints one line of
//! JSON for each: tokens and seconds of the prompt and of the text behind it.
#![allow(clippy::print_stdout, reason = "the measurement is read from it")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use fullbench_llm::{GenerationRequest, LanguageModel, Parameters, Provider};
use fullbench_local::{LocalModel, LocalOptions};
use fullbench_types::{DEFAULT_ORGANIZATION, Message, Role};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, threads, tokens] = arguments.as_slice() else {
        return Err("usage: local_speed MODEL.gguf THREADS TOKENS < QUESTIONS".into());
    };
    let options = LocalOptions { threads: Some(threads.parse()?), ..LocalOptions::default() };
    let model = LocalModel::load(Path::new(path), options)?;
    let parameters = Arc::new(Parameters {
        temperature: Some(0.0),
        max_tokens: Some(tokens.parse()?),
        stream: true,
        ..Parameters::default()
    });
    for line in std::io::stdin().lines() {
        let question: String = serde_json::from_str(&line?)?;
        let request = GenerationRequest {
            organization: DEFAULT_ORGANIZATION,
            provider: Provider::Local,
            base_url: String::new(),
            model: path.clone(),
            revision: None,
            messages: vec![Message::new(Role::User, question)],
            parameters: Arc::clone(&parameters),
            repetition: 0,
            sample: 0,
        };
        let generation = model.generate(&request).await?.generation;
        let usage = generation.usage.unwrap_or_default();
        let first = generation.time_to_first_token_us.unwrap_or(generation.latency_us);
        println!(
            "{}",
            serde_json::json!({
                "prompt_tokens": usage.input_tokens - usage.cached_input_tokens,
                "prompt_seconds": first as f64 / 1e6,
                // The first token comes with the prompt.
                "tokens": usage.output_tokens.saturating_sub(1),
                "seconds": (generation.latency_us - first) as f64 / 1e6,
                "text": generation.text,
            })
        );
    }
    Ok(())
}
