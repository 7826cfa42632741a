//! Tables as they were when a migration made them: those of today have more columns, which later migrations add.

pub(super) mod api_key;
pub(super) mod dataset_version;
pub(super) mod user;
