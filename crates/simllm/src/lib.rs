//! A simulated provider: latency, faults, streaming and log-probabilities over three wire formats, batches, and embeddings.
//!
//! For tests, benchmarks and demos. What it answers and which faults it shows depend only on the seed, the
//! model, the prompt and how often that prompt was asked before, never on order or time; so a run with faults
//! must end with the answers of a run without. Start one with [`Simulator::start`], or run the `simllm` binary.

mod answer;
mod arithmetic;
mod batches;
mod clock;
mod config;
mod dice;
mod embeddings;
mod fate;
mod gate;
mod json_answer;
mod limiter;
mod logprobs;
mod reply;
mod request;
mod server;
mod service;
mod statistics;
mod wire;

pub use batches::BatchConfig;
pub use config::{SimulatorConfig, SimulatorConfigError};
pub use server::{Simulator, SimulatorError};
pub use statistics::{FaultCounts, Statistics};
