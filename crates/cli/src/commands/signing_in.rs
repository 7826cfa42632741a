//! How people sign in to a server, from arguments and the environment.

use fullbench_server::{MailConfig, OidcConfig, ServerConfig};

use crate::arguments::signing_in::SigningInArguments;
use crate::failure::CliError;

/// The variable with the address of the mail server, and the password in it.
const SMTP_URL: &str = "FULLBENCH_SMTP_URL";

/// The configuration with how people sign in.
pub(crate) fn configured(
    config: ServerConfig,
    arguments: &SigningInArguments,
) -> Result<ServerConfig, CliError> {
    let mail = match (given(&arguments.smtp_url), &arguments.mail_from) {
        (Some(url), Some(from)) => Some(MailConfig { url, from: from.clone() }),
        (None, None) => None,
        (Some(_), None) => return Err(missing(SMTP_URL, "--mail-from")),
        (None, Some(_)) => return Err(missing("--mail-from", SMTP_URL)),
    };
    let public_url = arguments.public_url.clone();
    if mail.is_some() && public_url.is_none() {
        return Err(missing(SMTP_URL, "--public-url"));
    }
    if arguments.oidc_issuer.is_some() && arguments.oidc_client_id.is_none() {
        return Err(missing("--oidc-issuer", "--oidc-client-id"));
    }
    let oidc = arguments.oidc_issuer.clone().zip(arguments.oidc_client_id.clone());
    let oidc = oidc.map(|(issuer, client_id)| OidcConfig {
        client_secret: given(&arguments.oidc_client_secret),
        scopes: arguments.oidc_scopes.clone(),
        default_role: arguments.oidc_default_role,
        domains: arguments.oidc_domain.clone(),
        ..OidcConfig::new(issuer, client_id, arguments.oidc_organization.clone())
    });
    if oidc.is_some() && public_url.is_none() {
        return Err(missing("--oidc-issuer", "--public-url"));
    }
    let is_tls = public_url.as_ref().is_some_and(|url| url.scheme() == "https");
    let secure_cookies = config.secure_cookies || arguments.secure_cookies || is_tls;
    Ok(ServerConfig { mail, public_url, oidc, secure_cookies, ..config })
}

/// What is given; a variable that is set to nothing, or a file with nothing in it, is not.
pub(super) fn given(value: &Option<String>) -> Option<String> {
    value.clone().filter(|value| !value.trim().is_empty())
}

fn missing(given: &str, wanted: &str) -> CliError {
    CliError::input(
        format!("{given} is set, and {wanted} is not"),
        Some(format!("set {wanted} too, or leave {given} out")),
    )
}
