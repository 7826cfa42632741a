//! What differs between two versions of a data set, case by case. 32 bytes are kept for each case of the left one; texts are read
//! and forgotten.

use fullbench_store::{CaseReader, StoreError};
use fullbench_types::{CaseKey, ContentHash};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::content::hash_of_fields;
use super::schema::{Column, ColumnType, DatasetSchema, SchemaBuilder};
use super::values::equal;

/// Which part of the lists is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffPaging {
    /// So many of each list are skipped.
    pub offset: u64,
    /// Of each list at most so many are given.
    pub limit: usize,
}

/// What differs between two versions. Cases belong together by their keys; where rows stand does not matter, nor the order of
/// their fields, and a missing field is the same as null.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DatasetDiff {
    /// Cases that only the right version has, in its order.
    pub added: CaseList,
    /// Cases that only the left version has, in its order.
    pub removed: CaseList,
    /// Cases that both have with other content, in the order of the right version.
    pub changed: CaseList,
    /// Cases that are the same in both, in the order of the right version.
    pub unchanged: CaseList,
    /// What differs between the columns.
    pub schema: SchemaDiff,
    /// The versions take other fields as input or reference.
    pub mapping_changed: bool,
}

/// Cases of one sort: all are counted, a page of them is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct CaseList {
    /// How many there are.
    pub count: u64,
    /// Those of the page.
    pub cases: Vec<CaseDifference>,
}

/// A case in a difference.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CaseDifference {
    /// Its key.
    pub key: CaseKey,
    /// Where it stands in the left version.
    pub left_index: Option<u64>,
    /// Where it stands in the right version.
    pub right_index: Option<u64>,
    /// The fields that differ, of a changed case.
    pub fields: Vec<String>,
}

/// What differs between the columns of two versions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SchemaDiff {
    /// Columns that only the right version has.
    pub added: Vec<Column>,
    /// Columns that only the left version has.
    pub removed: Vec<Column>,
    /// Columns that have another type.
    pub retyped: Vec<RetypedColumn>,
}

/// A column with another type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RetypedColumn {
    /// Its name.
    pub name: String,
    /// Its type in the left version.
    pub left: ColumnType,
    /// Its type in the right version.
    pub right: ColumnType,
}

impl SchemaDiff {
    /// What differs between two schemas; whether columns are nullable does not matter.
    #[must_use]
    pub fn between(left: &DatasetSchema, right: &DatasetSchema) -> Self {
        let only = |these: &DatasetSchema, those: &DatasetSchema| {
            let columns =
                these.columns.iter().filter(|column| those.column(&column.name).is_none());
            columns.cloned().collect()
        };
        let retyped = right.columns.iter().filter_map(|column| {
            let before = left.column(&column.name)?.column_type;
            (before != column.column_type).then(|| RetypedColumn {
                name: column.name.clone(),
                left: before,
                right: column.column_type,
            })
        });
        Self { added: only(right, left), removed: only(left, right), retyped: retyped.collect() }
    }
}

/// A case of the left version, in 32 bytes.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: [u64; 2],
    content: u64,
    index: u64,
}

/// Compares two versions.
///
/// # Errors
/// When their cases cannot be read.
pub fn diff_versions(
    left: &mut CaseReader,
    right: &mut CaseReader,
    paging: DiffPaging,
) -> Result<DatasetDiff, StoreError> {
    let (left_version, right_version) = (left.version().clone(), right.version().clone());
    let (mut left_columns, mut right_columns) =
        (SchemaBuilder::default(), SchemaBuilder::default());
    let mut entries = Vec::with_capacity(usize::try_from(left_version.cases).unwrap_or_default());
    for index in 0..left_version.cases {
        let case = left.case(index)?;
        left_columns.see(&case.fields);
        let content = content_of(&case.fields);
        entries.push(Entry { key: fingerprint(&case.key), content, index });
    }
    entries.sort_unstable_by_key(|entry| entry.key);
    let mut is_matched = vec![false; entries.len()];
    let [mut added, mut removed, mut changed, mut unchanged] =
        [(); 4].map(|()| Paged { paging, list: CaseList::default() });
    for index in 0..right_version.cases {
        let case = right.case(index)?;
        right_columns.see(&case.fields);
        let Some(entry) = find(&entries, &fingerprint(&case.key)) else {
            added.add(|| Ok(case_of(case.key, None, Some(index))))?;
            continue;
        };
        if let Some(matched) = is_matched.get_mut(entry.index as usize) {
            *matched = true;
        }
        let sides = (Some(entry.index), Some(index));
        if entry.content == content_of(&case.fields) {
            unchanged.add(|| Ok(case_of(case.key, sides.0, sides.1)))?;
        } else {
            changed.add(|| {
                let fields = changed_fields(&left.case(entry.index)?.fields, &case.fields);
                Ok(CaseDifference { fields, ..case_of(case.key, sides.0, sides.1) })
            })?;
        }
    }
    for (index, _) in (0..).zip(&is_matched).filter(|(_, is_matched)| !**is_matched) {
        removed.add(|| Ok(case_of(left.case(index)?.key, Some(index), None)))?;
    }
    Ok(DatasetDiff {
        added: added.list,
        removed: removed.list,
        changed: changed.list,
        unchanged: unchanged.list,
        schema: SchemaDiff::between(&left_columns.schema(), &right_columns.schema()),
        mapping_changed: left_version.mapping != right_version.mapping,
    })
}

/// A list that counts everything and makes only what is on the page.
struct Paged {
    paging: DiffPaging,
    list: CaseList,
}

impl Paged {
    fn add(
        &mut self,
        make: impl FnOnce() -> Result<CaseDifference, StoreError>,
    ) -> Result<(), StoreError> {
        let is_on_page =
            self.list.count >= self.paging.offset && self.list.cases.len() < self.paging.limit;
        self.list.count += 1;
        if is_on_page {
            self.list.cases.push(make()?);
        }
        Ok(())
    }
}

fn case_of(key: CaseKey, left_index: Option<u64>, right_index: Option<u64>) -> CaseDifference {
    CaseDifference { key, left_index, right_index, fields: Vec::new() }
}

fn find<'entries>(entries: &'entries [Entry], key: &[u64; 2]) -> Option<&'entries Entry> {
    let place = entries.binary_search_by(|entry| entry.key.cmp(key)).ok()?;
    entries.get(place)
}

/// Fields with other values, in the order of the right row, then those that only the left one has.
fn changed_fields(left: &Map<String, Value>, right: &Map<String, Value>) -> Vec<String> {
    let value =
        |fields: &Map<String, Value>, name: &str| fields.get(name).cloned().unwrap_or(Value::Null);
    let names = right.keys().chain(left.keys().filter(|name| !right.contains_key(*name)));
    names.filter(|name| !equal(&value(left, name), &value(right, name))).cloned().collect()
}

fn fingerprint(key: &str) -> [u64; 2] {
    let hash = ContentHash::of(key.as_bytes()).short();
    let number = u128::from_le_bytes(hash);
    [(number >> 64) as u64, number as u64]
}

fn content_of(fields: &Map<String, Value>) -> u64 {
    u128::from_le_bytes(hash_of_fields(fields).short()) as u64
}
