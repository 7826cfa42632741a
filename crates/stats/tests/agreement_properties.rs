//! Agreement held to its properties: intervals, large data, invariances.
#![allow(clippy::unwrap_used)]

use fullbench_stats::Undefined;
use fullbench_stats::agreement::{
    Level, Ratings, alpha, alpha_interval, coincidences, item_disagreements, percent_agreement,
};
use proptest::prelude::*;

fn close(what: &str, ours: f64, theirs: f64) {
    let apart = (ours - theirs).abs();
    assert!(apart <= 1e-9 * theirs.abs().max(1.0), "{what}: {ours} is not {theirs}");
}

fn ratings_of(items: &[u32], annotators: &[u32], values: &[u32]) -> Ratings {
    Ratings::new(items, annotators, values).unwrap()
}

#[test]
fn a_million_distinct_values_take_no_matrix() {
    let items: Vec<u32> = (0..1_000_000).map(|row| row / 5).collect();
    let annotators: Vec<u32> = (0..1_000_000).map(|row| row % 5).collect();
    let codes: Vec<u32> = (0..1_000_000).collect();
    let value = |row: u32| {
        1.0 + f64::from(row / 5) + f64::from(row.wrapping_mul(2_654_435_761) >> 12) * 0.1
    };
    let numbers: Vec<f64> = codes.iter().map(|&row| value(row)).collect();
    let ratings = Ratings::with_numbers(&items, &annotators, &codes, &numbers).unwrap();
    for level in [Level::Ordinal, Level::Interval, Level::Ratio] {
        let result = alpha(&ratings, level).unwrap().alpha;
        assert!(result > 0.5 && result < 1.0, "{level:?} {result}");
    }
    assert!(matches!(coincidences(&ratings), Err(Undefined::OutOfRange { .. })));
}

/// One item in twelve differs, so that about a third of the resamples has nothing to disagree about.
#[test]
fn too_many_resamples_without_variation_leave_no_interval() {
    let (items, annotators) = by_two(12);
    let mut values = vec![0; 24];
    values[22] = 1;
    let ratings = ratings_of(&items, &annotators, &values);
    for level in Level::ALL {
        assert!(alpha(&ratings, level).is_ok());
        let interval = alpha_interval(&ratings, level, 0.95, 400, 1);
        assert!(
            matches!(interval, Err(Undefined::TooFew { what: "resamples with variation", .. })),
            "{interval:?}"
        );
    }
}

/// Items with two annotators each.
fn by_two(items: u32) -> (Vec<u32>, Vec<u32>) {
    ((0..2 * items).map(|row| row / 2).collect(), (0..2 * items).map(|row| row % 2).collect())
}

#[test]
fn perfect_agreement_has_no_interval() {
    let (items, annotators) = by_two(12);
    let values: Vec<u32> = items.iter().map(|item| item % 3).collect();
    let ratings = ratings_of(&items, &annotators, &values);
    close("alpha", alpha(&ratings, Level::Nominal).unwrap().alpha, 1.0);
    let interval = alpha_interval(&ratings, Level::Nominal, 0.5, 400, 1);
    assert_eq!(interval, Err(Undefined::NoVariation { what: "resamples" }));
}

fn any_ratings() -> impl Strategy<Value = Ratings> {
    let row = (0u32..12, 0u32..5, 0u32..6);
    proptest::collection::btree_map((0u32..12, 0u32..5), row.prop_map(|(_, _, value)| value), 1..60)
        .prop_map(|cells| {
            let items: Vec<u32> = cells.keys().map(|(item, _)| *item).collect();
            let annotators: Vec<u32> = cells.keys().map(|(_, annotator)| *annotator).collect();
            let values: Vec<u32> = cells.into_values().collect();
            ratings_of(&items, &annotators, &values)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Alpha by its definition over the coincidence matrix, at most 1, and the mean of the items' disagreements.
    #[test]
    fn alpha_is_its_definition(ratings in any_ratings()) {
        for level in Level::ALL {
            let Ok(result) = alpha(&ratings, level) else { continue };
            prop_assert!(result.alpha.is_finite() && result.alpha <= 1.0);
            let matrix = coincidences(&ratings).unwrap();
            let n = &matrix.marginals;
            let distance = |c: usize, k: usize| match level {
                Level::Nominal => f64::from(u8::from(c != k)),
                Level::Ordinal => {
                    let (low, high) = (c.min(k), c.max(k));
                    (n[low..=high].iter().sum::<f64>() - f64::midpoint(n[c], n[k])).powi(2)
                }
                Level::Interval => (c as f64 - k as f64).powi(2),
                Level::Ratio if c + k == 0 => 0.0,
                Level::Ratio => ((c as f64 - k as f64) / (c + k) as f64).powi(2),
            };
            let (mut observed, mut expected) = (0.0, 0.0);
            for c in 0..n.len() {
                for k in (0..n.len()).filter(|&k| k != c) {
                    observed += matrix.matrix[c][k] * distance(c, k);
                    expected += n[c] * n[k] * distance(c, k);
                }
            }
            let definition = 1.0 - (matrix.total - 1.0) * observed / expected;
            prop_assert!((result.alpha - definition).abs() < 1e-9);

            let items = item_disagreements(&ratings, level).unwrap();
            let weighted = items.relative.iter().enumerate().filter_map(|(item, relative)| {
                relative.map(|relative| relative * ratings.item(item).1.len() as f64)
            });
            let mean = weighted.sum::<f64>() / result.paired_values as f64;
            prop_assert!((mean - (1.0 - result.alpha)).abs() < 1e-9);
        }
    }

    /// The order of rows, and the names of items and annotators, change nothing.
    #[test]
    fn the_order_of_rows_does_not_matter(ratings in any_ratings(), turn in 0usize..60) {
        let mut rows = Vec::new();
        for item in 0..ratings.items() {
            let (annotators, values) = ratings.item(item);
            rows.extend(annotators.iter().zip(values).map(|(a, v)| (100 - item as u32, 40 * (a + 1), *v)));
        }
        let turn = turn % rows.len();
        rows.rotate_left(turn);
        rows.reverse();
        let items: Vec<u32> = rows.iter().map(|row| row.0).collect();
        let annotators: Vec<u32> = rows.iter().map(|row| row.1).collect();
        let values: Vec<u32> = rows.iter().map(|row| row.2).collect();
        let turned = ratings_of(&items, &annotators, &values);
        for level in Level::ALL {
            prop_assert_eq!(alpha(&ratings, level), alpha(&turned, level));
        }
        prop_assert_eq!(percent_agreement(&ratings), percent_agreement(&turned));
    }
}
