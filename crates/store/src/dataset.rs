//! Data sets frozen into content-addressed blocks, so that a run can seek and later edits of the file change nothing.

use std::sync::Arc;

use fullbench_types::{ContentHash, TestCase, lookup};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, sea_query::OnConflict,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::entity::dataset_content;
use crate::runs::now_milliseconds;
use crate::sealed_text::catalogue::CONTENT_MANIFEST;
use crate::{ObjectStore, ScopedStore, StoreError};

/// A block is closed when it holds this many bytes.
const BLOCK_BYTES: usize = 512 * 1024;

/// Which fields of a row are the input and the references.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldMapping {
    /// The field with the input; none makes the whole row the input.
    pub input: Option<String>,
    /// The fields with accepted answers.
    pub references: Vec<String>,
}

/// A block of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBlock {
    /// Its content.
    pub hash: ContentHash,
    /// The first case in it.
    pub first_case: u64,
    /// How many cases.
    pub cases: u64,
}

/// A frozen data set: its blocks, and what of a row is what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatasetVersion {
    /// Hash over the blocks and the mapping.
    pub hash: ContentHash,
    /// Where it came from, as the user wrote it.
    pub source: String,
    /// How many cases.
    pub cases: u64,
    /// Every field that some case has, in order of appearance.
    pub fields: Vec<String>,
    /// What of a row is input and reference.
    pub mapping: FieldMapping,
    /// The blocks in order.
    pub blocks: Vec<StoredBlock>,
    /// The cases themselves, where they are too few for blocks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inline: Vec<InlineCase>,
    /// What is in those cases is gone with the key that it was sealed with.
    #[serde(skip)]
    pub texts_deleted: bool,
}

/// A case that is kept with its data set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InlineCase {
    /// Its identity.
    pub key: String,
    /// Its fields.
    pub fields: Map<String, Value>,
}

impl DatasetVersion {
    /// A data set of a few cases, kept as they are.
    #[must_use]
    pub fn of_cases(source: String, mapping: FieldMapping, inline: Vec<InlineCase>) -> Self {
        let parts = serde_json::to_vec(&(&inline, &mapping)).unwrap_or_default();
        let mut fields: Vec<String> = Vec::new();
        for name in inline.iter().flat_map(|case| case.fields.keys()) {
            if !fields.contains(name) {
                fields.push(name.clone());
            }
        }
        let hash = ContentHash::of_parts(&[b"inline", &parts]);
        let cases = inline.len() as u64;
        let (blocks, texts_deleted) = (Vec::new(), false);
        Self { hash, source, cases, fields, mapping, blocks, inline, texts_deleted }
    }
}

/// What a version with agreed answers is made from: its cases as they were uploaded, and how often answers were agreed on.
#[must_use]
pub fn ground_truth_source(content: &ContentHash, revision: u64) -> ContentHash {
    ContentHash::of_parts(&[b"ground truth".as_slice(), &content.0, &revision.to_le_bytes()])
}

/// The blocks that a kept manifest names, whatever of it is sealed; none where it cannot be read.
pub(crate) fn blocks_in(manifest: &str) -> Option<Vec<ContentHash>> {
    #[derive(Deserialize)]
    struct Blocks {
        blocks: Vec<StoredBlock>,
    }
    let read: Blocks = serde_json::from_str(manifest).ok()?;
    Some(read.blocks.into_iter().map(|block| block.hash).collect())
}

#[derive(Serialize)]
struct RowOut<'row> {
    key: &'row str,
    fields: &'row Map<String, Value>,
}

#[derive(Deserialize)]
struct RowIn {
    key: String,
    fields: Map<String, Value>,
}

/// Writes cases into blocks as they come.
#[derive(Debug)]
pub struct DatasetWriter {
    objects: ObjectStore,
    buffer: Vec<u8>,
    buffered: u64,
    cases: u64,
    blocks: Vec<StoredBlock>,
}

impl DatasetWriter {
    /// A writer into these objects.
    #[must_use]
    pub fn new(objects: ObjectStore) -> Self {
        Self { objects, buffer: Vec::new(), buffered: 0, cases: 0, blocks: Vec::new() }
    }

    /// Adds a case.
    pub fn push(&mut self, key: &str, fields: &Map<String, Value>) -> Result<(), StoreError> {
        serde_json::to_writer(&mut self.buffer, &RowOut { key, fields })
            .map_err(|error| StoreError::Damaged(format!("case `{key}`: {error}")))?;
        self.buffer.push(b'\n');
        self.buffered += 1;
        if self.buffer.len() >= BLOCK_BYTES { self.close_block() } else { Ok(()) }
    }

