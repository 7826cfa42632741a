//! Parquet: columns collected into row groups of bounded size.

use std::io::{Error, Result, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::Type;
use fullbench_types::text_of;
use serde_json::{Map, Value};

use super::refusal;
use crate::dataset::rows::kind;
use crate::dataset::schema::{Column, ColumnType, DatasetSchema};

/// A row group is written when it holds this much.
const GROUP_BYTES: usize = 8 << 20;

/// What a cell takes besides its text.
const CELL_BYTES: usize = 32;

#[derive(Debug)]
pub(super) struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    buffered: usize,
}

impl<W: Write + Send> ParquetTable<W> {
    pub(super) fn new(output: W, schema: &DatasetSchema) -> Result<Self> {
        let fields = schema.columns.iter().map(|column| parquet_type(column).map(Arc::new));
        let fields = fields.collect::<std::result::Result<_, _>>().map_err(failure)?;
        let root = Type::group_type_builder("rows").with_fields(fields).build().map_err(failure)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = SerializedFileWriter::new(output, Arc::new(root), Arc::new(properties))
            .map_err(failure)?;
        let columns = schema.columns.iter().map(ColumnBuffer::new).collect();
        Ok(Self { writer, columns, buffered: 0 })
    }

    pub(super) fn write(&mut self, row: &Map<String, Value>, number: u64) -> Result<()> {
        // Every value is looked at before any is taken, so that columns stay of one length.
        for column in &self.columns {
            if let Some(value) = row.get(&column.name)
                && !column.can_hold(value)
            {
                let (name, what) = (&column.name, kind(value));
                return Err(refusal(format!("row {number}: `{name}` cannot hold {what}")));
            }
        }
        for column in &mut self.columns {
            self.buffered += column.take(row.get(&column.name).unwrap_or(&Value::Null));
        }
        if self.buffered >= GROUP_BYTES { self.write_group() } else { Ok(()) }
    }

    fn write_group(&mut self) -> Result<()> {
        if self.buffered == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group().map_err(failure)?;
        for buffer in &mut self.columns {
            let Some(mut column) = group.next_column().map_err(failure)? else { break };
            buffer.write_to(&mut column).map_err(failure)?;
            column.close().map_err(failure)?;
            buffer.clear();
        }
        group.close().map_err(failure)?;
        self.buffered = 0;
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.write_group()?;
        self.writer.into_inner().map_err(failure)
    }
}

/// Every column is optional, so that a row may lack it.
fn parquet_type(column: &Column) -> std::result::Result<Type, ParquetError> {
    let (physical, logical) = match column.column_type {
        ColumnType::String => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Integer => (PhysicalType::INT64, None),
        ColumnType::Number => (PhysicalType::DOUBLE, None),
        ColumnType::Boolean => (PhysicalType::BOOLEAN, None),
        ColumnType::Array | ColumnType::Object | ColumnType::Mixed | ColumnType::Null => {
            (PhysicalType::BYTE_ARRAY, Some(LogicalType::Json))
        }
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_logical_type(logical)
        .with_repetition(Repetition::OPTIONAL)
        .build()
}

/// The values of a column that are not written yet.
#[derive(Debug)]
struct ColumnBuffer {
    name: String,
    values: Values,
    /// 1 for each row that has a value, 0 for each that has none.
    levels: Vec<i16>,
}

#[derive(Debug)]
enum Values {
    Texts(Vec<ByteArray>),
    Json(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Booleans(Vec<bool>),
}

impl ColumnBuffer {
    fn new(column: &Column) -> Self {
        let values = match column.column_type {
            ColumnType::String => Values::Texts(Vec::new()),
            ColumnType::Integer => Values::Integers(Vec::new()),
            ColumnType::Number => Values::Numbers(Vec::new()),
            ColumnType::Boolean => Values::Booleans(Vec::new()),
            ColumnType::Array | ColumnType::Object | ColumnType::Mixed | ColumnType::Null => {
                Values::Json(Vec::new())
            }
        };
        Self { name: column.name.clone(), values, levels: Vec::new() }
    }

    fn can_hold(&self, value: &Value) -> bool {
        value.is_null()
            || match &self.values {
                Values::Texts(_) => value.is_string(),
                Values::Json(_) => true,
                Values::Integers(_) => value.is_i64(),
                Values::Numbers(_) => value.is_number(),
                Values::Booleans(_) => value.is_boolean(),
            }
    }

    /// Takes a value that the column can hold, and says how much room it needs.
    fn take(&mut self, value: &Value) -> usize {
        self.levels.push(i16::from(!value.is_null()));
        if value.is_null() {
            return CELL_BYTES;
        }
        let mut text_bytes = 0;
        let mut bytes = |text: &str| {
            text_bytes = text.len();
            ByteArray::from(text)
        };
        match &mut self.values {
            Values::Texts(texts) => texts.push(bytes(&text_of(value))),
            Values::Json(texts) => texts.push(bytes(&value.to_string())),
            Values::Integers(numbers) => numbers.extend(value.as_i64()),
            Values::Numbers(numbers) => numbers.extend(value.as_f64()),
            Values::Booleans(flags) => flags.extend(value.as_bool()),
        }
        CELL_BYTES + text_bytes
    }

    fn write_to(
        &self,
        column: &mut SerializedColumnWriter<'_>,
    ) -> std::result::Result<(), ParquetError> {
        let levels = Some(self.levels.as_slice());
        match &self.values {
            Values::Texts(texts) | Values::Json(texts) => {
                column.typed::<ByteArrayType>().write_batch(texts, levels, None)
            }
            Values::Integers(numbers) => {
                column.typed::<Int64Type>().write_batch(numbers, levels, None)
            }
            Values::Numbers(numbers) => {
                column.typed::<DoubleType>().write_batch(numbers, levels, None)
            }
            Values::Booleans(flags) => column.typed::<BoolType>().write_batch(flags, levels, None),
        }
        .map(|_| ())
    }

    fn clear(&mut self) {
        self.levels.clear();
        match &mut self.values {
            Values::Texts(texts) | Values::Json(texts) => texts.clear(),
            Values::Integers(numbers) => numbers.clear(),
            Values::Numbers(numbers) => numbers.clear(),
            Values::Booleans(flags) => flags.clear(),
        }
    }
}

fn failure(error: ParquetError) -> Error {
    Error::other(error)
}
