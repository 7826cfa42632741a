//! Where a request comes from.

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use fullbench_store::NewAuditEntry;
use fullbench_types::AuditPhase;

use crate::app::App;
use crate::audit::RequestId;
use crate::problem::Problem;
use crate::serving::Peer;

/// Letters of a browser's name that are kept.
const LONGEST: usize = 300;

/// Where a request comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Visitor {
    pub(crate) address: Option<IpAddr>,
    pub(crate) user_agent: Option<String>,
    pub(crate) request_id: Option<String>,
}

impl Visitor {
    /// What the audit log keeps of something that they do.
    pub(crate) fn entry(&self, action: &str, actor: &str, phase: AuditPhase) -> NewAuditEntry {
        NewAuditEntry {
            from_address: self.address.map(|address| address.to_string()),
            request_id: self.request_id.clone(),
            ..NewAuditEntry::new(action, actor, phase)
        }
    }

    /// The network that counts as one visitor: whoever has an address of version 6 has 2⁶⁴ of them.
    pub(super) fn network(&self) -> Option<String> {
        let address = self.address?.to_canonical();
        Some(match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => {
                let network = u128::from(address) >> 64 << 64;
                Ipv6Addr::from(network).to_string()
            }
        })
    }
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let peer = parts.extensions.get::<Peer>();
        let agent = parts.headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        Ok(Self {
            address: peer.map(|peer| peer.0),
            user_agent: agent.map(|agent| agent.chars().take(LONGEST).collect()),
            request_id: parts.extensions.get::<RequestId>().map(|id| id.0.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn network(address: &str) -> String {
        let address = Some(address.parse().unwrap());
        Visitor { address, ..Visitor::default() }.network().unwrap()
    }

    #[test]
    fn a_network_of_version_6_is_one_visitor() {
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), network("2001:db8:1:2:ffff::1"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:192.0.2.7"), network("192.0.2.7"));
        assert_ne!(network("192.0.2.7"), network("192.0.2.8"));
    }
}
