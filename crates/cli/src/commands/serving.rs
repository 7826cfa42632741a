//! What is checked before a server listens.

use std::net::SocketAddr;

use bytesize::ByteSize;
use fullbench_server::{ServingConfig, TlsFiles, TrustedProxies};

use crate::arguments::serving::ServingArguments;
use crate::failure::CliError;

/// How connections are taken; what would be unsafe, and files that cannot be used, are refused.
pub(super) fn serving_config(
    listen: SocketAddr,
    arguments: &ServingArguments,
) -> Result<ServingConfig, CliError> {
    let tls = tls_files(arguments)?;
    let is_loopback = listen.ip().to_canonical().is_loopback();
    if tls.is_none() && !is_loopback && !arguments.insecure {
        return Err(unsafe_address(listen));
    }
    if let Some(files) = &tls {
        files.check().map_err(|error| {
            let hint = "--tls-cert and --tls-key name files in PEM that belong together";
            CliError::input(error.to_string(), Some(hint.to_owned()))
        })?;
    }
    Ok(ServingConfig {
        tls,
        max_connections: usize::try_from(arguments.max_connections).unwrap_or(usize::MAX),
        handshake_timeout: arguments.handshake_timeout,
        header_timeout: arguments.header_timeout,
        idle_timeout: arguments.idle_timeout,
        stall_timeout: arguments.stall_timeout,
        body_idle_timeout: arguments.body_idle_timeout,
        body_timeout: arguments.body_timeout,
        max_header_bytes: in_memory(arguments.max_header_size),
        origins: arguments.allow_origin.clone(),
        proxies: TrustedProxies {
            networks: arguments.trusted_proxy.clone(),
            header: arguments.proxy_header,
        },
        ..ServingConfig::default()
    })
}

/// A size of something that is held in memory.
pub(super) fn in_memory(size: ByteSize) -> usize {
    usize::try_from(size.as_u64()).unwrap_or(usize::MAX)
}

fn unsafe_address(listen: SocketAddr) -> CliError {
    let reason = format!(
        "{listen} can be reached by other machines, and without TLS everybody on the way could read keys and data"
    );
    let ways = format!(
        "one of these:\n    \
         serve TLS:              --tls-cert FILE --tls-key FILE\n    \
         put a proxy before it:  --listen 127.0.0.1:{}, and let the proxy end TLS\n    \
         accept the risk:        --insecure",
        listen.port()
    );
    CliError::input(reason, Some(ways))
}

fn tls_files(arguments: &ServingArguments) -> Result<Option<TlsFiles>, CliError> {
    let missing = |one: &str, other: &str| {
        CliError::input(
            format!("there is a {one} for TLS, but no {other}"),
            Some("give both, with --tls-cert FILE and --tls-key FILE".to_owned()),
        )
    };
    match (arguments.tls_cert.clone(), arguments.tls_key.clone()) {
        (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate, key })),
        (Some(_), None) => Err(missing("certificate", "key")),
        (None, Some(_)) => Err(missing("key", "certificate")),
        (None, None) => Ok(None),
    }
}
