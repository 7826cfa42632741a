//! A server from its start to its end.

use std::future::Future;
use std::net::SocketAddr;

use axum::serve::ListenerExt;
use fullbench_engine::EngineError;
use fullbench_store::Store;
use tokio::net::TcpListener;

use crate::access::oidc::Issuer;
use crate::access::sweep;
use crate::api::openapi;
use crate::app::App;
use crate::config::ServerConfig;
use crate::mail::Mailer;
use crate::routes::{endpoints, router};
use crate::secrets::SecretKey;
use crate::work;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// What was left to do cannot be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The key that secrets are made from cannot be had.
    #[error("the key that secrets are made from cannot be had: {0}")]
    SecretKey(std::io::Error),
    /// Mail is not set up rightly.
    #[error("mail cannot be sent: {0}")]
    Mail(String),
    /// Who vouches for people is not set up rightly.
    #[error("nobody can sign in through the issuer: {0}")]
    Issuer(String),
    /// Nothing can be sent to webhooks.
    #[error("webhooks cannot be sent: {0}")]
    Webhooks(String),
}

/// A server that is set up and works on what was left to do.
pub struct Server {
    app: App,
    router: axum::Router,
}

impl Server {
    /// Sets a server up, and takes up the runs that were not finished when the last one ended.
    pub async fn start(store: Store, config: ServerConfig) -> Result<Self, StartError> {
        let endpoints = endpoints();
        let document = serde_json::to_vec(&openapi(&endpoints)).unwrap_or_default();
        let key = match &config.secret_key {
            Some(key) => key.clone(),
            None => SecretKey::in_folder(store.home()).map_err(StartError::SecretKey)?,
        };
        let mailer = config.mail.as_ref().map(Mailer::new).transpose().map_err(StartError::Mail)?;
        if mailer.is_some() && config.public_url.is_none() {
            let problem = "links in mail need the public address of the server";
            return Err(StartError::Mail(problem.to_owned()));
        }
        let issuer = issuer(&config).map_err(StartError::Issuer)?;
        let app = App::new(store, config, document.into(), key, mailer, issuer);
        sweep::start(&app);
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
        // Events are small, and must not wait for the next one to be sent along with.
        let listener = listener.tap_io(|connection| {
            let _ = connection.set_nodelay(true);
        });
        // Made once: a router by itself would be put together anew for every connection.
        let service = self.router.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, service).with_graceful_shutdown(shutdown).await?;
        stop.cancel();
        self.app.tasks().close();
        self.app.tasks().wait().await;
        Ok(())
    }
}

/// Who else vouches for people, as it is set up.
fn issuer(config: &ServerConfig) -> Result<Option<Issuer>, String> {
    let Some(oidc) = config.oidc.clone() else { return Ok(None) };
    let nowhere = "the issuer sends people back to the public address of the server";
    let public_url = config.public_url.as_ref().ok_or_else(|| nowhere.to_owned())?;
    Issuer::new(oidc, public_url).map(Some)
}
