//! Numbers that look random and depend only on what they are asked for.

/// 128 bits that stand for one prompt asked of one model.
pub(crate) type PromptKey = u128;

/// What a draw is for, so that two decisions about one call are independent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Fault = 1,
    FaultVariant,
    LatencyRadius,
    LatencyAngle,
    Correct,
    Error,
    Words,
    Letter,
    Json,
    Logprob,
    Vector,
}

/// A deterministic source of draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dice(u64);

impl Dice {
    /// The dice of one prompt under one seed.
    pub(crate) fn new(seed: u64, key: PromptKey) -> Self {
        Self(mix(mix(mix(seed) ^ (key as u64)) ^ ((key >> 64) as u64)))
    }

    /// Independent dice for a further number, such as an attempt or a choice.
    pub(crate) fn with(self, number: u64) -> Self {
        Self(mix(self.0 ^ mix(number.wrapping_add(0x9e37_79b9_7f4a_7c15))))
    }

    /// 64 bits for a purpose.
    pub(crate) fn bits(self, purpose: Purpose) -> u64 {
        mix(self.0.wrapping_add((purpose as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// A number from 0 up to, not including, 1.
    pub(crate) fn share(self, purpose: Purpose) -> f64 {
        (self.bits(purpose) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index below `count`, which must not be 0.
    pub(crate) fn index(self, purpose: Purpose, count: usize) -> usize {
        (self.bits(purpose) % count as u64) as usize
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_spread_evenly() {
        let mean =
            (0..10_000).map(|key| Dice::new(7, key).share(Purpose::Fault)).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn attempts_purposes_and_seeds_draw_independently() {
        let dice = Dice::new(1, 42);
        assert_ne!(dice.with(0).bits(Purpose::Fault), dice.with(1).bits(Purpose::Fault));
        assert_ne!(dice.bits(Purpose::Fault), dice.bits(Purpose::Words));
        assert_ne!(dice.bits(Purpose::Fault), Dice::new(2, 42).bits(Purpose::Fault));
    }
}
