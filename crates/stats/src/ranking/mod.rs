//! Ranking models from duels.
//!
//! [`bradley_terry`] fits strengths by maximum likelihood and says how sure it is of strengths, differences and ranks.
//! [`elo`] is the rating that chess made known, [`win_rates`] the plain count. [`borda`] and [`weighted_score`] put votes
//! and scores of several kinds together.

mod battles;
mod borda;
mod bradley_terry;
mod cells;
mod connected;
mod covariance;
mod elo;
mod inference;
mod likelihood;
mod newton;
mod resample;
mod scale;
mod separate;
mod win_rate;

pub use battles::{Battles, Outcome};
pub use borda::{Vote, borda, consensus, weighted_score};
pub use bradley_terry::{
    BradleyTerry, BradleyTerryOptions, Covariance, DEFAULT_RIDGE, Regularization, Resamples, Ties,
    bradley_terry,
};
pub use elo::{EloOptions, EloSpread, elo, elo_over_shuffles};
pub use inference::{Difference, Effect, Estimate, RankAdjustment, RankRange};
pub use scale::{ELO_POINTS, Scale};
pub use win_rate::{WinRate, win_rates};
