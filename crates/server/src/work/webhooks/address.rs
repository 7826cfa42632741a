//! Where webhooks may go: to addresses of the public internet alone, unless the server allows others.
//!
//! A name is looked up for each connection and the connection made to the address that was checked, so that a name which
//! changes its address in between is of no use.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Why an address is refused.
pub(super) const PRIVATE: &str = "the address is not one of the public internet";

/// What is wrong with the URL of a webhook, without asking anybody.
pub(crate) fn problem_of(url: &str, allow_private: bool) -> Option<&'static str> {
    let Ok(url) = Url::parse(url) else { return Some("this is no URL") };
    if !matches!(url.scheme(), "http" | "https") {
        return Some("a webhook is reached by http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Some("the URL holds a user's name or password: requests are signed instead");
    }
    if allow_private || address_of(&url).is_none_or(is_public) { None } else { Some(PRIVATE) }
}

/// The address, where a URL has one in place of a name.
fn address_of(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    bare.parse().ok()
}

/// Who knows the addresses of names.
pub(super) trait Names: Clone + Send + Sync + 'static {
    /// All addresses of a name, public or not.
    fn addresses(&self, name: String) -> impl Future<Output = io::Result<Vec<SocketAddr>>> + Send;
}

/// The system this runs on.
#[derive(Debug, Clone, Copy)]
pub(super) struct SystemNames;

impl Names for SystemNames {
    async fn addresses(&self, name: String) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.collect())
    }
}

/// Looks names up, and gives their public addresses alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublicNames<N> {
    pub(super) names: N,
    pub(super) allow_private: bool,
}

impl<N: Names> Resolve for PublicNames<N> {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { names, allow_private } = self.clone();
        Box::pin(async move {
            let found = names.addresses(name.as_str().to_owned()).await?.into_iter();
            let usable: Vec<SocketAddr> =
                found.filter(|address| allow_private || is_public(address.ip())).collect();
            if usable.is_empty() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, PRIVATE).into());
            }
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of the public internet: in none of the blocks that the IANA registries of special-purpose
/// addresses (RFC 6890) keep from it, nor one that wraps such an address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = a == 0
        || a == 10
        || a == 127
        || (a == 100 && b & 0xc0 == 64)
        || (a == 169 && b == 254)
        || (a == 172 && b & 0xf0 == 16)
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 0 && c == 2)
        || (a == 192 && b == 88 && c == 99)
        || (a == 192 && b == 168)
        // The service of a large cloud for its virtual machines, at a public address.
        || address == Ipv4Addr::new(168, 63, 129, 16)
        || (a == 198 && b & 0xfe == 18)
        || (a == 198 && b == 51 && c == 100)
        || (a == 203 && b == 0 && c == 113)
        || a >= 224;
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let last = Ipv4Addr::from(u32::from(g) << 16 | u32::from(h));
    // Mapped (RFC 4291) and translated (RFC 6052) addresses are as public as what they wrap.
    if [a, b, c, d, e] == [0; 5] && f == 0xffff {
        return is_public_v4(last);
    }
    if a == 0x64 && b == 0xff9b && [c, d, e, f] == [0; 4] {
        return is_public_v4(last);
    }
    // Only 2000::/3 is given out; Teredo and the rest of 2001::/23, documentation, and 6to4 are in it.
    a & 0xe000 == 0x2000
        && !(a == 0x2001 && b < 0x200)
        && !(a == 0x2001 && b == 0xdb8)
        && a != 0x2002
        && !(a == 0x3fff && b < 0x1000)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn private_addresses_are_refused_in_every_spelling() {
        for url in [
            "http://127.0.0.1/x",
            "http://127.1/x",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://0/",
            "http://10.1.2.3/",
            "http://100.64.0.1/",
            "http://169.254.169.254/latest/meta-data",
            "http://168.63.129.16/",
            "http://172.31.255.255/",
            "http://192.168.1.1/",
            "http://198.19.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
            "http://[::1]/",
            "http://[::]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:a9fe:a9fe]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:7f00:1::]/",
            "http://[2001:0:4136:e378::]/",
            "http://[fe80::1]/",
            "http://[fc00::1]/",
            "http://[fd12:3456::1]/",
            "http://[2001:db8::1]/",
            "http://[ff02::1]/",
        ] {
            assert_eq!(problem_of(url, false), Some(PRIVATE), "{url}");
            assert_eq!(problem_of(url, true), None, "{url}");
        }
    }

    #[test]
    fn public_ones_and_names_are_taken() {
        for url in [
            "https://example.com/hook?a=b",
            "https://93.184.215.14/",
            "http://172.32.0.1/",
            "http://192.0.1.1/",
            "https://[2606:4700::1111]/",
            "https://[2001:4860:4860::8888]/",
        ] {
            assert_eq!(problem_of(url, false), None, "{url}");
        }
        for url in ["", "example.com", "ftp://example.com/", "file:///etc/passwd"] {
            assert!(problem_of(url, true).is_some(), "{url}");
        }
        assert!(problem_of("https://ann:s3cret@example.com/", true).is_some());
    }

    #[tokio::test]
    async fn a_name_of_this_machine_has_no_address() {
        let names = PublicNames { names: SystemNames, allow_private: false };
        let error = names.resolve("localhost".parse().unwrap()).await.err().unwrap();
        assert!(error.to_string().contains(PRIVATE));
        let names = PublicNames { names: SystemNames, allow_private: true };
        assert!(names.resolve("localhost".parse().unwrap()).await.is_ok());
    }
}
