//! Inspects an uploaded file: reads every row, collects what is wrong, and freezes the cases where nothing is.

use std::fs::File;
use std::path::Path;

use fullbench_store::{DatasetVersion, DatasetWriter, FieldMapping, ObjectStore, StoreError};
use fullbench_types::{ContentHash, lookup};
use serde::Serialize;
use serde_json::{Map, Value};

use super::file::FileFormat;
use super::keys::CaseKeys;
use super::parts::{InspectedCase, USUAL_INPUTS, USUAL_REFERENCES, check_input, check_metadata};
use super::problem::{ProblemCode, Problems, RowProblem};
use super::rows::{BadRow, Row};
use super::schema::{DatasetSchema, SchemaBuilder};
use crate::spec::{did_you_mean, unreadable_file};
use crate::{EngineError, InputProblem};

/// A file with more columns has its rows and columns mixed up, or is made to fill memory.
pub const MAX_COLUMNS: usize = 2_000;

/// An id may have this many characters, so that every database can index it.
pub const MAX_ID_CHARACTERS: usize = 512;

/// How a file is to be read.
#[derive(Debug, Clone, Default)]
pub struct InspectOptions {
    /// Where the file came from, for people.
    pub source: String,
    /// The field with the input. Without: the first of `input`, `prompt`, `question` and `conversation` that there is.
    pub input: Option<String>,
    /// The fields with accepted answers. Without: `expected_output`, `reference` and `references`.
    pub references: Option<Vec<String>>,
    /// The field with the id. Without: `id` where the first row has it, or else a hash of the input.
    pub id: Option<String>,
    /// Names of the columns of a CSV or TSV file that has no header line.
    pub columns: Option<Vec<String>>,
}

impl InspectOptions {
    /// What of a row is what, where this field is the input.
    fn mapping(&self, input: &str) -> FieldMapping {
        let usual = || USUAL_REFERENCES.map(str::to_owned).to_vec();
        let references = self.references.clone().unwrap_or_else(usual);
        FieldMapping { input: Some(input.to_owned()), references }
    }
}

/// What a file has in it.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// How many rows there are, good and bad.
    pub rows: u64,
    /// The columns and their types over all rows. In CSV and TSV every column is text.
    pub schema: DatasetSchema,
    /// The hash of the schema; see [`DatasetSchema::hash`].
    pub schema_hash: String,
    /// The first problems, in the order of the file.
    pub problems: Vec<RowProblem>,
    /// How many problems there are.
    pub problem_count: u64,
    /// The frozen cases; none where there is a problem.
    pub version: Option<DatasetVersion>,
    /// Blocks that were written before the first problem, which nobody needs.
    #[serde(skip)]
    pub unused_blocks: Vec<ContentHash>,
}

/// Reads a file row by row, finds its schema and its problems, and freezes its cases into `objects`. After a bad row it goes on
/// with the next, but for a broken JSON or Parquet file. `sink` gets each case as it is read until the first problem; what it
/// was given is to be thrown away when there is no version in the end.
///
/// In CSV and TSV an empty cell is an empty text, but for references: there it means that none is known.
///
/// # Errors
/// When the file cannot be opened or read, and when blocks cannot be written or the sink refuses.
pub fn inspect_file(
    path: &Path,
    format: FileFormat,
    options: &InspectOptions,
    objects: ObjectStore,
    sink: &mut dyn FnMut(InspectedCase) -> Result<(), StoreError>,
) -> Result<Inspection, EngineError> {
    let here = |problem: InputProblem| EngineError::from(problem.in_file(path));
    let file = File::open(path).map_err(|error| here(unreadable_file(&error)))?;
    let mut inspecting = Inspecting {
        options,
        is_text: format.has_columns(),
        writer: DatasetWriter::new(objects),
        sink,
        columns: SchemaBuilder::default(),
        keys: CaseKeys::default(),
        id: options.id.clone().map(Some),
        mapping: options.input.as_deref().map(|input| options.mapping(input)),
        problems: Problems::default(),
        rows: 0,
        end: None,
    };
    let columns = options.columns.as_deref().filter(|_| format.has_columns());
    let read = format.read(file, columns, &mut |row| inspecting.take(row));
    match (read, inspecting.end.take()) {
        (Ok(()), _) | (Err(_), Some(End::TooManyColumns)) => Ok(inspecting.finish()?),
        (Err(_), Some(End::Store(error))) => Err(error.into()),
        (Err(problem), None) => Err(here(problem)),
    }
}

