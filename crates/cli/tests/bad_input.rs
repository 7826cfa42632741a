//! Every mistake gets a message that names file, line and field and says what to do; nothing panics, nothing is kept.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Folder;

const GOOD: &str = "dataset: cases.jsonl\nmodels: [recorded]\nscorers: [exact_match]\n";
const CASES: &str = "{\"id\": \"a\", \"input\": \"1\", \"reference\": \"1\", \"output\": \"1\"}\n";

/// An evaluation file, a data file by name, and what is wrong with them.
struct Mistake {
    what: &'static str,
    evaluation: Vec<u8>,
    data: (&'static str, Vec<u8>),
}

fn in_file(what: &'static str, evaluation: impl Into<Vec<u8>>) -> Mistake {
    Mistake { what, evaluation: evaluation.into(), data: ("cases.jsonl", CASES.into()) }
}

fn in_data(what: &'static str, name: &'static str, content: impl Into<Vec<u8>>) -> Mistake {
    let evaluation = GOOD.replace("cases.jsonl", name).into_bytes();
    Mistake { what, evaluation, data: (name, content.into()) }
}

/// Runs each mistake and writes down what the user sees.
fn catalogue(mistakes: Vec<Mistake>) -> String {
    let mut text = String::new();
    for mistake in mistakes {
        let folder = Folder::new();
        folder.file("fullbench.yaml", mistake.evaluation);
        folder.file(mistake.data.0, mistake.data.1);
        folder.file("cases.xlsx", "PK");
        folder.file("broken.json", "{\"type\": ");
        folder.file("prompt.md", "Line one\n{{ questoin }}\n");
        folder.file("syntax.md", "Line one\n{% if input %}\n");
        let said = folder.run(&["run"]);
        assert_eq!(said.code, Some(2), "{}: {}", mistake.what, said.stderr);
        assert!(
            said.stdout.is_empty() && !said.stderr.contains("panicked"),
            "{}: {}",
            mistake.what,
            said.stderr
        );
        let listed = folder.run(&["list", "--output", "json"]);
        assert!(
            listed.code == Some(2) || listed.json() == serde_json::json!([]),
            "{}: a run was kept",
            mistake.what
        );
        text.push_str(&format!("# {}\n{}\n", mistake.what, said.stderr));
    }
    text
}

#[test]
fn evaluation_files() {
    let with = |line: &str| format!("{GOOD}{line}\n");
    let mistakes = vec![
        in_file("an empty file", ""),
        in_file("not YAML", "dataset: [cases.jsonl\nmodels: recorded\n"),
        in_file("tabs for indentation", "dataset: cases.jsonl\nmodels:\n\t- recorded\n"),
        in_file("not UTF-8", b"name: \xff\xfe\n".to_vec()),
        in_file("a list instead of a mapping", "- dataset: cases.jsonl\n"),
        in_file("two documents", with("---\nname: second")),
        in_file("a key twice", with("dataset: other.jsonl")),
        in_file("a misspelt key", with("promt: \"{{ input }}\"")),
        in_file("an unknown key", with("colour: blue")),
        in_file("no models", "dataset: cases.jsonl\n"),
        in_file("an empty list of models", "dataset: cases.jsonl\nmodels: []\n"),
        in_file("no data", "models: [recorded]\n"),
        in_file("data twice", with("cases: [x]")),
        in_file("no inline cases", "cases: []\nmodels: [recorded]\n"),
        in_file("an inline case that is nothing", "cases: [null]\nmodels: [recorded]\n"),
        in_file("a missing data file", GOOD.replace("cases.jsonl", "missing.jsonl")),
        in_file("a folder as data", GOOD.replace("cases.jsonl", ".")),
        in_file("an unknown format", GOOD.replace("cases.jsonl", "cases.xlsx")),
        in_file("a missing prompt file", with("prompt: prompts/missing.md")),
        in_file(
            "prompt and messages",
            with("prompt: \"{{ input }}\"\nmessages: { user: \"{{ input }}\" }"),
        ),
        in_file("a template variable no case has", with("prompt: prompt.md")),
        in_file("an inline template variable no case has", with("prompt: \"{{ inptu }}\"")),
        in_file("a template that does not parse", with("prompt: syntax.md")),
        in_file("an unknown provider", GOOD.replace("[recorded]", "[opnai:gpt-4o]")),
        in_file("a model without its name", GOOD.replace("[recorded]", "[{ provider: openai }]")),
        in_file(
            "local weights that are not there",
            GOOD.replace("[recorded]", "[local:models/missing.gguf]"),
        ),
        in_file(
            "local weights that are something else",
            GOOD.replace("[recorded]", "[{ provider: local, model: ./cases.jsonl }]"),
        ),
        in_file("local weights of an unknown name", GOOD.replace("[recorded]", "[local:no-such]")),
        in_file(
            "choices of a provider without them",
            GOOD.replace("[recorded]", "[{ provider: openai, model: m, choices: [A, B] }]"),
        ),
        in_file("two models of one name", GOOD.replace("[recorded]", "[recorded, recorded]")),
        in_file(
            "a recorded field no case has",
            GOOD.replace("[recorded]", "[{ provider: recorded, field: answers.m2 }]"),
        ),
        in_file(
            "a wrong temperature",
            GOOD.replace("[recorded]", "[{ provider: openai, model: x, temperature: hot }]"),
        ),
        in_file(
            "a temperature out of range",
            GOOD.replace("[recorded]", "[{ provider: openai, model: x, temperature: 3 }]"),
        ),
        in_file(
            "a misspelt parameter",
            GOOD.replace("[recorded]", "[{ provider: openai, model: x, temprature: 0 }]"),
        ),
        in_file(
            "a wrong base URL",
            GOOD.replace(
                "[recorded]",
                "[{ provider: openai, model: x, base_url: \"localhost:80\" }]",
            ),
        ),
        in_file("a missing key", GOOD.replace("[recorded]", "[openai:gpt-4o-mini]")),
        in_file(
            "a budget without a price",
            GOOD.replace(
                "[recorded]",
                "[{ provider: openai, model: x, base_url: \"https://llm.example/v1\" }]",
            ) + "budget: { usd: 1 }\n",
        ),
        in_file("an unknown scorer", GOOD.replace("exact_match", "exact_mach")),
        in_file(
            "an unknown scorer parameter",
            GOOD.replace("[exact_match]", "[{ type: exact_match, ignorecase: true }]"),
        ),
        in_file(
            "a regex that does not parse",
            GOOD.replace("[exact_match]", "[{ type: regex, patterns: [\"ok\", \"(\"] }]"),
        ),
        in_file(
            "a regex scorer without patterns",
            GOOD.replace("[exact_match]", "[{ type: regex, patterns: [] }]"),
        ),
        in_file(
            "a missing schema file",
            GOOD.replace("[exact_match]", "[{ type: json_schema, schema: missing.json }]"),
        ),
        in_file(
            "a schema file that is not JSON",
            GOOD.replace("[exact_match]", "[{ type: json_schema, schema: broken.json }]"),
        ),
        in_file(
            "two scorers of one name",
            GOOD.replace("[exact_match]", "[exact_match, exact_match]"),
        ),
        in_file(
            "a scorer name that is no word",
            GOOD.replace("[exact_match]", "[{ type: exact_match, name: \"a-b\" }]"),
        ),
        in_file("a length scorer without bounds", GOOD.replace("[exact_match]", "[length]")),
        in_file(
            "an unknown model of embeddings",
            GOOD.replace("[exact_match]", "[{ type: semantic_similarity, model: all-minilm }]"),
        ),
        in_file(
            "a similarity that no cosine has",
            GOOD.replace("[exact_match]", "[{ type: semantic_similarity, threshold: 80 }]"),
        ),
        in_file(
            "an unknown number of BERTScore",
            GOOD.replace("[exact_match]", "[{ type: bert_score, measure: f2 }]"),
        ),
        in_file("no repetitions", with("repetitions: 0")),
        in_file("negative repetitions", with("repetitions: -1")),
        in_file("no concurrency", with("limits: { concurrency: 0 }")),
        in_file("a negative timeout", with("limits: { timeout_seconds: -5 }")),
        in_file("a negative budget", with("budget: { usd: -5 }")),
        in_file("a wrong duration", with("cache: { max_age: fortnight }")),
        in_file("a wrong size", with("cache: { max_size: big }")),
        in_file("a sample without strata", with("sample: { size: 1, strategy: stratified }")),
        in_file(
            "a sample by a field no case has",
            with("sample: { size: 1, strategy: stratified, by: categroy }"),
        ),
        in_file("an unknown sampling strategy", with("sample: { size: 1, strategy: randm }")),
        in_file("a gate that does not parse", with("gates: [\"exact_match.mean >=\"]")),
        in_file("a gate on an unknown scorer", with("gates: [\"exact_mach.mean >= 0.5\"]")),
        in_file(
            "evidence on an unknown scorer",
            with("gates: ['no_regression(exact_mach, baseline: \"main\", margin: 0.02)']"),
        ),
        in_file(
            "evidence without a margin",
            with("gates: ['no_regression(exact_match, baseline: \"main\")']"),
        ),
        in_file(
            "evidence against a baseline that is missing",
            with("gates: ['no_regression(exact_match, baseline: \"main\", margin: 0.02)']"),
        ),
        in_file("groups by a field no case has", with("statistics: { group: conversation }")),
        in_file("groups by a number", with("statistics: { group: 7 }")),
        in_file("a gate on an unknown number", with("gates: [\"exact_match.avg >= 0.5\"]")),
    ];
    insta::assert_snapshot!(catalogue(mistakes));
}

#[test]
fn data_sets() {
    let long = format!("{{\"input\": \"{}\"}}\n", "x".repeat(17 << 20));
    let mistakes = vec![
        in_data("an empty JSON Lines file", "cases.jsonl", ""),
        in_data("a line that is not JSON", "cases.jsonl", format!("{CASES}{{\"id\": \"b\",}}\n")),
        in_data("a line that is no object", "cases.jsonl", format!("{CASES}[1, 2]\n")),
        in_data(
            "a line that is not UTF-8",
            "cases.jsonl",
            [CASES.as_bytes(), b"{\"input\": \"\xff\"}\n"].concat(),
        ),
        in_data("a huge line", "cases.jsonl", long),
        in_data("an id twice", "cases.jsonl", format!("{CASES}{CASES}")),
        in_data(
            "an id that is missing",
            "cases.jsonl",
            format!("{CASES}{{\"input\": \"2\", \"output\": \"2\"}}\n"),
        ),
        in_data(
            "an input that is missing",
            "cases.jsonl",
            format!("{CASES}{{\"id\": \"b\", \"output\": \"2\"}}\n"),
        ),
        in_data("a JSON file that is no list", "cases.json", CASES),
        in_data(
            "a JSON file cut off",
            "cases.json",
            "[{\"input\": \"1\", \"output\": \"1\"}, {\"inp",
        ),
        in_data("a JSON list of numbers", "cases.json", "[1, 2]"),
        in_data("a ragged CSV", "cases.csv", "id,input,output\n1,a,b\n2,a\n"),
        in_data("a CSV with a column twice", "cases.csv", "id,input,input\n1,a,b\n"),
        in_data("a CSV with a nameless column", "cases.csv", "id,,output\n1,a,b\n"),
        in_data("a CSV that is not UTF-8", "cases.csv", b"id,input,output\n1,\xff,b\n".to_vec()),
        in_data("a CSV without rows", "cases.csv", "id,input,output\n"),
        in_data("a CSV without the answers", "cases.csv", "id,input\n1,a\n"),
        in_data("a Parquet file that is none", "cases.parquet", "PAR1 but not really"),
    ];
    insta::assert_snapshot!(catalogue(mistakes));
}

#[test]
fn mapped_fields_that_no_case_has() {
    let mistakes = vec![
        in_file("an input field", format!("{GOOD}input: question\n")),
        in_file("a reference field", format!("{GOOD}reference: [reference, answr]\n")),
        in_file("an id field", format!("{GOOD}id: key\n")),
        in_file("a metadata field", format!("{GOOD}metadata: [topic]\n")),
    ];
    insta::assert_snapshot!(catalogue(mistakes));
}

#[test]
fn a_file_that_is_missing_and_a_run_that_is_unknown() {
    let folder = Folder::new();
    let said = folder.run(&["run", "nowhere.yaml"]);
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr);
    folder.file("fullbench.yaml", GOOD);
    folder.file("cases.jsonl", CASES);
    assert_eq!(folder.run(&["run", "--quiet"]).code, Some(0));
    let said = folder.run(&["show", "0123abcd"]);
    assert_eq!(said.code, Some(2));
    insta::assert_snapshot!(said.stderr);
}
