//! One connection from its handshake to its end.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::ServingConfig;
use super::watch::{Watch, WatchedBody, WatchedStream};

/// What all connections share.
pub(super) struct Connections {
    pub(super) router: TowerToHyperService<Router>,
    pub(super) config: ServingConfig,
    pub(super) http: http1::Builder,
    pub(super) tls: Option<TlsAcceptor>,
    pub(super) stop: CancellationToken,
}

impl Connections {
    /// Serves one connection until it ends, takes too long, or has answered its last request before a stop.
    pub(super) async fn serve(self: Arc<Self>, stream: TcpStream, address: SocketAddr) {
        // Events are small, and must not wait for the next one to be sent along with.
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return self.serve_http(stream, address).await };
        let handshake = timeout(self.config.handshake_timeout, tls.accept(stream));
        let stopped = self.stop.cancelled();
        let accepted = tokio::select! {
            accepted = handshake => accepted,
            () = stopped => return,
        };
        match accepted {
            Ok(Ok(stream)) => self.serve_http(stream, address).await,
            Ok(Err(error)) => tracing::debug!(%address, %error, "the handshake failed"),
            Err(_) => tracing::debug!(%address, "the handshake took too long"),
        }
    }

    async fn serve_http<S>(&self, stream: S, address: SocketAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send,
    {
        let watch = Watch::new();
        let service = service_fn(|mut request: Request<Incoming>| {
            watch.request_began();
            let peer = self.config.proxies.peer(address, request.headers());
            request.extensions_mut().insert(peer);
            let (answer, watch) = (self.router.call(request), watch.clone());
            async {
                let response = answer.await?;
                Ok::<_, std::convert::Infallible>(
                    response.map(|body| WatchedBody::new(body, watch)),
                )
            }
        });
        let stream = TokioIo::new(WatchedStream::new(stream, watch.clone()));
        let mut connection = pin!(self.http.serve_connection(stream, service));
        let mut stopped = pin!(self.stop.cancelled());
        let mut is_stopping = false;
        // Set again only when it is too late, or when it rang too early: not for every request.
        let mut alarm = pin!(sleep(self.config.header_timeout));
        let ended = poll_fn(|context| {
            if !is_stopping && stopped.as_mut().poll(context).is_ready() {
                is_stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            if let Poll::Ready(ended) = connection.as_mut().poll(context) {
                return Poll::Ready(Some(ended));
            }
            let Some(deadline) = watch.deadline(&self.config) else { return Poll::Pending };
            if deadline < alarm.deadline() || alarm.is_elapsed() {
                alarm.as_mut().reset(deadline);
            }
            while alarm.as_mut().poll(context).is_ready() {
                if Instant::now() >= deadline {
                    return Poll::Ready(None);
                }
                alarm.as_mut().reset(deadline);
            }
            Poll::Pending
        });
        match ended.await {
            Some(Ok(())) => {}
            Some(Err(error)) => tracing::debug!(%address, %error, "a connection failed"),
            None => tracing::debug!(%address, "a connection was closed: nothing came or went"),
        }
    }
}
