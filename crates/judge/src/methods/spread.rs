//! Mean and confidence of what several samples gave.

use fullbench_types::Scale;

/// One sample: numbers of the scale with their probabilities, which add up to one.
pub(crate) type Weights = Vec<(i32, f64)>;

/// The mean of the samples' means.
pub(crate) fn mean(samples: &[Weights]) -> f64 {
    let total: f64 = samples.iter().map(expectation).sum();
    total / samples.len() as f64
}

/// The mean of one sample.
pub(crate) fn expectation(sample: &Weights) -> f64 {
    sample.iter().map(|(number, share)| f64::from(*number) * share).sum()
}

/// How sure the samples are together: 1 − s/m, where s is the standard deviation of all samples' numbers, weighted by their
/// probabilities, and m = (max − min)/2 is the largest there can be. 1 when all probability is on one number, 0 when half of it is
/// at each end.
pub(crate) fn confidence(samples: &[Weights], scale: Scale) -> f64 {
    let mean = mean(samples);
    let deviation = |number: i32| (f64::from(number) - mean).powi(2);
    let squares = samples.iter().flatten().map(|(number, share)| deviation(*number) * share);
    let variance = squares.sum::<f64>() / samples.len() as f64;
    let largest = (f64::from(scale.max) - f64::from(scale.min)) / 2.0;
    // Rounding may bring it a little outside.
    (1.0 - variance.sqrt() / largest).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_goes_from_agreement_to_the_largest_spread() {
        let scale = Scale::FIVE;
        assert_eq!(confidence(&[vec![(4, 1.0)]], scale), 1.0);
        assert_eq!(confidence(&[vec![(4, 1.0)], vec![(4, 1.0)]], scale), 1.0);
        assert_eq!(confidence(&[vec![(1, 1.0)], vec![(5, 1.0)]], scale), 0.0);
        assert_eq!(confidence(&[vec![(1, 0.5), (5, 0.5)]], scale), 0.0);
        // Numbers 4 and 5 with 0.75 and 0.25: variance 0.1875, deviation 0.4330127, of at most 2.
        let found = confidence(&[vec![(4, 0.75), (5, 0.25)]], scale);
        assert!((found - (1.0 - 0.1875_f64.sqrt() / 2.0)).abs() < 1e-12);
    }
}
