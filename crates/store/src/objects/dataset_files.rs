//! Uploaded files of data sets: the URI that people see, and the key that the objects know a file by.

use fullbench_types::OrganizationId;

use crate::{ObjectStore, StoreError};

/// What the URIs of files in a folder begin with: where the folder is, is nobody's business.
const IN_FOLDER: &str = "file://datasets/";

impl ObjectStore {
    /// The key of a file: data set, version and name, within the organization. These are the last parts of its URI, wherever
    /// the objects were when it was made.
    pub fn dataset_file_key(organization: OrganizationId, uri: &str) -> Result<String, StoreError> {
        let mut parts = uri.rsplitn(4, '/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(name), Some(version), Some(dataset)) => {
                Ok(format!("{}/{dataset}/{version}/{name}", organization.0))
            }
            _ => Err(StoreError::FileName(uri.to_owned())),
        }
    }

    /// The URI of the file of that key, among these objects.
    #[must_use]
    pub fn dataset_file_uri(&self, key: &str) -> String {
        let place = self.file_uri(key);
        match key.split_once('/') {
            Some((_, name)) if place.starts_with("file://") => format!("{IN_FOLDER}{name}"),
            _ => place,
        }
    }
}
