//! Scripts that try to break out, to go on for ever, or to use everything up; and what must come of each.

use std::time::{Duration, Instant};

use fullbench_script::{Language, Limits, Script, ScriptError};
use serde_json::{Value, json};

/// What must come of a script.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fate {
    /// It is stopped because its time is over.
    Time,
    /// It is stopped because its memory is used up.
    Memory,
    /// It is stopped because it is nested too deeply.
    Depth,
    /// It is stopped by one of these three; which comes first depends on the machine.
    Stopped,
    /// Its own error is told, with this in the message.
    Thrown(&'static str),
    /// It is not read at all, with this in the message.
    Refused(&'static str),
    /// It has no function as its default export.
    NoFunction,
    /// Its promise is never settled.
    Unsettled,
    /// It returns what JSON cannot hold, with this in the message.
    NotJson(&'static str),
    /// It returns too much.
    Large,
    /// It returns this text: the attempt came to nothing.
    Harmless(&'static str),
}

use Fate::*;

/// A name, the source, and what must come of it.
pub(crate) type Attempt = (&'static str, &'static str, Fate);

/// Little time for what must be stopped, and plenty for what must end by itself on a busy machine.
fn limits(fate: Fate) -> Limits {
    let milliseconds = if matches!(fate, Time | Stopped) { 500 } else { 5000 };
    Limits { time: Duration::from_millis(milliseconds), ..Limits::default() }
}

/// Those that the engine itself can stop.
pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("endless loop", "export default () => { while (true); }", Time),
    (
        "endless loop that catches",
        "export default () => { for (;;) { try { for (;;); } catch {} finally { continue } } }",
        Time,
    ),
    ("endless loop on loading", "while (true); export default () => 1", Time),
    ("catastrophic expression", "export default () => /^(a+)+$/.test('a'.repeat(40) + 'b')", Time),
    (
        "catastrophic with lookahead",
        "export default () => /^(?=(a*)*b)((a|a)*)*$/.exec('a'.repeat(60))",
        Time,
    ),
    (
        "catastrophic replace",
        "export default () => ('x'.repeat(30000)).replace(/(x+x+)+y/g, '')",
        Time,
    ),
    (
        "catastrophic split",
        "export default () => ('a'.repeat(50) + '!').split(/(?:a|a|aa)+$/)",
        Time,
    ),
    ("back references", "export default () => /^(.*)*\\1x$/.test('ab'.repeat(200))", Time),
    (
        "comparator without end",
        "export default () => [3, 1, 2].sort(() => { while (true); })",
        Time,
    ),
    (
        "comparator that lies",
        "export default () => Array.from({ length: 3e6 }, (_, i) => i).sort(() => Math.random() - 0.5).length",
        Stopped,
    ),
    (
        "proxy without end",
        "export default () => { const p = new Proxy({}, { get: () => { for (;;); } }); return p.x }",
        Time,
    ),
    (
        "proxies in proxies",
        "export default () => { let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x }",
        Stopped,
    ),
    (
        "prototype that is its proxy",
        "export default () => { const o = {}; Object.setPrototypeOf(o, new Proxy(o, {})); return o.x }",
        Stopped,
    ),
    ("getter of the result", "export default () => ({ get score() { while (true); } })", Time),
    ("toJSON of the result", "export default () => ({ toJSON() { while (true); } })", Time),
    (
        "toJSON that throws",
        "export default () => ({ toJSON() { throw new Error('no') } })",
        Thrown("Error: no"),
    ),
    ("valueOf without end", "export default () => +{ valueOf() { while (true); } }", Time),
    (
        "generator without end",
        "function* all() { for (;;) yield 1 } export default () => [...all()].length",
        Stopped,
    ),
    (
        "iterator without end",
        "export default () => new Set({ [Symbol.iterator]: () => ({ next: () => ({ done: false, value: 1 }) }) }).size",
        Time,
    ),
    ("await without end", "export default async () => { for (;;) await null }", Time),
    (
        "flood of promises",
        "const flood = () => { Promise.resolve().then(flood); Promise.resolve().then(flood) }; export default () => { flood(); return new Promise(() => {}) }",
        Stopped,
    ),
    ("then without end", "export default () => ({ then(resolve) { resolve(this) } })", Time),
    (
        "promise of itself",
        "export default () => { let resolve; const p = new Promise((r) => { resolve = r }); resolve(p); return p }",
        Thrown("TypeError"),
    ),
    ("promise never settled", "export default () => new Promise(() => {})", Unsettled),
    ("await on top without end", "await new Promise(() => {}); export default () => 1", Unsettled),
    (
        "text doubled",
        "export default () => { let s = 'ab'; for (;;) s += s }",
        Thrown("string too long"),
    ),
    (
        "text doubled and flat",
        "export default () => { let s = 'ab'; for (;;) { s += s; s.charCodeAt(s.length - 1) } }",
        Memory,
    ),
    (
        "list without end",
        "export default () => { const l = []; for (;;) l.push(l.length) }",
        Stopped,
    ),
    ("lists in lists", "export default () => { let l = []; for (;;) l = [l, l] }", Stopped),
    ("giant list filled", "export default () => Array(1e9).fill(0).length", Stopped),
    ("giant repeat", "export default () => 'a'.repeat(2 ** 29).length", Memory),
    ("repeat beyond the engine", "export default () => 'a'.repeat(2 ** 30)", Thrown("RangeError")),
    ("giant buffer", "export default () => new ArrayBuffer(2 ** 30).byteLength", Memory),
    (
        "many buffers",
        "export default () => { const l = []; for (;;) l.push(new Uint8Array(1e6)) }",
        Memory,
    ),
    (
        "growing buffer",
        "export default () => new ArrayBuffer(8, { maxByteLength: 2 ** 30 }).resize(2 ** 30)",
        Memory,
    ),
    (
        "map without end",
        "export default () => { const m = new Map(); for (let i = 0; ; i++) m.set(i, {}) }",
        Stopped,
    ),
    (
        "memory caught and tried again",
        "export default () => { for (;;) { try { const l = []; for (;;) l.push('x'.repeat(1e5)) } catch {} } }",
        Stopped,
    ),
    ("padding", "export default () => 'a'.padEnd(2 ** 29, 'xyz')", Memory),
    ("big integer", "export default () => { let n = 3n; for (;;) n *= n }", Thrown("RangeError")),
    ("big integer's power", "export default () => String(2n ** (2n ** 40n))", Thrown("RangeError")),
    (
        "memory of a regular expression",
        "export default () => new RegExp('(?:a|b){1,99}'.repeat(2e6)).test('a')",
        Stopped,
    ),
    ("recursion", "const f = () => f() + 1; export default f", Depth),
    (
        "recursion that catches",
        "const f = () => { try { f() } catch { f() } }; export default f",
        Stopped,
    ),
    (
        "recursion through toString",
        "const o = { toString() { return `${o}` } }; export default () => `${o}`",
        Depth,
    ),
    (
        "recursion through JSON",
        "export default () => { let v = []; for (let i = 0; i < 1e6; i++) v = [v]; return JSON.stringify(v) }",
        Stopped,
    ),
    ("parsing what is nested", "export default () => JSON.parse('['.repeat(1e6))", Depth),
    (
        "nested expression",
        "export default () => new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
        Thrown("SyntaxError"),
    ),
    (
        "nested result",
        "export default () => { let v = []; for (let i = 0; i < 1e5; i++) v = [v]; return v }",
        Depth,
    ),
    ("circular result", "export default () => { const v = {}; v.v = v; return v }", Depth),
    (
        "flattening without end",
        "export default () => { const l = []; l.push(l, l); return l.flat(Infinity) }",
        Stopped,
    ),
    (
        "bound and bound again",
        "export default () => { let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(null); return f() }",
        Stopped,
    ),
    (
        "classes in classes",
        "export default () => { let C = class {}; for (let i = 0; i < 1e5; i++) C = class extends C {}; return new C() }",
        Stopped,
    ),
    ("throws undefined", "export default () => { throw undefined }", Thrown("undefined")),
    ("throws null", "export default () => { throw null }", Thrown("null")),
    ("throws a huge text", "export default () => { throw 'x'.repeat(1e7) }", Thrown("xxx")),
    (
        "throws a huge message",
        "export default () => { throw new Error('x'.repeat(1e7)) }",
        Thrown("xxx"),
    ),
    (
        "throws what cannot be shown",
        "export default () => { throw { toString() { throw 1 }, toJSON() { throw 2 } } }",
        Thrown("object"),
    ),
    (
        "throws an endless message",
        "export default () => { const e = new Error(); Object.defineProperty(e, 'message', { get() { for (;;); } }); throw e }",
        Time,
    ),
    ("throws half a pair", "export default () => { throw new Error('\\ud800') }", Thrown("Error")),
    ("throws a symbol", "export default () => { throw Symbol('s') }", Thrown("symbol")),
    (
        "throws a proxy",
        "export default () => { throw new Proxy({}, { get() { throw 1 } }) }",
        Thrown("threw"),
    ),
    (
        "prepareStackTrace",
        "Error.prepareStackTrace = () => { for (;;); }; export default () => { throw new Error('e').stack }",
        Time,
    ),
    (
        "stack that is no text",
        "Error.prepareStackTrace = () => ({}); export default () => { throw new Error('odd') }",
        Thrown("odd"),
    ),
    ("huge list returned", "export default () => new Array(4294967295)", Large),
    ("huge text returned", "export default () => 'x'.repeat(5e6)", Large),
    (
        "many fields returned",
        "export default () => { const o = {}; for (let i = 0; i < 2e5; i++) o['field' + i] = i; return o }",
        Large,
    ),
    ("proxy returned", "export default () => new Proxy([], { get: () => 1e9 })", NotJson("Proxy")),
    (
        "symbol returned",
        "export default () => ({ score: Symbol.iterator })",
        NotJson("the result.score is a symbol"),
    ),
    ("eval", "export default () => eval('1')", Thrown("eval")),
    ("eval from the side", "export default () => (0, globalThis.eval)('1')", Thrown("TypeError")),
    ("Function", "export default () => new Function('return 1')()", Thrown("made at run time")),
    (
        "Function by a function",
        "export default () => (() => {}).constructor('return 1')()",
        Thrown("made at run time"),
    ),
    (
        "Function by an async function",
        "export default () => (async () => {}).constructor('return 1')()",
        Thrown("made at run time"),
    ),
    (
        "Function by a generator",
        "export default () => (function* () {}).constructor('yield 1')()",
        Thrown("made at run time"),
    ),
    (
        "Function by reflection",
        "export default () => Reflect.construct(Object.getPrototypeOf(function () {}).constructor, ['return 1'])()",
        Thrown("made at run time"),
    ),
    ("import", "import fs from 'fs'; export default () => 1", Refused("fs")),
    ("import of the system", "import * as os from 'qjs:os'; export default () => 1", Refused("os")),
    (
        "import of itself",
        "export default async () => Object.keys(await import('./other.js'))",
        Thrown("other.js"),
    ),
    (
        "import of a URL",
        "export default () => import('https://example.com/x.js')",
        Thrown("example.com"),
    ),
    (
        "the outside",
        "export default () => [typeof require, typeof process, typeof fetch, typeof setTimeout, typeof std, typeof os, typeof Date, typeof WebAssembly, typeof Atomics, typeof SharedArrayBuffer, typeof WeakRef, typeof FinalizationRegistry, typeof performance, typeof gc, typeof print, typeof Worker].every((t) => t === 'undefined') ? 'nothing there' : 'something'",
        Harmless("nothing there"),
    ),
    (
        "waiting on memory",
        "export default () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        Thrown("ReferenceError"),
    ),
    (
        "pollution",
        "Object.prototype.score = 9; Array.prototype.map = null; JSON.stringify = null; String.prototype.toWellFormed = null; globalThis.leak = 1; Math.random = null; export default () => 'polluted'",
        Harmless("polluted"),
    ),
    (
        "pollution of promises",
        "Promise.prototype.then = () => { throw 1 }; Object.defineProperty(Object.prototype, 'then', { get() { throw 2 } }); export default () => 'polluted'",
        Harmless("polluted"),
    ),
    (
        "toJSON for all",
        "Object.prototype.toJSON = () => { for (;;); }; export default () => ({ score: 1 })",
        Time,
    ),
    (
        "species",
        "class Odd extends Array { static get [Symbol.species]() { for (;;); } } export default () => new Odd(1, 2).map((x) => x)",
        Time,
    ),
    (
        "instance without end",
        "export default () => 1 instanceof { [Symbol.hasInstance]() { for (;;); } }",
        Time,
    ),
    ("console flooded", "export default () => { for (;;) console.log('x'.repeat(1000)) }", Time),
    (
        "console with a trap",
        "export default () => { console.log({ toJSON() { throw 1 }, toString() { throw 2 } }); return 'shown' }",
        Harmless("shown"),
    ),
    ("no export", "const f = () => 1", NoFunction),
    ("a number exported", "export default 7", NoFunction),
    ("not a module", "module.exports = () => 1", Thrown("module")),
    ("nothing", "", NoFunction),
    ("zero byte", "export default () => 1 \0 }", Refused("")),
    (
        "a proxy exported",
        "export default new Proxy(() => 'called', { apply() { for (;;); } })",
        Time,
    ),
    ("with", "export default () => { with ({}) {} }", Refused("")),
    ("sloppy names", "export default () => { undeclared = 1 }", Thrown("undeclared")),
    ("arguments' caller", "export default function f() { return f.caller }", Thrown("TypeError")),
];

/// Those that stay in one step of the engine for hours. Only a process can be stopped there.
#[allow(dead_code)]
pub(crate) const ENDLESS_STEPS: &[Attempt] = &[
    (
        "turning round what is not there",
        "export default () => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
        Time,
    ),
    (
        "joining what is not there",
        "export default () => { const l = []; l.length = 4294967295; return l.join('').length }",
        Stopped,
    ),
    (
        "moving what is not there",
        "export default () => Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 5)",
        Time,
    ),
    (
        "searching a long text",
        "export default () => 'a'.repeat(2 ** 23).indexOf('a'.repeat(2 ** 22) + 'b')",
        Time,
    ),
    (
        "splitting at a long text",
        "export default () => 'a'.repeat(2 ** 23).split('a'.repeat(2 ** 22) + 'b').length",
        Time,
    ),
    (
        "comparing long texts",
        "export default () => { const a = 'a'.repeat(2 ** 24), b = 'a'.repeat(2 ** 24); while (a === b); }",
        Time,
    ),
    (
        "sorting again and again",
        "export default () => { const l = new Float64Array(4e6); for (;;) l.sort() }",
        Time,
    ),
];

/// Makes an attempt, and then sees that another script still works.
pub(crate) fn check(&(name, source, fate): &Attempt) {
    let started = Instant::now();
    let result = Script::new(source, "hostile.js", Language::JavaScript, limits(fate))
        .and_then(|script| script.call(&json!({ "output": "x" })).result);
    let took = started.elapsed();
    assert!(fate.is(&result), "{name}: expected {fate:?}, got {}", shortened(&result));
    assert!(took < Duration::from_secs(10), "{name}: took {took:?}");
    assert_eq!(healthy(), json!({ "score": 5, "leaks": "undefined", "own": 1 }), "after {name}");
}

fn healthy() -> Value {
    let source = "export default ({ output }) => { const own = {}; let count = 0; own.x = 1; for (const key in own) count += 1;
        return { score: [...output].map((c) => c).length, leaks: typeof leak, own: count } }";
    let script = Script::new(source, "healthy.js", Language::JavaScript, Limits::default());
    script.unwrap().call(&json!({ "output": "hello" })).result.unwrap()
}

fn shortened(result: &Result<Value, ScriptError>) -> String {
    format!("{result:?}").chars().take(300).collect()
}

impl Fate {
    fn is(self, result: &Result<Value, ScriptError>) -> bool {
        let says = |part: &str| {
            result.as_ref().is_err_and(|error| {
                let message = error.to_string();
                message.contains(part) && message.starts_with("hostile.js") && message.len() < 2000
            })
        };
        let stopped = matches!(
            result,
            Err(ScriptError::OutOfTime { .. }
                | ScriptError::OutOfMemory { .. }
                | ScriptError::TooDeep { .. })
        );
        match (self, result) {
            (Time, Err(ScriptError::OutOfTime { .. }))
            | (Memory, Err(ScriptError::OutOfMemory { .. }))
            | (Depth, Err(ScriptError::TooDeep { .. }))
            | (NoFunction, Err(ScriptError::NotAFunction { .. }))
            | (Unsettled, Err(ScriptError::NeverSettled { .. }))
            | (Large, Err(ScriptError::TooLarge { .. })) => says(""),
            (Stopped, _) => stopped && says(""),
            (Thrown(part), Err(ScriptError::Thrown { .. }))
            | (Refused(part), Err(ScriptError::Syntax { .. } | ScriptError::Unsupported { .. }))
            | (NotJson(part), Err(ScriptError::NotJson { .. })) => says(part),
            (Harmless(text), Ok(value)) => value == text,
            _ => false,
        }
    }
}
