//! Certificate and key, read from files, and read again when they change.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use sha2::{Digest, Sha256};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// Where certificate and key are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate and those that lead to its root, as PEM.
    pub certificate: PathBuf,
    /// Its private key, as PEM.
    pub key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file holds something else.
    #[error("{} holds no {wanted} in PEM: {source}", path.display())]
    Pem {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        wanted: &'static str,
        /// Why it does not.
        source: pem::Error,
    },
    /// Certificate and key do not fit.
    #[error("the certificate of {} cannot be used with the key of {}: {source}", files.certificate.display(), files.key.display())]
    Unfit {
        /// The files.
        files: TlsFiles,
        /// Why.
        source: rustls::Error,
    },
}

impl TlsFiles {
    /// Reads the files and checks that certificate and key belong together.
    pub fn check(&self) -> Result<(), TlsError> {
        self.parse(&self.read()?).map(drop)
    }

    fn read(&self) -> Result<Pair, TlsError> {
        let content = |path: &Path| {
            std::fs::read(path).map_err(|source| TlsError::Read { path: path.to_owned(), source })
        };
        Ok(Pair { certificate: content(&self.certificate)?, key: content(&self.key)? })
    }

    fn parse(&self, pair: &Pair) -> Result<CertifiedKey, TlsError> {
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pair.certificate).collect();
        let chain = chain.and_then(|chain| match chain.is_empty() {
            true => Err(pem::Error::NoItemsFound),
            false => Ok(chain),
        });
        let path = self.certificate.clone();
        let chain =
            chain.map_err(|source| TlsError::Pem { path, wanted: "certificate", source })?;
        let path = self.key.clone();
        let key = PrivateKeyDer::from_pem_slice(&pair.key).map_err(|source| TlsError::Pem {
            path,
            wanted: "private key",
            source,
        })?;
        CertifiedKey::from_der(chain, key, &provider())
            .map_err(|source| TlsError::Unfit { files: self.clone(), source })
    }
}

/// What the files held.
struct Pair {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Pair {
    fn hash(&self) -> [u8; 32] {
        let parts = [&self.certificate, &self.key].map(Sha256::digest);
        Sha256::digest(parts.concat()).into()
    }
}

/// The certificate that is shown to clients: the newest that could be used.
pub(crate) struct Certificates {
    files: TlsFiles,
    current: RwLock<Arc<CertifiedKey>>,
    /// The hash of what was read last, whether it could be used or not.
    seen: Mutex<[u8; 32]>,
}

impl fmt::Debug for Certificates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Certificates").field(&self.files).finish()
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

impl Certificates {
    /// The certificate of the files.
    pub(crate) fn read(files: TlsFiles) -> Result<Arc<Self>, TlsError> {
        let pair = files.read()?;
        let current = RwLock::new(Arc::new(files.parse(&pair)?));
        Ok(Arc::new(Self { files, current, seen: Mutex::new(pair.hash()) }))
    }

    /// What takes connections with it.
    pub(super) fn acceptor(self: &Arc<Self>) -> TlsAcceptor {
        let Ok(builder) =
            ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions()
        else {
            unreachable!("the provider knows the versions that it is built with")
        };
        let mut config = builder.with_no_client_auth().with_cert_resolver(self.clone());
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }

    /// Reads the files again when they change, and when the process is told to; a pair that cannot be used is left out.
    pub(super) async fn keep_fresh(self: Arc<Self>, every: Duration, stop: CancellationToken) {
        let mut hangups = Hangups::new();
        let mut told = None;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
                () = hangups.next() => told = None,
            }
            let certificates = self.clone();
            let read = tokio::task::spawn_blocking(move || certificates.read_again()).await;
            match read {
                Ok(Ok(true)) => {
                    told = None;
                    tracing::info!(file = %self.files.certificate.display(), "a new certificate is used");
                }
                Ok(Err(error)) if told.as_ref() != Some(&error.to_string()) => {
                    told = Some(error.to_string());
                    tracing::error!(%error, "the new certificate is not used, the one before stays");
                }
                Ok(Ok(false) | Err(_)) => {}
                Err(error) => tracing::error!(%error, "the certificate could not be looked at"),
            }
        }
    }

    /// Whether there was a new certificate.
    fn read_again(&self) -> Result<bool, TlsError> {
        let pair = self.files.read()?;
        let hash = pair.hash();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen == hash {
            return Ok(false);
        }
        *seen = hash;
        let new = Arc::new(self.files.parse(&pair)?);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = new;
        Ok(true)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Hangup signals, by which servers are told to read their files again.
struct Hangups {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangups {
    #[cfg(unix)]
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        Self { signal: signal(SignalKind::hangup()).ok() }
    }

    #[cfg(not(unix))]
    fn new() -> Self {
        Self {}
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
