//! Work on many texts at once: sorted by length, in groups of about equal size, on all cores.

use rayon::prelude::*;

use crate::EmbedError;
use crate::encoder::Encoder;
use crate::tokens::Tokens;

/// Tokens worked on together by one core: enough to keep the matrices large, few enough to stay in its cache.
const TOKENS_PER_GROUP: usize = 512;

/// Runs the encoder over texts and turns the hidden values of each into what is wanted of it, in the order of the texts.
pub(crate) fn encode<T: Send>(
    encoder: &Encoder,
    texts: &[Tokens],
    layers: usize,
    of_text: impl Fn(&[f32]) -> T + Sync,
) -> Result<Vec<T>, EmbedError> {
    let size = encoder.config().hidden_size;
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(texts[*index].ids.len()));
    let groups: Vec<Vec<(usize, T)>> = grouped(&order, texts)
        .into_par_iter()
        .map(|group| {
            let ids: Vec<&[u32]> = group.iter().map(|index| texts[*index].ids.as_slice()).collect();
            let hidden = encoder.hidden(&ids, layers)?;
            let mut rest = hidden.as_slice();
            let mut results = Vec::with_capacity(group.len());
            for index in group {
                let (text, after) = rest.split_at(texts[*index].ids.len() * size);
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

fn grouped<'order>(order: &'order [usize], texts: &[Tokens]) -> Vec<&'order [usize]> {
    let mut groups = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (place, index) in order.iter().enumerate() {
        let length = texts[*index].ids.len();
        if place > start && tokens + length > TOKENS_PER_GROUP {
            groups.push(&order[start..place]);
            (start, tokens) = (place, 0);
        }
        tokens += length;
    }
    if start < order.len() {
        groups.push(&order[start..]);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_in_one_group_and_groups_are_bounded() {
        let lengths = [600, 300, 200, 200, 100, 3, 2];
        let texts: Vec<Tokens> = lengths
            .iter()
            .map(|length| Tokens { ids: vec![0; *length], special: vec![], truncated: false })
            .collect();
        let order: Vec<usize> = (0..texts.len()).collect();
        let groups = grouped(&order, &texts);
        assert_eq!(groups.concat(), order);
        assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [1, 2, 4]);
    }
}
