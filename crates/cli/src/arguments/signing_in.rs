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
    #[arg(
        long,
        value_name = "BOOL",
        env = "FULLBENCH_SECURE_COOKIES",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true"
    )]
    pub(crate) secure_cookies: bool,

    /// The server that mail is sent by, as smtp://USER:PASSWORD@HOST:PORT?tls=required; not to be given on a command line
    #[arg(
        long,
        value_name = "URL",
        env = "FULLBENCH_SMTP_URL",
        hide = true,
        hide_env_values = true
    )]
    pub(crate) smtp_url: Option<String>,

    /// Who mail comes from; the server it is sent by is in FULLBENCH_SMTP_URL, as smtp://USER:PASSWORD@HOST:PORT?tls=required
    #[arg(long, value_name = "ADDRESS", env = "FULLBENCH_MAIL_FROM")]
    pub(crate) mail_from: Option<String>,

    /// Let people sign in through this OpenID Connect issuer; its secret is in FULLBENCH_OIDC_CLIENT_SECRET
    #[arg(long, value_name = "URL", env = "FULLBENCH_OIDC_ISSUER")]
    pub(crate) oidc_issuer: Option<String>,

    /// What the issuer calls this server
    #[arg(long, value_name = "ID", env = "FULLBENCH_OIDC_CLIENT_ID")]
    pub(crate) oidc_client_id: Option<String>,

    /// What the issuer knows this server by; not to be given on a command line
    #[arg(
        long,
        value_name = "SECRET",
        env = "FULLBENCH_OIDC_CLIENT_SECRET",
        hide = true,
        hide_env_values = true
    )]
    pub(crate) oidc_client_secret: Option<String>,

    /// The organization that people of the issuer belong to
    #[arg(
        long,
        value_name = "SLUG",
        env = "FULLBENCH_OIDC_ORGANIZATION",
        default_value = "default"
    )]
    pub(crate) oidc_organization: String,

    /// What the issuer is asked for beside `openid`
    #[arg(
        long,
        value_name = "SCOPE",
        env = "FULLBENCH_OIDC_SCOPES",
        value_delimiter = ',',
        default_value = "email,profile"
    )]
    pub(crate) oidc_scopes: Vec<String>,

    /// Add people whom nobody invited, with this role
    #[arg(long, value_name = "ROLE", env = "FULLBENCH_OIDC_DEFAULT_ROLE", value_parser = role)]
    pub(crate) oidc_default_role: Option<UserRole>,

    /// Let in only mail addresses of this domain; can be given several times
    #[arg(long, value_name = "DOMAIN", env = "FULLBENCH_OIDC_DOMAIN", value_delimiter = ',')]
    pub(crate) oidc_domain: Vec<String>,
}
