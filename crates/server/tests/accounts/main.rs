//! People: how they sign in, what they may do, and what others try with their accounts.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod browser;
#[path = "../common/mod.rs"]
mod common;
mod forgery;
mod invitations;
mod issuer;
mod members;
mod oidc;
mod oidc_provider;
mod organization;
mod passwords;
mod second_factor;
mod sessions;
mod sign_in;

pub(crate) use common::backend;
