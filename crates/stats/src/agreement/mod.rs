//! How far annotators agree.
//!
//! [`Ratings`] holds ratings by item, made once from a long table. [`alpha`] works at every level of measurement and with
//! missing ratings; [`cohen_kappa`] and [`scott_pi`] compare two annotators; [`fleiss_kappa`], [`gwet_ac`] and
//! [`brennan_prediger`] compare many. Data without variation say nothing about agreement: every coefficient is then
//! [`Undefined`](crate::Undefined), not 1.

mod alpha;
mod annotators;
mod bootstrap;
mod category_weights;
mod chance;
mod classes;
mod coincidences;
mod items;
mod kappa;
mod pairs;
mod ratings;
mod ratio;
mod scale;

pub use alpha::{Alpha, alpha, interpretation};
pub use annotators::{AnnotatorAgreement, annotator_agreements};
pub use bootstrap::{AlphaInterval, alpha_interval};
pub use category_weights::CategoryWeights;
pub use chance::{
    ChanceCorrected, PercentAgreement, brennan_prediger, fleiss_kappa, gwet_ac, percent_agreement,
};
pub use coincidences::{Coincidences, coincidences};
pub use items::{ItemDisagreements, item_disagreements};
pub use kappa::{Kappa, cohen_kappa, scott_pi};
pub use pairs::{PairTable, pair_tables};
pub use ratings::Ratings;
pub use scale::Level;

/// More categories than this are no categories any more: what needs a matrix of them is refused.
const MAX_CATEGORIES: usize = 1_000;

/// Fewer items than this give no interval: large-sample errors and resamples of so few say little.
const FEWEST_ITEMS: usize = 10;

/// Refuses a matrix that would be too large.
fn unless_categories(count: usize) -> Result<(), crate::Undefined> {
    if count <= MAX_CATEGORIES {
        return Ok(());
    }
    let (what, value) = ("the number of distinct values", count as f64);
    Err(crate::Undefined::OutOfRange { what, value, allowed: "at most 1000" })
}
