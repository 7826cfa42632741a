//! Functions of users in JavaScript or TypeScript, run in a sandbox.
//!
//! A [`Script`] is a module whose default export is a function of one argument:
//!
//! ```
//! # use fullbench_script::{Language, Limits, Script, ScriptError};
//! # use serde_json::json;
//! let source = "export default ({ output }: { output: string }) => ({ score: output.length / 10 })";
//! let script = Script::new(source, "score.ts", Language::TypeScript, Limits::default())?;
//! let call = script.call(&json!({ "output": "hello" }));
//! assert_eq!(call.result?, json!({ "score": 0.5 }));
//! # Ok::<(), ScriptError>(())
//! ```
//!
//! The function may be `async`. The types of TypeScript are removed and not checked; they become blanks, so that errors
//! name the lines and columns of the user's source. What is more than a type (`enum`, `namespace`, parameter
//! properties) is refused.
//!
//! # What a script has
//!
//! The language itself, up to ECMAScript 2025: texts, numbers, lists, `Map` and `Set`, `JSON`, `RegExp`, `Math`, promises,
//! typed arrays, `Proxy`, `BigInt`, and `console.log`, whose lines are given back. It has no files, no network, no
//! timers, no `import` and no code made at run time (`eval`, `new Function`).
//!
//! A call gives the same result every time: there is no `Date`, no locale (`Intl`) and no `WeakRef`, and `Math.random` begins with
//! the same seed in every call. Each call has an engine of its own, so that nothing is left for the next one to see.
//!
//! Errors name the line and the column. For a few, such as taking apart what is `null`, the engine knows only the last place it noted in
//! the function, or where the function begins.
//!
//! # Limits
//!
//! [`Limits`] bound time, memory, stack, the returned value and the log. The engine (QuickJS) holds them itself where it
//! looks: between its steps, inside regular expressions, at each allocation and call. Some of its steps can take
//! hours without a look at the clock. A program that calls [`serve_if_asked`] first thing in `main` therefore runs
//! scripts in processes of its own making, which are killed one second after the time is over, and which take with them
//! whatever a fault of the engine breaks. In other programs, such as tests, scripts run on threads: a call still ends one second
//! after its time, but a thread in such a step goes on until the step ends.
//!
//! # Values
//!
//! The argument and the result are JSON. Numbers are those of JavaScript, 64 bits of floating point: integers above 2^53 are rounded,
//! `1.0` comes back as `1`, and `-0` as `0`. Objects keep the order of their fields, apart from names that are
//! integers, which come first. In the result, fields that are `undefined` are left out, and getters and `toJSON` are
//! called, as `JSON.stringify` does. Everything else that JSON cannot hold is an error that names its place in the result: `NaN`,
//! infinities, `BigInt`, functions, symbols, `undefined` elsewhere, proxies, and objects such as `Map` whose content is not
//! in fields. Half of a surrogate pair becomes U+FFFD.

mod convert;
mod error;
mod globals;
mod job;
mod language;
mod limits;
mod process;
mod sandbox;
mod script;
mod thrown;
mod types;
mod worker;

pub use error::{Place, ScriptError};
pub use language::Language;
pub use limits::Limits;
pub use process::serve_if_asked;
pub use script::{Call, Script};
