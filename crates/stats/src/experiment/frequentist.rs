//! Two arms by Welch's test, with a recommendation in words.

use serde::Serialize;

use crate::Undefined;
use crate::compare::{EffectSize, Magnitude, MeanComparison, cohen_d, welch_t};

/// The frequentist comparison of two arms.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrequentistTest {
    /// Welch's test: difference, statistic, p-value, interval of level 1 − alpha.
    pub comparison: MeanComparison,
    /// The p-value is below alpha.
    pub significant: bool,
    /// Cohen's d.
    pub effect_size: EffectSize,
    /// Its size in words.
    pub effect_interpretation: &'static str,
    /// What was found, in words.
    pub recommendation: &'static str,
}

/// Welch's t test of treatment against control (Welch 1947), for a sample whose size was fixed beforehand and that is looked at once.
/// Assumes independent values, roughly normal or many. Undefined for fewer than two values in an arm, and when nothing varies: equal values are
/// no test.
pub fn frequentist_test(
    control: &[f64],
    treatment: &[f64],
    alpha: f64,
) -> Result<FrequentistTest, Undefined> {
    Undefined::unless_share("alpha", alpha)?;
    let comparison = welch_t(control, treatment, 1.0 - alpha)?;
    let effect_size = cohen_d(control, treatment)?;
    let significant = comparison.p_value < alpha;
    let recommendation = if !significant {
        "No significant difference detected"
    } else if comparison.difference > 0.0 {
        "Treatment is significantly BETTER than control"
    } else {
        "Treatment is significantly WORSE than control"
    };
    let effect_interpretation = interpretation(effect_size.magnitude);
    Ok(FrequentistTest {
        comparison,
        significant,
        effect_size,
        effect_interpretation,
        recommendation,
    })
}

/// Cohen's (1988) words for the size of d.
fn interpretation(size: Magnitude) -> &'static str {
    match size {
        Magnitude::Negligible => "Negligible effect",
        Magnitude::Small => "Small effect",
        Magnitude::Medium => "Medium effect",
        Magnitude::Large => "Large effect",
    }
}
