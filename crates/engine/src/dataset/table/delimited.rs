//! CSV and TSV as RFC 4180 has them: lines end with CRLF, and quotes stand where they must.

use std::io::{Error, Result, Write};

use csv::{Terminator, Writer, WriterBuilder};
use fullbench_types::text_of;
use serde_json::{Map, Value};

use crate::dataset::schema::DatasetSchema;

#[derive(Debug)]
pub(super) struct DelimitedWriter<W: Write> {
    writer: Writer<W>,
    columns: Vec<String>,
}

impl<W: Write> DelimitedWriter<W> {
    pub(super) fn new(output: W, delimiter: u8, schema: &DatasetSchema) -> Result<Self> {
        let mut writer = WriterBuilder::new()
            .delimiter(delimiter)
            .terminator(Terminator::CRLF)
            .from_writer(output);
        let columns: Vec<String> =
            schema.columns.iter().map(|column| column.name.clone()).collect();
        writer.write_record(&columns)?;
        Ok(Self { writer, columns })
    }

    /// Texts as they are, nothing as an empty cell, anything else as JSON.
    pub(super) fn write(&mut self, row: &Map<String, Value>) -> Result<()> {
        for name in &self.columns {
            match row.get(name) {
                None | Some(Value::Null) => self.writer.write_field("")?,
                Some(value) => self.writer.write_field(text_of(value).as_ref())?,
            }
        }
        self.writer.write_record(None::<&[u8]>)?;
        Ok(())
    }

    pub(super) fn finish(self) -> Result<W> {
        self.writer.into_inner().map_err(|error| Error::other(error.to_string()))
    }
}
