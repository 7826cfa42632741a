//! Versions of data sets without an upload.

use fullbench_store::{
    DatasetWriter, FieldMapping, NewDataset, NewVersion, ScopedStore, VersionValidation,
};
use fullbench_types::{ContentHash, DatasetKind, FileFormat, VersionStatus};
use serde_json::{Value, json};
use uuid::Uuid;

/// A version with these rows, as uploading one leaves it.
pub(crate) async fn version(store: &ScopedStore, rows: impl Iterator<Item = Value>) -> Uuid {
    let mut writer = DatasetWriter::new(store.objects().await.unwrap());
    for (index, row) in rows.enumerate() {
        writer.push(&format!("k{index}"), row.as_object().unwrap()).unwrap();
    }
    let mapping =
        FieldMapping { input: Some("input".to_owned()), references: vec!["reference".to_owned()] };
    let fields = ["input", "reference", "output", "kind"].map(str::to_owned).to_vec();
    let content = writer.finish("numbers".to_owned(), fields, mapping).unwrap();
    let source = ContentHash::of(Uuid::now_v7().as_bytes());
    store.save_dataset(&content, &source).await.unwrap();
    let (dataset, id) = (Uuid::now_v7(), Uuid::now_v7());
    let new = NewDataset {
        id: dataset,
        name: dataset.to_string(),
        description: None,
        kind: DatasetKind::Evaluation,
        tags: Vec::new(),
        created_by: None,
    };
    store.create_dataset(new).await.unwrap();
    let new = NewVersion {
        id,
        dataset,
        description: None,
        file_uri: "file://numbers".to_owned(),
        file_format: FileFormat::Jsonl,
        file_bytes: 1,
        file_hash: "0".repeat(64),
        reading: json!({}),
        created_by: None,
        quota: None,
    };
    store.add_version(new).await.unwrap();
    let found = VersionValidation {
        rows: content.cases,
        schema_hash: "0".repeat(64),
        errors: json!([]),
        columns: json!([]),
        content: Some(content.hash),
        ..VersionValidation::default()
    };
    store.set_validation(id, found).await.unwrap();
    store.set_version_status(id, None, VersionStatus::Published).await.unwrap();
    id
}
