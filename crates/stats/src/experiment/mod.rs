//! Experiments: A/B tests, sequential looks, allocation.

mod bandit;
mod bayesian;
mod best;
mod cuped;
mod frequentist;
mod posterior;
mod prior;
mod ratio;
mod sequential;

pub use bandit::{Rewards, thompson, top_two_shares, top_two_thompson, ucb1, ucb1_bounds};
pub use bayesian::{
    BayesianTest, bayesian_means, bayesian_rates, compare_posteriors, mean_posterior,
};
pub use best::{ValueRemaining, probability_best, value_remaining};
pub use cuped::{Cuped, CupedValues, WithCovariate, cuped, cuped_values};
pub use frequentist::{FrequentistTest, frequentist_test};
pub use posterior::Posterior;
pub use prior::{BetaPrior, NormalInverseGamma};
pub use ratio::{RatioCheck, sample_ratio};
pub use sequential::{
    Arms, ConfidenceSequence, Decision, GroupDesign, GroupLook, Look, MixtureTest, Spending,
    alpha_spending, confidence_sequence, group_sequential, mixture_test, o_brien_fleming, pocock,
};