/// Why the reading was ended early.
enum End {
    TooManyColumns,
    Store(StoreError),
}

struct Inspecting<'inspection> {
    options: &'inspection InspectOptions,
    /// Every cell is text.
    is_text: bool,
    writer: DatasetWriter,
    sink: &'inspection mut dyn FnMut(InspectedCase) -> Result<(), StoreError>,
    columns: SchemaBuilder,
    keys: CaseKeys,
    /// The field with the id, once it is decided that there is one or none.
    id: Option<Option<String>>,
    /// What is input and reference, once it is decided.
    mapping: Option<FieldMapping>,
    problems: Problems,
    rows: u64,
    end: Option<End>,
}

impl Inspecting<'_> {
    fn take(&mut self, row: Result<Row, BadRow>) -> Result<(), InputProblem> {
        let Row { line, number, fields } = match row {
            Ok(row) => row,
            Err(bad) => {
                self.rows = self.rows.max(bad.number.unwrap_or(0));
                self.problems.add(bad);
                return Ok(());
            }
        };
        self.rows = number;
        let result = self.take_fields(fields, &|bad| bad.in_row(number, line));
        result.map_err(|end| {
            self.end = Some(end);
            InputProblem::new("the reading was ended")
        })
    }

    fn take_fields(
        &mut self,
        mut fields: Map<String, Value>,
        place: &dyn Fn(BadRow) -> BadRow,
    ) -> Result<(), End> {
        self.see(&mut fields);
        if self.columns.len() > MAX_COLUMNS {
            let message = format!("there are more than {MAX_COLUMNS} different fields");
            let bad = BadRow::new(ProblemCode::TooManyColumns, message)
                .hint("put what differs from case to case into one object, for example `metadata`");
            self.problems.add(place(bad));
            return Err(End::TooManyColumns);
        }
        let key = match self.check(&fields) {
            Ok(key) => key,
            Err(found) => {
                found.into_iter().for_each(|bad| self.problems.add(place(bad)));
                return Ok(());
            }
        };
        if self.problems.count > 0 {
            return Ok(());
        }
        let Some(mapping) = &self.mapping else { return Ok(()) };
        let index = self.writer.cases();
        self.writer.push(&key, &fields).map_err(End::Store)?;
        let case = mapping.case(index, key, fields);
        (self.sink)(InspectedCase::of(case, mapping)).map_err(End::Store)
    }

    /// Looks at the types of a row, and takes empty cells out of references.
    fn see(&mut self, fields: &mut Map<String, Value>) {
        if !self.is_text {
            return self.columns.see(fields);
        }
        self.columns.see_texts(fields);
        let named = self.options.references.as_ref();
        for (name, value) in fields.iter_mut() {
            let is_reference = match named {
                Some(names) => names.contains(name),
                None => USUAL_REFERENCES.contains(&name.as_str()),
            };
            if is_reference && *value == "" {
                *value = Value::Null;
            }
        }
    }

    /// The key of a row, or everything that is wrong with it.
    fn check(&mut self, fields: &Map<String, Value>) -> Result<String, Vec<BadRow>> {
        let mut found = Vec::new();
        let is_input_known = match self.check_input(fields) {
            Ok(()) => true,
            Err(bad) => {
                found.push(bad);
                false
            }
        };
        found.extend(check_metadata(fields).err());
        found.extend(check_texts(fields).err());
        let id = self.id.get_or_insert_with(|| fields.contains_key("id").then(|| "id".to_owned()));
        if id.is_none() && !is_input_known {
            return Err(found);
        }
        let input = self.mapping.as_ref().and_then(|mapping| mapping.input.as_deref());
        match self.keys.key(id.as_deref(), input, fields) {
            Ok(key) if key.chars().count() > MAX_ID_CHARACTERS => {
                let message = format!("the id is longer than {MAX_ID_CHARACTERS} characters");
                let bad = BadRow::new(ProblemCode::TooLong, message);
                found.push(bad.in_field(id.as_deref().unwrap_or_default()));
                Err(found)
            }
            Ok(key) if found.is_empty() => Ok(key),
            Ok(_) => Err(found),
            Err(bad) => {
                found.push(bad);
                Err(found)
            }
        }
    }

    fn check_input(&mut self, fields: &Map<String, Value>) -> Result<(), BadRow> {
        if self.mapping.is_none() {
            let usual = USUAL_INPUTS.iter().find(|name| fields.contains_key(**name));
            let Some(name) = usual else {
                return Err(BadRow::new(ProblemCode::MissingInput, "the case has no input").hint(
                    "name the field `input`, `prompt`, `question` or `conversation`, or say which one it is",
                ));
            };
            self.mapping = Some(self.options.mapping(name));
        }
        let Some(name) = self.mapping.as_ref().and_then(|mapping| mapping.input.as_deref()) else {
            return Ok(());
        };
        check_input(name, fields, true)?;
        match lookup(fields, name) {
            Some(Value::String(text)) if text.trim().is_empty() => {
                Err(BadRow::new(ProblemCode::MissingInput, format!("`{name}` is empty"))
                    .in_field(name)
                    .hint("every case needs an input"))
            }
            _ => Ok(()),
        }
    }

    fn finish(mut self) -> Result<Inspection, StoreError> {
        if self.rows == 0 && self.problems.count == 0 {
            let bad = BadRow::new(ProblemCode::EmptyFile, "the file has no rows");
            self.problems.add(bad.hint("add at least one case"));
        }
        let mut mapping = self.mapping.take().unwrap_or_default();
        match &self.options.references {
            None => mapping.references.retain(|name| self.columns.has(name)),
            Some(references) if self.rows > 0 => self.check_references(references),
            Some(_) => {}
        }
        let schema = self.columns.schema();
        let fields = self.columns.names().map(str::to_owned).collect();
        let (version, unused_blocks) = match self.problems.count {
            0 => {
                let version = self.writer.finish(self.options.source.clone(), fields, mapping)?;
                (Some(version), Vec::new())
            }
            _ => (None, self.writer.into_blocks()),
        };
        Ok(Inspection {
            rows: self.rows,
            schema_hash: schema.hash(),
            schema,
            problems: self.problems.kept,
            problem_count: self.problems.count,
            version,
            unused_blocks,
        })
    }

    /// Refuses references that no row has.
    fn check_references(&mut self, references: &[String]) {
        for name in references {
            let first = name.split('.').next().unwrap_or(name);
            if !self.columns.has(name) && !self.columns.has(first) {
                let names: Vec<&str> = self.columns.names().collect();
                let bad = BadRow::new(ProblemCode::UnknownField, format!("no row has `{name}`"))
                    .in_field(name)
                    .hint(did_you_mean(name, names));
                self.problems.add(bad);
            }
        }
    }
}

/// Refuses texts with a NUL character, which PostgreSQL cannot keep.
fn check_texts(fields: &Map<String, Value>) -> Result<(), BadRow> {
    let with_nul = fields.iter().find(|(name, value)| name.contains('\0') || has_nul(value));
    match with_nul {
        None => Ok(()),
        Some((name, _)) => {
            let message = "the text has a NUL character (U+0000)";
            Err(BadRow::new(ProblemCode::NulCharacter, message)
                .in_field(name)
                .hint("remove it: not every database can keep it"))
        }
    }
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(entries) => {
            entries.iter().any(|(name, value)| name.contains('\0') || has_nul(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
