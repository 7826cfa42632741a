//! Bounds for looks that are planned: O'Brien–Fleming, Pocock, and the spending of alpha.

use serde::Serialize;

use super::recursion::Continuing;
use crate::numeric::root_between;
use crate::{Undefined, normal_cdf, normal_quantile};

/// A critical value that no statistic ever reaches: the bound where there is nothing to spend.
const UNREACHABLE: f64 = 37.0;
/// More looks than this are no plan.
const MOST_LOOKS: usize = 366;
/// Looks closer together than this share of the whole cannot be told apart.
const LEAST_STEP: f64 = 1e-5;

/// A function that says how much of alpha may be spent by which share of the information.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spending {
    /// Little early, most at the end, like O'Brien–Fleming: `4 (1 − Φ(z_{1−α/4} / √t))`, for each side the function of Lan and
    /// DeMets (1983) with α/2.
    OBrienFleming,
    /// About as much at each look, like Pocock: `α ln(1 + (e − 1) t)` (Lan and DeMets 1983).
    Pocock,
}

impl Spending {
    /// What may be spent by a share of the information from 0 to 1. Undefined outside of that, and unless 0 < alpha < 1.
    pub fn spent(self, alpha: f64, fraction: f64) -> Result<f64, Undefined> {
        Undefined::unless_share("alpha", alpha)?;
        if !(0.0..=1.0).contains(&fraction) {
            let what = "an information fraction";
            return Err(Undefined::OutOfRange { what, value: fraction, allowed: "from 0 to 1" });
        }
        if fraction == 0.0 {
            return Ok(0.0);
        }
        match self {
            Self::OBrienFleming => {
                Ok(4.0 * normal_cdf(normal_quantile(alpha / 4.0)? / fraction.sqrt()))
            }
            Self::Pocock => Ok(alpha * ((std::f64::consts::E - 1.0) * fraction).ln_1p()),
        }
    }
}

/// A plan of looks with the bound of each: two-sided, symmetric.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDesign {
    /// How often the whole test may find a difference where there is none.
    pub alpha: f64,
    /// The share of the planned information at each look.
    pub fractions: Vec<f64>,
    /// The critical value of the standardized difference at each look.
    pub critical: Vec<f64>,
    /// The p-value a single test must stay below at each look: 2 (1 − Φ(critical)).
    pub nominal: Vec<f64>,
    /// How much of alpha is spent by each look.
    pub spent: Vec<f64>,
}

/// O'Brien and Fleming (1979): bounds `C √(K/k)` for K looks at equal steps of information. Hard to cross early, and nearly the
/// fixed test at the end. Undefined for no looks, and unless 0 < alpha < 1.
pub fn o_brien_fleming(looks: usize, alpha: f64) -> Result<GroupDesign, Undefined> {
    equal_steps(looks, alpha, |share| share.sqrt().recip())
}

/// Pocock (1977): the same bound at each of K looks at equal steps of information. Undefined for no looks, and unless 0 < alpha < 1.
pub fn pocock(looks: usize, alpha: f64) -> Result<GroupDesign, Undefined> {
    equal_steps(looks, alpha, |_| 1.0)
}

/// Bounds `C · shape(k/K)` that together spend alpha.
fn equal_steps(
    looks: usize,
    alpha: f64,
    shape: impl Fn(f64) -> f64,
) -> Result<GroupDesign, Undefined> {
    check(looks, alpha)?;
    let fractions: Vec<f64> = (1..=looks).map(|look| look as f64 / looks as f64).collect();
    let bounds = |constant: f64| -> Vec<f64> {
        fractions.iter().map(|&fraction| constant * shape(fraction)).collect()
    };
    // One look needs the least, and each look taken as a test of its own (Bonferroni) the most.
    let least = -normal_quantile(alpha / 2.0)?;
    let most = -normal_quantile(alpha / (2.0 * looks as f64))?;
    let constant = if looks == 1 {
        least
    } else {
        root_between(least, most, |constant| {
            spent(&fractions, &bounds(constant)).last().copied().unwrap_or_default() - alpha
        })?
    };
    let critical = bounds(constant);
    let spent = spent(&fractions, &critical);
    Ok(design(alpha, fractions, critical, spent))
}

/// Lan and DeMets (1983): bounds for looks at any information fractions, which need not have been planned, as long as they do not
/// depend on what was seen. Each look spends what the function allows by then. Fractions increase, up to at most 1. Undefined
/// for no looks, fractions that do not increase by at least 1e-5, and unless 0 < alpha < 1.
pub fn alpha_spending(
    function: Spending,
    fractions: &[f64],
    alpha: f64,
) -> Result<GroupDesign, Undefined> {
    check(fractions.len(), alpha)?;
    let mut before = 0.0;
    for &fraction in fractions {
        if !(fraction - before >= LEAST_STEP && fraction <= 1.0) {
            return Err(Undefined::OutOfRange {
                what: "an information fraction",
                value: fraction,
                allowed: "at most 1, and at least 0.00001 more than the one before it",
            });
        }
        before = fraction;
    }
    let mut continuing = Continuing::start();
    let (mut critical, mut spent, mut used) = (Vec::new(), Vec::new(), 0.0);
    for (look, &fraction) in fractions.iter().enumerate() {
        let allowed = function.spent(alpha, fraction)?;
        let bound = bound_for(&continuing, fraction, allowed - used)?;
        used += continuing.crossing(fraction, bound);
        critical.push(bound);
        spent.push(used);
        if let Some(&next) = fractions.get(look + 1) {
            continuing = continuing.advanced(fraction, bound, next);
        }
    }
    Ok(design(alpha, fractions.to_vec(), critical, spent))
}

/// The bound that is crossed first at this look with the given probability.
fn bound_for(continuing: &Continuing, fraction: f64, probability: f64) -> Result<f64, Undefined> {
    let excess = |bound: f64| {
        (continuing.crossing(fraction, bound).max(f64::MIN_POSITIVE) / probability).ln()
    };
    if probability <= f64::MIN_POSITIVE || excess(UNREACHABLE) >= 0.0 {
        return Ok(UNREACHABLE);
    }
    root_between(0.0, UNREACHABLE, excess)
}

/// What is spent by each look with these bounds.
fn spent(fractions: &[f64], critical: &[f64]) -> Vec<f64> {
    let mut continuing = Continuing::start();
    let (mut used, mut spent) = (0.0, Vec::with_capacity(critical.len()));
    for (look, (&fraction, &bound)) in fractions.iter().zip(critical).enumerate() {
        used += continuing.crossing(fraction, bound);
        spent.push(used);
        if let Some(&next) = fractions.get(look + 1) {
            continuing = continuing.advanced(fraction, bound, next);
        }
    }
    spent
}

fn design(alpha: f64, fractions: Vec<f64>, critical: Vec<f64>, spent: Vec<f64>) -> GroupDesign {
    let nominal = critical.iter().map(|bound| 2.0 * normal_cdf(-bound)).collect();
    GroupDesign { alpha, fractions, critical, nominal, spent }
}

fn check(looks: usize, alpha: f64) -> Result<(), Undefined> {
    Undefined::unless_share("alpha", alpha)?;
    Undefined::unless_enough("looks", looks, 1)?;
    if looks > MOST_LOOKS {
        let (what, value) = ("the number of looks", looks as f64);
        return Err(Undefined::OutOfRange { what, value, allowed: "at most 366" });
    }
    Ok(())
}
