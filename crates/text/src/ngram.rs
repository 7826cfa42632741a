//! How many n-grams of one sequence occur in others, for all orders at once.
//!
//! Every position of every sequence becomes one integer: the symbols of its longest n-gram, first symbol highest,
//! and below them the number of the sequence. Sorted, equal n-grams of every order stand together, since the
//! shorter ones are prefixes of the longer ones. One sort and one pass replace a table for each order.

use std::ops::{BitOr, BitXor, Shl, Shr};

/// The highest order that can be asked for.
pub(crate) const MAX_ORDER: usize = 16;

/// Buffers that are kept between pairs.
#[derive(Default)]
pub(crate) struct NgramMatcher {
    narrow: Vec<u64>,
    wide: Vec<u128>,
    ranks: Ranks,
    counts: Vec<u32>,
    shape: Shape,
}

/// The sequences to compare, one after another: the hypothesis first.
#[derive(Default)]
pub(crate) struct Sequences {
    symbols: Vec<u32>,
    ends: Vec<usize>,
}

impl Sequences {
    /// Forgets all sequences.
    pub(crate) fn clear(&mut self) {
        self.symbols.clear();
        self.ends.clear();
    }

    /// Where the symbols of the next sequence go; `close` ends it. Symbols are above 0.
    #[inline]
    pub(crate) fn open(&mut self) -> &mut Vec<u32> {
        &mut self.symbols
    }

    /// Ends a sequence.
    pub(crate) fn close(&mut self) {
        self.ends.push(self.symbols.len());
    }

    /// Forgets all sequences but the first.
    pub(crate) fn keep_first(&mut self) {
        self.ends.truncate(1);
        self.symbols.truncate(self.ends[0]);
    }

    /// How many symbols a sequence has.
    pub(crate) fn length(&self, index: usize) -> usize {
        self.get(index).len()
    }

    /// How many sequences there are.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The symbols of a sequence.
    pub(crate) fn get(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.symbols[start..self.ends[index]]
    }
}

/// How symbols are put into an integer.
#[derive(Default, Clone, PartialEq)]
struct Shape {
    order: usize,
    symbol_bits: usize,
    source_bits: usize,
    /// For the highest bit in which two windows differ: how many symbols they share.
    shared: Vec<u8>,
}

impl NgramMatcher {
    /// For each order from 1: how many n-grams of the first sequence the others have, each counted at most as often
    /// as in the one that has it most often. `largest` is the largest symbol.
    pub(crate) fn matches(
        &mut self,
        sequences: &Sequences,
        order: usize,
        largest: u32,
    ) -> [u32; MAX_ORDER] {
        let mut matches = [0; MAX_ORDER];
        if order == 0 || sequences.count() < 2 || sequences.length(0) == 0 {
            return matches;
        }
        let source_bits = bits(sequences.count() as u32 - 1);
        let symbol_bits = bits(largest);
        let needed = order * symbol_bits + source_bits;
        if needed <= 64 {
            self.reshape(order, (64 - source_bits) / order, source_bits);
            collect(&mut self.narrow, sequences, &self.shape);
            self.narrow.sort_unstable();
            scan(&self.narrow, sequences.count(), &self.shape, &mut self.counts, &mut matches);
        } else if needed <= 128 {
            self.reshape(order, ((128 - source_bits) / order).min(32), source_bits);
            collect(&mut self.wide, sequences, &self.shape);
            self.wide.sort_unstable();
            scan(&self.wide, sequences.count(), &self.shape, &mut self.counts, &mut matches);
        } else {
            return self.matches_of_ranks(sequences, order);
        }
        let shared_end = (1..sequences.count())
            .map(|other| common_suffix(sequences.get(0), sequences.get(other), order))
            .max()
            .unwrap_or(0);
        for (index, count) in matches.iter_mut().enumerate().take(order) {
            *count -= index.min(shared_end) as u32;
        }
        matches
    }

    /// Too many symbols for one integer: order by order, an n-gram becomes one symbol of the next order.
    fn matches_of_ranks(&mut self, sequences: &Sequences, order: usize) -> [u32; MAX_ORDER] {
        let mut matches = [0; MAX_ORDER];
        let mut ranks = std::mem::take(&mut self.ranks);
        ranks.start(sequences);
        for (index, count) in matches.iter_mut().enumerate().take(order) {
            if index > 0 && !ranks.lengthen(sequences) {
                break;
            }
            let mut grams = Sequences::default();
            for source in 0..sequences.count() {
                grams.open().extend(ranks.of(source));
                grams.close();
            }
            *count = self.matches(&grams, 1, ranks.largest)[0];
        }
        self.ranks = ranks;
        matches
    }

    fn reshape(&mut self, order: usize, symbol_bits: usize, source_bits: usize) {
        let shape = &mut self.shape;
        if (shape.order, shape.symbol_bits, shape.source_bits) == (order, symbol_bits, source_bits)
        {
            return;
        }
        let shared =
            (0..order * symbol_bits).map(|bit| (order - 1 - bit / symbol_bits) as u8).collect();
        *shape = Shape { order, symbol_bits, source_bits, shared };
    }
}

/// The numbers of n-grams of growing order.
#[derive(Default)]
struct Ranks {
    /// For each position of each sequence, its n-gram's number.
    grams: Vec<Vec<u32>>,
    order: usize,
    largest: u32,
}

impl Ranks {
    fn start(&mut self, sequences: &Sequences) {
        self.order = 1;
        self.grams = (0..sequences.count()).map(|source| sequences.get(source).to_vec()).collect();
        self.largest = self.grams.iter().flatten().copied().max().unwrap_or(0);
    }

