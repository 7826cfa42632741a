//! How judges come to a score, one file for each method.

pub(crate) mod binary;
pub(crate) mod claims;
mod quote;
pub(crate) mod rating;
mod spread;
