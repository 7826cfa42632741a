//! Runs one job in an engine of its own, on the thread it is called on. What the engine counts itself is held here:
//! memory, stack, and time as long as it looks at the clock; a worker holds the rest.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::intrinsic::{
    Eval, Json, MapSet, Promise as Promises, Proxy, RegExp, RegExpCompiler, TypedArrays,
};
use rquickjs::promise::PromiseState;
use rquickjs::{Context, Ctx, Module, Promise, Runtime, Value as Handle};
use serde_json::Value;

use crate::convert::{Converter, arrived};
use crate::error::{Place, ScriptError};
use crate::globals::{Log, Tools};
use crate::job::{Job, Output, Reply, Task};
use crate::thrown::{self, MODULE};
use crate::types;

/// The engine's parts that compute. There is no `Date`, which would tell the time and the time zone, and no `WeakRef`,
/// which would tell when memory is freed. `Eval` is what compiles a module; scripts
/// cannot reach it.
type Parts = (Eval, RegExpCompiler, RegExp, Json, Proxy, MapSet, TypedArrays, Promises);

/// Memory that is added once a script has failed, so that there is room to say why.
const ROOM_TO_EXPLAIN: usize = 1 << 20;

/// Why a run stopped.
pub(crate) enum Stop {
    /// The engine holds an exception.
    Exception,
    /// The reason is known.
    Because(ScriptError),
}

impl From<rquickjs::Error> for Stop {
    // Whatever it is, the engine holds an exception or does not, and `thrown` looks.
    fn from(_: rquickjs::Error) -> Self {
        Self::Exception
    }
}

/// An engine that nothing has run in. Used for one job and thrown away.
pub(crate) struct Engine {
    runtime: Runtime,
    context: Context,
}

impl Engine {
    /// A new engine, if there is memory for it. Making one takes longer than many a script, so a worker makes it while
    /// its last reply is on its way.
    pub(crate) fn new() -> Option<Self> {
        let runtime = Runtime::new().ok()?;
        let context = Context::custom::<Parts>(&runtime).ok()?;
        Some(Self { runtime, context })
    }
}

/// Does a job.
pub(crate) fn perform(job: &Job, engine: Option<&Engine>) -> Reply {
    let Some(engine) = engine else {
        let reason = "has no memory for an engine".to_owned();
        return Reply::error(ScriptError::Sandbox { place: job.place(), reason });
    };
    if job.source.len() > job.limits.source {
        let (place, limit) = (job.place(), job.limits.source);
        return Reply::error(ScriptError::TooLarge { place, what: "the source".to_owned(), limit });
    }
    if let Some(zero) = job.source.find('\0') {
        let place = Place::at_byte(&job.name, &job.source, zero);
        let message = "there is a zero byte".to_owned();
        return Reply::error(ScriptError::Syntax { place, message });
    }
    match &job.task {
        Task::Prepare(language) => {
            let source = match language {
                crate::Language::JavaScript => Ok(job.source.clone()),
                crate::Language::TypeScript => types::without_types(&job.source, &job.name),
            };
            let source = match source {
                Ok(source) => source,
                Err(error) => return Reply::error(error),
            };
            let (result, log) = run(engine, job, &source, None);
            Reply { result: result.map(|_| Output::Prepared(source)), log }
        }
        Task::Call(argument) => {
            let (result, log) = run(engine, job, &job.source, Some(argument));
            Reply { result: result.map(Output::Returned), log }
        }
    }
}

/// Loads the source into an engine and calls its default export, if there is an argument.
fn run(
    engine: &Engine,
    job: &Job,
    source: &str,
    argument: Option<&str>,
) -> (Result<Value, ScriptError>, Vec<String>) {
    let log = Rc::new(RefCell::new(Log::new(job.limits.log)));
    let result = run_logged(engine, job, source, argument, &log);
    let lines = std::mem::take(&mut log.borrow_mut().lines);
    (result, lines)
}

