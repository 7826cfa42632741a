//! How many more duels would tell two players apart.

use super::BradleyTerry;
use crate::{Undefined, normal_quantile};

impl BradleyTerry {
    /// How many more duels between two players would show their difference at a two-sided `level` with probability `power`,
    /// if it is as large as estimated: 0 where the duels so far would do.
    ///
    /// A duel adds its Fisher information to what is known of the difference (Sherman and Morrison 1950 for the inverse); where
    /// the covariance is robust, new duels are taken to be as noisy, against the model, as those so far. Normal
    /// approximation. Undefined for equal strengths and without variation.
    pub fn battles_to_separate(
        &self,
        first: usize,
        second: usize,
        level: f64,
        power: f64,
    ) -> Result<f64, Undefined> {
        Undefined::unless_share("level", level)?;
        Undefined::unless_share("power", power)?;
        let now = self.difference(first, second, 1.0 - level)?.difference;
        let lead = now.value.abs();
        if lead <= now.standard_error * 1e-6 {
            return Err(Undefined::NoVariation { what: "strengths of the two" });
        }
        let variance = now.standard_error * now.standard_error;
        let by_model = self.variance_of_difference(&self.inverse_information, first, second);
        let noise = variance / by_model;
        let needed = lead / (normal_quantile(1.0 - level / 2.0)? + normal_quantile(power)?);
        let missing = 1.0 / (needed * needed) - 1.0 / variance;
        Ok((missing * noise / self.information_of_a_battle(lead)).max(0.0))
    }

    /// Fisher information about a difference in one duel.
    fn information_of_a_battle(&self, log_odds: f64) -> f64 {
        let (win, lose) = ((0.5 * log_odds).exp(), (-0.5 * log_odds).exp());
        match self.tie_parameter {
            None => 1.0 / (win + lose).powi(2),
            Some(tie) => {
                let sum = win + lose + tie;
                let lead = 0.5 * (win - lose) / sum;
                0.25 * (win + lose) / sum - lead * lead
            }
        }
    }
}
