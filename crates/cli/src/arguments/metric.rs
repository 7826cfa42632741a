//! The arguments of `fullbench metric`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

/// Score text files by a metric, with intervals and paired tests, as sacreBLEU does
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench metric bleu --hyp output.txt --ref reference.txt
  fullbench metric chrf --word-order 2 --hyp a.txt --hyp b.txt --ref r1.txt --ref r2.txt
  fullbench metric rouge_l --stemmer --hyp output.txt --ref reference.txt --level sentence --output csv
  fullbench metric bert_score --hyp output.txt --ref reference.txt      after `fullbench weights pull all-minilm-l6-v2`")]
pub(crate) struct MetricArguments {
    /// The metric
    #[arg(value_enum)]
    pub(crate) metric: MetricName,

    /// A file of outputs, one a line; `-` is standard input. With several, the others are tested against the first
    #[arg(long = "hyp", value_name = "FILE", required = true)]
    pub(crate) hypotheses: Vec<PathBuf>,

    /// A file of references, one a line; with several, each output has several references
    #[arg(long = "ref", value_name = "FILE", required = true)]
    pub(crate) references: Vec<PathBuf>,

    /// One number for each file, or one for each line
    #[arg(long, value_enum, default_value_t = Level::Corpus)]
    pub(crate) level: Level,

    /// Resamples for the 95% intervals and the paired bootstrap; 0 makes none
    #[arg(long, default_value_t = 1000, value_name = "COUNT", value_parser = samples)]
    pub(crate) samples: usize,

    /// The test of several systems against the first
    #[arg(long, value_enum, default_value_t = PairedTest::Bootstrap)]
    pub(crate) test: PairedTest,

    /// Trials of the test by randomization
    #[arg(long, default_value_t = 10_000, value_name = "COUNT", value_parser = trials)]
    pub(crate) trials: usize,

    /// Seed of everything random
    #[arg(long, default_value_t = 12345)]
    pub(crate) seed: u64,

    /// How the numbers are printed
    #[arg(short, long, value_enum, default_value_t = MetricFormat::Table)]
    pub(crate) output: MetricFormat,

    #[command(flatten)]
    pub(crate) options: MetricOptions,
}

/// Options of the metrics; each is refused where the metric does not have it.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Options of the metrics")]
pub(crate) struct MetricOptions {
    /// bleu: how texts are split: 13a, intl, char, zh or none [default: 13a]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,

    /// bleu: orders without a match: exp, floor, add-k or none [default: exp]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothing: Option<String>,

    /// bleu: value of the smoothing floor or add-k
    #[arg(long, value_name = "VALUE", value_parser = smoothing_value)]
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothing_value: Option<f64>,

    /// bleu: leave out orders for which a text is too short [default: on for lines, off for files]
    #[arg(long, value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    effective_order: Option<bool>,

    /// bleu: longest n-grams [default: 4]
    #[arg(long, value_name = "ORDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_order: Option<usize>,

    /// bleu, chrf: take small and capital letters as the same
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    lowercase: bool,

    /// chrf: longest n-grams of characters [default: 6]
    #[arg(long, value_name = "ORDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    char_order: Option<usize>,

    /// chrf: longest n-grams of words; 2 is chrF++ [default: 0]
    #[arg(long, value_name = "ORDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    word_order: Option<usize>,

    /// chrf: how many times as important recall is as precision [default: 2]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    beta: Option<u32>,

    /// chrf: count white space as characters
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    whitespace: bool,

    /// chrf: count orders for which a text is too short as nearly zero
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    eps_smoothing: bool,

    /// ter: set punctuation apart from words, as Tercom does
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    normalized: bool,

    /// ter: leave out punctuation
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    no_punctuation: bool,

    /// ter: take ideographs as words, leave out Asian punctuation
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    asian_support: bool,

    /// ter: tell small from capital letters
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    case_sensitive: bool,

    /// rouge: compare the stems of English words
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    stemmer: bool,

    /// semantic_similarity, bert_score: weights that `fullbench weights list` shows, or a folder; semantic_similarity also
    /// a provider's model such as openai:text-embedding-3-small [default: all-minilm-l6-v2]
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,

    /// semantic_similarity: where the provider is served, when not at its usual address
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,

    /// semantic_similarity: the environment variable with the provider's key, when not the usual one
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_env: Option<String>,

    /// bert_score: the layer whose values are compared [default: the one tuned for the model, or the last]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<usize>,

    /// bert_score: f1, precision or recall [default: f1]
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<String>,

    /// bert_score: let words that are rare among the references count more
    #[arg(long)]
    #[serde(skip_serializing_if = "is_false")]
    idf: bool,

    /// bert_score: rescale by the baseline of the layer in this file, with lines `LAYER,P,R,F`
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_file: Option<PathBuf>,
}

/// None, or enough of them for an interval.
fn samples(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ (0 | 100..=1_000_000)) => Ok(count),
        _ => Err("write 0, or a number from 100 to 1000000".to_owned()),
    }
}

fn trials(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 100..=10_000_000) => Ok(count),
        _ => Err("write a number from 100 to 10000000".to_owned()),
    }
}

fn smoothing_value(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("write a number that is not negative".to_owned()),
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum MetricName {
    /// BLEU of sacreBLEU, 0 to 100
    Bleu,
    /// chrF of sacreBLEU, 0 to 100
    Chrf,
    /// Translation edit rate of sacreBLEU; lower is better
    Ter,
    /// F1 of words in common, as google's rouge_score
    #[value(name = "rouge_1")]
    Rouge1,
    /// F1 of pairs of words in common
    #[value(name = "rouge_2")]
    Rouge2,
    /// F1 of the longest common subsequence
    RougeL,
    /// The same for summaries, whose lines are separated by `\n`, a backslash and an n
    RougeLsum,
    /// F1 of words as in SQuAD
    TokenF1,
    /// Share of lines that are equal as in SQuAD
    SquadExactMatch,
    /// One minus the Levenshtein distance over the longer length
    EditSimilarity,
    /// Words in common over all words
    Jaccard,
    /// Cosine of word counts
    BagCosine,
    /// Cosine of sentence embeddings, by a model on this machine
    SemanticSimilarity,
    /// Match of words by their meaning in the sentence, by a model on this machine
    BertScore,
}

/// What gets a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Each file
    Corpus,
    /// Each line
    Sentence,
}

/// Tests of systems against the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PairedTest {
    /// Paired bootstrap resampling (Koehn 2004)
    Bootstrap,
    /// Approximate randomization (Riezler and Maxwell 2005)
    Randomization,
}

/// Formats of the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricFormat {
    /// For people
    Table,
    /// One JSON document
    Json,
    /// Comma-separated values
    Csv,
}
