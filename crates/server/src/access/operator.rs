//! Who runs the server: whoever has the token for it, or calls from the machine itself where there is none.

use std::net::IpAddr;

use axum::http::header;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use subtle::ConstantTimeEq;

use super::secret::hash_of;
use crate::app::App;
use crate::problem::{FORBIDDEN, Problem, UNAUTHORIZED};
use crate::serving::Peer;

/// Refuses everybody else.
pub(super) fn check(app: &App, parts: &Parts) -> Result<(), Problem> {
    // A blank token is none: whoever sends nothing would have it.
    let token = app.config().metrics_token.as_ref();
    let Some(token) = token.filter(|token| !token.reveal().trim().is_empty()) else {
        let is_here = parts.extensions.get::<Peer>().is_some_and(|peer| peer.0.is_loopback())
            && names_this_machine(parts);
        let hint = "set FULLBENCH_METRICS_TOKEN for the server, and send it as a bearer key";
        return match is_here {
            true => Ok(()),
            false => {
                let detail = "without a token this is told to the machine itself alone";
                Err(Problem::new(FORBIDDEN, detail).hint(hint))
            }
        };
    };
    let sent = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let sent = sent.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    // Of hashes, which have one length whatever was sent.
    match bool::from(hash_of(sent).ct_eq(&hash_of(token.reveal()))) {
        true => Ok(()),
        false => Err(Problem::new(UNAUTHORIZED, "this needs the token of who runs the server")),
    }
}

/// Whether the machine was called by a name that nobody else can have: a page whose own name leads here calls it by that.
fn names_this_machine(parts: &Parts) -> bool {
    let host = parts.uri.host().map(str::to_owned).or_else(|| {
        let host = parts.headers.get(header::HOST)?.to_str().ok()?.parse::<Authority>().ok()?;
        Some(host.host().to_owned())
    });
    host.is_some_and(|host| {
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
    })
}
