//! `fullbench serve`.

use fullbench_engine::SentRules;
use fullbench_server::{Problem, Server, ServerConfig, first_key};
use tokio::net::TcpListener;

use crate::arguments::serve::ServeArguments;
use crate::commands::run::next_signal;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Serves until it is told to stop.
pub(crate) async fn run(arguments: &ServeArguments, home: &Home) -> Result<Exit, CliError> {
    let listener = TcpListener::bind(arguments.listen).await.map_err(|error| {
        CliError::input(
            format!("{} cannot be listened on: {error}", arguments.listen),
            Some("choose another address with --listen, for example 127.0.0.1:0".to_owned()),
        )
    })?;
    let address = listener.local_addr().unwrap_or(arguments.listen);
    let store = home.open_whole().await?;
    if let Some(first) = first_key(&store).await.map_err(failed)? {
        write_line(&format!(
            "The key of your organization, {}. It is shown this once; keep it:\n\n  {}\n\n  \
             export FULLBENCH_API_KEY={}\n  \
             curl http://{address}/v1/evaluations -H \"Authorization: Bearer $FULLBENCH_API_KEY\" \\\n    \
             -H 'Content-Type: application/json' \\\n    \
             -d '{{\"input\": \"2+2?\", \"output\": \"4\", \"expected_output\": \"4\", \"metrics\": [\"exact_match\"]}}'\n",
            first.organization, first.key, first.key
        ));
    }
    let config = ServerConfig {
        rules: SentRules { addresses: arguments.allow_model_url.clone() },
        allow_private_webhooks: arguments.allow_private_webhooks,
        concurrent_runs: arguments.concurrent_runs.into(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ServerConfig::default()
    };
    let server = Server::start(store, config).await?;
    write_line(&format!(
        "serving http://{address} from {home}; the API is described at http://{address}/docs"
    ));
    let signal = async {
        next_signal().await;
        write_line("stopping: requests and calls in flight finish; Ctrl-C again ends at once");
        tokio::spawn(async {
            next_signal().await;
            std::process::exit(Exit::Incomplete as i32);
        });
    };
    server
        .serve(listener, signal)
        .await
        .map_err(|error| CliError::internal(format!("the server failed: {error}")))?;
    write_line("stopped; runs that were open go on with the next start");
    Ok(Exit::Fine)
}

fn failed(problem: Problem) -> CliError {
    CliError::internal(problem.detail)
}
