//! Scripts as users write them.
#![allow(clippy::unwrap_used)]

use fullbench_script::{Call, Language, Limits, Script, ScriptError};
use serde_json::{Value, json};

fn script(source: &str) -> Script {
    Script::new(source, "score.js", Language::JavaScript, Limits::default()).unwrap()
}

fn call(source: &str, argument: Value) -> Call {
    script(source).call(&argument)
}

fn returned(source: &str) -> Value {
    call(source, json!({ "output": "héllo 😀" })).result.unwrap()
}

fn error(source: &str) -> String {
    call(source, json!({ "output": "héllo 😀" })).result.unwrap_err().to_string()
}

#[test]
fn a_function_gets_the_case_and_gives_a_score_with_evidence() {
    let source = "
        const words = (text) => text.toLowerCase().split(/\\W+/u).filter(Boolean);
        export default ({ input, output, reference, metadata }) => {
            const wanted = new Set(words(reference));
            const found = words(output).filter((word) => wanted.has(word));
            return {
                score: found.length / wanted.size,
                reason: `${found.length} of ${wanted.size} words of “${input}”`,
                evidence: [{ found, where: { source: metadata.source, nested: [[1], [2.5, null]] } }],
            };
        };";
    let case = json!({
        "input": "Capital?", "output": "It is Paris, France", "reference": "Paris France",
        "metadata": { "source": "atlas" },
    });
    let expected = json!({
        "score": 1,
        "reason": "2 of 2 words of “Capital?”",
        "evidence": [{ "found": ["paris", "france"], "where": { "source": "atlas", "nested": [[1], [2.5, null]] } }],
    });
    assert_eq!(call(source, case).result, Ok(expected));
}

#[test]
fn every_way_to_write_the_export_works() {
    for source in [
        "export default () => 1",
        "export default function () { return 1 }",
        "export default function score() { return 1 }",
        "export default async function () { return 1 }",
        "export default async () => { await null; return await Promise.resolve(1) }",
        "export default () => new Promise((resolve) => resolve(1))",
        "export default () => ({ then: (resolve) => resolve(1) })",
        "const score = () => 1; export { score as default }",
        "const one = await Promise.resolve(1); export default () => one",
        "class Scorer { #one = 1; score() { return this.#one } } const scorer = new Scorer(); export default () => scorer.score()",
    ] {
        assert_eq!(returned(source), json!(1), "{source}");
    }
}

#[test]
fn texts_are_unicode() {
    assert_eq!(returned("export default ({ output }) => output"), json!("héllo 😀"));
    assert_eq!(returned("export default ({ output }) => [...output].length"), json!(7));
    assert_eq!(returned("export default ({ output }) => output.length"), json!(8));
    assert_eq!(
        returned("export default ({ output }) => ({ [output]: output[6] })"),
        json!({ "héllo 😀": "\u{fffd}" })
    );
    assert_eq!(
        returned("export default () => ({ '\\ud800': 'a\\0b' })"),
        json!({ "\u{fffd}": "a\0b" })
    );
    assert_eq!(
        returned("export default ({ output }) => /\\p{Emoji_Presentation}/u.test(output)"),
        json!(true)
    );
}

#[test]
fn numbers_are_those_of_javascript() {
    assert_eq!(
        returned("export default () => [1.0, -0, 0.1, 1e300, 2 ** 53 - 1, -3]").to_string(),
        "[1,0,0.1,1e+300,9007199254740991,-3]"
    );
    let identity = script("export default (value) => value");
    assert_eq!(identity.call(&json!(u64::MAX)).result, Ok(json!(u64::MAX as f64)));
    assert_eq!(
        returned("export default () => String(2n ** 100n)"),
        json!("1267650600228229401496703205376")
    );
}

#[test]
fn what_json_cannot_hold_is_named_with_its_path() {
    for (source, expected) in [
        (
            "export default () => ({ score: 0 / 0 })",
            "score.js: the result.score is NaN, which JSON cannot hold",
        ),
        (
            "export default () => ({ a: [1, { b: -1 / 0 }] })",
            "score.js: the result.a[1].b is infinite, which JSON cannot hold",
        ),
        ("export default () => {}", "score.js: the result is undefined, which JSON cannot hold"),
        (
            "export default () => [1, undefined]",
            "score.js: the result[1] is undefined, which JSON cannot hold",
        ),
        (
            "export default () => ({ n: 1n })",
            "score.js: the result.n is a BigInt, which JSON cannot hold",
        ),
        (
            "export default () => ({ f: () => 1 })",
            "score.js: the result.f is a function, which JSON cannot hold",
        ),
        (
            "export default () => ({ c: class {} })",
            "score.js: the result.c is a function, which JSON cannot hold",
        ),
        (
            "export default () => ({ m: new Map([[1, 2]]) })",
            "score.js: the result.m is an object of class Map without fields, which JSON cannot hold",
        ),
        (
            "export default () => ({ p: Promise.resolve(1) })",
            "score.js: the result.p is a promise that was not awaited, which JSON cannot hold",
        ),
        (
            "export default () => new Error('x')",
            "score.js: the result is an object of class Error without fields, which JSON cannot hold",
        ),
    ] {
        assert_eq!(error(source), expected);
    }
}

