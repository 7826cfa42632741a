//! Distribution functions and quantiles, accurate also for the large counts of evaluations.

mod beta;
mod discrete;
mod normal;
mod student;

pub use beta::{beta_cdf, beta_quantile};
pub(crate) use beta::{incomplete_beta, leading_factor};
pub use discrete::{binomial_cdf, binomial_pmf, chi_square_sf};
pub use normal::{normal_cdf, normal_pdf, normal_quantile};
pub use student::{student_t_cdf, student_t_quantile, student_t_sf};
