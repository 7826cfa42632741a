//! Objects on a server that speaks S3.

use std::fmt;
use std::sync::{Arc, mpsc as blocking};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore as Objects, ObjectStoreExt, RetryConfig};
use tokio::sync::mpsc;

use crate::StoreError;

/// How long a request may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long, and how often, a request that failed is made again.
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);
const RETRIES: usize = 5;

/// How old a blob may be to be left as it is by whoever puts it again.
const FRESH: Duration = Duration::from_secs(12 * 3600);

/// Blobs that are looked for at the same time.
const HEADS_IN_FLIGHT: usize = 32;

/// The variables that may name a server other than Amazon's.
const ENDPOINTS: [&str; 3] = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"];

/// Why a URL is refused, told without the keys that somebody may have put before an `@`.
pub(super) fn wrong_url(url: &str, problem: impl Into<String>) -> StoreError {
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |at| at + 3));
    let url = match rest.rsplit_once('@') {
        Some((_, place)) => format!("{scheme}(hidden)@{place}"),
        None => url.to_owned(),
    };
    StoreError::ObjectsUrl { url, problem: problem.into() }
}

/// A bucket, or what of it begins with a prefix.
#[derive(Debug, Clone)]
pub(super) struct Remote {
    url: String,
    objects: Arc<dyn Objects>,
}

impl Remote {
    /// The bucket of a URL, once it was seen that it can be read.
    pub(super) async fn open(url: &str) -> Result<Self, StoreError> {
        let remote = Self::new(url)?;
        match remote.objects.get(&Path::from("objects")).await {
            Err(object_store::Error::NotFound { source, .. })
                if !source.to_string().contains("NoSuchBucket") =>
            {
                Ok(remote)
            }
            Ok(_) => Ok(remote),
            Err(error) => Err(remote.failed("", &error)),
        }
    }

    fn new(url: &str) -> Result<Self, StoreError> {
        let wrong = |problem: String| wrong_url(url, problem);
        let Some(rest) = url.strip_prefix("s3://") else {
            return Err(wrong("it begins neither with `s3://` nor with `file://`".to_owned()));
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains(['@', ':', '?', '#']) {
            return Err(wrong("it names no bucket".to_owned()));
        }
        let prefix = Path::parse(prefix).map_err(|error| wrong(error.to_string()))?;
        // Another part of the program may have chosen the cryptography already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let endpoint = ENDPOINTS.iter().find_map(|name| std::env::var(name).ok());
        let client = ClientOptions::new()
            .with_timeout_disabled()
            .with_read_timeout(READ_TIMEOUT)
            .with_connect_timeout(CONNECT_TIMEOUT)
            // Only a server that was named so is asked in the clear.
            .with_allow_http(endpoint.is_some_and(|url| url.starts_with("http://")));
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY_TIMEOUT,
            ..RetryConfig::default()
        };
        let bucket = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_client_options(client)
            .with_retry(retry)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        let objects = Arc::new(PrefixStore::new(bucket, prefix));
        Ok(Self { url: url.trim_end_matches('/').to_owned(), objects })
    }

    pub(super) fn objects(&self) -> &Arc<dyn Objects> {
        &self.objects
    }

    /// Where an object is.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    fn failed(&self, name: &str, error: &object_store::Error) -> StoreError {
        StoreError::Objects { place: self.place(name), reason: error.to_string() }
    }

    /// The blobs of the bucket, for those who wait.
    pub(super) fn blobs(&self) -> Result<RemoteBlobs, StoreError> {
        // Connections belong to the runtime that made them, so that this one has its own.
        RemoteBlobs::start(Self::new(&self.url)?)
    }
}

type Work = Box<dyn FnOnce(Remote) -> BoxFuture<'static, ()> + Send>;

/// The blobs of a bucket, read and written by a thread of their own, so that they can be waited for anywhere.
#[derive(Clone)]
pub(super) struct RemoteBlobs {
    url: String,
    work: mpsc::UnboundedSender<Work>,
}

