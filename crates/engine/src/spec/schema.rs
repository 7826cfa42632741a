//! The JSON Schema of the evaluation file, generated from its types.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::EvaluationFile;

/// The schema editors use to complete and check `fullbench.yaml`.
#[must_use]
pub fn evaluation_schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    generator.into_root_schema_for::<EvaluationFile>().to_value()
}
