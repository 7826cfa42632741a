//! A server from its start to its end.

use std::future::Future;

use fullbench_engine::EngineError;
use fullbench_store::Store;
use tokio::net::TcpListener;

use crate::api::openapi;
use crate::app::App;
use crate::config::ServerConfig;
use crate::routes::{endpoints, router};
use crate::work;

/// A server that is set up and works on what was left to do.
pub struct Server {
    app: App,
    router: axum::Router,
}

impl Server {
    /// Sets a server up, and takes up the runs that were not finished when the last one ended.
    pub async fn start(store: Store, config: ServerConfig) -> Result<Self, EngineError> {
        let endpoints = endpoints();
        let document = serde_json::to_vec(&openapi(&endpoints)).unwrap_or_default();
        let app = App::new(store, config, document.into());
        work::start(&app).await?;
        let router = router(app.clone(), endpoints);
        Ok(Self { app, router })
    }

    /// Serves until the signal, then lets requests finish, stops runs after their calls in flight, and writes what is open.
    pub async fn serve(
        self,
        listener: TcpListener,
        signal: impl Future<Output = ()> + Send + 'static,
    ) -> std::io::Result<()> {
        let stop = self.app.stop().clone();
        let told = stop.clone();
        let shutdown = async move {
            signal.await;
            told.cancel();
        };
        axum::serve(listener, self.router).with_graceful_shutdown(shutdown).await?;
        stop.cancel();
        self.app.tasks().close();
        self.app.tasks().wait().await;
        Ok(())
    }
}
