//! Many tests at once: p-values adjusted so that each may be compared with the level of the whole family.

use serde::{Deserialize, Serialize};

use crate::Undefined;

/// How p-values are adjusted for being many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Adjustment {
    /// Times their number (Dunn 1961): family-wise error rate, under any dependence.
    Bonferroni,
    /// Step-down Bonferroni (Holm 1979): family-wise error rate, under any dependence; never weaker than Bonferroni.
    Holm,
    /// Holm's steps with Šidák's factor (Holland and Copenhaver 1987): family-wise error rate, for independent or positively
    /// dependent tests.
    HolmSidak,
    /// Closed test of Simes (Hommel 1988): family-wise error rate, for independent or positively dependent tests.
    Hommel,
    /// Step-up (Benjamini and Hochberg 1995): false discovery rate, for independent or positively dependent tests.
    BenjaminiHochberg,
    /// Benjamini–Hochberg with a harmonic factor (Benjamini and Yekutieli 2001): false discovery rate, under any dependence.
    BenjaminiYekutieli,
}

/// Adjusted p-values, in the order given; none for none. Each is at most 1 and at least the p-value itself. Hommel takes time
/// that grows with the square of their number, the others n log n. Undefined where a p-value is not between 0 and 1.
pub fn adjust(p_values: &[f64], how: Adjustment) -> Result<Vec<f64>, Undefined> {
    if let Some(&value) = p_values.iter().find(|value| !(0.0..=1.0).contains(*value)) {
        return Err(Undefined::OutOfRange { what: "a p-value", value, allowed: "from 0 to 1" });
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let sorted: Vec<f64> = order.iter().map(|&index| p_values[index]).collect();
    let n = sorted.len() as f64;
    let adjusted = match how {
        Adjustment::Bonferroni => sorted.iter().map(|p| p * n).collect(),
        Adjustment::Holm => step_down(&sorted, |p, tests| p * tests),
        Adjustment::HolmSidak => step_down(&sorted, |p, tests| -(tests * (-p).ln_1p()).exp_m1()),
        Adjustment::Hommel => hommel(&sorted),
        Adjustment::BenjaminiHochberg => step_up(&sorted, 1.0),
        Adjustment::BenjaminiYekutieli => {
            let harmonic = (1..=sorted.len()).map(|rank| 1.0 / rank as f64).sum();
            step_up(&sorted, harmonic)
        }
    };
    let mut result = vec![0.0; p_values.len()];
    for (index, value) in order.into_iter().zip(adjusted) {
        result[index] = value.min(1.0);
    }
    Ok(result)
}

/// Each p-value for the number of tests from it on, and never below the one before.
fn step_down(sorted: &[f64], single: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut largest: f64 = 0.0;
    let adjust = |(index, p): (usize, &f64)| {
        largest = largest.max(single(*p, (sorted.len() - index) as f64));
        largest
    };
    sorted.iter().enumerate().map(adjust).collect()
}

fn step_up(sorted: &[f64], factor: f64) -> Vec<f64> {
    let mut smallest: f64 = 1.0;
    let mut adjusted = vec![0.0; sorted.len()];
    for (index, p) in sorted.iter().enumerate().rev() {
        smallest = smallest.min(p * factor * sorted.len() as f64 / (index + 1) as f64);
        adjusted[index] = smallest;
    }
    adjusted
}

/// The algorithm of the appendix of Wright (1992): the largest Simes p-value of the sets that hold each hypothesis.
fn hommel(sorted: &[f64]) -> Vec<f64> {
    let n = sorted.len();
    let mut adjusted = sorted.to_vec();
    for size in (2..=n).rev() {
        let split = n - size + 1;
        let (smaller, larger) = sorted.split_at(split);
        let scaled = |(index, p): (usize, &f64)| size as f64 * p / (index + 2) as f64;
        let of_larger = larger.iter().enumerate().map(scaled).fold(f64::INFINITY, f64::min);
        let mut simes = of_larger;
        for (value, p) in adjusted.iter_mut().zip(smaller) {
            simes = of_larger.min(size as f64 * p);
            *value = value.max(simes);
        }
        for value in adjusted.iter_mut().skip(split) {
            *value = value.max(simes);
        }
    }
    adjusted
}
