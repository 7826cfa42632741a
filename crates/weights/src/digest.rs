//! Whether a file is the one that was expected.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{ModelFile, WeightsError};

/// SHA-256 of a file, in hexadecimal digits.
pub(crate) fn sha256_of(path: &Path) -> Result<String, WeightsError> {
    const BYTES_AT_A_TIME: usize = 1 << 20;
    let failed = WeightsError::file(path);
    let mut file = File::open(path).map_err(&failed)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BYTES_AT_A_TIME];
    loop {
        let read = file.read(&mut buffer).map_err(&failed)?;
        if read == 0 {
            break;
        }
        hasher.update(&buffer[..read]);
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Refuses another content than the catalog's.
pub(crate) fn check(path: &Path, expected: &ModelFile) -> Result<(), WeightsError> {
    let found = sha256_of(path)?;
    if found == expected.sha256 {
        return Ok(());
    }
    Err(WeightsError::Checksum {
        what: expected.path.to_owned(),
        found,
        expected: expected.sha256.to_owned(),
    })
}
