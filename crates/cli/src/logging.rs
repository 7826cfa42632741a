//! What the program says of its work: a log on stderr, and traces where a collector is named.

use std::io::IsTerminal;

use clap::parser::ValueSource;
use fullbench_llm::TRACES;
use fullbench_traces::{Given, SettingsError, TraceSettings, Traces};
use tracing::Subscriber;
use tracing_subscriber::filter::{Directive, LevelFilter};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::arguments::judging::{JudgeArguments, JudgeCommand};
use crate::arguments::serve::LogFormat;
use crate::arguments::traces::TraceArguments;
use crate::arguments::{Arguments, Command};
use crate::configuration::Configured;
use crate::failure::CliError;

/// Starts the log, and traces where they are wanted; those are to be ended with the program.
pub(crate) fn start(configured: &Configured) -> Result<Option<Traces>, CliError> {
    let arguments = &configured.arguments;
    let settings = match wanted_traces(arguments) {
        Some(wanted) => trace_settings(wanted, configured)?,
        None => None,
    };
    let traces = match settings {
        Some(settings) => Some(
            Traces::start(settings, env!("CARGO_PKG_VERSION"))
                .map_err(|error| CliError::internal(format!("traces cannot be sent: {error}")))?,
        ),
        None => None,
    };
    let (format, filter) = (log_format(&arguments.command), filter(arguments.verbose));
    let registry = tracing_subscriber::registry();
    match &traces {
        // The filter of all: what it leaves out costs nothing.
        None => registry.with(filter).with(log(format)).init(),
        Some(traces) => registry.with(log(format).with_filter(filter)).with(traces.layer()).init(),
    }
    Ok(traces)
}

fn log<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).boxed(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).boxed(),
    }
}

/// What the log has: never the spans of traces.
fn filter(verbose: u8) -> EnvFilter {
    let level = match verbose {
        0 => "warn",
        1 => "info",
        _ => "debug",
    };
    let wanted = std::env::var("FULLBENCH_LOG").ok().filter(|wanted| !wanted.trim().is_empty());
    let filter = wanted.and_then(|wanted| EnvFilter::try_new(wanted).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new(format!("off,fullbench={level}")));
    let without_traces = format!("{TRACES}={}", LevelFilter::OFF).parse::<Directive>();
    match without_traces {
        Ok(directive) => filter.add_directive(directive),
        Err(_) => filter,
    }
}

fn log_format(command: &Command) -> LogFormat {
    match command {
        Command::Serve(serve) => serve.log_format,
        _ => LogFormat::Text,
    }
}

/// Where traces go, as arguments, variables and the file say it.
pub(crate) fn trace_settings(
    arguments: &TraceArguments,
    configured: &Configured,
) -> Result<Option<TraceSettings>, CliError> {
    let matches = configured.said_to_command();
    let given = |argument: &str, value: &Option<String>| Given {
        value: value.clone(),
        is_on_command_line: matches.value_source(argument) == Some(ValueSource::CommandLine),
    };
    let TraceArguments { otlp_endpoint, otlp_headers } = arguments;
    let endpoint = given("otlp_endpoint", otlp_endpoint);
    let headers = given("otlp_headers", otlp_headers);
    let settings = TraceSettings::read(&endpoint, &headers, |name| std::env::var(name).ok());
    settings.map_err(|SettingsError { message, hint }| CliError::input(message, Some(hint)))
}

/// What is said of traces; nothing for commands that call no model, and for those that a server carries out.
fn wanted_traces(arguments: &Arguments) -> Option<&TraceArguments> {
    if arguments.server.as_ref().is_some_and(|server| !server.is_empty()) {
        return None;
    }
    match &arguments.command {
        Command::Serve(serve) => Some(&serve.traces),
        Command::Run(run) => Some(&run.control.traces),
        Command::Resume(resume) => Some(&resume.control.traces),
        Command::Rescore(rescore) => Some(&rescore.control.traces),
        Command::Judge(JudgeArguments { command: JudgeCommand::Check(check) }) => {
            Some(&check.control.traces)
        }
        _ => None,
    }
}