impl fmt::Debug for RemoteBlobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RemoteBlobs({})", self.url)
    }
}

impl RemoteBlobs {
    /// Starts the thread, which ends when nobody has the blobs any more.
    fn start(remote: Remote) -> Result<Self, StoreError> {
        let url = remote.url.clone();
        let failed = |error: std::io::Error| StoreError::Objects {
            place: url.clone(),
            reason: error.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let (work, mut waiting) = mpsc::unbounded_channel::<Work>();
        let serve = move || {
            runtime.block_on(async {
                while let Some(work) = waiting.recv().await {
                    tokio::spawn(work(remote.clone()));
                }
            });
        };
        std::thread::Builder::new().name("objects".to_owned()).spawn(serve).map_err(failed)?;
        Ok(Self { url, work })
    }

    /// Where a blob is.
    pub(super) fn place(&self, name: &str) -> String {
        format!("{}/{name}", self.url)
    }

    pub(super) fn put(&self, name: &str, stored: Bytes) -> Result<(), StoreError> {
        self.wait(name, |remote, path| {
            Box::pin(async move { remote.objects.put(&path, stored.into()).await.map(drop) })
        })
    }

    pub(super) fn get(&self, name: &str) -> Result<Bytes, StoreError> {
        self.wait(name, |remote, path| {
            Box::pin(async move { remote.objects.get(&path).await?.bytes().await })
        })
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        let found = self.wait(name, |remote, path| {
            Box::pin(async move { remote.objects.head(&path).await.map(drop) })
        });
        found.is_ok()
    }

    /// Whether all these blobs are there.
    pub(super) fn contains_all(&self, names: Vec<String>) -> bool {
        let found = self.wait("objects", |remote, _| {
            Box::pin(async move {
                let heads = stream::iter(names).map(|name| {
                    let objects = Arc::clone(&remote.objects);
                    async move { objects.head(&Path::from(name)).await.map(drop) }
                });
                heads.buffer_unordered(HEADS_IN_FLIGHT).try_collect::<()>().await
            })
        });
        found.is_ok()
    }

    /// Whether there is a blob that was written not long ago, so that nobody takes it for one that is not needed.
    pub(super) fn is_fresh(&self, name: &str) -> Result<bool, StoreError> {
        let found = self.wait(name, |remote, path| {
            Box::pin(
                async move { remote.objects.head(&path).await.map(|found| found.last_modified) },
            )
        });
        match found {
            Ok(modified) => Ok(SystemTime::from(modified) > SystemTime::now() - FRESH),
            Err(StoreError::FileNotFound(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn delete(&self, name: &str) -> Result<(), StoreError> {
        let gone = self
            .wait(name, |remote, path| Box::pin(async move { remote.objects.delete(&path).await }));
        match gone {
            Err(StoreError::FileNotFound(_)) => Ok(()),
            other => other,
        }
    }

    fn wait<T: Send + 'static>(
        &self,
        name: &str,
        ask: impl FnOnce(Remote, Path) -> BoxFuture<'static, object_store::Result<T>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let path = Path::from(name);
        let failed = |reason: String| StoreError::Objects { place: self.place(name), reason };
        let (answer, answered) = blocking::sync_channel(1);
        let work: Work = Box::new(move |remote| {
            Box::pin(async move {
                // Nobody waits any more where it cannot be sent.
                let _ = answer.send(ask(remote, path).await);
            })
        });
        let gone = || failed("the thread of the objects has ended".to_owned());
        self.work.send(work).map_err(|_| gone())?;
        let result = answered.recv().map_err(|_| gone())?;
        result.map_err(|error| match error {
            object_store::Error::NotFound { .. } => StoreError::FileNotFound(self.place(name)),
            other => failed(other.to_string()),
        })
    }
}
