//! GGUF language models run in this process, on the CPU, by llama.cpp.
//!
//! [`LocalModel::load`] starts a thread that owns the model; requests wait for it in a queue, first come, first
//! served, and are answered one at a time, so that a text depends on its request and its seed alone. Where weights come
//! from is not decided here, and neither are limits, retries or the cache: see `fullbench_llm`.
//!
//! ```text
//! request ─► prompt (template, guard) ─► session (llama.cpp) ─► generate (sampler, schema, answer) ─► reply
//!                                                           └─► choices (probability of given answers)
//! ```

mod answer;
mod backend;
mod choices;
mod error;
mod generate;
mod guard;
mod model;
mod options;
mod probability;
mod prompt;
mod request;
mod sampler;
mod schema;
mod session;
mod template;
mod weights;
mod worker;

pub use error::LocalError;
pub use model::LocalModel;
pub use options::LocalOptions;
pub use weights::{check_weights, is_path, resolve_weights};
