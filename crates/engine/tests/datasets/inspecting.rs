//! What an inspection finds in files of every format.

use fullbench_engine::{
    ColumnType, Definitions, InspectOptions, MAX_PROBLEMS, import_dataset, load_evaluation,
};
use fullbench_store::{Store, StoreError};
use fullbench_types::DEFAULT_ORGANIZATION;
use serde_json::{Value, json};

use crate::files::{Folder, lines, told};

#[tokio::test]
async fn a_version_is_the_one_that_a_run_would_import() {
    let folder = Folder::new();
    let rows = [
        json!({"id": "a", "input": "1+1?", "reference": "2", "level": 1}),
        json!({"id": 7, "input": [{"role": "user", "content": "hi"}], "references": ["a", "b"]}),
    ];
    let plain =
        [json!({"input": "x"}), json!({"input": "x"}), json!({"input": {"k": [1.5, null]}})];
    let files = [
        ("ids.jsonl", lines(&rows)),
        ("plain.json", Value::from(plain.to_vec()).to_string()),
        ("table.csv", "id,input,reference,note\n1,\"a, b\",x,\n2,c,y,z\n".to_owned()),
    ];
    let store = Store::open(&folder.0.path().join("home")).await.unwrap();
    let store = store.scoped(DEFAULT_ORGANIZATION);
    for (name, content) in files {
        let (inspection, _) = folder.inspect(name, content);
        let text =
            format!("dataset: {name}\nmodels: [openai:gpt-4o-mini]\nscorers: [json_valid]\n");
        let file = folder.file("fullbench.yaml", text);
        let mut evaluation = load_evaluation(&file, &Definitions::default()).unwrap();
        let imported = import_dataset(&mut evaluation, &store).await.unwrap();
        let found = inspection.version.unwrap();
        assert_eq!((found.hash, found.cases), (imported.hash, imported.cases), "{name}");
        assert_eq!((found.fields, found.mapping), (imported.fields, imported.mapping), "{name}");
    }
}

#[test]
fn every_format_gives_the_same_cases() {
    let folder = Folder::new();
    let row = json!({"id": "a", "prompt": "Why?", "context": "Sky", "expected_output": "Light", "category": "physics"});
    let csv = "id,prompt,context,expected_output,category\r\na,Why?,Sky,Light,physics\r\n";
    let files = [
        ("x.jsonl", lines(std::slice::from_ref(&row))),
        ("x.json", Value::from(vec![row]).to_string()),
        ("x.csv", csv.to_owned()),
        ("x.tsv", csv.replace(',', "\t")),
    ];
    for (name, content) in files {
        let (inspection, cases) = folder.inspect(name, content);
        assert_eq!((inspection.rows, told(&inspection)), (1, vec![]), "{name}");
        let version = inspection.version.unwrap();
        assert_eq!(version.mapping.input.as_deref(), Some("prompt"));
        assert_eq!(version.mapping.references, ["expected_output"]);
        assert_eq!((cases[0].index, cases[0].key.as_str()), (0, "a"));
        assert_eq!(cases[0].input, json!({"prompt": "Why?", "context": "Sky"}));
        assert_eq!(cases[0].expected_output.as_deref(), Some("Light"));
        assert_eq!(Value::Object(cases[0].metadata.clone()), json!({"category": "physics"}));
    }
}

