//! A server from its start to its end.

use std::future::Future;
use std::sync::Arc;

use fullbench_engine::EngineError;
use fullbench_store::{Store, StoreError};
use tokio::net::TcpListener;

use crate::access::oidc::Issuer;
use crate::access::sweep;
use crate::api::openapi;
use crate::app::App;
use crate::config::ServerConfig;
use crate::mail::Mailer;
use crate::metrics;
use crate::routes::{endpoints, router};
use crate::serving::{self, Certificates, TlsError};
use crate::work;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// What was left to do cannot be read.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The master key is not the one that secrets are kept under.
    #[error(transparent)]
    MasterKey(StoreError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
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
    certificates: Option<Arc<Certificates>>,
}

impl Server {
    /// Sets a server up, and takes up the runs that were not finished when the last one ended.
    pub async fn start(store: Store, config: ServerConfig) -> Result<Self, StartError> {
        let certificates = config.serving.tls.clone().map(Certificates::read).transpose()?;
        metrics::install();
        let endpoints = endpoints();
        let document = serde_json::to_vec(&openapi(&endpoints)).unwrap_or_default();
        store.check_keys().await.map_err(StartError::MasterKey)?;
        store.audit_key().await.map_err(StartError::MasterKey)?;
        let mailer = config.mail.as_ref().map(Mailer::new).transpose().map_err(StartError::Mail)?;
        if mailer.is_some() && config.public_url.is_none() {
            let problem = "links in mail need the public address of the server";
            return Err(StartError::Mail(problem.to_owned()));
        }
        let issuer = issuer(&config).map_err(StartError::Issuer)?;
        store.limit_spending(config.spending_ceilings());
        let app = App::new(store, config, document.into(), mailer, issuer);
        sweep::start(&app);
        work::start(&app).await?;
        let router = router(app.clone(), endpoints);
        Ok(Self { app, router, certificates })
    }

    /// Serves until the signal, then lets requests finish, stops runs after their calls in flight, and writes what is open.
    pub async fn serve(
        self,
        listener: TcpListener,
        signal: impl Future<Output = ()> + Send + 'static,
    ) {
        let stop = self.app.stop().clone();
        let told = stop.clone();
        tokio::spawn(async move {
            signal.await;
            told.cancel();
        });
        let config = self.app.config().serving.clone();
        serving::serve(listener, self.router, config, self.certificates, stop).await;
        self.app.tasks().close();
        self.app.tasks().wait().await;
    }
}

/// Who else vouches for people, as it is set up.
fn issuer(config: &ServerConfig) -> Result<Option<Issuer>, String> {
    let Some(oidc) = config.oidc.clone() else { return Ok(None) };
    let nowhere = "the issuer sends people back to the public address of the server";
    let public_url = config.public_url.as_ref().ok_or_else(|| nowhere.to_owned())?;
    Issuer::new(oidc, public_url).map(Some)
}
