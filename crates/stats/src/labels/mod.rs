//! One label from many annotators.
//!
//! [`majority`] and [`weighted_majority`] count votes and report ties instead of breaking them; [`lower_median`] is their
//! counterpart for ordered labels. [`dawid_skene`] and [`mace`] also learn how far each annotator can be trusted.

mod dawid_skene;
mod given;
mod mace;
mod median;
mod posterior;
mod quality;
mod vote;

pub use dawid_skene::{DawidSkene, DawidSkeneOptions, dawid_skene};
pub use mace::{Mace, MaceOptions, mace};
pub use median::lower_median;
pub use posterior::Posteriors;
pub use quality::{AnnotatorQuality, annotator_quality, clearly_below};
pub use vote::{Decision, Vote, majority, weighted_majority};