    fn of(&self, source: usize) -> impl Iterator<Item = u32> {
        self.grams[source].iter().copied()
    }

    /// Goes to the next order; false when no sequence is that long.
    fn lengthen(&mut self, sequences: &Sequences) -> bool {
        let mut pairs: Vec<(u32, u32, u32, u32)> = Vec::new();
        for (source, grams) in self.grams.iter().enumerate() {
            let next = sequences.get(source).iter().skip(self.order);
            for (position, (&gram, &symbol)) in grams.iter().zip(next).enumerate() {
                pairs.push((gram, symbol, source as u32, position as u32));
            }
        }
        pairs.sort_unstable();
        self.grams.iter_mut().for_each(|grams| {
            grams.pop();
        });
        let mut last = None;
        self.largest = 0;
        for &(gram, symbol, source, position) in &pairs {
            if last != Some((gram, symbol)) {
                last = Some((gram, symbol));
                self.largest += 1;
            }
            self.grams[source as usize][position as usize] = self.largest;
        }
        self.order += 1;
        !pairs.is_empty()
    }
}

/// An integer that holds a window.
trait Window:
    Copy
    + Default
    + Ord
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
{
    fn of(symbol: u32) -> Self;
    fn source(self, bits: usize) -> usize;
    /// The highest bit that is set.
    fn highest_bit(self) -> Option<u32>;
}

impl Window for u64 {
    #[inline]
    fn of(symbol: u32) -> Self {
        Self::from(symbol)
    }
    #[inline]
    fn source(self, bits: usize) -> usize {
        (self & ((1 << bits) - 1)) as usize
    }
    #[inline]
    fn highest_bit(self) -> Option<u32> {
        self.checked_ilog2()
    }
}

impl Window for u128 {
    #[inline]
    fn of(symbol: u32) -> Self {
        Self::from(symbol)
    }
    #[inline]
    fn source(self, bits: usize) -> usize {
        (self & ((1 << bits) - 1)) as usize
    }
    #[inline]
    fn highest_bit(self) -> Option<u32> {
        self.checked_ilog2()
    }
}

/// How many bits a number needs.
fn bits(number: u32) -> usize {
    (32 - number.leading_zeros()).max(1) as usize
}

/// One window for each position, the last ones filled up with zeros.
fn collect<W: Window>(windows: &mut Vec<W>, sequences: &Sequences, shape: &Shape) {
    windows.clear();
    let first = (shape.order - 1) * shape.symbol_bits;
    for source in 0..sequences.count() {
        let mut window = W::default();
        let tag = W::of(source as u32);
        windows.extend(sequences.get(source).iter().rev().map(|&symbol| {
            window = (window >> shape.symbol_bits) | (W::of(symbol) << first);
            (window << shape.source_bits) | tag
        }));
    }
}

/// Counts the groups of equal n-grams. A group that ends adds its counts to the group of its prefix.
///
/// The windows at the end of a sequence are shorter than the order; filled up, they would match as if they were
/// n-grams. The caller takes these matches off: there is one for each common end of two sequences that is shorter
/// than the order.
fn scan<W: Window>(
    windows: &[W],
    sources: usize,
    shape: &Shape,
    counts: &mut Vec<u32>,
    matches: &mut [u32; MAX_ORDER],
) {
    if sources == 2 {
        return scan_two(windows, shape, matches);
    }
    counts.clear();
    counts.resize((shape.order + 1) * sources, 0);
    for_each_group(windows, shape, |window, shared| {
        for ended in (shared + 1..=shape.order).rev() {
            let (prefix, group) =
                counts[(ended - 1) * sources..(ended + 1) * sources].split_at_mut(sources);
            let most = group[1..].iter().copied().max().unwrap_or(0);
            matches[ended - 1] += group[0].min(most);
            for (sum, count) in prefix.iter_mut().zip(group) {
                *sum += *count;
                *count = 0;
            }
        }
        if let Some(window) = window {
            counts[shape.order * sources + window.source(shape.source_bits)] += 1;
        }
    });
}

/// The same for one reference: both counts of a group are in one integer, the hypothesis's in its lower half.
fn scan_two<W: Window>(windows: &[W], shape: &Shape, matches: &mut [u32; MAX_ORDER]) {
    let mut counts = [0u64; MAX_ORDER + 1];
    for_each_group(windows, shape, |window, shared| {
        let mut sum = 0;
        for ended in (shared + 1..=shape.order).rev() {
            sum += std::mem::take(&mut counts[ended]);
            matches[ended - 1] += (sum as u32).min((sum >> 32) as u32);
        }
        counts[shared] += sum;
        if let Some(window) = window {
            counts[shape.order] += 1 << (32 * window.source(shape.source_bits));
        }
    });
}

/// Gives each window with the number of symbols it shares with the one before, and at last no window and nothing
/// shared.
#[inline]
fn for_each_group<W: Window>(
    windows: &[W],
    shape: &Shape,
    mut group: impl FnMut(Option<W>, usize),
) {
    let Some(&first) = windows.first() else { return };
    let mut previous = first;
    for &window in windows {
        let difference = (window ^ previous) >> shape.source_bits;
        let shared = difference
            .highest_bit()
            .map_or(shape.order, |bit| usize::from(shape.shared[bit as usize]));
        group(Some(window), shared);
        previous = window;
    }
    group(None, 0);
}

/// How many symbols two sequences share at their ends, up to a limit.
fn common_suffix(left: &[u32], right: &[u32], limit: usize) -> usize {
    left.iter()
        .rev()
        .zip(right.iter().rev())
        .take(limit)
        .take_while(|(left, right)| left == right)
        .count()
}