    /// How many cases were added.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.cases + self.buffered
    }

    /// The blocks that were written, for whoever does not go on.
    #[must_use]
    pub fn into_blocks(self) -> Vec<ContentHash> {
        self.blocks.into_iter().map(|block| block.hash).collect()
    }

    /// Closes the last block and names the version.
    pub fn finish(
        mut self,
        source: String,
        fields: Vec<String>,
        mapping: FieldMapping,
    ) -> Result<DatasetVersion, StoreError> {
        self.close_block()?;
        let mut hasher: Vec<u8> = Vec::new();
        for block in &self.blocks {
            hasher.extend_from_slice(&block.hash.0);
        }
        let mapped = serde_json::to_vec(&mapping)
            .map_err(|error| StoreError::Damaged(format!("field mapping: {error}")))?;
        let hash = ContentHash::of_parts(&[&hasher, &mapped]);
        let (cases, blocks) = (self.cases, self.blocks);
        let (inline, texts_deleted) = (Vec::new(), false);
        Ok(DatasetVersion { hash, source, cases, fields, mapping, blocks, inline, texts_deleted })
    }

    fn close_block(&mut self) -> Result<(), StoreError> {
        if self.buffered == 0 {
            return Ok(());
        }
        let hash = self.objects.put(&self.buffer)?;
        self.blocks.push(StoredBlock { hash, first_case: self.cases, cases: self.buffered });
        self.cases += self.buffered;
        self.buffered = 0;
        self.buffer.clear();
        Ok(())
    }
}

/// Reads cases by their index; fast when they are asked for in order.
#[derive(Debug, Clone)]
pub struct CaseReader {
    objects: ObjectStore,
    version: Arc<DatasetVersion>,
    open: Option<OpenBlock>,
}

#[derive(Debug, Clone)]
struct OpenBlock {
    number: usize,
    content: Arc<Vec<u8>>,
    line_starts: Vec<usize>,
}

impl CaseReader {
    /// A reader of this version.
    #[must_use]
    pub fn new(objects: ObjectStore, version: Arc<DatasetVersion>) -> Self {
        Self { objects, version, open: None }
    }

    /// The version that is read.
    #[must_use]
    pub fn version(&self) -> &Arc<DatasetVersion> {
        &self.version
    }

    /// The case at this index.
    pub fn case(&mut self, index: u64) -> Result<TestCase, StoreError> {
        let missing = || StoreError::Damaged(format!("the data set has no case {index}"));
        if !self.version.inline.is_empty() {
            if self.version.texts_deleted {
                return Err(StoreError::TextsDeleted);
            }
            let case = self.version.inline.get(index as usize).ok_or_else(missing)?;
            let InlineCase { key, fields } = case.clone();
            return Ok(self.version.mapping.case(index, key, fields));
        }
        let number = self
            .version
            .blocks
            .partition_point(|block| block.first_case <= index)
            .checked_sub(1)
            .ok_or_else(missing)?;
        let block = self.version.blocks.get(number).ok_or_else(missing)?;
        if self.open.as_ref().is_none_or(|open| open.number != number) {
            let content = self.objects.get(&block.hash)?;
            let mut line_starts = vec![0];
            let ends = content.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            line_starts.extend(ends.map(|(position, _)| position + 1));
            self.open = Some(OpenBlock { number, content: Arc::new(content), line_starts });
        }
        let open = self.open.as_ref().ok_or_else(missing)?;
        let line = (index - block.first_case) as usize;
        let (Some(&start), Some(&end)) =
            (open.line_starts.get(line), open.line_starts.get(line + 1))
        else {
            return Err(missing());
        };
        let row: RowIn = serde_json::from_slice(&open.content[start..end])
            .map_err(|error| StoreError::Damaged(format!("case {index}: {error}")))?;
        Ok(self.version.mapping.case(index, row.key, row.fields))
    }
}

impl FieldMapping {
    /// The case of a row.
    #[must_use]
    pub fn case(&self, index: u64, key: String, fields: Map<String, Value>) -> TestCase {
        let input = match &self.input {
            Some(path) => lookup(&fields, path).cloned().unwrap_or(Value::Null),
            None => Value::Object(fields.clone()),
        };
        let mut references = Vec::new();
        for path in &self.references {
            match lookup(&fields, path) {
                None | Some(Value::Null) => {}
                Some(Value::Array(several)) => references.extend(several.iter().cloned()),
                Some(one) => references.push(one.clone()),
            }
        }
        TestCase { index, key, input, references, fields }
    }
}

