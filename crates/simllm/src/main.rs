//! `simllm`: a simulated provider as a process of its own.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use fullbench_simllm::{Simulator, SimulatorConfig};
use tokio::signal::unix::{SignalKind, signal};

/// A simulated provider that speaks the OpenAI, Anthropic and Gemini wire formats, two batch APIs, and OpenAI embeddings, with latency and faults.
#[derive(Debug, Parser)]
#[command(name = "simllm", version)]
struct Command {
    #[command(flatten)]
    config: SimulatorConfig,
}

fn main() -> ExitCode {
    match run(Command::parse().config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(config: SimulatorConfig) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
        let simulator = Simulator::start(config).map_err(|error| error.to_string())?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "listening on {}", simulator.url()).map_err(|error| error.to_string())?;
        stdout.flush().map_err(|error| error.to_string())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        simulator.stop();
        Ok(())
    })
}
