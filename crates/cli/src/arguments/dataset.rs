//! The arguments of `fullbench dataset`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct DatasetArguments {
    #[command(subcommand)]
    pub(crate) command: DatasetCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DatasetCommand {
    /// Find cases that say nearly the same, inside a data set or between two
    Dedupe(DedupeArguments),
}

/// Find cases that say nearly the same, inside a data set or between two
///
/// Texts are compared by the cosine of their sentence embeddings, made on this machine. Within one data set the cases
/// are shown in groups, in which one is linked to the next, and those that could go because an earlier case that stays says
/// nearly the same; with --against, those cases are shown that are nearly in the other data set as well, such as
/// test cases that a model may have been trained on. Nothing is changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench dataset dedupe data/questions.jsonl
  fullbench dataset dedupe test.csv --against train.parquet --field question
  fullbench dataset dedupe data/questions.jsonl --threshold 0.9 --check      in CI: exit code 1 when any are found")]
pub(crate) struct DedupeArguments {
    /// The data set: csv, tsv, json, jsonl or parquet
    pub(crate) file: PathBuf,

    /// Another data set, whose cases must not be in this one
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,

    /// The field whose texts are compared; of a conversation the contents of its messages [default: input]
    #[arg(long)]
    pub(crate) field: Option<String>,

    /// That field in the other data set [default: the same]
    #[arg(long, value_name = "FIELD", requires = "against")]
    pub(crate) against_field: Option<String>,

    /// Cases are near from this cosine on
    #[arg(long, default_value_t = 0.95, value_name = "COSINE", value_parser = threshold)]
    pub(crate) threshold: f64,

    /// The model of sentence embeddings: weights that `fullbench weights list` shows, a folder, or a provider's model such
    /// as openai:text-embedding-3-small
    #[arg(long, default_value = fullbench_embed::DEFAULT_MODEL, value_name = "NAME")]
    pub(crate) model: String,

    /// Where the provider is served, when not at its usual address
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,

    /// The environment variable with the provider's key, when not the usual one
    #[arg(long, value_name = "NAME")]
    pub(crate) api_key_env: Option<String>,

    /// End with exit code 1 when any are found
    #[arg(long)]
    pub(crate) check: bool,

    /// How they are printed
    #[arg(short, long, value_enum, default_value_t = DedupeFormat::Table)]
    pub(crate) output: DedupeFormat,
}

/// Formats of the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DedupeFormat {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// Comma-separated values, a case a line
    Csv,
}

fn threshold(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value <= 1.0 => Ok(value),
        _ => Err("write a number above 0, up to 1".to_owned()),
    }
}
