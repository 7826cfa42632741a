//! Draws a token from the model's scores: penalties, temperature, top-k, top-p, and a draw that the seed decides.
//!
//! The order is that of OpenAI, vLLM and Hugging Face: the temperature shapes the distribution before top-p cuts it.
//! Each draw depends on the seed, the alternative and the position alone, so that a text can be repeated exactly.

use std::collections::HashMap;

use fullbench_llm::Parameters;

/// Tokens this much less likely than the likeliest, as a difference of logarithms, are never drawn: all of a large
/// vocabulary together would not make up one draw in a billion.
const NEGLIGIBLE: f32 = 34.0;

/// Draws the tokens of one text.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    temperature: f32,
    top_p: f64,
    top_k: usize,
    frequency_penalty: f32,
    presence_penalty: f32,
    seed: [u8; 32],
    position: u64,
    counts: HashMap<usize, u32>,
}

impl Sampler {
    /// A sampler for one of the texts of a request, counted from 0.
    pub(crate) fn new(parameters: &Parameters, seed: u64, alternative: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"fullbench-local-1");
        hasher.update(&seed.to_le_bytes());
        hasher.update(&alternative.to_le_bytes());
        Self {
            temperature: parameters.temperature.unwrap_or(1.0) as f32,
            top_p: parameters.top_p.unwrap_or(1.0),
            top_k: parameters.top_k.map_or(usize::MAX, |count| count as usize),
            frequency_penalty: parameters.frequency_penalty.unwrap_or(0.0) as f32,
            presence_penalty: parameters.presence_penalty.unwrap_or(0.0) as f32,
            seed: *hasher.finalize().as_bytes(),
            position: 0,
            counts: HashMap::new(),
        }
    }

    /// The next token, of those that are allowed; none when no token is.
    pub(crate) fn next(
        &mut self,
        logits: &[f32],
        is_allowed: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let scores = logits
            .iter()
            .enumerate()
            .filter(|(token, score)| score.is_finite() && is_allowed(*token))
            .map(|(token, score)| (token, score - self.penalty(token)));
        let token = if self.temperature <= 0.0 {
            likeliest(scores)?
        } else {
            let draw = self.draw();
            pick(self.candidates(scores.collect())?, draw)?
        };
        self.position += 1;
        *self.counts.entry(token).or_default() += 1;
        Some(token)
    }

    fn penalty(&self, token: usize) -> f32 {
        if self.counts.is_empty() || (self.frequency_penalty == 0.0 && self.presence_penalty == 0.0)
        {
            return 0.0;
        }
        self.counts
            .get(&token)
            .map_or(0.0, |count| self.presence_penalty + self.frequency_penalty * *count as f32)
    }

    /// Weights of the tokens that may be drawn, the likeliest first where an order is needed.
    fn candidates(&self, scores: Vec<(usize, f32)>) -> Option<Vec<(usize, f64)>> {
        let highest = scores.iter().map(|(_, score)| *score).fold(f32::NEG_INFINITY, f32::max);
        if !highest.is_finite() {
            return None;
        }
        let mut kept: Vec<(usize, f64)> = scores
            .into_iter()
            .map(|(token, score)| (token, (score - highest) / self.temperature))
            .filter(|(_, score)| *score > -NEGLIGIBLE)
            .map(|(token, score)| (token, f64::from(score).exp()))
            .collect();
        if self.top_k < kept.len() || self.top_p < 1.0 {
            kept.sort_unstable_by(|left, right| {
                right.1.total_cmp(&left.1).then(left.0.cmp(&right.0))
            });
            kept.truncate(self.top_k);
            let enough = self.top_p * kept.iter().map(|(_, weight)| weight).sum::<f64>();
            let mut mass = 0.0;
            let count = kept.iter().take_while(|(_, weight)| {
                let is_needed = mass < enough;
                mass += weight;
                is_needed
            });
            let count = count.count().max(1);
            kept.truncate(count);
        }
        Some(kept)
    }

    /// A number from 0 to 1 that belongs to this position.
    fn draw(&self) -> f64 {
        let hash = blake3::keyed_hash(&self.seed, &self.position.to_le_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&hash.as_bytes()[..8]);
        (u64::from_le_bytes(bytes) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The token with the highest score; of equal ones the first.
fn likeliest(scores: impl Iterator<Item = (usize, f32)>) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (token, score) in scores {
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((token, score));
        }
    }
    best.map(|(token, _)| token)
}

