//! Provider batches: requests are collected, sent together, and answered within a day at half the price.
//!
//! A [`Batcher`] belongs to one run. Every batch is kept in a [`BatchStore`] before it is sent and again when the provider
//! has it, so that a run which is killed in between finds its batches again and sends none of them twice. What a batch
//! says is given to the call that waits for it by the id of its request, never by its place.

mod batcher;
mod client;
mod known;
mod line;
mod search;
mod store;
mod watch;

pub use batcher::{BatchOptions, BatchProgress, Batcher};
pub use store::{BatchRecord, BatchState, BatchStore, BatchStoreError};

pub(crate) use known::Told;
