//! Where cells end.

use wide::u8x16;

/// Bytes that are looked at together: one bit each in a word.
const GROUP: usize = 64;

/// Adds to `marks` the places of delimiters and line ends from `start` on. Cells are short, so that looking for one after the other with a
/// search that is made for long texts takes longer; here a group of bytes becomes a word with a bit for each mark.
pub(super) fn find(bytes: &[u8], start: usize, delimiter: u8, marks: &mut Vec<u32>) {
    let (groups, rest) = bytes[start..].as_chunks::<GROUP>();
    let mut place = start as u32;
    for group in groups {
        push_bits(bits(group, delimiter), place, marks);
        place += GROUP as u32;
    }
    let mut last = [0; GROUP];
    last[..rest.len()].copy_from_slice(rest);
    // What is left is filled up with zeros, which may be the delimiter.
    let of_rest = (1 << rest.len()) - 1;
    push_bits(bits(&last, delimiter) & of_rest, place, marks);
}

/// Adds the places of the bits of a word, counted from `place`. Four are written at once and those too many taken back: how often
/// that is done hardly changes from word to word, so that the processor foresees it.
#[inline]
fn push_bits(bits: u64, place: u32, marks: &mut Vec<u32>) {
    let count = marks.len() + bits.count_ones() as usize;
    let mut left = bits;
    while left != 0 {
        marks.extend_from_slice(&std::array::from_fn::<u32, 4, _>(|_| {
            let next = place + left.trailing_zeros();
            left &= left.wrapping_sub(1);
            next
        }));
    }
    marks.truncate(count);
}

/// A bit for each byte that is a delimiter or a line end, the first the lowest.
#[inline]
fn bits(group: &[u8; GROUP], delimiter: u8) -> u64 {
    let (delimiters, line_ends) = (u8x16::splat(delimiter), u8x16::splat(b'\n'));
    let mut all = 0;
    for (index, bytes) in group.as_chunks::<16>().0.iter().enumerate() {
        let bytes = u8x16::new(*bytes);
        let is_mark = bytes.simd_eq(delimiters) | bytes.simd_eq(line_ends);
        all |= u64::from(is_mark.to_bitmask()) << (16 * index);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_found_and_nothing_else() {
        let bytes: Vec<u8> =
            (0..=255).chain(b",,\n,a\n".iter().copied()).cycle().take(1_003).collect();
        for delimiter in [b',', b'\t', 0, 0xFF] {
            for start in [0, 1, 16] {
                let mut marks = Vec::new();
                find(&bytes, start, delimiter, &mut marks);
                let is_mark = |place: &u32| [delimiter, b'\n'].contains(&bytes[*place as usize]);
                let expected: Vec<u32> =
                    (start as u32..bytes.len() as u32).filter(is_mark).collect();
                assert_eq!(marks, expected);
            }
        }
    }
}