/// The token that holds the drawn share of all weights.
fn pick(candidates: Vec<(usize, f64)>, draw: f64) -> Option<usize> {
    let mut rest = draw * candidates.iter().map(|(_, weight)| weight).sum::<f64>();
    for (token, weight) in &candidates {
        rest -= weight;
        if rest < 0.0 {
            return Some(*token);
        }
    }
    candidates.last().map(|(token, _)| *token)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LOGITS: [f32; 4] = [1.0, 3.0, 2.0, f32::NEG_INFINITY];

    fn shares(parameters: &Parameters) -> [f64; 4] {
        let mut counts = [0.0; 4];
        for seed in 0..20_000 {
            let token = Sampler::new(parameters, seed, 0).next(&LOGITS, |_| true).unwrap();
            counts[token] += 1.0 / 20_000.0;
        }
        counts
    }

    fn assert_near(shares: [f64; 4], expected: [f64; 4]) {
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 0.015, "{shares:?}, not {expected}");
        }
    }

    #[test]
    fn tokens_are_drawn_with_the_probability_of_the_model() {
        assert_near(shares(&Parameters::default()), [0.0900, 0.6652, 0.2447, 0.0]);
        let warm = Parameters { temperature: Some(2.0), ..Parameters::default() };
        assert_near(shares(&warm), [0.1863, 0.5065, 0.3072, 0.0]);
    }

    #[test]
    fn top_k_and_top_p_cut_the_tail() {
        let two = Parameters { top_k: Some(2), ..Parameters::default() };
        assert_near(shares(&two), [0.0, 0.7311, 0.2689, 0.0]);
        let most = Parameters { top_p: Some(0.7), ..Parameters::default() };
        assert_near(shares(&most), [0.0, 0.7311, 0.2689, 0.0]);
        let least = Parameters { top_p: Some(0.01), ..Parameters::default() };
        assert_near(shares(&least), [0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn penalties_hold_for_tokens_that_have_appeared() {
        let parameters = Parameters {
            temperature: Some(0.0),
            frequency_penalty: Some(0.75),
            presence_penalty: Some(0.5),
            ..Parameters::default()
        };
        let mut sampler = Sampler::new(&parameters, 0, 0);
        let mut next = || sampler.next(&LOGITS, |_| true).unwrap();
        // 3 − 0.5 − 0.75 = 1.75 < 2; then 2 − 1.25 < 1.75; then 3 − 0.5 − 1.5 = 1 = 1, the first of equal ones.
        assert_eq!([next(), next(), next(), next()], [1, 2, 1, 0]);
    }

    #[test]
    fn only_allowed_tokens_are_drawn_and_none_when_there_is_none() {
        for temperature in [0.0, 1.0] {
            let parameters = Parameters { temperature: Some(temperature), ..Parameters::default() };
            let mut sampler = Sampler::new(&parameters, 0, 0);
            assert_eq!(sampler.next(&LOGITS, |token| token == 0), Some(0));
            assert_eq!(sampler.next(&LOGITS, |token| token == 3), None);
            assert_eq!(sampler.next(&[f32::NAN, 1.0], |_| true), Some(1));
        }
    }

    #[test]
    fn alternatives_and_positions_have_draws_of_their_own() {
        let text = |seed, alternative| {
            let mut sampler = Sampler::new(&Parameters::default(), seed, alternative);
            (0..50).map(|_| sampler.next(&LOGITS, |_| true).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(text(7, 0), text(7, 0));
        assert_ne!(text(7, 0), text(8, 0));
        assert_ne!(text(7, 0), text(7, 1));
        assert!(text(7, 0).windows(2).any(|pair| pair[0] != pair[1]));
    }
}