fn run_logged(
    Engine { runtime, context }: &Engine,
    job: &Job,
    source: &str,
    argument: Option<&str>,
    log: &Rc<RefCell<Log>>,
) -> Result<Value, ScriptError> {
    let clock = Clock::start(job.limits.time);
    let memory = job.limits.engine_memory();
    runtime.set_memory_limit(memory);
    runtime.set_max_stack_size(job.limits.engine_stack());
    let handler_clock = clock.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || handler_clock.is_over())));

    let mut phase = Phase::Loading;
    let stop =
        match context.with(|ctx| evaluate(&ctx, job, source, argument, log, &clock, &mut phase)) {
            Ok(value) => return Ok(value),
            Err(stop) => stop,
        };
    if clock.has_rung() {
        return Err(ScriptError::OutOfTime { place: job.place(), limit: job.limits.time });
    }
    match stop {
        Stop::Because(error) => Err(error),
        Stop::Exception => {
            runtime.set_memory_limit(memory + ROOM_TO_EXPLAIN);
            let error = context.with(|ctx| thrown::explained(&ctx, job, source, phase));
            if clock.has_rung() {
                return Err(ScriptError::OutOfTime { place: job.place(), limit: job.limits.time });
            }
            Err(error)
        }
    }
}

/// How far a run has come.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Phase {
    /// Before any of the user's source has run.
    Loading,
    /// The argument is read.
    Reading,
    /// The user's source runs.
    Running,
}

fn evaluate<'js>(
    ctx: &Ctx<'js>,
    job: &Job,
    source: &str,
    argument: Option<&str>,
    log: &Rc<RefCell<Log>>,
    clock: &Clock,
    phase: &mut Phase,
) -> Result<Value, Stop> {
    let tools = Tools::install(ctx, log)?;
    let module = Module::declare(ctx.clone(), MODULE, source)?;
    *phase = Phase::Running;
    let (module, loaded) = module.eval()?;
    settle(ctx, job, &loaded, clock)?;
    let exported: Handle<'js> = module.namespace()?.get("default")?;
    let Some(function) = exported.as_function() else {
        let found = if exported.is_undefined() { "missing" } else { exported.type_name() };
        return Err(Stop::Because(ScriptError::NotAFunction {
            place: job.place(),
            found: found.to_owned(),
        }));
    };
    let Some(argument) = argument else { return Ok(Value::Null) };

    *phase = Phase::Reading;
    let argument = arrived(ctx, argument)?;
    *phase = Phase::Running;
    let promise: Promise<'js> = tools.call.call((function.clone(), argument))?;
    let returned = settle(ctx, job, &promise, clock)?;
    Converter::new(job, &tools).converted(returned)
}

/// Runs what is waiting until the promise has its value.
fn settle<'js>(
    ctx: &Ctx<'js>,
    job: &Job,
    promise: &Promise<'js>,
    clock: &Clock,
) -> Result<Handle<'js>, Stop> {
    while promise.state() == PromiseState::Pending && !clock.is_over() {
        if !ctx.execute_pending_job() {
            return Err(Stop::Because(ScriptError::NeverSettled { place: job.place() }));
        }
    }
    match promise.result::<Handle<'js>>() {
        Some(result) => Ok(result?),
        None => Err(Stop::Exception),
    }
}

/// The time a run has, and whether it was found to be over.
#[derive(Clone)]
struct Clock {
    deadline: Option<Instant>,
    rung: Rc<Cell<bool>>,
}

impl Clock {
    fn start(limit: Duration) -> Self {
        Self { deadline: Instant::now().checked_add(limit), rung: Rc::default() }
    }

    /// Looks at the clock; once over, it stays over.
    fn is_over(&self) -> bool {
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.rung.set(true);
        }
        self.rung.get()
    }

    fn has_rung(&self) -> bool {
        self.rung.get()
    }
}
