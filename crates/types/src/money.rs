//! Money in integer nano-dollars inside, dollars at the edges.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// An amount of money: one billionth of a US dollar is 1.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NanoDollars(pub i64);

impl NanoDollars {
    /// No money.
    pub const ZERO: Self = Self(0);

    /// The nearest amount to so many dollars.
    #[must_use]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e9).round() as i64)
    }

    /// The amount in dollars, for showing.
    #[must_use]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

/// Shown with as many digits as a small amount needs: `$12.30`, `$0.0042`, `$0.00000018`.
impl fmt::Display for NanoDollars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.dollars();
        let magnitude = dollars.abs();
        if self.0 == 0 || magnitude >= 1.0 {
            write!(formatter, "${dollars:.2}")
        } else {
            let leading_zeros = (-magnitude.log10()).floor().max(0.0) as usize;
            write!(formatter, "${dollars:.*}", (leading_zeros + 2).clamp(4, 9))
        }
    }
}

impl Add for NanoDollars {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for NanoDollars {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for NanoDollars {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for NanoDollars {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl Sum for NanoDollars {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_keep_their_digits() {
        let shown = |nanos| NanoDollars(nanos).to_string();
        assert_eq!(shown(0), "$0.00");
        assert_eq!(shown(12_300_000_000), "$12.30");
        assert_eq!(shown(4_200_000), "$0.0042");
        assert_eq!(shown(180), "$0.00000018");
        assert_eq!(NanoDollars::from_dollars(0.1).0, 100_000_000);
    }
}
