//! What a script finds around it: less than the engine has, and a console.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::function::{Rest, This};
use rquickjs::{Coerced, Ctx, Function, Object, String as Text, Value as Handle};

/// Run before the user's source. It takes the constructors of functions away, by which code could be made at run time,
/// and gives a function that calls another and awaits what it returns. It is read for every call, so it is short.
const PRELUDE: &str = include_str!("prelude.js");
/// Names that are taken away: code made at run time, and memory shared with other threads, of which there are none.
const REMOVED: [&str; 3] = ["eval", "SharedArrayBuffer", "Atomics"];
/// Lines of the log are cut here.
const LONGEST_LINE: usize = 4096;
/// Where random numbers begin, in every call.
const SEED: u32 = 0x9e37_79b9;

/// Functions of the engine, taken before the script could replace them.
pub(crate) struct Tools<'js> {
    /// Calls a function with an argument and gives a promise of what it returns.
    pub(crate) call: Function<'js>,
    to_well_formed: Function<'js>,
}

impl<'js> Tools<'js> {
    /// Makes a new context fit for a script.
    pub(crate) fn install(ctx: &Ctx<'js>, log: &Rc<RefCell<Log>>) -> rquickjs::Result<Self> {
        let call = ctx.eval(PRELUDE)?;
        let globals = ctx.globals();
        let text: Object<'js> = globals.get("String")?;
        let to_well_formed = text.get::<_, Object<'js>>("prototype")?.get("toWellFormed")?;
        for name in REMOVED {
            globals.remove(name)?;
        }
        let math: Object<'js> = globals.get("Math")?;
        let state = Cell::new(SEED);
        math.set("random", Function::new(ctx.clone(), move || random(&state))?)?;

        let log = Rc::clone(log);
        let write = move |ctx: Ctx<'js>, values: Rest<Handle<'js>>| {
            let shown: Vec<String> = values.0.iter().map(|value| shown(&ctx, value)).collect();
            log.borrow_mut().write(shown.join(" "));
        };
        let write = Function::new(ctx.clone(), write)?;
        let console = Object::new(ctx.clone())?;
        for name in ["log", "info", "warn", "error", "debug"] {
            console.set(name, write.clone())?;
        }
        globals.set("console", console)?;
        Ok(Self { call, to_well_formed })
    }

    /// A text in UTF-8, where half of a surrogate pair has no place: it becomes U+FFFD.
    pub(crate) fn text(&self, text: Text<'js>) -> rquickjs::Result<String> {
        match text.to_string() {
            Err(rquickjs::Error::Utf8(_)) => self.to_well_formed.call((This(text),)),
            result => result,
        }
    }
}

/// The next number of the generator mulberry32, from 0 to below 1.
fn random(state: &Cell<u32>) -> f64 {
    let next = state.get().wrapping_add(0x6d2b_79f5);
    state.set(next);
    let mut mixed = (next ^ (next >> 15)).wrapping_mul(next | 1);
    mixed ^= mixed.wrapping_add((mixed ^ (mixed >> 7)).wrapping_mul(mixed | 61));
    f64::from(mixed ^ (mixed >> 14)) / 4_294_967_296.0
}

/// A value as the console shows it: texts as they are, objects as JSON.
fn shown<'js>(ctx: &Ctx<'js>, value: &Handle<'js>) -> String {
    let as_json = || ctx.json_stringify(value.clone()).ok().flatten()?.to_string().ok();
    let as_text = || value.get::<Coerced<String>>().ok().map(|text| text.0);
    let shown = match value.is_object() && !value.is_error() && !value.is_function() {
        true => as_json().or_else(as_text),
        false => as_text().or_else(as_json),
    };
    if ctx.has_exception() {
        ctx.catch();
    }
    shown.unwrap_or_else(|| "[a value that cannot be shown]".to_owned())
}

/// What the script wrote to the console, up to a number of bytes.
pub(crate) struct Log {
    /// The lines.
    pub(crate) lines: Vec<String>,
    left: usize,
}

impl Log {
    /// A log that takes as many bytes.
    pub(crate) fn new(left: usize) -> Self {
        Self { lines: Vec::new(), left }
    }

    fn write(&mut self, mut line: String) {
        line.truncate(line.floor_char_boundary(LONGEST_LINE.min(self.left)));
        // An empty line is not free, so that there cannot be endlessly many.
        self.left = self.left.saturating_sub(line.len() + 1);
        if self.left > 0 {
            self.lines.push(line);
        }
    }
}
