//! Rows written as a table: downloads and exports. One row after the other, in memory that does not grow with the table.

mod delimited;
mod parquet;

use std::collections::HashSet;
use std::io::{Error, ErrorKind, Result, Write};

use serde_json::{Map, Value};

use self::delimited::DelimitedWriter;
use self::parquet::ParquetTable;
use super::file::FileFormat;
use super::schema::DatasetSchema;

/// Writes rows in a format that [`inspect_file`](super::inspect_file) reads back as they were. What the formats cannot say is
/// lost: CSV and TSV have only texts (anything that is no text is written as JSON, null as an empty cell), and in Parquet a missing field
/// is null, a list or an object is JSON in a column that says so, and a number of a column with fractions is a floating point number.
#[derive(Debug)]
pub struct TableWriter<W: Write + Send> {
    format: Format<W>,
    /// Names of the columns, where the format has columns.
    columns: HashSet<String>,
    rows: u64,
}

#[derive(Debug)]
enum Format<W: Write + Send> {
    Lines(W),
    List(W),
    Delimited(DelimitedWriter<W>),
    Parquet(ParquetTable<W>),
}

impl<W: Write + Send> TableWriter<W> {
    /// A table with these columns; JSON and JSON Lines need none.
    ///
    /// # Errors
    /// When the output cannot be written, and when a table with columns has none or two of one name.
    pub fn new(output: W, format: FileFormat, schema: &DatasetSchema) -> Result<Self> {
        let mut columns = HashSet::new();
        let has_columns = format.has_columns() || format == FileFormat::Parquet;
        for column in schema.columns.iter().filter(|_| has_columns) {
            if !columns.insert(column.name.clone()) {
                return Err(refusal(format!("two columns have the name `{}`", column.name)));
            }
        }
        if has_columns && columns.is_empty() {
            return Err(refusal(format!("a {} table needs columns", format.word())));
        }
        let format = match format {
            FileFormat::Jsonl => Format::Lines(output),
            FileFormat::Json => Format::List(output),
            FileFormat::Csv => Format::Delimited(DelimitedWriter::new(output, b',', schema)?),
            FileFormat::Tsv => Format::Delimited(DelimitedWriter::new(output, b'\t', schema)?),
            FileFormat::Parquet => Format::Parquet(ParquetTable::new(output, schema)?),
        };
        Ok(Self { format, columns, rows: 0 })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// When the output cannot be written, and when the row has a field that is no column, or a value that its column cannot hold.
    pub fn write(&mut self, row: &Map<String, Value>) -> Result<()> {
        let has_column = |name: &&String| self.columns.contains(name.as_str());
        if !self.columns.is_empty()
            && let Some(name) = row.keys().find(|name| !has_column(name))
        {
            let number = self.rows + 1;
            return Err(refusal(format!("row {number}: the table has no column `{name}`")));
        }
        match &mut self.format {
            Format::Lines(output) => {
                serde_json::to_writer(&mut *output, row)?;
                output.write_all(b"\n")?;
            }
            Format::List(output) => {
                output.write_all(if self.rows == 0 { b"[\n" } else { b",\n" })?;
                serde_json::to_writer(&mut *output, row)?;
            }
            Format::Delimited(writer) => writer.write(row)?,
            Format::Parquet(table) => table.write(row, self.rows + 1)?,
        }
        self.rows += 1;
        Ok(())
    }

    /// How many rows were written.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Ends the table and gives the output back, flushed.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn finish(self) -> Result<W> {
        let mut output = match self.format {
            Format::Lines(output) => output,
            Format::List(mut output) => {
                output.write_all(if self.rows == 0 { b"[]\n" } else { b"\n]\n" })?;
                output
            }
            Format::Delimited(writer) => writer.finish()?,
            Format::Parquet(table) => table.finish()?,
        };
        output.flush()?;
        Ok(output)
    }
}

fn refusal(message: String) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}
