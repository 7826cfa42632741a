//! Where a function crosses zero.

use crate::Undefined;

const MAX_STEPS: usize = 200;

/// The root of a continuous function between two points where its signs differ, to the last digits: regula falsi with the
/// Illinois rule (Dowell and Jarratt 1971), with a bisection wherever it does not halve the bracket in three steps.
pub(crate) fn root_between(
    mut low: f64,
    mut high: f64,
    mut function: impl FnMut(f64) -> f64,
) -> Result<f64, Undefined> {
    let (mut at_low, mut at_high) = (function(low), function(high));
    if at_low == 0.0 {
        return Ok(low);
    }
    if at_high == 0.0 {
        return Ok(high);
    }
    if at_low.is_nan() || at_high.is_nan() || at_low * at_high > 0.0 {
        return Err(Undefined::NotConverged { what: "a root", iterations: 0 });
    }
    let mut last_width = high - low;
    for step in 1..=MAX_STEPS {
        let bisect = step % 3 == 0 && high - low > last_width / 2.0;
        if step % 3 == 0 {
            last_width = high - low;
        }
        let secant = high - at_high * (high - low) / (at_high - at_low);
        let inside = secant > low && secant < high;
        let middle = if bisect || !inside { f64::midpoint(low, high) } else { secant };
        let value = function(middle);
        let close = (high - low) <= 4.0 * f64::EPSILON * middle.abs().max(f64::MIN_POSITIVE);
        if value == 0.0 || close || middle <= low || middle >= high {
            return Ok(middle);
        }
        if value * at_high < 0.0 {
            (low, at_low) = (high, at_high);
        } else {
            at_low /= 2.0;
        }
        (high, at_high) = (middle, value);
        if low > high {
            std::mem::swap(&mut low, &mut high);
            std::mem::swap(&mut at_low, &mut at_high);
        }
    }
    Ok(f64::midpoint(low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_to_the_last_digits() {
        let root = root_between(0.0, 10.0, |x| x * x * x - 2.0);
        assert!((root.unwrap_or(0.0) - 2.0_f64.cbrt()).abs() < 1e-15);
        let flat = root_between(0.0, 1.0, |x| (x - 1e-9).powi(3));
        assert!((flat.unwrap_or(0.0) - 1e-9).abs() < 1e-9);
        assert!(root_between(0.0, 1.0, |x| x + 1.0).is_err());
    }
}
