//! How people sign in to `fullbench serve`.

use clap::Args;
use fullbench_types::UserRole;
use reqwest::Url;

use super::accounts::role;

#[derive(Debug, Args)]
#[command(next_help_heading = "People")]
pub(crate) struct SigningInArguments {
    /// Where people find the server: for links in mail, and for the way back from an issuer
    #[arg(long, value_name = "URL", env = "FULLBENCH_PUBLIC_URL")]
    pub(crate) public_url: Option<Url>,

    /// Let browsers keep cookies by TLS alone; for a server behind a proxy that has TLS
    #[arg(long, env = "FULLBENCH_SECURE_COOKIES")]
    pub(crate) secure_cookies: bool,

    /// Who mail comes from; the server it is sent by is in FULLBENCH_SMTP_URL, as smtp://USER:PASSWORD@HOST:PORT?tls=required
    #[arg(long, value_name = "ADDRESS", env = "FULLBENCH_MAIL_FROM")]
    pub(crate) mail_from: Option<String>,

    /// Let people sign in through this OpenID Connect issuer; its secret is in FULLBENCH_OIDC_CLIENT_SECRET
    #[arg(long, value_name = "URL", env = "FULLBENCH_OIDC_ISSUER", requires = "oidc_client_id")]
    pub(crate) oidc_issuer: Option<String>,

    /// What the issuer calls this server
    #[arg(long, value_name = "ID", env = "FULLBENCH_OIDC_CLIENT_ID")]
    pub(crate) oidc_client_id: Option<String>,

    /// The organization that people of the issuer belong to
    #[arg(long, value_name = "SLUG", default_value = "default")]
    pub(crate) oidc_organization: String,

    /// What the issuer is asked for beside `openid`
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', default_value = "email,profile")]
    pub(crate) oidc_scopes: Vec<String>,

    /// Add people whom nobody invited, with this role
    #[arg(long, value_name = "ROLE", value_parser = role)]
    pub(crate) oidc_default_role: Option<UserRole>,

    /// Let in only mail addresses of this domain; can be given several times
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) oidc_domain: Vec<String>,
}
