//! `fullbench dataset dedupe`: the texts of data sets as vectors, and which of them are near each other.

use std::path::Path;

use fullbench_embed::{Embedder, ModelChoice};
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
    let embedder = ModelChoice::named(&arguments.model).embedder()?;
    let distinct = DistinctTexts::of(&cases);
    let embedded = Embedded::of(embedder.as_ref(), &distinct, &arguments.file).await?;
    let mut truncated = embedded.truncated;
    let kind = match (&arguments.against, &others) {
        (Some(path), Some(others)) => {
            let sources = DistinctTexts::of(others);
            let known = Embedded::of(embedder.as_ref(), &sources, path).await?;
            truncated += known.truncated;
            let leaks =
                distinct.leaks(&embedded.vectors, &sources, &known.vectors, arguments.threshold)?;
            Kind::Leaks { against: path.clone(), against_cases: others.len(), leaks }
        }
        _ => Kind::Groups { groups: distinct.groups(&embedded.vectors, arguments.threshold)? },
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

/// The vectors of texts.
struct Embedded {
    vectors: Vec<Vec<f32>>,
    truncated: usize,
}

impl Embedded {
    /// Embeds texts with a bar on stderr.
    async fn of(
        embedder: &dyn Embedder,
        distinct: &DistinctTexts<'_>,
        file: &Path,
    ) -> Result<Self, CliError> {
        let texts = distinct.texts();
        let bar = ProgressBar::new(texts.len() as u64);
        if let Ok(style) =
            ProgressStyle::with_template("{bar:40} {pos}/{len} texts {per_sec} {eta} {msg}")
        {
            bar.set_style(style);
        }
        bar.set_message(file.display().to_string());
        let mut embedded = Self { vectors: Vec::with_capacity(texts.len()), truncated: 0 };
        for part in texts.chunks(TEXTS_AT_ONCE) {
            for embedding in embedder.embed(part).await? {
                embedded.truncated += usize::from(embedding.truncated);
                embedded.vectors.push(embedding.vector);
            }
            bar.inc(part.len() as u64);
        }
        bar.finish_and_clear();
        Ok(embedded)
    }
}
