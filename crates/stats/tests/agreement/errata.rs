//! Where well-known descriptions of agreement go wrong, and what is right.

use super::*;

/// The seed's alpha: pairs of an item weigh alike however many there are, unequal pairs enter twice and equal pairs once,
/// marginals are halved, the expected disagreement is doubled, and ordinal distance is the difference of ranks.
fn alpha_of_the_seed(ratings: &Ratings, ordinal: bool) -> f64 {
    let categories = ratings.numbers().len();
    let mut matrix = vec![vec![0.0; categories]; categories];
    for item in 0..ratings.items() {
        let values = ratings.item(item).1;
        for (index, &a) in values.iter().enumerate() {
            for &b in &values[index + 1..] {
                matrix[a as usize][b as usize] += 1.0;
                if a != b {
                    matrix[b as usize][a as usize] += 1.0;
                }
            }
        }
    }
    let pairs: f64 = matrix.iter().flatten().sum::<f64>() / 2.0;
    let marginals: Vec<f64> = matrix.iter().map(|row| row.iter().sum::<f64>() / 2.0).collect();
    let total: f64 = marginals.iter().sum();
    let (mut observed, mut expected) = (0.0, 0.0);
    for (a, row) in matrix.iter().enumerate() {
        for (b, count) in row.iter().enumerate().filter(|(b, _)| *b != a) {
            let distance = if ordinal { a.abs_diff(b) as f64 } else { 1.0 };
            observed += count * distance / (2.0 * pairs);
            expected += 2.0 * marginals[a] * marginals[b] / (total * (total - 1.0)) * distance;
        }
    }
    if expected == 0.0 { 1.0 } else { 1.0 - observed / expected }
}

#[test]
fn random_labels_have_no_agreement_which_the_seed_denied() {
    use rand::RngExt;
    let mut random = fullbench_stats::random_stream(1, 0);
    let (mut items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for item in 0..20_000 {
        for annotator in 0..3 {
            items.push(item);
            annotators.push(annotator);
            values.push(random.random_range(0..3u32));
        }
    }
    let ratings = Ratings::new(&items, &annotators, &values).unwrap();
    for level in Level::ALL {
        let result = alpha(&ratings, level).unwrap().alpha;
        assert!(result.abs() < 0.02, "{}: {result}", level.name());
    }
    assert!(alpha_of_the_seed(&ratings, false) > 0.3);
    assert!(alpha_of_the_seed(&ratings, true) > 0.3);
}

/// Pairs of an item with many ratings must not outweigh those of an item with two.
#[test]
fn each_rating_weighs_alike() {
    // Item 0 has four ratings and is disputed; items 1 to 4 have two each and agree.
    let items = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4];
    let annotators = [0, 1, 2, 3, 0, 1, 0, 1, 0, 1, 0, 1];
    let values = [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1];
    let ratings = Ratings::new(&items, &annotators, &values).unwrap();
    // o_01 + o_10 = 8/3, n_0 = n_1 = 6, n = 12: 1 − 11 · (8/3) / 72.
    let ours = alpha(&ratings, Level::Nominal).unwrap().alpha;
    close("by hand", ours, 1.0 - 11.0 * (8.0 / 3.0) / 72.0);
    assert!((alpha_of_the_seed(&ratings, false) - ours).abs() > 0.05);
}

/// Ordinal distance counts how often the ranks between are used; a difference of ranks does not.
#[test]
fn ordinal_distance_depends_on_what_is_used() {
    let items: Vec<u32> = (0..20).map(|row| row / 2).collect();
    let annotators: Vec<u32> = (0..20).map(|row| row % 2).collect();
    let rare = [0, 2, 0, 0, 0, 0, 2, 2, 2, 2, 0, 0, 2, 2, 1, 1, 0, 0, 2, 2];
    let often = [0, 2, 1, 1, 1, 1, 1, 1, 2, 2, 0, 0, 1, 1, 1, 1, 0, 0, 2, 2];
    let of = |values: &[u32]| {
        let ratings = Ratings::new(&items, &annotators, values).unwrap();
        let result = item_disagreements(&ratings, Level::Ordinal).unwrap();
        result.relative[0].unwrap() * result.expected_disagreement
    };
    // Mid-ranks of 0 and 2: n_0/2 + n_1 + n_2/2.
    close("rare", of(&rare), (9.0f64 / 2.0 + 2.0 + 9.0 / 2.0).powi(2));
    close("often", of(&often), (5.0f64 / 2.0 + 10.0 + 5.0 / 2.0).powi(2));
}

#[test]
fn without_variation_every_coefficient_is_undefined() {
    let items: Vec<u32> = (0..20).map(|row| row / 2).collect();
    let annotators: Vec<u32> = (0..20).map(|row| row % 2).collect();
    let ratings = Ratings::with_numbers(&items, &annotators, &[1; 20], &[3.0, 7.0]).unwrap();
    assert_eq!(alpha_of_the_seed(&ratings, false), 1.0);
    for level in Level::ALL {
        assert!(matches!(alpha(&ratings, level), Err(Undefined::NoVariation { .. })), "{level:?}");
        assert!(alpha_interval(&ratings, level, 0.95, 100, 1).is_err());
        assert!(item_disagreements(&ratings, level).is_err());
    }
    let identity = CategoryWeights::identity(2).unwrap();
    assert!(fleiss_kappa(&ratings, &identity, 0.95).is_err());
    assert!(gwet_ac(&ratings, &identity, 0.95).is_err());
    assert!(cohen_kappa(&[vec![0, 0], vec![0, 10]], &identity, 0.95).is_err());
    assert!(scott_pi(&[vec![0, 0], vec![0, 10]], 0.95).is_err());
    assert_eq!(percent_agreement(&ratings).unwrap().agreement, 1.0);
    let annotators = annotator_agreements(&ratings, Level::Nominal).unwrap();
    assert_eq!((annotators[0].agreement, annotators[0].relative_disagreement), (Some(1.0), None));
    // A value that varies only among items with one rating is no variation either.
    let ratings = Ratings::new(&[0, 0, 1, 1, 2], &[0, 1, 0, 1, 0], &[1, 1, 1, 1, 0]).unwrap();
    assert!(matches!(alpha(&ratings, Level::Nominal), Err(Undefined::NoVariation { .. })));
}
