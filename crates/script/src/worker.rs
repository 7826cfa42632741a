//! Workers, which do the jobs: processes of their own where the program can be started as one, and else threads.
//!
//! The engine looks at the clock between its steps, but a single step of it can take hours: `reverse` of a list that
//! claims to have 2^53 elements, or a search for one long text in another. So there is always somebody outside who
//! waits no longer than the limit and a little more. A process is then killed. A thread cannot be: it is left alone,
//! and its place is taken by a new one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::error::ScriptError;
use crate::job::{Job, Reply};
use crate::process::{self, Process};
use crate::sandbox::{self, Engine};

/// What a worker has over a script's limit: to read a source, to start an engine, to free its memory.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// The stack of a thread that does jobs. Only what is used of it is ever backed by memory.
const STACK: usize = 64 << 20;
/// As many threads may be left alone before no more are started.
const MOST_ABANDONED: usize = 16;

static IDLE: Mutex<Vec<Worker>> = Mutex::new(Vec::new());
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

/// Why a worker is of no more use.
pub(crate) enum Lost {
    /// It did not answer in time.
    Silent,
    /// It ended, or never began.
    Ended,
}

enum Worker {
    Thread(Thread),
    Process(Process),
}

/// Has a job done by a worker.
pub(crate) fn ask(job: &Job) -> Reply {
    let waiting = idle().pop();
    // One that has waited may have ended meanwhile, through no fault of the script.
    if let Some(reply) = waiting.and_then(|worker| worker.asked(job)) {
        return reply;
    }
    let failed = |reason: &str| {
        Reply::error(ScriptError::Sandbox { place: job.place(), reason: reason.to_owned() })
    };
    match Worker::start() {
        Ok(worker) => worker.asked(job).unwrap_or_else(|| {
            failed("ended while the script ran: it is nested too deeply, or the engine has a fault")
        }),
        Err(reason) => failed(&reason),
    }
}

/// The error for an answer to another question.
pub(crate) fn confused(job: &Job) -> ScriptError {
    let reason = "answered something else than was asked".to_owned();
    ScriptError::Sandbox { place: job.place(), reason }
}

fn idle() -> std::sync::MutexGuard<'static, Vec<Worker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    fn start() -> Result<Self, String> {
        if process::can_be_started() {
            return Process::start().map(Self::Process);
        }
        if ABANDONED.load(Ordering::Relaxed) >= MOST_ABANDONED {
            return Err(format!("is busy with {MOST_ABANDONED} scripts that do not end"));
        }
        Thread::start().map(Self::Thread)
    }

    /// The reply, after which it waits for the next job; none if it has ended.
    fn asked(mut self, job: &Job) -> Option<Reply> {
        let patience = job.limits.time.saturating_add(GRACE);
        let answer = match &mut self {
            Self::Thread(thread) => thread.ask(job, patience),
            Self::Process(process) => process.ask(job, patience),
        };
        match answer {
            Ok(reply) => {
                let mut idle = idle();
                if idle.len() < thread::available_parallelism().map_or(1, usize::from) {
                    idle.push(self);
                }
                Some(reply)
            }
            Err(Lost::Silent) => {
                // A process is killed as it is dropped.
                if let Self::Thread(thread) = self {
                    thread.abandon();
                }
                let (place, limit) = (job.place(), job.limits.time);
                Some(Reply::error(ScriptError::OutOfTime { place, limit }))
            }
            Err(Lost::Ended) => None,
        }
    }
}

/// A thread that does jobs until nobody can ask it any more.
struct Thread {
    jobs: Sender<Job>,
    replies: Receiver<Reply>,
    /// Held by both sides; the thread counts itself out when it finds that it was abandoned.
    abandoned: Arc<Mutex<bool>>,
}

impl Thread {
    fn start() -> Result<Self, String> {
        let (jobs, incoming) = channel::<Job>();
        let (outgoing, replies) = channel();
        let abandoned = Arc::<Mutex<bool>>::default();
        let seen = Arc::clone(&abandoned);
        let body = move || {
            let mut engine = Engine::new();
            while let Ok(job) = incoming.recv() {
                if outgoing.send(sandbox::perform(&job, engine.as_ref())).is_err() {
                    break;
                }
                drop(engine.take());
                engine = Engine::new();
            }
            if *seen.lock().unwrap_or_else(PoisonError::into_inner) {
                ABANDONED.fetch_sub(1, Ordering::Relaxed);
            }
        };
        on_large_stack(body).map_err(|error| format!("has no thread: {error}"))?;
        Ok(Self { jobs, replies, abandoned })
    }

    fn ask(&mut self, job: &Job, patience: Duration) -> Result<Reply, Lost> {
        self.jobs.send(job.clone()).map_err(|_| Lost::Ended)?;
        answer(&self.replies, patience)
    }

    fn abandon(self) {
        let mut abandoned = self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        *abandoned = true;
        ABANDONED.fetch_add(1, Ordering::Relaxed);
    }
}

/// The next reply, if it comes in time.
pub(crate) fn answer(replies: &Receiver<Reply>, patience: Duration) -> Result<Reply, Lost> {
    replies.recv_timeout(patience).map_err(|error| match error {
        RecvTimeoutError::Timeout => Lost::Silent,
        RecvTimeoutError::Disconnected => Lost::Ended,
    })
}

/// Starts a thread on which deeply nested source can be read.
pub(crate) fn on_large_stack(
    body: impl FnOnce() + Send + 'static,
) -> std::io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("script".to_owned()).stack_size(STACK).spawn(body)
}
