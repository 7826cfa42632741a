//! The same cases from every file format give the same result.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;

use parquet::data_type::ByteArrayType;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use support::Folder;

const ROWS: [[&str; 4]; 3] =
    [["a", "one, two", "1", "1"], ["b", "say \"hi\"\nplease", "2", "3"], ["c", "größe", "3", "3"]];
const NAMES: [&str; 4] = ["id", "input", "reference", "output"];

fn objects() -> Vec<serde_json::Value> {
    ROWS.iter()
        .map(|row| {
            NAMES
                .iter()
                .zip(row)
                .map(|(name, value)| ((*name).to_owned(), serde_json::Value::from(*value)))
                .collect()
        })
        .collect()
}

fn delimited(delimiter: &str) -> String {
    let line = |cells: &[&str]| {
        let quoted: Vec<String> =
            cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        quoted.join(delimiter) + "\r\n"
    };
    line(&NAMES) + &ROWS.iter().map(|row| line(row)).collect::<String>()
}

fn parquet_file() -> Vec<u8> {
    let columns: String =
        NAMES.iter().map(|name| format!("REQUIRED BYTE_ARRAY {name} (UTF8); ")).collect();
    let schema = Arc::new(parse_message_type(&format!("message cases {{ {columns} }}")).unwrap());
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::default()))
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut index = 0;
    while let Some(mut column) = group.next_column().unwrap() {
        let values: Vec<_> = ROWS.iter().map(|row| row[index].as_bytes().to_vec().into()).collect();
        column.typed::<ByteArrayType>().write_batch(&values, None, None).unwrap();
        column.close().unwrap();
        index += 1;
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn every_format_is_read_alike() {
    let lines: String = objects().iter().map(|object| format!("{object}\n\n")).collect();
    let files: [(&str, Vec<u8>); 5] = [
        ("cases.jsonl", lines.into_bytes()),
        ("cases.json", serde_json::Value::from(objects()).to_string().into_bytes()),
        ("cases.csv", format!("\u{feff}{}", delimited(",")).into_bytes()),
        ("cases.tsv", delimited("\t").into_bytes()),
        ("cases.parquet", parquet_file()),
    ];
    for (name, content) in files {
        let folder = Folder::new();
        folder.file(name, content);
        folder.file(
            "fullbench.yaml",
            format!("dataset: {name}\nmodels: [recorded]\nscorers: [exact_match]\n"),
        );
        let said = folder.run(&["run", "--output", "json"]);
        assert_eq!(said.code, Some(0), "{name}: {}", said.stderr);
        let scores = &said.json()["models"][0]["scores"][0];
        assert_eq!((&scores["passed"], &scores["failed"]), (&2.into(), &1.into()), "{name}");
        let inputs: Vec<String> = folder
            .run(&["export"])
            .json_lines()
            .iter()
            .map(|result| result["input"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(inputs, ROWS.map(|row| row[1].to_owned()), "{name}");
    }
}

#[test]
fn a_csv_without_a_header_and_inline_conversations() {
    let folder = Folder::new();
    folder.file("cases.csv", "What is it?,x,y,A\nAnd this?,x,y,B\n");
    folder.file("fullbench.yaml", "dataset: { path: cases.csv, columns: [question, a, b, answer] }\ninput: question\nreference: answer\nmodels: [{ provider: recorded, field: answer }]\nscorers: [multiple_choice]\n");
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["models"][0]["scores"][0]["mean"], 1.0);

    let simulator = support::simulator(fullbench_simllm::SimulatorConfig::default());
    let folder = Folder::new();
    let url = simulator.url();
    folder.file("fullbench.yaml", format!("messages: {{ system: Be brief., examples: [{{ user: hi, assistant: hello }}] }}\ncases:\n  - input:\n      - {{ role: user, content: one }}\n      - {{ role: assistant, content: two }}\n      - {{ role: user, content: three }}\n    reference: three\nmodels: [{{ provider: openai, model: echo, base_url: \"{url}/v1\" }}]\nscorers: [exact_match]\n"));
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["models"][0]["scores"][0]["mean"], 1.0);
}
