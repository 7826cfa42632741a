//! Moments to kill something at.

/// A simple generator, so that the moments of the kills are random but the same in every run.
pub(crate) struct Moments(pub(crate) u64);

impl Moments {
    /// A time from the first to the second number of milliseconds.
    pub(crate) fn next_milliseconds(&mut self, least: u64, most: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        least + (self.0 >> 33) % (most - least)
    }
}
