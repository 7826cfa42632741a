//! Signing in through somebody who vouches for people: OpenID Connect, by the code flow with PKCE.
//!
//! `start` sends the browser to the issuer with a state, a nonce and a challenge, which a sealed cookie keeps; `finish` compares the state,
//! changes the code for an ID token, checks its signature, issuer, audience, end and nonce, and looks for whom it is about.

mod config;
mod flow;
mod http;
mod issuer;
mod person;

pub use config::OidcConfig;
pub(crate) use flow::{Back, finish, start};
pub(crate) use issuer::Issuer;