#[test]
fn problems_of_json_lines_are_collected_with_their_places() {
    let folder = Folder::new();
    let content = concat!(
        "{\"id\": \"a\", \"input\": \"x\"}\n",
        "\n",
        "{\"id\": \"a\", \"input\": \"y\"}\n",
        "{\"id\": \"b\"\n",
        "[1]\n",
        "{\"id\": \"c\", \"input\": null, \"metadata\": 3}\n",
        "{\"input\": \"z\"}\n",
        "{\"id\": [], \"input\": []}\n",
        "{\"id\": \"d\", \"input\": \"nul \\u0000\"}\n",
    );
    let mut bytes = content.as_bytes().to_vec();
    bytes.extend_from_slice(b"{\"id\": \"e\", \"input\": \"\xFF\"}\n");
    bytes.extend_from_slice(b"{\"id\": \"f\", \"input\": \"  \"}\n");
    let (inspection, cases) = folder.inspect("x.jsonl", bytes);
    let expected = [
        (Some(2), "duplicate_id", Some("id")),
        (Some(3), "not_json", None),
        (Some(4), "wrong_type", None),
        (Some(5), "missing_input", Some("input")),
        (Some(5), "wrong_type", Some("metadata")),
        (Some(6), "missing_id", Some("id")),
        (Some(7), "wrong_type", Some("input")),
        (Some(7), "wrong_type", Some("id")),
        (Some(8), "nul_character", Some("input")),
        (Some(9), "not_utf8", None),
        (Some(10), "missing_input", Some("input")),
    ];
    assert_eq!(told(&inspection), expected);
    let lines: Vec<_> = inspection.problems.iter().map(|problem| problem.line.unwrap()).collect();
    assert_eq!(lines, [3, 4, 5, 6, 6, 7, 8, 8, 9, 10, 11]);
    assert_eq!((inspection.rows, inspection.problem_count), (10, 11));
    assert!(inspection.version.is_none());
    assert_eq!(cases.len(), 1, "cases are given until the first problem");
}

#[test]
fn problems_of_csv_are_collected_with_their_places() {
    let folder = Folder::new();
    let mut bytes =
        b"id,question,expected_output\n1,\"two\nlines\",x\n2,too,many,cells\n3,,y\n4,".to_vec();
    bytes.extend_from_slice(b"\xFF,y\n5,fine,\n1,again,z\n");
    let (inspection, _) = folder.inspect("x.csv", bytes);
    let expected = [
        (Some(2), "ragged_row", None),
        (Some(3), "missing_input", Some("question")),
        (Some(4), "not_utf8", None),
        (Some(6), "duplicate_id", Some("id")),
    ];
    assert_eq!(told(&inspection), expected);
    let lines: Vec<_> = inspection.problems.iter().map(|problem| problem.line.unwrap()).collect();
    assert_eq!(lines, [4, 5, 6, 8]);
    assert_eq!(inspection.rows, 6);
    let types: Vec<_> = inspection.schema.columns.iter().map(|column| column.column_type).collect();
    assert_eq!(types, [ColumnType::String; 3]);
    let nullable: Vec<_> = inspection.schema.columns.iter().map(|column| column.nullable).collect();
    assert_eq!(nullable, [false, true, true]);
}

#[test]
fn an_empty_cell_is_no_reference() {
    let folder = Folder::new();
    let (inspection, cases) = folder.inspect("x.csv", "input,expected_output,note\na,,\nb,B,\n");
    let answers: Vec<_> = cases.iter().map(|case| case.expected_output.as_deref()).collect();
    assert_eq!(answers, [None, Some("B")]);
    let version = std::sync::Arc::new(inspection.version.unwrap());
    let mut reader = folder.reader(&version);
    assert!(reader.case(0).unwrap().references.is_empty());
    assert_eq!(reader.case(0).unwrap().fields["note"], "");
}

#[test]
fn a_broken_document_ends_the_reading_with_its_problem() {
    let folder = Folder::new();
    let cases = [
        ("x.json", "[{\"input\": 1}, 5, {\"input\": 2", vec!["wrong_type", "not_json"], 3),
        ("x.json", "{\"input\": 1}", vec!["not_json"], 0),
        ("x.json", "[]", vec!["empty_file"], 0),
        ("x.jsonl", "\n \n", vec!["empty_file"], 0),
        ("x.csv", "id,input\n", vec!["empty_file"], 0),
        ("x.csv", "", vec!["empty_file"], 0),
        ("x.csv", "id,id\n1,2\n", vec!["bad_header"], 0),
        ("x.csv", "id,\n1,2\n", vec!["bad_header"], 0),
        ("x.parquet", "PAR1 and nothing else PAR1", vec!["not_parquet"], 0),
        ("x.parquet", "", vec!["not_parquet"], 0),
        ("x.jsonl", "{\"a\": 1}\n{\"b\": 2}\n", vec!["missing_input"; 2], 2),
    ];
    for (name, content, codes, rows) in cases {
        let (inspection, _) = folder.inspect(name, content);
        let found: Vec<_> = told(&inspection).into_iter().map(|(_, code, _)| code).collect();
        assert_eq!((found, inspection.rows), (codes, rows), "{name}: {content}");
        assert!(inspection.version.is_none());
    }
}

