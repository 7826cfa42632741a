//! The random numbers of numpy's `default_rng(seed)`: a SeedSequence (O'Neill, 2015) that seeds a PCG64, integers
//! by Lemire's method.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

const POOL: usize = 4;
const SHIFT: u32 = 16;

/// A generator in numpy's state after `default_rng(seed)`.
pub(super) struct NumpyRandom {
    generator: Pcg64,
    /// The upper half of a number whose lower half was taken.
    half: Option<u32>,
}

impl NumpyRandom {
    pub(super) fn new(seed: u64) -> Self {
        let words = seed_words(seed);
        let wide = |high: u64, low: u64| u128::from(high) << 64 | u128::from(low);
        Self {
            generator: Pcg64::new(wide(words[0], words[1]), wide(words[2], words[3])),
            half: None,
        }
    }

    fn next_half(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let whole = self.generator.next_u64();
        self.half = Some((whole >> 32) as u32);
        whole as u32
    }

    /// A number below `bound`, as `choice` and `integers` draw it (Lemire, 2019).
    #[inline]
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        if bound <= 1 {
            return 0;
        }
        let mut product = u64::from(self.next_half()) * u64::from(bound);
        if (product as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (product as u32) < threshold {
                product = u64::from(self.next_half()) * u64::from(bound);
            }
        }
        (product >> 32) as u32
    }

    /// Yes or no, as `integers(2, dtype=bool)` draws them: each half gives 32.
    pub(super) fn coins(&mut self) -> Coins<'_> {
        Coins { random: self, bits: 0, left: 0 }
    }
}

/// A row of coin tosses.
pub(super) struct Coins<'r> {
    random: &'r mut NumpyRandom,
    bits: u32,
    left: u32,
}

impl Coins<'_> {
    #[inline]
    pub(super) fn toss(&mut self) -> bool {
        if self.left == 0 {
            self.bits = self.random.next_half();
            self.left = 32;
        }
        let coin = self.bits & 1 == 1;
        self.bits >>= 1;
        self.left -= 1;
        coin
    }
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; POOL] {
    let entropy = [seed as u32, (seed >> 32) as u32];
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ value >> SHIFT
    };
    let mix = |left: u32, right: u32| {
        let value = left.wrapping_mul(0xca01_f9dd).wrapping_sub(right.wrapping_mul(0x4973_f715));
        value ^ value >> SHIFT
    };
    let mut pool = [0; POOL];
    for (index, word) in pool.iter_mut().enumerate() {
        *word = hash(entropy.get(index).copied().unwrap_or(0));
    }
    for source in 0..POOL {
        for target in 0..POOL {
            if source != target {
                pool[target] = mix(pool[target], hash(pool[source]));
            }
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    let mut halves = pool.iter().cycle().map(|&word| {
        let value = word ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        u64::from(value ^ value >> SHIFT)
    });
    std::array::from_fn(|_| {
        let low = halves.next().unwrap_or(0);
        halves.next().unwrap_or(0) << 32 | low
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_numpy() {
        let mut random = NumpyRandom::new(12345);
        let drawn: Vec<u32> = (0..8).map(|_| random.below(1000)).collect();
        assert_eq!(drawn, [699, 227, 788, 316, 204, 797, 642, 676]);
        let mut random = NumpyRandom::new(1 << 40);
        let drawn: Vec<u32> = (0..4).map(|_| random.below(3_000_000_000)).collect();
        assert_eq!(drawn, [2_767_366_916, 1_082_428_719, 2_985_688_072, 473_165_107]);
        let mut random = NumpyRandom::new(12345);
        let mut coins = random.coins();
        let tossed: String = (0..33).map(|_| if coins.toss() { '1' } else { '0' }).collect();
        assert_eq!(tossed, "101110011000001111111111010011011");
        let drawn: Vec<u32> = (0..5).map(|_| random.below(7)).collect();
        assert_eq!(drawn, [5, 2, 1, 5, 4]);
    }
}
