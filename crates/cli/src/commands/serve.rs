//! `fullbench serve`.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use fullbench_engine::SentRules;
use fullbench_llm::Secret;
use fullbench_server::{
    FirstKey, Problem, Quotas, Server, ServerConfig, ServingConfig, StartError, first_key,
};
use jiff::Timestamp;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket};

use crate::arguments::plans::without_contradictions;
use crate::arguments::serve::{LogFormat, ServeArguments};
use crate::commands::run::next_signal;
use crate::commands::serving::{in_memory, serving_config};
use crate::commands::signing_in::{configured, given};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;

/// Where the first key is put that must not be in a log.
const FIRST_KEY_FILE: &str = "first.key";

/// Connections that may wait to be taken.
const WAITING: u32 = 4096;

/// Serves until it is told to stop.
pub(crate) async fn run(arguments: &ServeArguments, home: &Home) -> Result<Exit, CliError> {
    let serving = serving_config(arguments.listen, &arguments.serving)?;
    let scheme = if serving.tls.is_some() { "https" } else { "http" };
    let config = server_config(arguments, serving)?;
    let listener = listen(arguments.listen).map_err(|error| {
        CliError::input(
            format!("{} cannot be listened on: {error}", arguments.listen),
            Some("choose another address with --listen, for example 127.0.0.1:0".to_owned()),
        )
    })?;
    let address = listener.local_addr().unwrap_or(arguments.listen);
    let store = home.open_whole().await?;
    raise_file_limit();
    outlive_hangups();
    let server = Server::start(store.clone(), config).await.map_err(|error| match error {
        StartError::Engine(error) => CliError::from(error),
        StartError::MasterKey(error) => {
            CliError::input(error.to_string(), error.hint().map(str::to_owned))
        }
        other => CliError::input(other.to_string(), None),
    })?;
    let format = arguments.log_format;
    let url = format!("{scheme}://{address}");
    if let Some(first) = first_key(&store).await.map_err(failed)? {
        tell_first_key(&first, format, home, &url)?;
    }
    say(format, &format!("serving {url} from {home}; the API is described at {url}/docs"));
    let signal = async move {
        next_signal().await;
        say(format, "stopping: requests and calls in flight finish; Ctrl-C again ends at once");
        tokio::spawn(async {
            next_signal().await;
            std::process::exit(Exit::Incomplete as i32);
        });
    };
    server.serve(listener, signal).await;
    say(format, "stopped; runs that were open go on with the next start");
    Ok(Exit::Fine)
}

/// What the arguments say of the server.
pub(super) fn server_config(
    arguments: &ServeArguments,
    serving: ServingConfig,
) -> Result<ServerConfig, CliError> {
    let plan_limits = without_contradictions(&arguments.plan_limit).map_err(|problem| {
        let hint = "name each limit once in --plan-limit (`plans` below `[quotas]`)";
        CliError::input(problem, Some(hint.to_owned()))
    })?;
    let config = ServerConfig {
        rules: SentRules { addresses: arguments.allow_model_url.clone() },
        allow_private_webhooks: arguments.allow_private_webhooks,
        alert_every: Duration::from_secs(arguments.alert_seconds.into()),
        concurrent_runs: arguments.concurrent_runs.into(),
        quotas: Quotas {
            requests_per_minute: NonZeroU32::new(arguments.requests_per_minute),
            stored_bytes: arguments.quota_storage.map(|size| size.as_u64()),
            open_runs: (arguments.quota_open_runs > 0).then_some(arguments.quota_open_runs),
            records: arguments.quota_records.filter(|records| *records > 0),
            month: arguments.quota_month_usd,
        },
        plan_limits: plan_limits.to_vec(),
        metrics_token: given(&arguments.metrics_token).map(Secret::new),
        max_body_bytes: in_memory(arguments.serving.max_body_size),
        max_upload_bytes: arguments.serving.max_upload_size.as_u64(),
        secure_cookies: serving.tls.is_some(),
        serving,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ServerConfig::default()
    };
    configured(config, &arguments.signing_in)
}

/// Says what is no entry of the log and stands between its lines, in their form.
fn say(format: LogFormat, text: &str) {
    match format {
        LogFormat::Text => write_line(text),
        LogFormat::Json => {
            let timestamp = Timestamp::now().to_string();
            let entry = json!({ "timestamp": timestamp, "level": "INFO", "message": text,
                "target": env!("CARGO_CRATE_NAME") });
            write_line(&entry.to_string());
        }
    }
}

/// Tells the first key, once: to who sits before the terminal, or in a file of its own where what is printed goes into a log.
fn tell_first_key(
    first: &FirstKey,
    format: LogFormat,
    home: &Home,
    url: &str,
) -> Result<(), CliError> {
    let FirstKey { organization, key } = first;
    if format == LogFormat::Json {
        let path = home.folder().join(FIRST_KEY_FILE);
        let failed =
            |error| CliError::input(format!("{} cannot be written: {error}", path.display()), None);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed)?;
        file.write_all(format!("{key}\n").as_bytes()).map_err(failed)?;
        let place = path.display();
        let told = format!(
            "The key of your organization, {organization}, is in {place}. Keep it elsewhere, and remove the file."
        );
        say(format, &told);
        return Ok(());
    }
    write_line(&format!(
        "The key of your organization, {organization}. It is shown this once; keep it:\n\n  {key}\n\n  \
         export FULLBENCH_API_KEY={key}\n  \
         curl {url}/v1/evaluations -H \"Authorization: Bearer $FULLBENCH_API_KEY\" \\\n    \
         -H 'Content-Type: application/json' \\\n    \
         -d '{{\"input\": \"2+2?\", \"output\": \"4\", \"expected_output\": \"4\", \"metrics\": [\"exact_match\"]}}'\n"
    ));
    Ok(())
}

/// Listens with room for many who connect at once, as when all who watch events come back after a restart.
pub(super) fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A server that is started again has its address back at once.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// A service that is told to read its files again goes on also where it has none to read; one in a terminal ends with it.
fn outlive_hangups() {
    #[cfg(unix)]
    {
        use std::io::IsTerminal;
        use tokio::signal::unix::{SignalKind, signal};
        if !std::io::stdin().is_terminal() {
            // From now on the signal does not end the process, whether anybody waits for it or not.
            let _ = signal(SignalKind::hangup());
        }
    }
}

/// Lets the server have as many connections as the system allows: who watches events keeps one open.
fn raise_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        // What is not allowed leaves things as they are.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

fn failed(problem: Problem) -> CliError {
    CliError::internal(problem.detail)
}
