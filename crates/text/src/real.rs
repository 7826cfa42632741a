//! Formulas in single and double precision: what the references compute in either, is written once.

use std::ops::{Add, Div, Mul};

/// `f32` or `f64`.
pub(crate) trait Real:
    Copy + PartialOrd + Add<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The nearest number of this type.
    fn nearest(number: f64) -> Self;
    /// The same number in double precision.
    fn double(self) -> f64;
}

impl Real for f32 {
    fn nearest(number: f64) -> Self {
        number as Self
    }
    fn double(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn nearest(number: f64) -> Self {
        number
    }
    fn double(self) -> f64 {
        self
    }
}
