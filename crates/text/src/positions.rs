//! Where the symbols of a sequence stand, as bits: the ground of the bit-parallel algorithms.

/// For each symbol, the blocks of 64 positions in which it occurs and a bit for each occurrence. Takes as much
/// memory as the sequence, whatever the number of symbols.
#[derive(Default)]
pub(crate) struct Positions {
    starts: Vec<u32>,
    entries: Vec<Entry>,
    last_block: Vec<u32>,
    blocks: usize,
}

/// The occurrences of a symbol in one block.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    pub(crate) block: usize,
    pub(crate) mask: u64,
}

const NONE: u32 = u32::MAX;

impl Positions {
    /// Reads a sequence of symbols from 0 to `largest`.
    pub(crate) fn read(&mut self, sequence: &[u32], largest: u32) {
        let symbols = largest as usize + 1;
        self.blocks = sequence.len().div_ceil(64);
        self.starts.clear();
        self.starts.resize(symbols + 1, 0);
        self.last_block.clear();
        self.last_block.resize(symbols, NONE);
        for (position, &symbol) in sequence.iter().enumerate() {
            let (symbol, block) = (symbol as usize, (position / 64) as u32);
            if self.last_block[symbol] != block {
                self.last_block[symbol] = block;
                self.starts[symbol] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.entries.clear();
        self.entries.resize(sum as usize, Entry::default());
        self.last_block.fill(NONE);
        for (position, &symbol) in sequence.iter().enumerate().rev() {
            let (symbol, block) = (symbol as usize, position / 64);
            if self.last_block[symbol] != block as u32 {
                self.last_block[symbol] = block as u32;
                self.starts[symbol] -= 1;
                self.entries[self.starts[symbol] as usize].block = block;
            }
            self.entries[self.starts[symbol] as usize].mask |= 1 << (position % 64);
        }
    }

    /// How many blocks the sequence has.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks
    }

    /// A symbol's blocks, in order.
    #[inline]
    pub(crate) fn of(&self, symbol: u32) -> &[Entry] {
        let symbol = symbol as usize;
        if symbol + 1 >= self.starts.len() {
            return &[];
        }
        &self.entries[self.starts[symbol] as usize..self.starts[symbol + 1] as usize]
    }
}
