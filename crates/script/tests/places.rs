//! Errors name the line and the column of the user's source, in JavaScript and in TypeScript.
#![allow(clippy::unwrap_used)]

use fullbench_script::{Language, Limits, Script};
use serde_json::{Value, json};

fn made(source: &str, language: Language) -> Result<Script, String> {
    let name = if language == Language::TypeScript { "score.ts" } else { "score.js" };
    Script::new(source, name, language, Limits::default()).map_err(|error| error.to_string())
}

fn said(source: &str, language: Language) -> String {
    match made(source, language) {
        Err(message) => message,
        Ok(script) => match script.call(&json!({ "output": "x" })).result {
            Ok(value) => value.to_string(),
            Err(error) => error.to_string(),
        },
    }
}

fn typed(source: &str) -> Value {
    let script = made(source, Language::TypeScript).unwrap();
    script.call(&json!({ "output": "abc", "metadata": { "weight": 2 } })).result.unwrap()
}

#[test]
fn javascript() {
    for (source, expected) in [
        (
            "export default () => {\n  const x = ;\n}",
            "score.js:2:13: unexpected token in expression: ';'",
        ),
        (
            "export default () => {\n\n  null.x\n}",
            "score.js:3:7: TypeError: cannot read property 'x' of null",
        ),
        (
            "const f = () => {\n  throw new RangeError('far');\n};\nexport default () => f()",
            "score.js:2:9: RangeError: far",
        ),
        ("\n\nthrow new Error('top');\nexport default () => 1", "score.js:3:7: Error: top"),
        (
            "export default async () => {\n  await null;\n  missing()\n}",
            "score.js:3:3: ReferenceError: missing is not defined",
        ),
        ("export default () => {\n  const é = '😀'; undefined.x\n}", ""),
    ] {
        let said = said(source, Language::JavaScript);
        println!("{said}");
        assert!(expected.is_empty() || said == expected, "{said}");
    }
}

#[test]
fn typescript() {
    for (source, expected) in [
        (
            "type A = { b: string };\ninterface C {\n  d: number;\n}\nexport default (c: A): number => {\n  const n: number = (null as any).x;\n  return n;\n}",
            "score.ts:6:35: TypeError: cannot read property 'x' of null",
        ),
        ("const a: number = ;\nexport default () => 1", "score.ts:1:19: Expression expected"),
        ("export default () => {\n  let x: = 1;\n}", ""),
        ("enum Grade { Good, Bad }\nexport default () => Grade.Good", ""),
        ("export default () => 1;\n  namespace N { export const x = 1 }", ""),
        ("export default () => 1;\nclass A {\n  constructor(private x: number) {}\n}", ""),
        ("import x = require('x');\nexport default () => 1", ""),
        ("export default () => 1;\nexport = 5;", ""),
        ("import { x } from './x';\nexport default () => x", ""),
        ("export default () => <any>1", ""),
        ("@decorated class A {}\nexport default () => 1", ""),
    ] {
        let said = said(source, Language::TypeScript);
        println!("{said}");
        assert!(expected.is_empty() || said == expected, "{said}");
    }
}

#[test]
fn types_are_removed() {
    let source = "
        import type { Nothing } from './nothing';
        type Case = { output: string; metadata?: Record<string, number> };
        interface Scored<T extends number = number> { score: T; reason?: string }
        declare const elsewhere: string;
        abstract class Base<T> { protected readonly value!: T; abstract score(): number; constructor(public_: T) { this.value = public_ } }
        class Length extends Base<string> implements Iterable<string> {
            private weight?: number = 2;
            override score(): number { return this.value!.length * (this.weight as number) }
            *[Symbol.iterator](): Iterator<string> { yield* this.value }
        }
        function pick<T, K extends keyof T>(this: void, from: T, key: K): T[K];
        function pick(from: any, key: any): any { return from[key] }
        const identity = async <T,>(value: T): Promise<
            T
        > => value;
        const satisfied = { a: 1 } satisfies Record<string, number>;
        export default async ({ output, metadata }: Case): Promise<Scored> => {
            const weight = pick(metadata!, 'weight') as unknown as number;
            const less = weight < 5 ? (output as string).length : -1;
            return { score: (await identity<number>(new Length(output).score())) + satisfied.a + less, reason: [...new Length(output)].join('') };
        };";
    assert_eq!(typed(source), json!({ "score": 10, "reason": "abc" }));
}

#[test]
fn source_that_is_nested_deeply_is_refused_or_run() {
    let parentheses = format!("export default () => {}1{}", "(".repeat(20_000), ")".repeat(20_000));
    let sum = format!("export default () => {}1", "1 + ".repeat(20_000));
    for language in [Language::JavaScript, Language::TypeScript] {
        assert!(said(&parentheses, language).contains("nested too deeply"));
        let sum = said(&sum, language);
        assert!(sum == "20001" || sum.contains("nested too deeply"), "{sum}");
    }
}
