//! The coincidence matrix of Krippendorff's alpha, for those who want to see it.

use serde::Serialize;

use super::ratings::Ratings;
use super::scale::runs;
use super::unless_categories;
use crate::Undefined;

/// How often each two values meet at an item.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coincidences {
    /// `o_ck`: for each item the ordered pairs of a `c` and a `k`, divided by its ratings less one. Symmetric.
    pub matrix: Vec<Vec<f64>>,
    /// `n_c`: the sums of the rows, which are the values of items with two ratings or more.
    pub marginals: Vec<f64>,
    /// `n`: the sum of all.
    pub total: f64,
}

/// The coincidence matrix: `o_ck = Σ_u (ordered c–k pairs in u) / (m_u − 1)` over items `u` with `m_u` ≥ 2 values (Krippendorff
/// 2011). Rows and columns are the categories of [`Ratings::numbers`]. Undefined when no item has two ratings, and for
/// more than 1,000 categories, since the matrix grows with their square.
pub fn coincidences(ratings: &Ratings) -> Result<Coincidences, Undefined> {
    let categories = ratings.numbers().len();
    unless_categories(categories)?;
    let classes = ratings.classes();
    Undefined::unless_enough("items with two ratings", classes.paired_items(), 1)?;
    let mut matrix = vec![vec![0.0; categories]; categories];
    for (items, values) in classes.iter() {
        let share = f64::from(items) / (values.len() as f64 - 1.0);
        for (value, count) in runs(values) {
            for (other, number) in runs(values) {
                let pairs = if value == other { count * (count - 1.0) } else { count * number };
                matrix[value][other] += pairs * share;
            }
        }
    }
    let mut marginals = vec![0.0; categories];
    classes.add_value_counts(classes.counts(), &mut marginals);
    let total = marginals.iter().sum();
    Ok(Coincidences { matrix, marginals, total })
}
