//! Where chance comes from: seeded streams that are the same on every machine and for any number of threads.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::SeedableRng;

/// The generator of one stream of a seed. Round `i` of a bootstrap uses stream `i`, so that rounds may run in any order.
///
/// PCG XSL RR 128/64 (O'Neill 2014). Streams are separated by hashing seed and stream into the state.
#[must_use]
pub fn random_stream(seed: u64, stream: u64) -> Pcg64 {
    let mut state = [0; 32];
    let mut word = seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for part in state.chunks_exact_mut(8) {
        word = mixed(word.wrapping_add(seed).wrapping_add(0x9E37_79B9_7F4A_7C15));
        part.copy_from_slice(&word.to_le_bytes());
    }
    Pcg64::from_seed(state)
}

/// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
fn mixed(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}
