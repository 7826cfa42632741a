//! `fullbench review`.

use clap::{Args, Subcommand};

use super::PlainFormat;

#[derive(Debug, Args)]
pub(crate) struct ReviewArguments {
    #[command(subcommand)]
    pub(crate) command: ReviewCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// List what waits for a person: outputs with `human_review`, and criteria of scorecards that a person decides
    List(ListArguments),
    /// Give a score; it is kept beside the one before and counts from now on
    Score(ScoreArguments),
}

#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    /// How many to list at most
    #[arg(long, default_value_t = 50)]
    pub(crate) limit: usize,

    /// How to print
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArguments {
    /// The run: a baseline, its id, some letters of it, its name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,

    /// The case's id, as `fullbench review list` shows it
    #[arg(long, value_name = "ID")]
    pub(crate) case: String,

    /// The points, from 0 to the most that the scorer or the criterion allows
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true)]
    pub(crate) score: f64,

    /// Who gives the score
    #[arg(long, value_name = "NAME", env = "USER", value_parser = someone)]
    pub(crate) by: String,

    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,

    /// The model that answered, where the run has several
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,

    /// Which answer of the model, where it answered several times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) repetition: u32,

    /// The scorer, where several take scores of people
    #[arg(long, value_name = "NAME")]
    pub(crate) scorer: Option<String>,

    /// The criterion of a scorecard
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Option<String>,
}

fn someone(said: &str) -> Result<String, String> {
    let name = said.trim();
    if name.is_empty() {
        Err("a score has someone who gives it".to_owned())
    } else {
        Ok(name.to_owned())
    }
}
