//! Listening: a thread of its own, so that the simulator is independent of the runtime that uses it.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::config::{SimulatorConfig, SimulatorConfigError};
use crate::service::Service;
use crate::statistics::{Recorder, Statistics};

/// A running simulated provider; it stops when dropped.
#[derive(Debug)]
pub struct Simulator {
    address: SocketAddr,
    recorder: Arc<Recorder>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Why the simulator did not start.
#[derive(Debug, thiserror::Error)]
pub enum SimulatorError {
    /// The settings make no sense.
    #[error(transparent)]
    Config(#[from] SimulatorConfigError),
    /// The port is taken, or the system gave no thread.
    #[error("cannot listen on 127.0.0.1:{port}: {source}")]
    Listen {
        /// The port asked for.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
}

impl Simulator {
    /// Binds 127.0.0.1 and answers until stopped. The port is open when this returns.
    ///
    /// # Errors
    /// When the settings make no sense or the port cannot be bound.
    pub fn start(config: SimulatorConfig) -> Result<Self, SimulatorError> {
        config.validate()?;
        let port = config.port;
        let listen = |source| SimulatorError::Listen { port, source };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(listen)?;
        listener.set_nonblocking(true).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(listen)?;
        let clock = Clock::start().map_err(listen)?;
        let recorder = Arc::new(Recorder::new());
        let service = Arc::new(Service::new(config, Arc::clone(&recorder), clock));
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("simllm".to_owned())
            .spawn(move || runtime.block_on(serve(listener, service, stopped)))
            .map_err(listen)?;
        Ok(Self { address, recorder, stop: Some(stop), thread: Some(thread) })
    }

    /// Where it listens, such as `http://127.0.0.1:4010`; OpenAI's base URL is this with `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// What it saw so far.
    #[must_use]
    pub fn stats(&self) -> Statistics {
        self.recorder.snapshot()
    }

    /// Forgets what it saw, so that every prompt is asked for the first time again.
    pub fn reset(&self) {
        self.recorder.reset();
    }

    /// Stops listening, cuts open connections and gives what it saw.
    pub fn stop(mut self) -> Statistics {
        self.shut_down();
        self.stats()
    }

    fn shut_down(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already; then nobody listens and there is nothing to stop.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.shut_down();
    }
}

async fn serve(listener: TcpListener, service: Arc<Service>, stopped: oneshot::Receiver<()>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    tokio::select! {
        () = accept(listener, service) => {}
        _ = stopped => {}
    }
}

async fn accept(listener: tokio::net::TcpListener, service: Arc<Service>) {
    const OUT_OF_DESCRIPTORS_PAUSE: Duration = Duration::from_millis(10);
    let mut builder = http1::Builder::new();
    builder.keep_alive(true).pipeline_flush(true);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(OUT_OF_DESCRIPTORS_PAUSE).await;
            continue;
        };
        // Without it a reply may wait for the client's delayed acknowledgement.
        let _ = stream.set_nodelay(true);
        let service = Arc::clone(&service);
        let connection = builder.serve_connection(
            TokioIo::new(stream),
            service_fn(move |request| {
                let service = Arc::clone(&service);
                async move { service.answer(request).await }
            }),
        );
        // A connection that ends in an error is one that the client or a fault has cut.
        tokio::spawn(async move { drop(connection.await) });
    }
}
