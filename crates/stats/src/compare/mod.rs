//! Comparing two samples: tests, effect sizes, equivalence, many tests at once, power.
