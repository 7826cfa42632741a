//! Log-probabilities from the model's scores, as the model gives them: temperature 1, nothing cut, nothing penalized.

/// The log-probability of any token at one place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogProbabilities<'context> {
    logits: &'context [f32],
    log_total: f64,
}

impl<'context> LogProbabilities<'context> {
    /// Reads the scores of one place.
    pub(crate) fn of(logits: &'context [f32]) -> Self {
        let highest =
            logits.iter().copied().filter(|score| !score.is_nan()).fold(f32::MIN, f32::max);
        let total: f64 = logits
            .iter()
            .map(|score| f64::from((score - highest).exp()))
            .filter(|weight| !weight.is_nan())
            .sum();
        Self { logits, log_total: f64::from(highest) + total.ln() }
    }

    /// Natural logarithm of a token's probability; finite, so that it can be written as JSON.
    pub(crate) fn of_token(&self, token: usize) -> f64 {
        let logit = self.logits.get(token).copied().unwrap_or(f32::NEG_INFINITY);
        if logit.is_nan() {
            return LOWEST;
        }
        (f64::from(logit) - self.log_total).clamp(LOWEST, 0.0)
    }

    /// The most likely tokens, the likeliest first.
    pub(crate) fn top(&self, count: usize) -> Vec<usize> {
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(count + 1);
        for (token, logit) in self.logits.iter().enumerate() {
            let is_full = best.len() == count;
            if logit.is_nan() || (is_full && best.last().is_none_or(|(last, _)| logit <= last)) {
                continue;
            }
            let place = best.partition_point(|(other, _)| other >= logit);
            best.insert(place, (*logit, token));
            best.truncate(count);
        }
        best.into_iter().map(|(_, token)| token).collect()
    }
}

/// The logarithm given for a probability of 0, as OpenAI does.
const LOWEST: f64 = -9999.0;

/// Probabilities of alternatives from their log-probabilities, which they share as if there were no others.
pub(crate) fn shares(logprobs: &[f64]) -> Vec<f64> {
    let highest = logprobs.iter().copied().fold(f64::MIN, f64::max);
    let weights: Vec<f64> = logprobs.iter().map(|logprob| (logprob - highest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_of_all_tokens_sum_to_one() {
        let logits = [1.0, 3.0, 2.0, f32::NEG_INFINITY];
        let probabilities = LogProbabilities::of(&logits);
        let total: f64 = (0..4).map(|token| probabilities.of_token(token).exp()).sum();
        assert!((total - 1.0).abs() < 1e-6, "{total}");
        assert!((probabilities.of_token(1) + 0.40760).abs() < 1e-4);
        assert_eq!(probabilities.of_token(3), LOWEST);
        assert_eq!(probabilities.of_token(9), LOWEST);
    }

    #[test]
    fn the_likeliest_come_first_and_of_equal_ones_the_first() {
        let probabilities = LogProbabilities::of(&[1.0, 3.0, 3.0, 0.0, 2.0]);
        assert_eq!(probabilities.top(3), [1, 2, 4]);
        assert_eq!(probabilities.top(0), [0_usize; 0]);
        assert_eq!(probabilities.top(9).len(), 5);
    }

    #[test]
    fn alternatives_share_the_whole() {
        let shares = shares(&[-1.0, -1.0 - 3_f64.ln(), -2_000.0]);
        assert!((shares[0] - 0.75).abs() < 1e-9 && (shares[1] - 0.25).abs() < 1e-9);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
