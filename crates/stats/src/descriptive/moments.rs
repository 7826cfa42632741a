//! Mean and variance in one pass.

use crate::Undefined;

/// Count, mean and sum of squared deviations, updated value by value (Welford 1962; merged after Chan et al. 1979).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    count: u64,
    sum: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes one more value.
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// Takes the same value many times.
    pub fn add_many(&mut self, value: f64, count: u64) {
        let sum = value * count as f64;
        self.merge(&Self { count, sum, mean: value, squares: 0.0 });
    }

    /// Takes all values of another sample.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        let count = self.count + other.count;
        let difference = other.mean - self.mean;
        let (own, others) = (self.count as f64, other.count as f64);
        self.mean += difference * others / count as f64;
        self.squares += other.squares + difference * difference * own * others / count as f64;
        self.sum += other.sum;
        self.count = count;
    }

    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, the sum divided by the count: exact for yes/no values; undefined for no values.
    pub fn mean(&self) -> Result<f64, Undefined> {
        Undefined::unless_enough("values", self.count as usize, 1)?;
        Ok(self.sum / self.count as f64)
    }

    /// The sample variance (divided by n − 1); undefined for fewer than two values.
    pub fn variance(&self) -> Result<f64, Undefined> {
        Undefined::unless_enough("values", self.count as usize, 2)?;
        Ok((self.squares / (self.count - 1) as f64).max(0.0))
    }

    /// The standard error of the mean of independent values; undefined for fewer than two.
    pub fn standard_error(&self) -> Result<f64, Undefined> {
        Ok((self.variance()? / self.count as f64).sqrt())
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut moments = Self::default();
        values.into_iter().for_each(|value| moments.add(value));
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_equals_one_pass() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i * i % 37) / 7.0).collect();
        let whole: Moments = values.iter().copied().collect();
        let mut merged: Moments = values[..33].iter().copied().collect();
        merged.merge(&values[33..].iter().copied().collect());
        assert_eq!(whole.count(), merged.count());
        assert!((whole.mean().unwrap_or(0.0) - merged.mean().unwrap_or(1.0)).abs() < 1e-12);
        assert!((whole.variance().unwrap_or(0.0) - merged.variance().unwrap_or(1.0)).abs() < 1e-12);
    }

    #[test]
    fn the_mean_of_yes_and_no_is_the_proportion() {
        let moments: Moments = (0..200).map(|i| f64::from(u8::from(i < 183))).collect();
        assert_eq!(moments.mean(), Ok(0.915));
    }

    #[test]
    fn what_is_not_defined_is_none() {
        assert!(Moments::default().mean().is_err());
        assert!([3.0].into_iter().collect::<Moments>().variance().is_err());
    }
}
