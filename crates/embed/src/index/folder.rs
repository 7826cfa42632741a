//! An index as a folder: the two files of the graph and a manifest with their hashes.
//!
//! The graph's reader trusts what it reads, so nothing is given to it that is not as it was written.

use std::io;
use std::path::{Path, PathBuf};

use hnsw_rs::prelude::{AnnT, Hnsw, HnswIo};
use serde::{Deserialize, Serialize};

use super::distance::CosineDistance;
use super::{BUILD_EFFORT, LAYERS, LINKS, SimilarityIndex};
use crate::EmbedError;
use crate::files::{read, read_json};

const MANIFEST: &str = "similarity-index.json";
const NAME: &str = "vectors";
const PARTS: [&str; 2] = ["vectors.hnsw.data", "vectors.hnsw.graph"];
/// Grows when the format of this file changes, or that of the library.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    dimensions: usize,
    ids: Vec<String>,
    /// Of the files of the graph; none where there are no vectors.
    blake3: Vec<String>,
}

pub(super) fn save(index: &SimilarityIndex, path: &Path) -> Result<(), EmbedError> {
    if path.exists() && !path.join(MANIFEST).is_file() {
        let path = path.display();
        return Err(EmbedError::Index(format!("{path} is no index: it is not replaced")));
    }
    // Whole or not at all: a folder beside it is written first.
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let failed = |error: io::Error| {
        EmbedError::Index(format!("the index {} cannot be written: {error}", path.display()))
    };
    remove(&part).map_err(failed)?;
    std::fs::create_dir_all(&part).map_err(failed)?;
    let mut blake3 = Vec::new();
    if !index.ids.is_empty() {
        index.graph.file_dump(&part, NAME).map_err(|error| failed(io::Error::other(error)))?;
        for name in PARTS {
            blake3.push(hash(&read(&part.join(name))?));
        }
    }
    let manifest =
        Manifest { format: FORMAT, dimensions: index.dimensions, ids: index.ids.clone(), blake3 };
    let json = serde_json::to_vec(&manifest).map_err(|error| failed(error.into()))?;
    std::fs::write(part.join(MANIFEST), json).map_err(failed)?;
    remove(path).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

pub(super) fn load(path: &Path) -> Result<SimilarityIndex, EmbedError> {
    let Manifest { format, dimensions, ids, blake3 } = read_json(&path.join(MANIFEST))?;
    let bad = |what: &str| EmbedError::Index(format!("the index {} {what}", path.display()));
    if format != FORMAT {
        return Err(bad(&format!("is of format {format}, not {FORMAT}: build it again")));
    }
    if ids.is_empty() {
        let graph = Hnsw::new(LINKS, 0, LAYERS, BUILD_EFFORT, CosineDistance::default());
        return Ok(SimilarityIndex { ids, dimensions, graph });
    }
    if blake3.len() != PARTS.len() {
        return Err(bad("is damaged: the manifest is not whole"));
    }
    for (name, written) in PARTS.iter().zip(&blake3) {
        if hash(&read(&path.join(name))?) != *written {
            return Err(bad(&format!("is damaged: `{name}` is not as it was written")));
        }
    }
    // The library lets a graph borrow from its reader, for maps of files that are not used here. The reader holds a
    // path and a few numbers; it is never freed.
    let reader = Box::leak(Box::new(HnswIo::new(path, NAME)));
    let graph: Hnsw<'static, f32, CosineDistance> =
        reader.load_hnsw().map_err(|error| bad(&format!("cannot be read: {error}")))?;
    if graph.get_nb_point() != ids.len() {
        return Err(bad("is damaged: the manifest is of another graph"));
    }
    Ok(SimilarityIndex { ids, dimensions, graph })
}

fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
