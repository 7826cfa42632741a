//! Who calls, and whether they may: checked in one place, before any handler, by the rule that every endpoint has.

mod caller;
mod guard;
mod key_ring;
mod limits;
mod operator;
mod rule;
mod secret;

pub(crate) use caller::Caller;
pub(crate) use guard::guarded;
pub(crate) use key_ring::{KEY_PREFIX, KeyRing};
pub(crate) use limits::Limits;
pub(crate) use rule::Rule;
pub(crate) use secret::NewSecret;
