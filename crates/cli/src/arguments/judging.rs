//! `fullbench criterion`, `fullbench threshold`, `fullbench judge`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::PlainFormat;
use fullbench_stats::validity::Goal;

use super::judge_check::CheckArguments;

#[derive(Debug, Args)]
pub(crate) struct CriterionArguments {
    #[command(subcommand)]
    pub(crate) command: CriterionCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CriterionCommand {
    /// List criteria: the built-in ones, and yours
    List(OutputArguments),
    /// Show a criterion with its rubric
    Show(NamedArguments),
    /// Add a criterion from a YAML or JSON file; --revise makes a new revision of one that is there
    Add(AddCriterionArguments),
    /// Show the revisions of a criterion
    History(NamedArguments),
}

#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// How to print
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

#[derive(Debug, Args)]
pub(crate) struct NamedArguments {
    /// The name
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) printing: OutputArguments,
}

#[derive(Debug, Args)]
pub(crate) struct AddCriterionArguments {
    /// The file: name, task_introduction, evaluation_criteria, scale, levels, needs_reference, needs_context
    pub(crate) file: PathBuf,

    /// Make a new revision of a criterion that is there; judges keep the revision they were made for
    #[arg(long)]
    pub(crate) revise: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThresholdArguments {
    #[command(subcommand)]
    pub(crate) command: ThresholdCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThresholdCommand {
    /// List the pass marks that hold now
    List(OutputArguments),
    /// Show the pass mark of a criterion
    Show(NamedArguments),
    /// Set the pass mark of a criterion from now on; what was judged before keeps the one it was judged by
    Add(AddThresholdArguments),
    /// Show every pass mark a criterion has had
    History(NamedArguments),
    /// Say how many stored results would change under another pass mark
    Effect(EffectArguments),
    Suggest(SuggestArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AddThresholdArguments {
    /// The criterion
    pub(crate) criterion: String,

    /// The pass mark, from 0 to 1 whatever the scale
    #[arg(allow_negative_numbers = true)]
    pub(crate) score: f64,

    /// Why it changes
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EffectArguments {
    /// The pass mark to try; each criterion's mark of today unless given
    #[arg(allow_negative_numbers = true)]
    pub(crate) score: Option<f64>,

    /// Only this criterion
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Option<String>,

    #[command(flatten)]
    pub(crate) printing: OutputArguments,
}

/// Find the pass mark that fits what people passed and failed
///
/// The labels are a file with the columns `id` and `label` (pass or fail), for answers whose judgements are stored; or with
/// `score` (0 to 1) and `label`, for scores of your own. A check of a judge (`fullbench judge check`) has labels already.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  fullbench threshold suggest helpfulness --labels labels.csv --run latest
  fullbench threshold suggest helpfulness --check latest --pass 4 --goal accuracy
  fullbench threshold suggest helpfulness --labels scores_and_labels.csv --goal cost=5")]
pub(crate) struct SuggestArguments {
    /// The criterion
    pub(crate) criterion: String,

    /// What people said: a csv, tsv, json, jsonl or parquet file
    #[arg(long, value_name = "FILE", required_unless_present = "check", conflicts_with = "check")]
    pub(crate) labels: Option<PathBuf>,

    /// Take labels and scores from this check of a judge
    #[arg(long, value_name = "RUN", requires = "pass")]
    pub(crate) check: Option<String>,

    /// With --check: the least label that is a pass, on the scale of the labels
    #[arg(
        long,
        value_name = "LABEL",
        requires = "check",
        conflicts_with = "labels",
        allow_negative_numbers = true
    )]
    pub(crate) pass: Option<f64>,

    /// Only judgements of this run
    #[arg(long, value_name = "RUN", conflicts_with = "check")]
    pub(crate) run: Option<String>,

    /// Only judgements of this stored judge; needed where several judged the same answers
    #[arg(long, value_name = "NAME", conflicts_with = "check")]
    pub(crate) judge: Option<String>,

    /// What makes a mark good: `balanced` (Youden), `accuracy`, `f1`, or `cost=RATIO`, where a wrong pass costs as much as RATIO wrong failures
    #[arg(long, value_name = "GOAL", default_value = "balanced", value_parser = goal)]
    pub(crate) goal: Goal,

    /// What is drawn at random is drawn by this seed
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) printing: OutputArguments,
}

fn goal(said: &str) -> Result<Goal, String> {
    match said.split_once('=') {
        None if said == "balanced" => Ok(Goal::Youden),
        None if said == "accuracy" => Ok(Goal::Accuracy),
        None if said == "f1" => Ok(Goal::F1),
        Some(("cost", ratio)) => {
            let ratio = ratio.parse::<f64>().ok().filter(|ratio| ratio.is_finite() && *ratio > 0.0);
            let ratio = ratio.ok_or("a ratio is a number above 0, such as `cost=5`")?;
            Ok(Goal::Cost { ratio })
        }
        _ => Err("use balanced, accuracy, f1 or cost=RATIO".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArguments {
    #[command(subcommand)]
    pub(crate) command: JudgeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// List judges
    List(OutputArguments),
    /// Show a judge with everything it is made of
    Show(NamedArguments),
    /// Make a judge: a criterion, a method, a model and parameters. A judge never changes; --succeed makes its successor
    Add(Box<AddJudgeArguments>),
    /// Show a judge and its predecessors
    History(NamedArguments),
    /// Show the prompts of a judge as they would be sent
    Prompt(PromptArguments),
    Check(Box<CheckArguments>),
    /// Compare judges: scores, pass rates, failures, time, tokens, cost
    Performance(FilterArguments),
    /// Say how far judges agree on the same outputs
    Agreement(FilterArguments),
    /// List the outputs that judges find worst, or disagree on
    Difficulty(FilterArguments),
    /// Show why judgements are missing, by pattern
    Errors(FilterArguments),
    /// Show what judges cost, day by day
    Cost(FilterArguments),
}

#[derive(Debug, Args)]
pub(crate) struct AddJudgeArguments {
    /// The name: letters, digits and underscores
    pub(crate) name: String,

    /// What it judges: a criterion that `fullbench criterion list` shows
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: String,

    /// How: g_eval, rubric, binary, reference or claims
    #[arg(long, value_name = "METHOD", default_value = "g_eval")]
    pub(crate) method: String,

    /// The model that judges: `provider:model`, or a mapping as under `models` of an evaluation file
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: String,

    /// A parameter of the method, such as `samples=5` or `temperature=0.2`
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,

    /// What it is for
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,

    /// Take the place of the judge that has this name
    #[arg(long)]
    pub(crate) succeed: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArguments {
    /// The judge's name
    pub(crate) name: String,

    /// What was asked, in the example
    #[arg(long, default_value = "What is the capital of France?")]
    pub(crate) input: String,

    /// The output that is judged, in the example
    #[arg(long = "answer", value_name = "TEXT", default_value = "The capital of France is Paris.")]
    pub(crate) answer: String,

    /// A reference, in the example
    #[arg(long, default_value = "Paris")]
    pub(crate) reference: String,

    /// The context, in the example
    #[arg(long, default_value = "Paris is the capital and the largest city of France.")]
    pub(crate) context: String,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// Only judgements of this run: its id, some letters of it, its name, or `latest`
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,

    /// Only this stored judge
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,

    /// Only this criterion
    #[arg(long, value_name = "NAME")]
    pub(crate) criterion: Option<String>,

    #[command(flatten)]
    pub(crate) printing: OutputArguments,
}
