//! Where a request comes from.
//!
//! Anybody can write any address into a header. It is believed only of proxies that are trusted by their own address, and only
//! as far back as the chain of trusted proxies goes.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header::{FORWARDED, HeaderName};
use ipnet::IpNet;

/// The address that a request comes from: that of the client, also behind proxies that are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Peer(pub(crate) IpAddr);

impl fmt::Display for Peer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// The header in which proxies say for whom they ask. The other one is what clients sent, and is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProxyHeader {
    /// `X-Forwarded-For`.
    #[default]
    XForwardedFor,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

impl FromStr for ProxyHeader {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "x-forwarded-for" => Ok(Self::XForwardedFor),
            "forwarded" => Ok(Self::Forwarded),
            _ => Err("use x-forwarded-for or forwarded".to_owned()),
        }
    }
}

impl fmt::Display for ProxyHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::XForwardedFor => "x-forwarded-for",
            Self::Forwarded => "forwarded",
        })
    }
}

/// Proxies that may say for whom they ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies {
    /// Their networks.
    pub networks: Vec<IpNet>,
    /// The header they write.
    pub header: ProxyHeader,
}

impl TrustedProxies {
    /// Reads a network (`10.0.0.0/8`) or an address.
    pub fn network(text: &str) -> Result<IpNet, String> {
        let address = || text.parse::<IpAddr>().map(IpNet::from);
        text.parse::<IpNet>().or_else(|_| address()).map_err(|_| {
            "give an address or a network, for example 10.0.0.5 or 10.0.0.0/8".to_owned()
        })
    }

    /// From where a request comes that came over this connection.
    pub(super) fn peer(&self, connected: SocketAddr, headers: &HeaderMap) -> Peer {
        let mut client = connected.ip().to_canonical();
        if self.trusts(client) {
            // Each proxy adds the one that it was asked by: the last is the nearest.
            for address in self.told(headers).into_iter().rev() {
                let Some(address) = address else { break };
                client = address;
                if !self.trusts(client) {
                    break;
                }
            }
        }
        Peer(client)
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// The addresses of the header; none for what is no address.
    fn told(&self, headers: &HeaderMap) -> Vec<Option<IpAddr>> {
        let name = match self.header {
            ProxyHeader::XForwardedFor => HeaderName::from_static("x-forwarded-for"),
            ProxyHeader::Forwarded => FORWARDED,
        };
        let lines = headers.get_all(name).into_iter().map(|line| line.to_str().unwrap_or_default());
        let entries = lines.flat_map(|line| line.split(','));
        match self.header {
            ProxyHeader::XForwardedFor => entries.map(address).collect(),
            ProxyHeader::Forwarded => entries.map(address_of_element).collect(),
        }
    }
}

/// The address of `for=…` in an element of `Forwarded`.
fn address_of_element(element: &str) -> Option<IpAddr> {
    let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
    let mut nodes = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("for"));
    let (_, node) = nodes.next()?;
    address(node.trim().trim_matches('"'))
}

/// An address, with a port or without.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<IpAddr>().ok();
    let address = text
        .parse::<IpAddr>()
        .ok()
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
        .or_else(bare)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Who a request is taken to come from, that came from an address with these headers.
    fn peer(header: ProxyHeader, from: &str, lines: &[(&'static str, &str)]) -> String {
        let networks = ["10.0.0.0/8", "::1", "127.0.0.1"];
        let networks = networks.iter().map(|text| TrustedProxies::network(text).unwrap());
        let proxies = TrustedProxies { networks: networks.collect(), header };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        proxies.peer(from.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_proxies_say_for_whom_they_ask() {
        let x = "x-forwarded-for";
        let by = |from, lines: &[_]| peer(ProxyHeader::XForwardedFor, from, lines);
        assert_eq!(by("203.0.113.9:5", &[(x, "198.51.100.1")]), "203.0.113.9", "not a proxy");
        assert_eq!(by("10.1.2.3:5", &[]), "10.1.2.3");
        assert_eq!(by("10.1.2.3:5", &[(x, "198.51.100.1")]), "198.51.100.1");
        assert_eq!(by("[::ffff:10.1.2.3]:5", &[(x, "198.51.100.1")]), "198.51.100.1");
        assert_eq!(by("[::1]:5", &[(x, "[2001:db8::1]:443")]), "2001:db8::1");
        assert_eq!(by("10.1.2.3:5", &[("forwarded", "for=198.51.100.1")]), "10.1.2.3");
    }

    #[test]
    fn what_a_client_wrote_before_the_proxies_is_not_believed() {
        let x = "x-forwarded-for";
        let by = |lines: &[_]| peer(ProxyHeader::XForwardedFor, "10.1.2.3:5", lines);
        assert_eq!(by(&[(x, "1.1.1.1, 198.51.100.1, 10.9.9.9")]), "198.51.100.1");
        assert_eq!(by(&[(x, "1.1.1.1"), (x, "198.51.100.1")]), "198.51.100.1");
        assert_eq!(by(&[(x, "1.1.1.1, nonsense, 10.9.9.9")]), "10.9.9.9");
        assert_eq!(by(&[(x, "nonsense")]), "10.1.2.3");
        assert_eq!(by(&[(x, "10.4.4.4, 10.5.5.5")]), "10.4.4.4", "the farthest that is known");
    }

    #[test]
    fn the_header_of_rfc_7239_is_read_where_it_is_chosen() {
        let f = "forwarded";
        let by = |lines: &[_]| peer(ProxyHeader::Forwarded, "10.1.2.3:5", lines);
        assert_eq!(by(&[(f, "for=1.1.1.1, For=\"198.51.100.1:80\";proto=https")]), "198.51.100.1");
        assert_eq!(by(&[(f, "proto=https;for=\"[2001:db8::1]:4711\"")]), "2001:db8::1");
        assert_eq!(by(&[(f, "for=\"[2001:db8::1]\"")]), "2001:db8::1");
        assert_eq!(by(&[(f, "for=unknown")]), "10.1.2.3");
        assert_eq!(by(&[("x-forwarded-for", "198.51.100.1")]), "10.1.2.3");
    }

    #[test]
    fn networks_are_checked() {
        assert!(TrustedProxies::network("10.0.0.0/33").is_err());
        assert!(TrustedProxies::network("proxy").is_err());
        assert_eq!("Forwarded".parse(), Ok(ProxyHeader::Forwarded));
        assert!("via".parse::<ProxyHeader>().is_err());
    }
}
