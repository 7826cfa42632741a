//! JSON: one list of objects, read element by element.

use std::io::{BufReader, Read};

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::ProblemCode;
use super::limited::{BUFFER_BYTES, RowBytes, limited, too_long};
use super::rows::{BadRow, Row, RowSink, object};
use crate::InputProblem;
use crate::spec::unreadable_file;

/// Reads the rows of a JSON file: a list of objects.
pub(crate) fn read(source: impl Read, sink: RowSink<'_>) -> Result<(), InputProblem> {
    let (source, row_bytes) = limited(source);
    let source = BufReader::with_capacity(BUFFER_BYTES, source);
    let (mut refused, mut number) = (None, 0);
    let mut deserializer = serde_json::Deserializer::from_reader(source);
    let rows = Rows { sink, number: &mut number, row_bytes: &row_bytes, refused: &mut refused };
    let result = rows.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    if let Some(problem) = refused {
        return Err(problem);
    }
    let Err(error) = result else { return Ok(()) };
    let bad = if row_bytes.is_exceeded() {
        too_long("case")
    } else if error.is_io() {
        return Err(unreadable_file(&error.into()));
    } else {
        let message = format!("this is not valid JSON: {}", reason(&error));
        BadRow::new(ProblemCode::NotJson, message)
            .hint("a `.json` data set is one list of objects: [{…}, {…}]")
    };
    let column = Some(error.column() as u64);
    let problem = InputProblem { column, ..bad.problem.at_line(error.line() as u64) };
    let number = (number > 0).then_some(number + 1);
    sink(Err(BadRow { number, problem, ..bad }))
}

/// The message of a JSON error without its place.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

struct Rows<'sink, 'reading> {
    sink: RowSink<'sink>,
    number: &'reading mut u64,
    row_bytes: &'reading RowBytes,
    refused: &'reading mut Option<InputProblem>,
}

impl<'de> DeserializeSeed<'de> for Rows<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element::<Value>()? {
            self.row_bytes.restart();
            *self.number += 1;
            let number = *self.number;
            let row = match object(value) {
                Ok(fields) => Ok(Row { line: None, number, fields }),
                Err(bad) => Err(bad.in_row(number, None)),
            };
            if let Err(problem) = (self.sink)(row) {
                *self.refused = Some(problem);
                return Err(serde::de::Error::custom("refused"));
            }
        }
        Ok(())
    }
}
