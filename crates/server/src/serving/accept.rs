//! Taking connections.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection::Connections;
use super::{Certificates, ServingConfig};

/// How long to wait when the system can give no more connections.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is told that all places are taken.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// Serves connections until the stop, and then those that are open until their requests are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    config: ServingConfig,
    certificates: Option<Arc<Certificates>>,
    stop: CancellationToken,
) {
    let mut places = Places::new(config.max_connections);
    let tasks = TaskTracker::new();
    let tls = certificates.map(|certificates| {
        let acceptor = certificates.acceptor();
        tasks.spawn(certificates.keep_fresh(config.reload_every, stop.clone()));
        acceptor
    });
    let mut http = http1::Builder::new();
    // The watch of the connection knows an idle one from one that sends its head a byte at a time.
    http.header_read_timeout(None);
    // What is a little too large is read, so that it can be told in a problem document.
    http.max_header_size(config.max_header_bytes.saturating_mul(2));
    // With its state in place: it would be put together anew for every request.
    let router = TowerToHyperService::new(router.with_state(()));
    let connections = Arc::new(Connections { router, config, http, tls, stop: stop.clone() });
    let taking = async {
        loop {
            let place = places.take().await;
            let (stream, address) = accepted(&listener).await;
            let connection = connections.clone().serve(stream, address);
            tasks.spawn(async move {
                connection.await;
                drop(place);
            });
        }
    };
    tokio::select! {
        () = taking => {}
        () = stop.cancelled() => {}
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

/// The next connection. What fails with one connection is no matter of the others.
async fn accepted(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                let of_one = [
                    ErrorKind::ConnectionRefused,
                    ErrorKind::ConnectionAborted,
                    ErrorKind::ConnectionReset,
                ];
                if !of_one.contains(&error.kind()) {
                    tracing::error!(%error, "no connection can be taken");
                    sleep(PAUSE).await;
                }
            }
        }
    }
}

/// The places there are for connections.
struct Places {
    free: Arc<Semaphore>,
    told: Option<Instant>,
}

impl Places {
    fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), told: None }
    }

    /// A place, as soon as there is one: until then, who connects waits with the system.
    async fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        let is_told = self.told.is_some_and(|told| told.elapsed() < TOLD_EVERY);
        if self.free.available_permits() == 0 && !is_told {
            self.told = Some(Instant::now());
            tracing::warn!("all places for connections are taken; new ones wait");
        }
        self.free.clone().acquire_owned().await.ok()
    }
}
