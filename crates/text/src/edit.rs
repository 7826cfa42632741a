//! Levenshtein distance of characters, 64 cells at a time (Myers, 1999; Hyyrö, 2003). The time grows with the
//! product of the lengths, over 64.

use std::collections::HashMap;

use crate::positions::Positions;
use crate::signature::Signature;

/// How many characters must be inserted, deleted or replaced to make one text of the other. Characters are Unicode
/// scalar values.
pub fn levenshtein(left: &str, right: &str) -> usize {
    let mut alphabet = Alphabet::default();
    let (left, right) = (alphabet.read(left), alphabet.read(right));
    let prefix = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[prefix..], &right[prefix..]);
    let suffix =
        left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[..left.len() - suffix], &right[..right.len() - suffix]);
    let (short, long) = if left.len() < right.len() { (left, right) } else { (right, left) };
    if short.is_empty() { long.len() } else { distance(short, long, alphabet.largest) }
}

/// One minus the distance over the length of the longer text: 1 is equal, 0 has nothing in common. Two empty texts
/// are equal.
pub fn edit_similarity(left: &str, right: &str) -> f64 {
    let longest = left.chars().count().max(right.chars().count());
    if longest == 0 { 1.0 } else { 1.0 - levenshtein(left, right) as f64 / longest as f64 }
}

/// How both are made.
pub fn signature() -> String {
    let mut signature = Signature::named("levenshtein");
    signature.add("unit", "char");
    signature.add("case", "mixed");
    signature.add("norm", "max");
    signature.finish()
}

/// Characters as small numbers.
struct Alphabet {
    ascii: [u32; 128],
    beyond: HashMap<char, u32>,
    largest: u32,
}

impl Default for Alphabet {
    fn default() -> Self {
        Self { ascii: [0; 128], beyond: HashMap::new(), largest: 0 }
    }
}

impl Alphabet {
    fn read(&mut self, text: &str) -> Vec<u32> {
        text.chars().map(|character| self.number(character)).collect()
    }

    fn number(&mut self, character: char) -> u32 {
        let number = match self.ascii.get_mut(character as usize) {
            Some(number) => number,
            None => self.beyond.entry(character).or_default(),
        };
        if *number == 0 {
            self.largest += 1;
            *number = self.largest;
        }
        *number
    }
}

/// The column of the table as differences between neighbours: where it goes up, and where it goes down.
#[derive(Clone, Copy)]
struct Block {
    up: u64,
    down: u64,
}

/// The rows are the pattern's, 64 in each block; the columns the text's.
fn distance(pattern: &[u32], text: &[u32], largest: u32) -> usize {
    let mut positions = Positions::default();
    positions.read(pattern, largest);
    let mut blocks = vec![Block { up: u64::MAX, down: 0 }; positions.blocks()];
    let last_row = 1 << ((pattern.len() - 1) % 64);
    let mut distance = pattern.len();
    for &symbol in text {
        // Between two columns of the row above the first, the distance goes up by one.
        let (mut rises, mut falls) = (1, 0);
        let mut entries = positions.of(symbol).iter().peekable();
        let (mut risen, mut fallen) = (0, 0);
        for (index, block) in blocks.iter_mut().enumerate() {
            let equal = entries.next_if(|entry| entry.block == index).map_or(0, |entry| entry.mask);
            (risen, fallen) = block.advance(equal, rises, falls);
            (rises, falls) = (risen >> 63, fallen >> 63);
        }
        distance += usize::from(risen & last_row != 0);
        distance -= usize::from(fallen & last_row != 0);
    }
    distance
}

impl Block {
    /// Goes one column on. `rises` and `falls` tell the change in the row above; gives the change in each of the
    /// block's rows.
    #[inline]
    fn advance(&mut self, equal: u64, rises: u64, falls: u64) -> (u64, u64) {
        let vertical = equal | self.down;
        let equal = equal | falls;
        let diagonal = ((equal & self.up).wrapping_add(self.up) ^ self.up) | equal;
        let risen = self.down | !(diagonal | self.up);
        let fallen = self.up & diagonal;
        let (shifted_risen, shifted_fallen) = (risen << 1 | rises, fallen << 1 | falls);
        self.up = shifted_fallen | !(vertical | shifted_risen);
        self.down = shifted_risen & vertical;
        (risen, fallen)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn textbook(left: &str, right: &str) -> usize {
        let right: Vec<char> = right.chars().collect();
        let mut row: Vec<usize> = (0..=right.len()).collect();
        for (index, character) in left.chars().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], index + 1);
            for column in 0..right.len() {
                let replaced = diagonal + usize::from(character != right[column]);
                diagonal = row[column + 1];
                row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
            }
        }
        row[right.len()]
    }

    proptest! {
        #[test]
        fn equals_the_table(left in "[abcé语]{0,200}", right in "[abcé语]{0,200}") {
            prop_assert_eq!(levenshtein(&left, &right), textbook(&left, &right));
            prop_assert_eq!(levenshtein(&right, &left), textbook(&left, &right));
        }
    }

    #[test]
    fn known_distances() {
        assert_eq!(levenshtein("kitten", "sitting"), 3);
        assert_eq!(levenshtein("", "abc"), 3);
        assert_eq!(edit_similarity("", ""), 1.0);
        assert_eq!(edit_similarity("ab", "cd"), 0.0);
    }
}