impl ScopedStore {
    /// Keeps a version, with the hash of the source it was made from.
    pub async fn save_dataset(
        &self,
        version: &DatasetVersion,
        source_hash: &ContentHash,
    ) -> Result<(), StoreError> {
        let manifest = serde_json::to_string(version)
            .map_err(|error| StoreError::Damaged(format!("data set: {error}")))?;
        let keeper = self.text_keeper().await?;
        let manifest = keeper.kept(&CONTENT_MANIFEST, &[&version.hash], manifest)?;
        let row = dataset_content::ActiveModel {
            organization_id: Set(self.organization.0),
            content_hash: Set(version.hash.to_string()),
            source_hash: Set(source_hash.to_string()),
            manifest: Set(manifest),
            cases: Set(version.cases as i64),
            created_at: Set(now_milliseconds()),
        };
        let same = OnConflict::columns([
            dataset_content::Column::OrganizationId,
            dataset_content::Column::ContentHash,
        ])
        .update_columns([
            dataset_content::Column::SourceHash,
            dataset_content::Column::Manifest,
            // One that nobody names goes a day after it was last kept.
            dataset_content::Column::CreatedAt,
        ])
        .to_owned();
        dataset_content::Entity::insert(row)
            .on_conflict(same)
            .exec_without_returning(&self.database)
            .await?;
        // A block that another data set had, too, may have been removed with it before this one named it.
        let objects = self.objects().await?;
        if objects.contains_all(version.blocks.iter().map(|block| block.hash)) {
            return Ok(());
        }
        match version.blocks.iter().find(|block| !objects.contains(&block.hash)) {
            Some(block) => Err(StoreError::FileNotFound(format!("objects/{}", block.hash))),
            None => Ok(()),
        }
    }

    /// The version of this hash.
    pub async fn dataset(&self, hash: &ContentHash) -> Result<DatasetVersion, StoreError> {
        let found = dataset_content::Entity::find()
            .filter(dataset_content::Column::OrganizationId.eq(self.organization.0))
            .filter(dataset_content::Column::ContentHash.eq(hash.to_string()))
            .one(&self.database)
            .await?;
        let row = found.ok_or_else(|| StoreError::Damaged(format!("data set {hash} is gone")))?;
        self.opened_dataset(row).await
    }

    async fn opened_dataset(
        &self,
        row: dataset_content::Model,
    ) -> Result<DatasetVersion, StoreError> {
        let opener = self.opener([row.manifest.as_str()]).await?;
        let manifest = opener.open(&CONTENT_MANIFEST, &[&row.content_hash], row.manifest)?;
        let version: DatasetVersion = serde_json::from_str(&manifest.text).map_err(|error| {
            StoreError::Damaged(format!("data set {}: {error}", row.content_hash))
        })?;
        Ok(DatasetVersion { texts_deleted: manifest.is_deleted, ..version })
    }

    /// The version made from this source before, if all its blocks are still there and can be read. It is there for another day
    /// at least, so that it can be named.
    pub async fn dataset_of_source(
        &self,
        source_hash: &ContentHash,
    ) -> Result<Option<DatasetVersion>, StoreError> {
        let found = dataset_content::Entity::find()
            .filter(dataset_content::Column::OrganizationId.eq(self.organization.0))
            .filter(dataset_content::Column::SourceHash.eq(source_hash.to_string()))
            .one(&self.database)
            .await?;
        let Some(row) = found else { return Ok(None) };
        let sql = "UPDATE dataset_contents SET created_at = $3 \
             WHERE organization_id = $1 AND content_hash = $2";
        let values = vec![
            self.organization.0.into(),
            row.content_hash.clone().into(),
            now_milliseconds().into(),
        ];
        if self.database.execute_raw(self.statement(sql, values)).await?.rows_affected() == 0 {
            return Ok(None);
        }
        let version = self.opened_dataset(row).await.ok();
        let objects = self.objects().await?;
        let complete = |version: &DatasetVersion| {
            let first = version.blocks.first().map(|block| objects.get(&block.hash));
            !version.texts_deleted
                && !matches!(first, Some(Err(StoreError::TextsDeleted)))
                && objects.contains_all(version.blocks.iter().map(|block| block.hash))
        };
        Ok(version.filter(complete))
    }

    /// A reader of a version's cases.
    pub async fn cases(&self, version: Arc<DatasetVersion>) -> Result<CaseReader, StoreError> {
        Ok(CaseReader::new(self.objects().await?, version))
    }
}
