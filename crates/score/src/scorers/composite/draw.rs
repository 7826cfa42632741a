//! Draws that are the same whenever they are made.

use fullbench_types::ContentHash;

use crate::scorer::Item;

/// A number from 0 to 1, below 1, that the seed, the purpose and the output's place decide. Models share it, so that their answers
/// to one case are drawn together.
pub(crate) fn chance(purpose: &str, seed: u64, item: &Item<'_>) -> f64 {
    let hash = ContentHash::of_parts(&[
        purpose.as_bytes(),
        &seed.to_le_bytes(),
        item.case.key.as_bytes(),
        &item.repetition.to_le_bytes(),
    ]);
    let bytes = hash.0.first_chunk::<8>().copied().unwrap_or_default();
    // 53 bits are what a number from 0 to 1 holds exactly.
    (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
}
