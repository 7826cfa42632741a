//! Workers that are processes: this program, started again. They read jobs from standard input and write replies to
//! standard output, one line of JSON each. Whatever a script does to its process, this one goes on.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, ChildStdin, Command, Stdio, exit};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::job::{Job, Reply};
use crate::sandbox::{self, Engine};
use crate::worker::{GRACE, Lost, answer, on_large_stack};

/// Set for a process that is to be a worker.
const VARIABLE: &str = "FULLBENCH_SCRIPT_WORKER";

/// How often a worker looks whether its job takes too long.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

static CAN_BE_STARTED: OnceLock<()> = OnceLock::new();

/// To be called first in `main`. In a process that was started as a worker, it works until it is not needed any more and
/// does not return. In any other, it allows this program to be started as a worker: from then on scripts run in
/// processes of their own, which are killed when they do not keep to their limits. Without it they run on threads.
pub fn serve_if_asked() {
    if std::env::var_os(VARIABLE).is_none() {
        CAN_BE_STARTED.get_or_init(|| ());
        return;
    }
    thread::spawn(watch);
    let served = on_large_stack(serve).is_ok_and(|worker| worker.join().is_ok());
    exit(if served { 0 } else { 1 });
}

/// Whether this program can be started as a worker.
pub(crate) fn can_be_started() -> bool {
    CAN_BE_STARTED.get().is_some()
}

/// Does jobs until there are no more, or nobody takes the replies.
fn serve() {
    let mut engine = Engine::new();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(job) = serde_json::from_str::<Job>(&line) else { return };
        let reply = watched(&job, engine.as_ref());
        let Ok(mut line) = serde_json::to_vec(&reply) else { return };
        line.push(b'\n');
        if out.write_all(&line).and_then(|()| out.flush()).is_err() {
            return;
        }
        drop(engine.take());
        engine = Engine::new();
    }
}

/// When the job at hand must be done.
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);

fn set_deadline(deadline: Option<Instant>) {
    *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner) = deadline;
}

/// Does a job within a deadline.
fn watched(job: &Job, engine: Option<&Engine>) -> Reply {
    let patience = job.limits.time.saturating_add(GRACE).saturating_add(GRACE);
    set_deadline(Instant::now().checked_add(patience));
    let reply = sandbox::perform(job, engine);
    set_deadline(None);
    reply
}

/// Ends the process when a job takes too long: whoever asked may not be there any more to do so. Looks now and then, as
/// being woken for each job would cost more than a small script.
fn watch() {
    loop {
        thread::park_timeout(BETWEEN_LOOKS);
        let deadline = *DEADLINE.lock().unwrap_or_else(PoisonError::into_inner);
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            exit(1);
        }
    }
}

/// A process that does jobs. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    jobs: Option<ChildStdin>,
    replies: Receiver<Reply>,
}

impl Process {
    /// Starts a worker. It gets nothing of this process's environment, where keys may be.
    pub(crate) fn start() -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("could not be started: {error}");
        let program = std::env::current_exe().map_err(failed)?;
        let mut child = Command::new(program)
            .env_clear()
            .env(VARIABLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (jobs, output) = (child.stdin.take(), child.stdout.take());
        let (outgoing, replies) = channel();
        let mut process = Self { child, jobs, replies };
        let Some(output) = output else { return Err("has no output".to_owned()) };
        thread::Builder::new()
            .name("script-replies".to_owned())
            .spawn(move || {
                for line in BufReader::new(output).lines() {
                    let Ok(line) = line else { return };
                    let Ok(reply) = serde_json::from_str(&line) else { return };
                    if outgoing.send(reply).is_err() {
                        return;
                    }
                }
            })
            .map_err(|error| {
                process.end();
                failed(error)
            })?;
        Ok(process)
    }

    /// Has a job done.
    pub(crate) fn ask(&mut self, job: &Job, patience: Duration) -> Result<Reply, Lost> {
        let mut line = serde_json::to_vec(job).map_err(|_| Lost::Ended)?;
        line.push(b'\n');
        let jobs = self.jobs.as_mut().ok_or(Lost::Ended)?;
        jobs.write_all(&line).and_then(|()| jobs.flush()).map_err(|_| Lost::Ended)?;
        answer(&self.replies, patience)
    }

    fn end(&mut self) {
        // It may have ended already, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
