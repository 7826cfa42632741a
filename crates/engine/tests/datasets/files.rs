//! A folder with files and blocks, inspected as a server would.

use std::path::PathBuf;
use std::sync::Arc;

use fullbench_engine::{FileFormat, InspectOptions, InspectedCase, Inspection, inspect_file};
use fullbench_store::{CaseReader, DatasetVersion, ObjectStore};
use serde_json::{Map, Value};

pub(crate) struct Folder(pub(crate) tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn objects(&self) -> ObjectStore {
        ObjectStore::in_folder(self.0.path()).unwrap()
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Inspects a file of this content, whose format the name tells, and gives the cases as well.
    pub(crate) fn inspect_with(
        &self,
        name: &str,
        content: impl AsRef<[u8]>,
        options: &InspectOptions,
    ) -> (Inspection, Vec<InspectedCase>) {
        let path = self.file(name, content);
        let format = FileFormat::of_path(name).unwrap();
        let mut cases = Vec::new();
        let inspection = inspect_file(&path, format, options, self.objects(), &mut |case| {
            cases.push(case);
            Ok(())
        });
        (inspection.unwrap(), cases)
    }

    pub(crate) fn inspect(
        &self,
        name: &str,
        content: impl AsRef<[u8]>,
    ) -> (Inspection, Vec<InspectedCase>) {
        self.inspect_with(name, content, &InspectOptions::default())
    }

    /// The version of rows without problems.
    pub(crate) fn version(&self, rows: &[Value]) -> Arc<DatasetVersion> {
        let (inspection, _) = self.inspect("cases.jsonl", lines(rows));
        assert_eq!(inspection.problems, []);
        Arc::new(inspection.version.unwrap())
    }

    pub(crate) fn reader(&self, version: &Arc<DatasetVersion>) -> CaseReader {
        CaseReader::new(self.objects(), version.clone())
    }

    /// The rows of a version as they are kept.
    pub(crate) fn rows(&self, version: DatasetVersion) -> Vec<Map<String, Value>> {
        let version = Arc::new(version);
        let mut reader = self.reader(&version);
        (0..version.cases).map(|index| reader.case(index).unwrap().fields).collect()
    }
}

pub(crate) fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// Codes of the problems with their rows and columns.
pub(crate) fn told(inspection: &Inspection) -> Vec<(Option<u64>, &'static str, Option<&str>)> {
    let problems = inspection.problems.iter();
    problems
        .map(|problem| (problem.row, problem.code.as_str(), problem.column.as_deref()))
        .collect()
}
