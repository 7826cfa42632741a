//! Results one by one: for export, for a single case, for the HTML report.

use std::collections::BTreeMap;
use std::io::{BufWriter, Stdout, Write};
use std::sync::Arc;

use fullbench_engine::{metadata_fields, stored_spec};
use fullbench_store::{
    CaseReader, DatasetVersion, RunRecord, ScopedStore, ScoreEntry, StoreError, UnitResult,
};
use fullbench_types::{Generation, Score, TestCase, UnitFailure};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::ExportFormat;
use crate::failure::CliError;
use crate::output::evidence;

/// What it takes to give a result its names back.
pub(crate) struct RunContext {
    run: String,
    models: Vec<String>,
    scorers: Vec<(String, [u8; 16])>,
    metadata: Vec<String>,
    cases: CaseReader,
}

/// One result with names instead of indexes.
#[derive(Serialize)]
pub(crate) struct NamedResult<'unit> {
    pub(crate) run: String,
    pub(crate) case: &'unit str,
    pub(crate) model: String,
    pub(crate) repetition: u32,
    pub(crate) input: Value,
    pub(crate) references: Vec<Value>,
    pub(crate) metadata: serde_json::Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) generation: Option<&'unit Generation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<&'unit UnitFailure>,
    pub(crate) scores: BTreeMap<String, &'unit Score>,
}

impl RunContext {
    /// The names of a run.
    pub(crate) async fn new(
        store: &ScopedStore,
        run: &RunRecord,
        dataset: Arc<DatasetVersion>,
    ) -> Result<Self, CliError> {
        let spec = stored_spec(store, run).await?;
        let mut scorers = Vec::new();
        for config in &spec.scorers {
            let scorer = fullbench_score::build(config)
                .map_err(|error| CliError::internal(error.message))?;
            scorers.push((scorer.name, scorer.hash.short()));
        }
        Ok(Self {
            run: run.id.to_string(),
            models: spec.models.iter().map(fullbench_llm::ModelConfig::display_name).collect(),
            scorers,
            metadata: metadata_fields(&spec, &dataset),
            cases: store.cases(dataset).await?,
        })
    }

    /// The scorers' names in the order of the spec.
    pub(crate) fn scorer_names(&self) -> Vec<String> {
        self.scorers.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The scores of a unit in the order of the spec.
    pub(crate) fn scores<'unit>(
        &'unit self,
        unit: &'unit UnitResult,
    ) -> impl Iterator<Item = (&'unit str, Option<&'unit ScoreEntry>)> {
        let find = |hash: &[u8; 16]| unit.scores.iter().find(|entry| entry.scorer == *hash);
        self.scorers.iter().map(move |(name, hash)| (name.as_str(), find(hash)))
    }

    /// The cases are gone with the key that they were sealed with.
    pub(crate) fn are_cases_deleted(&mut self) -> bool {
        matches!(self.cases.case(0), Err(StoreError::TextsDeleted))
    }

    /// The case of a unit.
    pub(crate) fn case(&mut self, unit: &UnitResult) -> Result<TestCase, CliError> {
        Ok(self.cases.case(unit.key.case_index)?)
    }

    /// The fields of a case that are metadata.
    pub(crate) fn metadata(&self, case: &TestCase) -> serde_json::Map<String, Value> {
        let value = |name: &String| Some((name.clone(), case.field(name)?.clone()));
        self.metadata.iter().filter_map(value).collect()
    }

    /// A result with its names.
    pub(crate) fn result<'unit>(
        &mut self,
        unit: &'unit UnitResult,
    ) -> Result<NamedResult<'unit>, CliError> {
        let case = self.case(unit)?;
        let find = |hash: &[u8; 16]| unit.scores.iter().find(|entry| entry.scorer == *hash);
        let scores =
            self.scorers.iter().filter_map(|(name, hash)| Some((name.clone(), &find(hash)?.score)));
        Ok(NamedResult {
            run: self.run.clone(),
            case: &unit.case_key,
            model: self.models.get(unit.key.model_index as usize).cloned().unwrap_or_default(),
            repetition: unit.key.repetition,
            metadata: self.metadata(&case),
            input: case.input,
            references: case.references,
            generation: unit.result.as_ref().ok(),
            failure: unit.result.as_ref().err(),
            scores: scores.collect(),
        })
    }
}

