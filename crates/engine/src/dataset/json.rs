//! JSON: one list of objects, read element by element.

use std::io::BufRead;

use serde::de::{DeserializeSeed, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

use super::rows::{Row, RowSink, object};
use crate::InputProblem;

/// Reads the rows of a JSON file: a list of objects.
pub(crate) fn read(source: impl BufRead, sink: RowSink<'_>) -> Result<(), InputProblem> {
    let mut refused = None;
    let mut deserializer = serde_json::Deserializer::from_reader(source);
    let result = Rows { sink, refused: &mut refused }.deserialize(&mut deserializer);
    let result = result.and_then(|()| deserializer.end());
    if let Some(problem) = refused {
        return Err(problem);
    }
    result.map_err(|error| {
        let problem = InputProblem::new(format!("this is not valid JSON: {}", reason(&error)));
        let problem = InputProblem { column: Some(error.column() as u64), ..problem };
        problem
            .at_line(error.line() as u64)
            .hint("a `.json` data set is one list of objects: [{…}, {…}]")
    })
}

/// The message of a JSON error without its place.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(reason, _)| reason.to_owned())
}

struct Rows<'sink, 'refused> {
    sink: RowSink<'sink>,
    refused: &'refused mut Option<InputProblem>,
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
        let mut number = 0;
        while let Some(value) = items.next_element::<Value>()? {
            number += 1;
            let row =
                object(value).map(|fields| Row { line: None, number, fields }).map_err(|problem| {
                    InputProblem {
                        message: format!("case {number}: {}", problem.message),
                        ..problem
                    }
                });
            if let Err(problem) = row.and_then(|row| (self.sink)(row)) {
                *self.refused = Some(problem);
                return Err(serde::de::Error::custom("refused"));
            }
        }
        Ok(())
    }
}
