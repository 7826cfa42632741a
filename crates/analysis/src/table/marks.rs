//! Where cells end.

const ONES: u64 = 0x0101_0101_0101_0101;
const LOW_BITS: u64 = 0x7F7F_7F7F_7F7F_7F7F;

/// Adds to `marks` the places of delimiters and line ends from `start` on. Cells are short, so that looking for one after the other with a
/// search that is made for long texts takes longer; here eight bytes are compared at once (Warren, *Hacker's Delight*, 6-1).
pub(super) fn find(bytes: &[u8], start: usize, delimiter: u8, marks: &mut Vec<u32>) {
    let delimiters = ONES * u64::from(delimiter);
    let line_ends = ONES * u64::from(b'\n');
    let (words, rest) = bytes[start..].as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut found = zero_bytes(word ^ delimiters) | zero_bytes(word ^ line_ends);
        while found != 0 {
            marks.push((start + index * 8) as u32 + found.trailing_zeros() / 8);
            found &= found - 1;
        }
    }
    let start = start + words.len() * 8;
    for (index, byte) in rest.iter().enumerate() {
        if *byte == delimiter || *byte == b'\n' {
            marks.push((start + index) as u32);
        }
    }
}

/// The highest bit of each byte that is zero.
fn zero_bytes(word: u64) -> u64 {
    !(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS)
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
