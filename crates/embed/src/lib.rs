//! Sentence embeddings, BERTScore and a similarity index.
//!
//! A transformer encoder runs in-process on the CPU, from the files of a model in a folder: one that is named, or one
//! whose weights were fetched, which is done elsewhere. Embeddings of a provider come through `fullbench_llm`, behind
//! the same trait.

mod batch;
mod bertscore;
mod embedder;
mod encoder;
mod error;
mod files;
mod index;
mod lanes;
mod named;
mod near;
mod provider;
mod sameness;
mod sentence;
mod tokens;

pub use bertscore::{Baseline, BertScore, BertScoreOptions, BertScoreResult};
pub use embedder::{Embedder, Embedding, cosine};
pub use error::EmbedError;
pub use index::SimilarityIndex;
pub use named::{DEFAULT_MODEL, ModelChoice, bert_score, is_of_provider, is_path};
pub use near::{Neighbour, visit_neighbours};
pub use provider::ProviderEmbedder;
pub use sameness::{Difference, DifferenceKind, differs};
pub use sentence::SentenceModel;