#[test]
fn fields_without_a_value_are_left_out_and_to_json_is_asked() {
    assert_eq!(
        returned(
            "export default () => ({ a: undefined, b: null, c: {} , d: Object.create(null) })"
        ),
        json!({ "b": null, "c": {}, "d": {} })
    );
    assert_eq!(
        returned("export default () => ({ at: { toJSON: (key) => key } })"),
        json!({ "at": "at" })
    );
    assert_eq!(
        returned("class Point { x = 1; get y() { return 2 } } export default () => new Point()"),
        json!({ "x": 1 })
    );
}

#[test]
fn the_same_call_gives_the_same_result() {
    let source = "let calls = 0; globalThis.seen ??= 0;
        export default () => [calls += 1, globalThis.seen += 1, Math.random(), Math.random(), typeof Date]";
    let script = script(source);
    let first = script.call(&json!(null)).result.unwrap();
    for _ in 0..20 {
        assert_eq!(script.call(&json!(null)).result.unwrap(), first);
    }
    let random = |index: usize| first[index].as_f64().unwrap();
    assert!(random(2) != random(3) && (0.0..1.0).contains(&random(2)));
    assert_eq!(first[4], "undefined");
}

#[test]
fn random_numbers_are_spread_evenly() {
    let source = "export default () => { const bins = Array(10).fill(0);
        for (let i = 0; i < 100000; i++) bins[Math.floor(Math.random() * 10)] += 1; return bins }";
    let bins = returned(source);
    assert!(
        bins.as_array().unwrap().iter().all(|bin| (9_600..10_400).contains(&bin.as_u64().unwrap())),
        "{bins}"
    );
}

#[test]
fn the_log_is_given_back_also_when_the_script_fails() {
    let call = call(
        "export default () => { console.log('a', 1, { b: [2] }, undefined); console.error(new Error('e')); throw new Error('after') }",
        json!(1),
    );
    assert_eq!(call.log, ["a 1 {\"b\":[2]} undefined", "Error: e"]);
    assert!(call.result.is_err());
    let flood =
        script("export default () => { for (let i = 0; i < 1e5; i++) console.log('line ' + i) }")
            .call(&json!(1));
    let bytes: usize = flood.log.iter().map(String::len).sum();
    assert!(bytes <= Limits::default().log && flood.log.len() > 1000);
}

#[test]
fn many_threads_can_call_one_script() {
    let script = script("export default ({ n }) => n * 2");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let script = &script;
            scope.spawn(move || {
                for n in 0..20 {
                    let n = thread * 100 + n;
                    assert_eq!(script.call(&json!({ "n": n })).result, Ok(json!(n * 2)));
                }
            });
        }
    });
}

#[test]
fn limits_can_be_set() {
    let limits = Limits { output: 10, source: 60, ..Limits::default() };
    let make = |source: &str| Script::new(source, "s.js", Language::JavaScript, limits.clone());
    let long = make("export default () => 'more than ten bytes'").unwrap();
    let expected = "s.js: the returned value has more than 10 bytes";
    assert_eq!(long.call(&json!(1)).result.unwrap_err().to_string(), expected);
    assert!(matches!(make(&"/".repeat(61)), Err(ScriptError::TooLarge { .. })));
    let small = Limits { memory: 4 << 20, ..Limits::default() };
    let source = "export default () => new Uint8Array(8e6).length";
    let script = Script::new(source, "s.js", Language::JavaScript, small).unwrap();
    let expected = "s.js:1:26: needed more than 4 MB of memory";
    assert_eq!(script.call(&json!(1)).result.unwrap_err().to_string(), expected);
}

#[test]
fn an_argument_that_is_nested_too_deeply_is_refused() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| Value::Array(vec![value]));
    let script = script("export default (value) => JSON.stringify(value).length");
    assert_eq!(script.call(&nested(400)).result, Ok(json!(801)));
    let expected = "score.js: the argument is nested too deeply";
    assert_eq!(script.call(&nested(2000)).result.unwrap_err().to_string(), expected);
}

#[test]
fn names_that_are_not_there_come_with_a_hint() {
    let error = call("export default () => new Date()", json!(1)).result.unwrap_err();
    assert_eq!(error.to_string(), "score.js:1:26: ReferenceError: Date is not defined");
    assert!(error.hint().unwrap().contains("no clock"));
}

#[test]
fn a_text_that_its_parser_cannot_bear_is_no_typescript() {
    let source = "enum type {1;{type {";
    let refused = Script::new(source, "any.ts", Language::TypeScript, Limits::default());
    assert!(matches!(refused.unwrap_err(), ScriptError::Syntax { .. }));
}
