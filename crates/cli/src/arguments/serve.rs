//! What can be said to `fullbench serve`.

use std::net::SocketAddr;

use clap::Args;
use fullbench_engine::AllowedAddress;

use super::signing_in::SigningInArguments;

/// Serve the REST API: data sets, evaluations, judges and their results for a team
///
/// The first start makes an organization's owner key and prints it, once. `/docs` describes every endpoint, `/openapi.json`
/// is the same for programs. Ctrl-C lets requests and calls in flight finish; runs go on when the server is started again.
///
/// The secrets that sign webhooks are made from the key in `FULLBENCH_SECRET_KEY`, else from one that is made at the first start
/// and kept in the home folder as `secret.key`. Servers that share a database need the same key.
#[derive(Debug, Args)]
pub(crate) struct ServeArguments {
    /// The address to listen on; without TLS in front of it, only this machine should reach it
    #[arg(
        long,
        value_name = "ADDRESS",
        env = "FULLBENCH_LISTEN",
        default_value = "127.0.0.1:8787"
    )]
    pub(crate) listen: SocketAddr,

    /// An address, beside those of the providers, that evaluations may reach; `URL=VARIABLE` sends it that variable's key
    #[arg(long, value_name = "URL", value_parser = allowed_address)]
    pub(crate) allow_model_url: Vec<AllowedAddress>,

    /// Let webhooks go to private addresses, such as those of this machine
    #[arg(long)]
    pub(crate) allow_private_webhooks: bool,

    /// Runs that are worked on at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrent_runs: u16,

    #[command(flatten)]
    pub(crate) signing_in: SigningInArguments,
}

fn allowed_address(text: &str) -> Result<AllowedAddress, String> {
    text.parse()
}
