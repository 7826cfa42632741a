//! `fullbench judge check`.

use std::path::PathBuf;

use clap::Args;
use fullbench_engine::LabelScale;

use super::{ControlArguments, PlainFormat};

/// Can this judge be trusted? Puts labelled answers before it, and probes made of them, and says how far it agrees with
/// people, how steady it is, and what moves it that should not.
///
/// The data has the columns `input`, `output` and `human` (what people said: numbers on the criterion's scale, or pass and
/// fail), and may have `id`, `system` (who answered), `group`, `annotator` (one row for each person, with the same id),
/// `reference` and `context`. Rows without a label count for the corrected mean. The check is a run: it is kept, resumed
/// with `fullbench resume`, and its card shown again with `--run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fullbench judge check strict --data labelled.csv
  fullbench judge check strict --data labelled.csv --correct --html card.html
  fullbench judge check my_panel --from evaluation.yaml --data labelled.csv --sample 10 --budget 2
  fullbench judge check --run latest --output json")]
pub(crate) struct CheckArguments {
    /// The judge: a stored one, or with --from the name of a scorer in a file
    #[arg(required_unless_present = "run", conflicts_with = "run")]
    pub(crate) judge: Option<String>,

    /// Answers that people rated: a csv, tsv, json, jsonl or parquet file
    #[arg(long, value_name = "FILE", required_unless_present = "run", conflicts_with = "run")]
    pub(crate) data: Option<PathBuf>,

    /// Take the judge from the scorers of this file, which may be an evaluation file
    #[arg(long, value_name = "FILE", conflicts_with = "run")]
    pub(crate) from: Option<PathBuf>,

    /// Show the card of a check that was run before, and ask nothing
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// The column with what people said
    #[arg(long, value_name = "COLUMN", default_value = "human", conflicts_with = "run")]
    pub(crate) label: String,

    /// The worst and the best number people could give, such as `1,10` [default: the criterion's scale]
    #[arg(long, value_name = "MIN,MAX", value_parser = scale, allow_hyphen_values = true, conflicts_with = "run")]
    pub(crate) scale: Option<LabelScale>,

    /// Answers that are asked about again, padded, formatted otherwise and compared in both orders; 0 for none of it
    #[arg(long, value_name = "COUNT", default_value_t = 30, conflicts_with = "run")]
    pub(crate) sample: usize,

    /// How often each of them is asked about again
    #[arg(long, value_name = "COUNT", default_value_t = 2, conflicts_with = "run")]
    pub(crate) retests: u32,

    /// Try no attacks
    #[arg(long, conflicts_with = "run")]
    pub(crate) no_attacks: bool,

    /// A system that is of the judge's own family, where its name does not tell
    #[arg(long, value_name = "SYSTEM")]
    pub(crate) own: Vec<String>,

    /// Also give the mean corrected by the human labels (PPI++), with its interval and the labels still needed
    #[arg(long)]
    pub(crate) correct: bool,

    /// With --correct: how far the corrected mean may be off, from 0 to 1 whatever the scale
    #[arg(long, value_name = "HALF_WIDTH", default_value_t = 0.05, value_parser = half_width, requires = "correct")]
    pub(crate) precision: f64,

    /// Confidence of the intervals
    #[arg(long, value_name = "LEVEL", default_value_t = 0.95, value_parser = confidence)]
    pub(crate) confidence: f64,

    /// What is drawn at random is drawn by this seed
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// How the card is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,

    /// Also write the card as a self-contained HTML page with plots
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) control: ControlArguments,
}

fn scale(said: &str) -> Result<LabelScale, String> {
    let hint = "write the worst and the best number, such as `1,5`";
    let (min, max) = said.split_once(',').ok_or_else(|| hint.to_owned())?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    match (number(min), number(max)) {
        (Some(min), Some(max)) if min < max => Ok(LabelScale { min, max }),
        _ => Err(hint.to_owned()),
    }
}

fn half_width(said: &str) -> Result<f64, String> {
    let number = said.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1.0);
    number.ok_or_else(|| "it lies between 0 and 1, such as 0.05".to_owned())
}

fn confidence(said: &str) -> Result<f64, String> {
    let number = said.parse::<f64>().ok().filter(|number| *number > 0.5 && *number < 1.0);
    number.ok_or_else(|| "it lies between 0.5 and 1, such as 0.95".to_owned())
}
