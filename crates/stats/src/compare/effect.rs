//! How large a difference is: standardized and by dominance, with the usual words.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::mean::{differences, samples, unless_rounding};
use crate::{Moments, Undefined};

/// A word for the size of an effect. It says how large, never whether that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Magnitude {
    /// Hardly there.
    Negligible,
    /// Small.
    Small,
    /// Medium.
    Medium,
    /// Large.
    Large,
}

impl Magnitude {
    /// The word, in lower case.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Negligible => "negligible",
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }

    /// Of a difference in standard deviations: 0.2, 0.5 and 0.8 (Cohen 1988).
    #[must_use]
    pub fn of_cohen(value: f64) -> Self {
        Self::beyond(value, [0.2, 0.5, 0.8])
    }

    /// Of Cliff's delta: 0.147, 0.33 and 0.474 (Romano et al. 2006).
    #[must_use]
    pub fn of_cliff(value: f64) -> Self {
        Self::beyond(value, [0.147, 0.33, 0.474])
    }

    fn beyond(value: f64, [small, medium, large]: [f64; 3]) -> Self {
        match value.abs() {
            size if size < small => Self::Negligible,
            size if size < medium => Self::Small,
            size if size < large => Self::Medium,
            _ => Self::Large,
        }
    }
}

/// The size of an effect; positive where the second side is higher.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectSize {
    /// The number.
    pub value: f64,
    /// The usual word for it.
    pub magnitude: Magnitude,
}

/// Cohen's d of two independent samples (Cohen 1988): the difference of means in pooled standard deviations. Biased away from
/// zero for few values; see [`hedges_g`]. Undefined for fewer than two values on a side, and when neither side varies.
pub fn cohen_d(control: &[f64], treatment: &[f64]) -> Result<EffectSize, Undefined> {
    standardized(control, treatment).map(by_cohen)
}

/// Hedges' g (Hedges 1981): Cohen's d freed of its small-sample bias by the exact factor, see [`hedges_correction`]. Assumes
/// normal values of equal variance. Undefined as Cohen's d.
pub fn hedges_g(control: &[f64], treatment: &[f64]) -> Result<EffectSize, Undefined> {
    let d = standardized(control, treatment)?;
    Ok(by_cohen(d * hedges_correction((control.len() + treatment.len() - 2) as f64)?))
}

/// Hedges' g with the approximate factor 1 − 3/(4·df − 1) that many programs use (Hedges 1981). Undefined as Cohen's d.
pub fn hedges_g_approximate(control: &[f64], treatment: &[f64]) -> Result<EffectSize, Undefined> {
    let d = standardized(control, treatment)?;
    let degrees_of_freedom = (control.len() + treatment.len() - 2) as f64;
    Ok(by_cohen(d * (1.0 - 3.0 / (4.0 * degrees_of_freedom - 1.0))))
}

/// Hedges' factor J = Γ(df/2) / (√(df/2) · Γ((df−1)/2)) (Hedges 1981). Undefined for one degree of freedom or fewer.
pub fn hedges_correction(degrees_of_freedom: f64) -> Result<f64, Undefined> {
    if !(degrees_of_freedom > 1.0 && degrees_of_freedom.is_finite()) {
        return Err(Undefined::OutOfRange {
            what: "degrees of freedom",
            value: degrees_of_freedom,
            allowed: "more than 1",
        });
    }
    let x = (degrees_of_freedom - 1.0) / 2.0;
    if x < 20.0 {
        return Ok((ln_gamma(x + 0.5) - ln_gamma(x) - 0.5 * (x + 0.5).ln()).exp());
    }
    // The two gamma functions cancel but for this series (DLMF 5.11.13).
    let square = x * x;
    let inner = 1.0 / 640.0 - 17.0 / 14_336.0 / square;
    let series = (-1.0 / 8.0 + (1.0 / 192.0 - inner / square) / square) / x;
    Ok(series.exp() * (x / (x + 0.5)).sqrt())
}

/// Cohen's d of paired differences (Cohen 1988): the mean difference in standard deviations of the differences. It is larger
/// than [`cohen_d`] of the same data where the pairs are correlated by more than a half; the words are those of d.
/// Undefined for fewer than two pairs, and when all differences are equal.
pub fn cohen_dz(before: &[f64], after: &[f64]) -> Result<EffectSize, Undefined> {
    let moments: Moments = differences(before, after)?.into_iter().collect();
    unless_rounding(moments.variance()?, &[before, after], "differences")?;
    Ok(by_cohen(moments.mean()? / moments.variance()?.sqrt()))
}

/// Cliff's delta (Cliff 1993): the share of pairs across the samples where the treatment is higher, minus the share where it
/// is lower; only order counts. Defined without variation (0 where all values are equal). Time n log n. Undefined when a
/// side is empty.
pub fn cliffs_delta(control: &[f64], treatment: &[f64]) -> Result<EffectSize, Undefined> {
    for side in [control, treatment] {
        Undefined::unless_enough("values on a side", side.len(), 1)?;
        Undefined::unless_finite("value", side)?;
    }
    let (mut first, mut second) = (control.to_vec(), treatment.to_vec());
    first.sort_by(f64::total_cmp);
    second.sort_by(f64::total_cmp);
    let (mut below, mut up_to) = (0, 0);
    let mut dominance: i128 = 0;
    for value in &second {
        while first.get(below).is_some_and(|other| other < value) {
            below += 1;
        }
        while first.get(up_to).is_some_and(|other| other <= value) {
            up_to += 1;
        }
        dominance += below as i128 - (first.len() - up_to) as i128;
    }
    let value = dominance as f64 / (first.len() as f64 * second.len() as f64);
    Ok(EffectSize { value, magnitude: Magnitude::of_cliff(value) })
}

fn by_cohen(value: f64) -> EffectSize {
    EffectSize { value, magnitude: Magnitude::of_cohen(value) }
}

fn standardized(control: &[f64], treatment: &[f64]) -> Result<f64, Undefined> {
    let (first, second) = samples(control, treatment)?;
    let (first_weight, second_weight) = ((first.count() - 1) as f64, (second.count() - 1) as f64);
    let pooled = (first_weight * first.variance()? + second_weight * second.variance()?)
        / (first_weight + second_weight);
    unless_rounding(pooled, &[control, treatment], "values within each side")?;
    Ok((second.mean()? - first.mean()?) / pooled.sqrt())
}
