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
            "score.js:3:3: TypeError: cannot read property 'x' of null",
        ),
        (
            "const f = () => {\n  throw new RangeError('far');\n};\nexport default () => f()",
            "score.js:2:13: RangeError: far",
        ),
        ("\n\nthrow new Error('top');\nexport default () => 1", "score.js:3:11: Error: top"),
        (
            "export default async () => {\n  await null;\n  missing()\n}",
            "score.js:3:3: ReferenceError: missing is not defined",
        ),
        // Columns count characters, of which 'é' and '😀' are one each.
        (
            "export default () => {\n  const é = '😀'; missing()\n}",
            "score.js:2:18: ReferenceError: missing is not defined",
        ),
        (
            "import { x } from './x.js';\nexport default () => x",
            "score.js:1:19: there is no module \"x.js\" to import",
        ),
        ("export default () => 1;\n\0", "score.js:2:1: there is a zero byte"),
    ] {
        assert_eq!(said(source, Language::JavaScript), expected);
    }
}

#[test]
fn typescript() {
    for (source, expected) in [
        (
            "type A = { b: string };\ninterface C {\n  d: number;\n}\nexport default (c: A): number => {\n  const n: number = (c as any).x.y;\n  return n;\n}",
            "score.ts:6:22: TypeError: cannot read property 'y' of undefined",
        ),
        (
            "export default ({ output }: { output: string }) => {\n  const é: 'é😀' | null = null; missing()\n}",
            "score.ts:2:33: ReferenceError: missing is not defined",
        ),
        ("const a: number = ;\nexport default () => 1", "score.ts:1:19: Expression expected"),
        (
            "enum Grade { Good, Bad }\nexport default () => Grade.Good",
            "score.ts:1:1: TypeScript enum is not supported",
        ),
        (
            "export default () => 1;\n  namespace N { export const x = 1 }",
            "score.ts:2:3: TypeScript namespace declaration is not supported",
        ),
        (
            "export default () => 1;\nclass A {\n  constructor(private x: number) {}\n}",
            "score.ts:3:23: TypeScript parameter property is not supported",
        ),
        (
            "import x = require('x');\nexport default () => 1",
            "score.ts:1:1: TypeScript import equals declaration is not supported",
        ),
        (
            "export default () => 1;\nexport = 5;",
            "score.ts:2:1: TypeScript export assignment is not supported",
        ),
        (
            "import { x } from './x';\nexport default () => x",
            "score.ts:1:19: there is no module \"x\" to import",
        ),
        (
            "export default () => <any>1",
            "score.ts:1:22: The angle-bracket syntax for type assertions, `<T>expr`, is not supported. Instead, use the 'as' syntax: `expr as T`.",
        ),
    ] {
        assert_eq!(said(source, Language::TypeScript), expected);
    }
    let decorated = "function d(c: unknown) {}\n@d class A {}\nexport default () => 1";
    assert!(said(decorated, Language::TypeScript).starts_with("score.ts:2:1: "));
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
    let parentheses = format!("export default () => {}1{}", "(".repeat(32_000), ")".repeat(32_000));
    let sum = format!("export default () => {}1", "1 + ".repeat(16_000));
    for language in [Language::JavaScript, Language::TypeScript] {
        assert!(said(&parentheses, language).contains("nested too deeply"));
        let sum = said(&sum, language);
        assert!(sum == "16001" || sum.contains("nested too deeply"), "{sum}");
    }
}
