//! Who calls, and whether they may: checked in one place, before any handler, by the rule that every endpoint has.

mod caller;
mod forgery;
mod guard;
mod limits;
pub(crate) mod oidc;
mod operator;
mod passwords;
mod ring;
mod rule;
pub(crate) mod second_factor;
mod secret;
pub(crate) mod session;
mod sign_in;
pub(crate) mod sweep;
mod totp;
mod tries;
mod visitor;

pub(crate) use caller::{Caller, Credential};
pub(crate) use forgery::{csrf_token, refuse_foreign};
pub(crate) use guard::guarded;
pub(crate) use limits::Limits;
pub(crate) use passwords::Passwords;
pub use passwords::password_hash;
pub(crate) use ring::{KEY_PREFIX, KeyRing, SessionRing};
pub(crate) use rule::Rule;
pub(crate) use secret::{NewSecret, hash_of, hex};
pub(crate) use sign_in::{Shown, confirm_password, sign_in, slug_of};
pub(crate) use tries::{Account, Tried, Try};
pub(crate) use visitor::Visitor;

#[cfg(test)]
mod tests {
    //! A server's parts without the server.
    #![allow(clippy::unwrap_used)]

    use fullbench_store::{Store, StoreLocation};

    use crate::app::App;
    use crate::config::ServerConfig;

    /// What handlers share, over a store that is gone with its folder.
    pub(super) async fn app() -> (App, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_at(folder.path(), &StoreLocation::default()).await.unwrap();
        let app = App::new(store, ServerConfig::default(), bytes::Bytes::new(), None, None);
        (app, folder)
    }
}
