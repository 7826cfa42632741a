//! Work on many texts at once: sorted by length, in groups of about equal size, on all cores.

use std::borrow::Borrow;
use std::ops::Range;

use rayon::prelude::*;

use crate::EmbedError;
use crate::encoder::Encoder;
use crate::tokens::Tokens;

/// Tokens worked on together by one core: enough to keep the matrices large, few enough to stay in its cache.
const TOKENS_PER_GROUP: usize = 512;

/// Runs the encoder over texts and turns the hidden values of each into what is wanted of it, in the order of the texts.
pub(crate) fn encode<T: Send>(
    encoder: &Encoder,
    texts: &[impl Borrow<Tokens> + Sync],
    of_text: impl Fn(&[f32]) -> T + Sync,
) -> Result<Vec<T>, EmbedError> {
    let size = encoder.config().hidden_size;
    let ids = |index: usize| texts[index].borrow().ids.as_slice();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(ids(*index).len()));
    let lengths = order.iter().map(|index| ids(*index).len());
    let groups: Vec<Vec<(usize, T)>> = ranges(lengths, TOKENS_PER_GROUP)
        .into_par_iter()
        .map(|range| {
            let group = &order[range];
            let ids: Vec<&[u32]> = group.iter().map(|index| ids(*index)).collect();
            let hidden = encoder.hidden(&ids)?;
            let mut rest = hidden.as_slice();
            let mut results = Vec::with_capacity(group.len());
            for (index, ids) in group.iter().zip(ids) {
                let (text, after) = rest.split_at(ids.len() * size);
                results.push((*index, of_text(text)));
                rest = after;
            }
            Ok(results)
        })
        .collect::<Result<_, EmbedError>>()?;
    let mut results: Vec<(usize, T)> = groups.into_iter().flatten().collect();
    results.sort_by_key(|(index, _)| *index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Ranges of neighbours whose sizes together are at most `most`; one that is larger has a range of its own.
pub(crate) fn ranges(sizes: impl Iterator<Item = usize>, most: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut end, mut total) = (0, 0, 0);
    for size in sizes {
        if end > start && total + size > most {
            ranges.push(start..end);
            (start, total) = (end, 0);
        }
        total += size;
        end += 1;
    }
    if end > start {
        ranges.push(start..end);
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_in_one_range_and_ranges_are_bounded() {
        let sizes = [600, 300, 200, 200, 100, 3, 2];
        assert_eq!(ranges(sizes.into_iter(), 512), [0..1, 1..3, 3..7]);
        assert!(ranges(std::iter::empty(), 512).is_empty());
    }
}
