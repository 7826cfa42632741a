//! How an issuer is set up.

use std::fmt;

use fullbench_types::UserRole;

/// How people sign in through an issuer.
#[derive(Clone)]
pub struct OidcConfig {
    /// Its address, as its own documents say it.
    pub issuer: String,
    /// What it calls this server.
    pub client_id: String,
    /// What it knows this server by.
    pub client_secret: Option<String>,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The slug of the organization that people belong to.
    pub organization: String,
    /// What people may do who were not known before; without it only those who are known or invited get in.
    pub default_role: Option<UserRole>,
    /// The domains of mail addresses that get in; all where there are none.
    pub domains: Vec<String>,
}

impl OidcConfig {
    /// An issuer for an organization; everything else as usual.
    #[must_use]
    pub fn new(issuer: String, client_id: String, organization: String) -> Self {
        Self {
            issuer,
            client_id,
            client_secret: None,
            scopes: vec!["email".to_owned(), "profile".to_owned()],
            organization,
            default_role: None,
            domains: Vec::new(),
        }
    }

    /// Whether people with this mail address get in.
    pub(super) fn admits(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map(|(_, domain)| domain).unwrap_or_default();
        self.domains.is_empty() || self.domains.iter().any(|one| one.eq_ignore_ascii_case(domain))
    }
}

impl fmt::Debug for OidcConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            issuer,
            client_id,
            client_secret: _,
            scopes,
            organization,
            default_role,
            domains,
        } = self;
        formatter
            .debug_struct("OidcConfig")
            .field("issuer", issuer)
            .field("client_id", client_id)
            .field("scopes", scopes)
            .field("organization", organization)
            .field("default_role", default_role)
            .field("domains", domains)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_domains_get_in() {
        let config = OidcConfig::new("i".to_owned(), "c".to_owned(), "o".to_owned());
        assert!(config.admits("ann@anywhere.example"));
        let config = OidcConfig { domains: vec!["Example.com".to_owned()], ..config };
        assert!(config.admits("ann@example.com"));
        for other in ["ann@evil-example.com", "ann@example.com.evil", "example.com", ""] {
            assert!(!config.admits(other), "{other}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        let config = OidcConfig::new("i".to_owned(), "c".to_owned(), "o".to_owned());
        let config = OidcConfig { client_secret: Some("s3cret".to_owned()), ..config };
        assert!(!format!("{config:?}").contains("s3cret"));
    }
}