/// A result for people.
pub(crate) fn as_text(result: &NamedResult<'_>) -> String {
    let shown = |value: &Value| fullbench_types::text_of(value).into_owned();
    let mut text =
        format!("case {} · {} · repetition {}\n\n", result.case, result.model, result.repetition);
    text.push_str(&format!("input:\n{}\n\n", shown(&result.input)));
    for reference in &result.references {
        text.push_str(&format!("reference:\n{}\n\n", shown(reference)));
    }
    match (result.generation, result.failure) {
        (Some(generation), _) => text.push_str(&format!("output:\n{}\n\n", generation.text)),
        (None, Some(failure)) => {
            text.push_str(&format!("no answer: {}: {}\n\n", failure.reason, failure.message))
        }
        (None, None) => {}
    }
    for (name, score) in &result.scores {
        let value = score.value.map_or_else(|| "–".to_owned(), |value| format!("{value:.4}"));
        let reason =
            score.outcome.reason().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let why = score.reasoning.as_deref().map(|why| format!(" · {why}")).unwrap_or_default();
        text.push_str(&format!("{name}: {value} {}{reason}{why}\n", score.outcome.as_str()));
        for line in evidence::lines(score) {
            text.push_str(&format!("    {}: {}\n", line.label, line.text));
        }
    }
    text.push('\n');
    text
}

/// Writes results to stdout as they come.
pub(crate) struct ResultWriter {
    format: ExportFormat,
    scorers: Vec<String>,
    written: u64,
    out: BufWriter<Stdout>,
}

impl ResultWriter {
    /// A writer of a format.
    pub(crate) fn new(format: ExportFormat, scorers: Vec<String>) -> Self {
        Self { format, scorers, written: 0, out: BufWriter::new(std::io::stdout()) }
    }

    /// Writes one result.
    pub(crate) fn write(&mut self, result: &NamedResult<'_>) -> Result<(), CliError> {
        match self.format {
            ExportFormat::Jsonl => {
                serde_json::to_writer(&mut self.out, result)?;
                writeln!(self.out)?;
            }
            ExportFormat::Json => {
                self.out.write_all(if self.written == 0 { b"[\n" } else { b",\n" })?;
                serde_json::to_writer(&mut self.out, result)?;
            }
            ExportFormat::Csv => self.write_row(result)?,
        }
        self.written += 1;
        Ok(())
    }

    /// Ends the document.
    pub(crate) fn finish(mut self) -> Result<(), CliError> {
        if self.format == ExportFormat::Json {
            self.out.write_all(if self.written == 0 { b"[]\n" } else { b"\n]\n" })?;
        }
        Ok(self.out.flush()?)
    }

    /// One JSON line at once.
    pub(crate) fn write_json_line(result: &NamedResult<'_>) -> Result<(), CliError> {
        let mut writer = Self::new(ExportFormat::Jsonl, Vec::new());
        writer.write(result)?;
        writer.finish()
    }

    fn write_row(&mut self, result: &NamedResult<'_>) -> Result<(), CliError> {
        let mut writer = csv::Writer::from_writer(&mut self.out);
        if self.written == 0 {
            let mut header: Vec<String> = [
                "case",
                "model",
                "repetition",
                "input",
                "reference",
                "output",
                "failure",
                "latency_ms",
                "cost_usd",
                "cached",
            ]
            .map(str::to_owned)
            .to_vec();
            for name in &self.scorers {
                header.extend([name.clone(), format!("{name}_outcome"), format!("{name}_reason")]);
            }
            writer.write_record(&header)?;
        }
        let shown = |value: &Value| fullbench_types::text_of(value).into_owned();
        let generation = result.generation;
        let mut row = vec![
            result.case.to_owned(),
            result.model.clone(),
            result.repetition.to_string(),
            shown(&result.input),
            result.references.first().map(shown).unwrap_or_default(),
            generation.map(|generation| generation.text.clone()).unwrap_or_default(),
            result.failure.map(|failure| failure.reason.to_string()).unwrap_or_default(),
            generation
                .map(|generation| (generation.latency_us as f64 / 1000.0).to_string())
                .unwrap_or_default(),
            generation
                .and_then(|generation| generation.cost)
                .map(|cost| cost.dollars().to_string())
                .unwrap_or_default(),
            generation.map(|generation| generation.cached.to_string()).unwrap_or_default(),
        ];
        for name in &self.scorers {
            let score = result.scores.get(name);
            row.push(
                score
                    .and_then(|score| score.value)
                    .map(|value| value.to_string())
                    .unwrap_or_default(),
            );
            row.push(score.map(|score| score.outcome.as_str().to_owned()).unwrap_or_default());
            let reason =
                score.and_then(|score| score.outcome.reason()).map(|reason| reason.to_string());
            row.push(
                reason
                    .or_else(|| score.and_then(|score| score.reasoning.clone()))
                    .unwrap_or_default(),
            );
        }
        writer.write_record(&row)?;
        Ok(writer.flush()?)
    }
}
