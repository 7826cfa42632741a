//! Why there are no weights.

use std::path::PathBuf;

/// Why weights could not be fetched or found.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// A file could not be read or written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The hub could not be reached, or refused.
    #[error("the hub did not give {what}: {reason}")]
    Hub {
        /// What was asked for.
        what: String,
        /// What happened.
        reason: String,
    },
    /// The Python package could not be fetched.
    #[error("the Python package {package} could not be fetched: {reason}")]
    Wheel {
        /// The package.
        package: String,
        /// What happened.
        reason: String,
    },
    /// A file is not the one that was expected.
    #[error("{what} is not the expected file: its SHA-256 is {found} instead of {expected}")]
    Checksum {
        /// Which file.
        what: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: String,
    },
    /// No source gave the weights.
    #[error("no source gave {name}: {}", reasons.join("; "))]
    NoSource {
        /// The model.
        name: String,
        /// What each source said.
        reasons: Vec<String>,
    },
    /// Neither the home folder nor another place for the weights is known.
    #[error(
        "there is no folder for weights: neither FULLBENCH_WEIGHTS, XDG_CACHE_HOME nor HOME is set"
    )]
    NoFolder,
}

impl WeightsError {
    pub(crate) fn file(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        move |error| Self::File { path: path.to_owned(), reason: error.to_string() }
    }
}
