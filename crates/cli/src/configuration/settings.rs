//! Every setting that a file can have.
//!
//! A setting stands for an argument of the command line, which brings its meaning, its variable, its default and what it may be:
//! a new one is a line here and the argument.

/// A setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// What it is called in the file: `section.key`.
    pub(crate) name: &'static str,
    /// The argument that it stands for.
    pub(crate) argument: &'static str,
    pub(crate) kind: Kind,
}

/// What is special about a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Plain,
    /// It names a file or a folder, seen from the folder of the configuration file.
    Path,
    /// It is shown nowhere, and can be kept in a file of its own: `key_file` names it.
    Secret,
}

impl Setting {
    /// Its section and its key.
    pub(crate) fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('.').unwrap_or(("", self.name))
    }
}

const fn plain(name: &'static str, argument: &'static str) -> Setting {
    Setting { name, argument, kind: Kind::Plain }
}

const fn path(name: &'static str, argument: &'static str) -> Setting {
    Setting { name, argument, kind: Kind::Path }
}

const fn secret(name: &'static str, argument: &'static str) -> Setting {
    Setting { name, argument, kind: Kind::Secret }
}

/// All settings, in the order in which they are shown: those of a section together.
pub(crate) const SETTINGS: &[Setting] = &[
    plain("server.listen", "listen"),
    plain("server.insecure", "insecure"),
    plain("server.concurrent_runs", "concurrent_runs"),
    plain("server.log_format", "log_format"),
    secret("server.metrics_token", "metrics_token"),
    secret("traces.endpoint", "otlp_endpoint"),
    secret("traces.headers", "otlp_headers"),
    path("store.home", "home"),
    secret("store.database", "database"),
    plain("store.objects", "objects"),
    secret("secrets.key", "secret_key"),
    secret("secrets.old_keys", "secret_key_old"),
    path("tls.certificate", "tls_cert"),
    path("tls.key", "tls_key"),
    plain("people.public_url", "public_url"),
    plain("people.secure_cookies", "secure_cookies"),
    secret("mail.smtp_url", "smtp_url"),
    plain("mail.from", "mail_from"),
    plain("oidc.issuer", "oidc_issuer"),
    plain("oidc.client_id", "oidc_client_id"),
    secret("oidc.client_secret", "oidc_client_secret"),
    plain("oidc.organization", "oidc_organization"),
    plain("oidc.scopes", "oidc_scopes"),
    plain("oidc.default_role", "oidc_default_role"),
    plain("oidc.domains", "oidc_domain"),
    plain("proxies.trusted", "trusted_proxy"),
    plain("proxies.header", "proxy_header"),
    plain("browsers.allow_origins", "allow_origin"),
    plain("models.allow_urls", "allow_model_url"),
    plain("webhooks.allow_private", "allow_private_webhooks"),
    plain("alerts.seconds", "alert_seconds"),
    plain("connections.max", "max_connections"),
    plain("connections.handshake_timeout", "handshake_timeout"),
    plain("connections.idle_timeout", "idle_timeout"),
    plain("connections.stall_timeout", "stall_timeout"),
    plain("requests.per_minute", "requests_per_minute"),
    plain("requests.header_timeout", "header_timeout"),
    plain("requests.body_idle_timeout", "body_idle_timeout"),
    plain("requests.body_timeout", "body_timeout"),
    plain("requests.max_header_size", "max_header_size"),
    plain("requests.max_body_size", "max_body_size"),
    plain("requests.max_upload_size", "max_upload_size"),
    plain("quotas.storage", "quota_storage"),
    plain("quotas.open_runs", "quota_open_runs"),
    plain("quotas.records", "quota_records"),
    plain("quotas.month_usd", "quota_month_usd"),
    plain("quotas.plans", "plan_limit"),
];

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn everything_that_serve_takes_can_be_in_the_file() {
        let command = Arguments::command();
        let serve = command.find_subcommand("serve").unwrap();
        let place = ["home", "database", "objects", "secret_key", "secret_key_old"];
        let ids = |command: &clap::Command| -> Vec<String> {
            command.get_arguments().map(|argument| argument.get_id().to_string()).collect()
        };
        let mut taken: BTreeSet<String> = ids(serve).into_iter().collect();
        taken.extend(ids(&command).into_iter().filter(|id| place.contains(&id.as_str())));
        let named: BTreeSet<String> =
            SETTINGS.iter().map(|setting| setting.argument.to_owned()).collect();
        assert_eq!(taken, named);
        assert_eq!(named.len(), SETTINGS.len(), "an argument has two names");
        let names: BTreeSet<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), SETTINGS.len(), "a name has two arguments");
        for argument in serve.get_arguments() {
            assert!(argument.get_env().is_some(), "{} has no variable", argument.get_id());
        }
    }

    #[test]
    fn every_section_is_shown_once() {
        let mut sections: Vec<&str> = SETTINGS.iter().map(|setting| setting.parts().0).collect();
        sections.dedup();
        let apart: BTreeSet<&str> = sections.iter().copied().collect();
        assert_eq!(apart.len(), sections.len(), "a section is in two places: {sections:?}");
    }
}
