//! `fullbench init`.

use std::path::Path;

use crate::arguments::InitArguments;
use crate::failure::{CliError, Exit};
use crate::progress::write_line;

/// The example, file by file.
const FILES: [(&str, &str); 3] = [
    ("fullbench.yaml", include_str!("../../example/fullbench.yaml")),
    ("data/questions.jsonl", include_str!("../../example/data/questions.jsonl")),
    ("prompts/answer.md", include_str!("../../example/prompts/answer.md")),
];

/// Writes a working example; an existing file is never overwritten.
pub(crate) fn run(arguments: &InitArguments) -> Result<Exit, CliError> {
    let folder = &arguments.folder;
    for (name, _) in FILES {
        let path = folder.join(name);
        if path.exists() {
            let hint = "choose another folder, for example `fullbench init my-eval`".to_owned();
            return Err(CliError::input(format!("{} exists already", path.display()), Some(hint)));
        }
    }
    for (name, content) in FILES {
        write(&folder.join(name), content)?;
        write_line(&format!("wrote {}", folder.join(name).display()));
    }
    let there = if folder == Path::new(".") {
        String::new()
    } else {
        format!("cd {} && ", folder.display())
    };
    write_line(&format!("next: {there}fullbench run --html report.html"));
    Ok(Exit::Fine)
}

fn write(path: &Path, content: &str) -> Result<(), CliError> {
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, content));
    written.map_err(|error| {
        CliError::input(format!("{} cannot be written: {error}", path.display()), None)
    })
}
