//! A local model behind the trait every model is called through.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use async_trait::async_trait;
use fullbench_llm::{CallError, FailureClass, GenerationRequest, LanguageModel, Reply};
use tokio::sync::{mpsc, oneshot};

use crate::error::LocalError;
use crate::options::LocalOptions;
use crate::weights::{check_weights, revision_of};
use crate::worker::{self, About, Job};

/// Requests that wait for a model, at most; who comes later waits for a place, in the order of coming.
const QUEUE: usize = 64;

/// Stack of the worker: llama.cpp splits text into words with expressions that recurse over long ones.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// A GGUF model in this process. Clones share the model.
#[derive(Debug, Clone)]
pub struct LocalModel {
    running: Arc<Running>,
}

/// A thread with a loaded model; it ends when the last [`LocalModel`] does.
#[derive(Debug)]
struct Running {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    revision: String,
    about: About,
}

/// The models in use, so that each is loaded once.
static MODELS: Mutex<BTreeMap<(PathBuf, LocalOptions), Weak<Running>>> =
    Mutex::new(BTreeMap::new());

impl LocalModel {
    /// Loads a model, or shares it when the same file is in use with the same options. Blocks while the file is read.
    ///
    /// # Errors
    /// When the file is no model that llama.cpp can run, or there is no memory for it.
    pub fn load(path: &Path, options: LocalOptions) -> Result<Self, LocalError> {
        check_weights(path)?;
        let path = path.canonicalize().map_err(|error| LocalError::Unreadable {
            path: path.to_owned(),
            message: error.to_string(),
        })?;
        let revision = revision_of(&path)?;
        let mut models = MODELS.lock().unwrap_or_else(PoisonError::into_inner);
        models.retain(|_, running| running.strong_count() > 0);
        let key = (path, options);
        let in_use = models.get(&key).and_then(Weak::upgrade);
        if let Some(running) = in_use.filter(|running| running.revision == revision) {
            return Ok(Self { running });
        }
        let running = Arc::new(Running::start(key.0.clone(), key.1.clone(), revision)?);
        models.insert(key, Arc::downgrade(&running));
        Ok(Self { running })
    }

    /// Tokens that prompt and answer may have together.
    #[must_use]
    pub fn context_tokens(&self) -> usize {
        self.running.about.context_tokens
    }

    /// The model's name in its file.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.running.about.name.as_deref()
    }

    /// Asks once, and hands on the text piece by piece as it is written; together the pieces are the answer's text.
    ///
    /// # Errors
    /// As [`LanguageModel::generate`].
    pub async fn generate_streaming(
        &self,
        request: &GenerationRequest,
        mut on_piece: impl FnMut(&str) + Send,
    ) -> Result<Reply, CallError> {
        let (pieces, mut written) = mpsc::unbounded_channel();
        let reply = self.enqueue(request, Some(pieces)).await?;
        // The channel closes when the worker is done with the request.
        while let Some(piece) = written.recv().await {
            on_piece(&piece);
        }
        reply.await.unwrap_or_else(|_| Err(ended()))
    }

    /// Waits for a place in the queue; dropping the receiver withdraws the request.
    async fn enqueue(
        &self,
        request: &GenerationRequest,
        pieces: Option<mpsc::UnboundedSender<String>>,
    ) -> Result<oneshot::Receiver<Result<Reply, CallError>>, CallError> {
        let (reply, receiver) = oneshot::channel();
        let job = Job { request: request.clone(), reply, pieces };
        let jobs = self.running.jobs.as_ref().ok_or_else(ended)?;
        jobs.send(job).await.map_err(|_| ended())?;
        Ok(receiver)
    }
}

#[async_trait]
impl LanguageModel for LocalModel {
    async fn generate(&self, request: &GenerationRequest) -> Result<Reply, CallError> {
        let reply = self.enqueue(request, None).await?;
        reply.await.unwrap_or_else(|_| Err(ended()))
    }

    fn revision(&self) -> Option<String> {
        Some(self.running.revision.clone())
    }
}

impl Running {
    fn start(path: PathBuf, options: LocalOptions, revision: String) -> Result<Self, LocalError> {
        let (jobs, receiver) = mpsc::channel(QUEUE);
        let (loaded, load) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("local model".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || worker::run(&path, &options, &loaded, receiver))
            .map_err(|error| LocalError::Backend(error.to_string()))?;
        let about = load
            .recv()
            .unwrap_or_else(|_| Err(LocalError::Backend("its thread ended".to_owned())))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), revision, about })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Without a sender the thread ends; the process must not end before it, or llama.cpp is torn down while it runs.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn ended() -> CallError {
    CallError::new(FailureClass::Server, "the thread of the local model has ended")
}
