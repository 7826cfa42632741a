//! Where traces are sent to.

use clap::Args;

#[derive(Debug, Args)]
#[command(next_help_heading = "Traces")]
pub(crate) struct TraceArguments {
    /// Send traces to the OpenTelemetry collector at this address, by OTLP over HTTP, for example http://127.0.0.1:4318
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT", hide_env_values = true)]
    pub(crate) otlp_endpoint: Option<String>,

    /// Headers for the collector: `name=value`, separated by commas; not to be given on a command line, where others would see
    /// them
    #[arg(
        long,
        value_name = "HEADERS",
        env = "OTEL_EXPORTER_OTLP_HEADERS",
        hide = true,
        hide_env_values = true
    )]
    pub(crate) otlp_headers: Option<String>,
}
