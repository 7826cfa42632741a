//! How `fullbench serve` takes connections.

use std::path::PathBuf;
use std::time::Duration;

use bytesize::ByteSize;
use clap::Args;
use fullbench_server::{AllowedOrigin, ProxyHeader, TrustedProxies};
use ipnet::IpNet;

#[derive(Debug, Args)]
#[command(next_help_heading = "Connections")]
pub(crate) struct ServingArguments {
    /// Serve TLS with this certificate, followed by those that lead to its root, as PEM; read again when it changes
    #[arg(long, value_name = "FILE", env = "FULLBENCH_TLS_CERT")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The private key of the certificate, as PEM
    #[arg(long, value_name = "FILE", env = "FULLBENCH_TLS_KEY")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Listen on an address that other machines reach without TLS: keys and data go over the network as they are
    #[arg(
        long,
        value_name = "BOOL",
        env = "FULLBENCH_INSECURE",
        num_args = 0..=1,
        require_equals = true,
        default_value_t = false,
        default_missing_value = "true"
    )]
    pub(crate) insecure: bool,

    /// A proxy, or a network of them, that is believed when it says for whom it asks
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "FULLBENCH_TRUSTED_PROXY",
        value_delimiter = ',',
        value_parser = TrustedProxies::network
    )]
    pub(crate) trusted_proxy: Vec<IpNet>,

    /// The header in which trusted proxies say it: `x-forwarded-for` or `forwarded`
    #[arg(
        long,
        value_name = "NAME",
        env = "FULLBENCH_PROXY_HEADER",
        default_value_t = ProxyHeader::XForwardedFor
    )]
    pub(crate) proxy_header: ProxyHeader,

    /// Connections at the same time; more wait
    #[arg(
        long,
        value_name = "N",
        env = "FULLBENCH_MAX_CONNECTIONS",
        default_value_t = 16_384,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) max_connections: u32,

    /// How long the handshake of TLS may take
    #[arg(long, value_name = "TIME", env = "FULLBENCH_HANDSHAKE_TIMEOUT", default_value = "10s", value_parser = time)]
    pub(crate) handshake_timeout: Duration,

    /// How long the head of a request may take
    #[arg(long, value_name = "TIME", env = "FULLBENCH_HEADER_TIMEOUT", default_value = "15s", value_parser = time)]
    pub(crate) header_timeout: Duration,

    /// How long a connection stays open without a request
    #[arg(long, value_name = "TIME", env = "FULLBENCH_IDLE_TIMEOUT", default_value = "90s", value_parser = time)]
    pub(crate) idle_timeout: Duration,

    /// How long a client may take nothing of what it is sent
    #[arg(long, value_name = "TIME", env = "FULLBENCH_STALL_TIMEOUT", default_value = "60s", value_parser = time)]
    pub(crate) stall_timeout: Duration,

    /// How long nothing may come of a body that is being sent
    #[arg(long, value_name = "TIME", env = "FULLBENCH_BODY_IDLE_TIMEOUT", default_value = "30s", value_parser = time)]
    pub(crate) body_idle_timeout: Duration,

    /// How long a body may take in all, unless it is a file
    #[arg(long, value_name = "TIME", env = "FULLBENCH_BODY_TIMEOUT", default_value = "2m", value_parser = time)]
    pub(crate) body_timeout: Duration,

    /// The largest head of a request
    #[arg(long, value_name = "SIZE", env = "FULLBENCH_MAX_HEADER_SIZE", default_value = "64KiB", value_parser = head_size)]
    pub(crate) max_header_size: ByteSize,

    /// The largest JSON body
    #[arg(long, value_name = "SIZE", env = "FULLBENCH_MAX_BODY_SIZE", default_value = "8MiB", value_parser = size)]
    pub(crate) max_body_size: ByteSize,

    /// The largest file
    #[arg(long, value_name = "SIZE", env = "FULLBENCH_MAX_UPLOAD_SIZE", default_value = "4GiB", value_parser = size)]
    pub(crate) max_upload_size: ByteSize,

    /// An origin whose pages may use the API from a browser, such as `https://app.example.com`
    #[arg(long, value_name = "ORIGIN", env = "FULLBENCH_ALLOW_ORIGIN", value_delimiter = ',')]
    pub(crate) allow_origin: Vec<AllowedOrigin>,
}

fn time(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(time) if !time.is_zero() => Ok(time),
        _ => Err("give a time, for example 30s or 2m".to_owned()),
    }
}

pub(super) fn size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size >= ByteSize::kib(1) => Ok(size),
        _ => Err("give a size from 1KiB on, for example 8MiB".to_owned()),
    }
}

fn head_size(text: &str) -> Result<ByteSize, String> {
    let known = ByteSize::kib(8)..=ByteSize::mib(1);
    let size = text.parse::<ByteSize>().ok().filter(|size| known.contains(size));
    size.ok_or_else(|| "give a size from 8KiB to 1MiB".to_owned())
}