#[test]
fn what_is_not_named_is_found_by_its_usual_name() {
    let folder = Folder::new();
    let rows = [json!({"q": "Why?", "expected_output": "Light"}), json!({"q": "Who?"})];
    let options = InspectOptions { input: Some("q".to_owned()), ..InspectOptions::default() };
    let (inspection, cases) = folder.inspect_with("x.jsonl", lines(&rows), &options);
    assert_eq!(inspection.version.unwrap().mapping.references, ["expected_output"]);
    assert_eq!(cases[0].expected_output.as_deref(), Some("Light"));

    let rows = [json!({"prompt": "Why?", "gold": "Light", "reference": "no"})];
    let references = Some(vec!["gold".to_owned()]);
    let options = InspectOptions { references, ..InspectOptions::default() };
    let (_, cases) = folder.inspect_with("x.jsonl", lines(&rows), &options);
    assert_eq!(cases[0].input, json!("Why?"));
    assert_eq!(cases[0].expected_output.as_deref(), Some("Light"));
}

#[test]
fn a_mapping_can_be_given() {
    let folder = Folder::new();
    let rows =
        [json!({"task": "t1", "q": {"text": "Why?"}, "gold": {"a": "Light"}, "input": "ignored"})];
    let options = InspectOptions {
        source: "upload.jsonl".to_owned(),
        input: Some("q.text".to_owned()),
        references: Some(vec!["gold.a".to_owned()]),
        id: Some("task".to_owned()),
        columns: None,
    };
    let (inspection, cases) = folder.inspect_with("x.jsonl", lines(&rows), &options);
    assert_eq!(inspection.version.unwrap().source, "upload.jsonl");
    assert_eq!((cases[0].key.as_str(), &cases[0].input), ("t1", &json!("Why?")));
    assert_eq!(cases[0].expected_output.as_deref(), Some("Light"));
    let metadata = Value::Object(cases[0].metadata.clone());
    assert_eq!(metadata, json!({"task": "t1", "input": "ignored"}));

    let mut wrong = options.clone();
    wrong.id = Some("nothing".to_owned());
    wrong.input = Some("q.txt".to_owned());
    wrong.references = Some(vec!["golden".to_owned()]);
    let (inspection, _) = folder.inspect_with("x.jsonl", lines(&rows), &wrong);
    let expected = [
        (Some(1), "missing_input", Some("q.txt")),
        (Some(1), "missing_id", Some("nothing")),
        (None, "unknown_field", Some("golden")),
    ];
    assert_eq!(told(&inspection), expected);
    assert_eq!(inspection.problems[2].hint.as_deref(), Some("did you mean `gold`?"));
}

#[test]
fn columns_can_be_named_where_there_is_no_header() {
    let folder = Folder::new();
    let columns = Some(vec!["input".to_owned(), "reference".to_owned()]);
    let options = InspectOptions { columns, ..InspectOptions::default() };
    let (_, cases) = folder.inspect_with("x.tsv", "a\tb\nc\td\n", &options);
    assert_eq!((cases.len(), cases[1].expected_output.as_deref()), (2, Some("d")));
}

#[test]
fn many_problems_are_counted_and_the_first_kept() {
    let folder = Folder::new();
    let (inspection, _) = folder.inspect("x.jsonl", "{}\n".repeat(MAX_PROBLEMS + 7));
    assert_eq!(inspection.problems.len(), MAX_PROBLEMS);
    assert_eq!((inspection.problem_count, inspection.rows), (1_007, 1_007));
}

#[test]
fn a_refusal_of_the_sink_ends_the_reading() {
    let folder = Folder::new();
    let path = folder.file("x.json", "[{\"input\": 1}, {\"input\": 2}]");
    let mut calls = 0;
    let result = fullbench_engine::inspect_file(
        &path,
        fullbench_engine::FileFormat::Json,
        &InspectOptions::default(),
        folder.objects(),
        &mut |_| {
            calls += 1;
            Err(StoreError::Damaged("full".to_owned()))
        },
    );
    assert_eq!(
        (result.unwrap_err().to_string().as_str(), calls),
        ("stored data is damaged: full", 1)
    );
}
