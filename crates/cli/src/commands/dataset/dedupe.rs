//! `fullbench dataset dedupe`: the texts of data sets as vectors, and which of them are near each other.

use std::path::Path;

use fullbench_embed::{Embedder, Embedding, ModelChoice};
use fullbench_engine::{DistinctTexts, read_texts};
use indicatif::{ProgressBar, ProgressStyle};

use super::findings::{Findings, Kind};
use crate::arguments::dataset::DedupeArguments;
use crate::failure::{CliError, Exit};
use crate::progress::write_line;

/// Texts embedded between two steps of the progress bar.
const TEXTS_AT_ONCE: usize = 1_024;

/// Finds near-duplicates inside a data set, or leaks between two.
pub(super) async fn run(arguments: &DedupeArguments) -> Result<Exit, CliError> {
    let field = arguments.field.as_deref();
    let cases = read_texts(&arguments.file, field)?;
    let other_field = arguments.against_field.as_deref().or(field);
    let others = match &arguments.against {
        Some(path) => Some(read_texts(path, other_field)?),
        None => None,
    };
    let choice = ModelChoice {
        model: arguments.model.clone(),
        base_url: arguments.base_url.clone(),
        api_key_env: arguments.api_key_env.clone(),
        dimensions: None,
    };
    let embedder = choice.embedder()?;
    let distinct = DistinctTexts::of(&cases);
    let embedded = embed(embedder.as_ref(), &distinct, &arguments.file).await?;
    let mut truncated = count_truncated(&embedded);
    let kind = match (&arguments.against, &others) {
        (Some(path), Some(others)) => {
            let sources = DistinctTexts::of(others);
            let known = embed(embedder.as_ref(), &sources, path).await?;
            truncated += count_truncated(&known);
            let leaks = distinct.leaks(&embedded, &sources, &known, arguments.threshold)?;
            Kind::Leaks { against: path.clone(), against_cases: others.len(), leaks }
        }
        _ => Kind::Groups { groups: distinct.groups(&embedded, arguments.threshold)? },
    };
    let findings = Findings {
        file: arguments.file.clone(),
        cases: cases.len(),
        threshold: arguments.threshold,
        signature: embedder.signature(),
        truncated,
        kind,
    };
    findings.print(arguments.output)?;
    if truncated > 0 {
        write_line(&format!(
            "note: {truncated} texts are longer than the model reads; only their beginnings were compared"
        ));
    }
    let found = findings.count() > 0;
    Ok(if found && arguments.check { Exit::GateFailed } else { Exit::Fine })
}

fn count_truncated(embeddings: &[Embedding]) -> usize {
    embeddings.iter().filter(|embedding| embedding.truncated).count()
}

/// Embeds texts with a bar on stderr.
async fn embed(
    embedder: &dyn Embedder,
    distinct: &DistinctTexts<'_>,
    file: &Path,
) -> Result<Vec<Embedding>, CliError> {
    let texts = distinct.texts();
    let bar = ProgressBar::new(texts.len() as u64);
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {pos}/{len} texts {per_sec} {eta} {msg}")
    {
        bar.set_style(style);
    }
    bar.set_message(file.display().to_string());
    let mut embeddings = Vec::with_capacity(texts.len());
    for part in texts.chunks(TEXTS_AT_ONCE) {
        embeddings.extend(embedder.embed(part).await?);
        bar.inc(part.len() as u64);
    }
    bar.finish_and_clear();
    Ok(embeddings)
}
