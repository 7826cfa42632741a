//! One folder for each kind of thing that the API is about.

pub(crate) mod api_keys;
pub(crate) mod evaluations;
pub(crate) mod events;
pub(crate) mod health;
pub(crate) mod organization;
pub(crate) mod runs;
