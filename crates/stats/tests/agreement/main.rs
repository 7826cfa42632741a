//! Agreement against krippendorff, scikit-learn, statsmodels and irrCAC, and by hand.
#![allow(clippy::unwrap_used)]

mod errata;

use std::path::PathBuf;

use fullbench_stats::Undefined;
use fullbench_stats::agreement::{
    CategoryWeights, Level, Ratings, alpha, alpha_interval, annotator_agreements, brennan_prediger,
    cohen_kappa, coincidences, fleiss_kappa, gwet_ac, interpretation, item_disagreements,
    pair_tables, percent_agreement, scott_pi,
};
use serde_json::Value;

fn conformance() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/conformance.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    all["agreement"].clone()
}

/// The committed reference values, or those of the folder that `FULLBENCH_STATS_REFERENCE` names.
fn reference() -> Value {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats");
    let folder = std::env::var_os("FULLBENCH_STATS_REFERENCE").map(PathBuf::from);
    let path = folder.unwrap_or_else(|| committed.into()).join("agreement.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn close(what: &str, ours: f64, theirs: f64) {
    let apart = (ours - theirs).abs();
    assert!(apart <= 1e-9 * theirs.abs().max(1.0), "{what}: {ours} is not {theirs}");
}

/// Ratings of a matrix whose rows are annotators and columns items, with nulls.
fn from_matrix(rows: &Value) -> Ratings {
    let (mut items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (annotator, row) in rows.as_array().unwrap().iter().enumerate() {
        for (item, value) in row.as_array().unwrap().iter().enumerate() {
            if let Some(value) = value.as_f64() {
                items.push(item as u32);
                annotators.push(annotator as u32);
                values.push(value);
            }
        }
    }
    from_numbers(&items, &annotators, &values)
}

fn from_numbers(items: &[u32], annotators: &[u32], values: &[f64]) -> Ratings {
    let codes: Vec<u32> = (0..values.len() as u32).collect();
    Ratings::with_numbers(items, annotators, &codes, values).unwrap()
}

/// Ratings of a table whose rows are items, and columns how many annotators chose each category.
fn from_counts(table: &Value) -> Ratings {
    let (mut items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (item, row) in table.as_array().unwrap().iter().enumerate() {
        let mut annotator = 0;
        for (category, count) in row.as_array().unwrap().iter().enumerate() {
            for _ in 0..count.as_u64().unwrap() {
                items.push(item as u32);
                annotators.push(annotator);
                values.push(category as u32);
                annotator += 1;
            }
        }
    }
    Ratings::new(&items, &annotators, &values).unwrap()
}

fn square(table: &Value) -> Vec<Vec<u64>> {
    let row = |row: &Value| row.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    table.as_array().unwrap().iter().map(row).collect()
}

/// One item rated by as many annotators as there are values.
fn one_item(values: &[u32]) -> Ratings {
    let annotators: Vec<u32> = (0..values.len() as u32).collect();
    Ratings::new(&vec![0; values.len()], &annotators, values).unwrap()
}

#[test]
fn krippendorffs_example_of_2011() {
    let case = &conformance()["krippendorff2011_4x12"];
    let ratings = from_matrix(&case["data"]);
    for level in Level::ALL {
        let result = alpha(&ratings, level).unwrap();
        close(level.name(), result.alpha, number(&case[level.name()]));
        assert_eq!((result.paired_items, result.paired_values, result.single_items), (11, 40, 1));
    }
    let matrix = coincidences(&ratings).unwrap();
    for (row, expected) in matrix.matrix.iter().zip(case["coincidence"].as_array().unwrap()) {
        for (ours, theirs) in row.iter().zip(expected.as_array().unwrap()) {
            close("coincidence", *ours, number(theirs));
        }
    }
    for (ours, theirs) in matrix.marginals.iter().zip(case["marginals"].as_array().unwrap()) {
        close("marginal", *ours, number(theirs));
    }
    close("n", matrix.total, number(&case["n"]));
}

#[test]
fn fleiss_cohen_and_the_paradox_of_kappa() {
    let all = conformance();
    let case = &all["fleiss_wikipedia_10x5_14"];
    let ratings = from_counts(&case["table"]);
    let identity = CategoryWeights::identity(5).unwrap();
    let fleiss = fleiss_kappa(&ratings, &identity, 0.95).unwrap();
    close("fleiss", fleiss.coefficient, number(&case["fleiss"]));
    assert!(fleiss.balanced);
    let randolph = brennan_prediger(&ratings, &identity, 0.95).unwrap();
    close("randolph", randolph.coefficient, number(&case["randolph"]));

    let case = &all["cohen_wiki_grant"];
    let identity = CategoryWeights::identity(2).unwrap();
    let cohen = cohen_kappa(&square(&case["table"]), &identity, 0.95).unwrap();
    close("cohen", cohen.coefficient, number(&case["kappa"]));

    // 90 both yes, 5 and 5 apart, 0 both no; the reference is rounded.
    let case = &all["kappa_paradox_90_5_5_0"];
    let table = vec![vec![90, 5], vec![5, 0]];
    let cohen = cohen_kappa(&table, &identity, 0.95).unwrap();
    close("cohen", cohen.coefficient, number(&case["cohen"]));
    let ratings = from_table(&table);
    let near = |what: &str, ours: f64, theirs: &Value, digits: f64| {
        assert!((ours - number(theirs)).abs() <= digits, "{what}: {ours} {theirs}");
    };
    near("percent", percent_agreement(&ratings).unwrap().agreement, &case["percent_agree"], 1e-12);
    let scott = scott_pi(&table, 0.95).unwrap().coefficient;
    let fleiss = fleiss_kappa(&ratings, &identity, 0.95).unwrap().coefficient;
    close("scott is fleiss", scott, fleiss);
    near("scott", scott, &case["fleiss/scott"], 5e-6);
    near("ac1", gwet_ac(&ratings, &identity, 0.95).unwrap().coefficient, &case["gwet_ac1"], 5e-5);
    near("alpha", alpha(&ratings, Level::Nominal).unwrap().alpha, &case["kripp"], 5e-6);
    near(
        "bp",
        brennan_prediger(&ratings, &identity, 0.95).unwrap().coefficient,
        &case["bp"],
        1e-12,
    );
}

/// Two annotators whose table of counts is given.
fn from_table(table: &[Vec<u64>]) -> Ratings {
    let (mut items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
    let mut item = 0;
    for (first, row) in table.iter().enumerate() {
        for (second, &count) in row.iter().enumerate() {
            for _ in 0..count {
                items.extend([item, item]);
                annotators.extend([0, 1]);
                values.extend([first as u32, second as u32]);
                item += 1;
            }
        }
    }
    Ratings::new(&items, &annotators, &values).unwrap()
}

#[test]
fn items_with_one_rating_do_not_count() {
    let expected = conformance()["unpaired_unit_ignored"].clone();
    let with = Ratings::new(&[0, 0, 1, 1, 2], &[0, 1, 0, 1, 0], &[1, 1, 2, 2, 3]).unwrap();
    let without = Ratings::new(&[0, 0, 1, 1], &[0, 1, 0, 1], &[1, 1, 2, 2]).unwrap();
    for (ratings, expected) in [with, without].iter().zip(expected.as_array().unwrap()) {
        close("alpha", alpha(ratings, Level::Nominal).unwrap().alpha, number(expected));
    }
}

/// The seed computed an alpha for each item: 0 for any disagreement, and undefined otherwise. It says nothing; the item's
/// disagreement against that of all items does.
#[test]
fn a_single_item_is_shown_against_all() {
    let case = &conformance()["single_item"];
    for name in ["agree_most", "two"] {
        let values: Vec<u32> = case[name]["ratings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_u64().unwrap() as u32)
            .collect();
        let result = alpha(&one_item(&values), Level::Nominal).unwrap();
        close(name, result.alpha, number(&case[name]["alpha"]));
    }
    let same = alpha(&one_item(&[4, 4, 4]), Level::Nominal);
    assert_eq!(same, Err(Undefined::NoVariation { what: "values of items with two ratings" }));

    // 4 4 4 5 and 1 5 are equal by their own alphas, and far from equal among other items.
    let items = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4];
    let annotators = [0, 1, 2, 3, 0, 1, 0, 1, 0, 1, 0];
    let values = [4, 4, 4, 5, 1, 5, 2, 2, 1, 1, 3];
    let ratings = Ratings::new(&items, &annotators, &values).unwrap();
    let result = item_disagreements(&ratings, Level::Interval).unwrap();
    let relative = &result.relative;
    assert!(relative[0].unwrap() > 0.0 && relative[1].unwrap() > 10.0 * relative[0].unwrap());
    assert_eq!((relative[2], relative[3], relative[4]), (Some(0.0), Some(0.0), None));
    // Pairs of 4 4 4 5: 6 of 12 ordered pairs are 1 apart, whose mean is 1/2.
    close("mean", relative[0].unwrap() * result.expected_disagreement, 0.5);
}

#[test]
fn alpha_equals_the_krippendorff_package() {
    for case in reference()["alpha"].as_array().unwrap() {
        let ratings = from_matrix(&case["data"]);
        for level in Level::ALL {
            let ours = alpha(&ratings, level).unwrap().alpha;
            close(level.name(), ours, number(&case["alpha"][level.name()]));
        }
    }
}

#[test]
fn kappa_equals_scikit_learn_and_statsmodels() {
    for case in reference()["kappa"].as_array().unwrap() {
        let table = square(&case["table"]);
        let numbers: Vec<f64> = (0..table.len()).map(|code| code as f64).collect();
        let all = [
            ("plain", CategoryWeights::identity(table.len())),
            ("linear", CategoryWeights::linear(&numbers)),
            ("quadratic", CategoryWeights::quadratic(&numbers)),
        ];
        for (name, weights) in all {
            let ours = cohen_kappa(&table, &weights.unwrap(), 0.95).unwrap();
            close(name, ours.coefficient, number(&case[name]["kappa"]));
            close(name, ours.coefficient, number(&case[name]["statsmodels"]));
            close(name, ours.standard_error, number(&case[name]["standard_error"]));
            let interval = ours.interval.unwrap();
            close(name, interval.low, number(&case[name]["interval"][0]));
            close(name, interval.high, number(&case[name]["interval"][1]).min(1.0));
        }
        let scott = scott_pi(&table, 0.95).unwrap();
        close("scott", scott.coefficient, number(&case["scott"]));
        let ratings = from_table(&table);
        let tables = pair_tables(&ratings).unwrap();
        assert_eq!((tables.len(), &tables[0].counts), (1, &table));
    }
}

#[test]
fn tables_equal_statsmodels() {
    for case in reference()["tables"].as_array().unwrap() {
        let ratings = from_counts(&case["table"]);
        let identity = CategoryWeights::identity(ratings.numbers().len()).unwrap();
        let fleiss = fleiss_kappa(&ratings, &identity, 0.95).unwrap();
        close("fleiss", fleiss.coefficient, number(&case["fleiss"]));
        let randolph = brennan_prediger(&ratings, &identity, 0.95).unwrap();
        close("randolph", randolph.coefficient, number(&case["randolph"]));
    }
}

#[test]
fn many_annotators_equal_irr_cac() {
    for case in reference()["many_annotators"].as_array().unwrap() {
        let ratings = from_matrix(&case["data"]);
        let numbers = ratings.numbers();
        let all = [
            ("identity", CategoryWeights::identity(numbers.len())),
            ("linear", CategoryWeights::linear(numbers)),
            ("quadratic", CategoryWeights::quadratic(numbers)),
            ("ordinal", CategoryWeights::ordinal(numbers.len())),
        ];
        for (name, weights) in all {
            let weights = weights.unwrap();
            let results = [
                ("fleiss", fleiss_kappa(&ratings, &weights, 0.95)),
                ("gwet", gwet_ac(&ratings, &weights, 0.95)),
                ("brennan_prediger", brennan_prediger(&ratings, &weights, 0.95)),
            ];
            for (coefficient, ours) in results {
                let (ours, theirs) = (ours.unwrap(), &case[name][coefficient]);
                let what = format!("{coefficient} {name}");
                close(&what, ours.coefficient, number(&theirs["coefficient"]));
                close(&what, ours.observed, number(&theirs["observed"]));
                close(&what, ours.expected, number(&theirs["expected"]));
                close(&what, ours.standard_error.unwrap(), number(&theirs["standard_error"]));
                let interval = ours.interval.unwrap();
                close(&what, interval.low, number(&theirs["interval"][0]));
                close(&what, interval.high, number(&theirs["interval"][1]));
            }
        }
    }
}

#[test]
fn the_words_for_alpha_are_those_of_the_seed() {
    let words = [
        (0.80, "Good reliability - suitable for most applications"),
        (0.79, "Moderate reliability - acceptable for exploratory research"),
        (0.67, "Moderate reliability - acceptable for exploratory research"),
        (0.66, "Fair reliability - requires caution in interpretation"),
        (0.40, "Fair reliability - requires caution in interpretation"),
        (0.39, "Poor reliability - not suitable for making conclusions"),
        (-0.5, "Poor reliability - not suitable for making conclusions"),
    ];
    for (alpha, expected) in words {
        assert_eq!(interpretation(alpha), expected);
    }
}

#[test]
fn bad_ratings_are_named() {
    assert!(matches!(Ratings::new(&[], &[], &[]), Err(Undefined::TooFew { .. })));
    assert!(matches!(Ratings::new(&[0], &[0, 1], &[0]), Err(Undefined::LengthsDiffer { .. })));
    // Both ways of ordering find the row: few annotators, and many with gaps.
    let twice = Ratings::new(&[3, 1, 2, 1, 0], &[0, 1, 0, 1, 0], &[1, 1, 1, 0, 0]);
    assert_eq!(twice.unwrap_err(), Undefined::Repeated { what: "rating", index: 3, first: 1 });
    let twice = Ratings::new(&[3, 1, 2, 1, 0], &[90, 71, 80, 71, 60], &[1, 1, 1, 0, 0]);
    assert_eq!(twice.unwrap_err(), Undefined::Repeated { what: "rating", index: 3, first: 1 });
    assert!(Ratings::with_numbers(&[0, 0], &[0, 1], &[0, 1], &[1.0, f64::NAN]).is_err());
    assert!(Ratings::with_numbers(&[0, 0], &[0, 1], &[0, 1], &[1.0, 1e200]).is_err());
    assert!(Ratings::with_numbers(&[0, 0], &[0, 1], &[0, 1], &[1.0]).is_err());
    let negative = Ratings::with_numbers(&[0, 0], &[0, 1], &[0, 1], &[1.0, -1.0]).unwrap();
    assert!(matches!(alpha(&negative, Level::Ratio), Err(Undefined::OutOfRange { .. })));
    let alone = Ratings::new(&[0, 1], &[0, 0], &[0, 1]).unwrap();
    for level in Level::ALL {
        assert!(matches!(alpha(&alone, level), Err(Undefined::TooFew { .. })));
    }
}

#[test]
fn equal_numbers_are_one_value() {
    // Codes 0 and 2 both stand for 1.
    let ratings =
        Ratings::with_numbers(&[0, 0, 1, 1], &[0, 1, 0, 1], &[0, 2, 1, 1], &[1.0, 5.0, 1.0])
            .unwrap();
    assert_eq!(ratings.numbers(), [1.0, 5.0]);
    close("alpha", alpha(&ratings, Level::Nominal).unwrap().alpha, 1.0);
}

/// By hand: annotators 0 and 1 agree on two of three items, annotator 2 on none.
#[test]
fn each_annotator_is_compared_with_the_others() {
    let items = [0, 0, 0, 1, 1, 2, 2, 3];
    let annotators = [0, 1, 2, 0, 1, 0, 1, 2];
    let values = [0, 0, 2, 1, 1, 0, 2, 2];
    let ratings = ratings_of(&items, &annotators, &values);
    let expected = alpha(&ratings, Level::Interval).unwrap().expected_disagreement;
    let result = annotator_agreements(&ratings, Level::Interval).unwrap();
    assert_eq!((result[0].ratings, result[0].compared), (3, 3));
    assert_eq!((result[2].ratings, result[2].compared), (2, 1));
    close("first", result[0].agreement.unwrap(), (0.5 + 1.0 + 0.0) / 3.0);
    close("third", result[2].agreement.unwrap(), 0.0);
    // Distances from the others: (0 + 4)/2, 0 and 4; for the third 4.
    close("first", result[0].relative_disagreement.unwrap(), (2.0 + 0.0 + 4.0) / 3.0 / expected);
    close("third", result[2].relative_disagreement.unwrap(), 4.0 / expected);
    let nominal = annotator_agreements(&ratings, Level::Nominal).unwrap();
    let chance = alpha(&ratings, Level::Nominal).unwrap().expected_disagreement;
    close("nominal", nominal[0].relative_disagreement.unwrap(), 0.5 / chance);
}

/// Counting, sorting and listing items give the same classes, and so the same numbers.
#[test]
fn a_wide_item_changes_nothing_but_itself() {
    // 30 annotators on one item make keys too long to be packed; its ratings all agree.
    let mut items: Vec<u32> = (0..40).map(|row| row / 2).collect();
    let mut annotators: Vec<u32> = (0..40).map(|row| row % 2).collect();
    let mut values: Vec<u32> = (0..40u32).map(|row| (row * row + row / 3) % 5).collect();
    for annotator in 0..30 {
        items.push(20);
        annotators.push(annotator);
        values.push(2);
    }
    let ratings = Ratings::new(&items, &annotators, &values).unwrap();
    let matrix = coincidences(&ratings).unwrap();
    let mut disagreement = 0.0;
    let mut expected = 0.0;
    for (a, row) in matrix.matrix.iter().enumerate() {
        for (b, count) in row.iter().enumerate() {
            let distance = (a as f64 - b as f64).powi(2);
            disagreement += count * distance;
            expected += matrix.marginals[a] * matrix.marginals[b] * distance;
        }
    }
    let by_matrix = 1.0 - (matrix.total - 1.0) * disagreement / expected;
    close("interval", alpha(&ratings, Level::Interval).unwrap().alpha, by_matrix);
    // Seven annotators make keys that are sorted instead of counted.
    let some = ratings_of(&items[..47], &annotators[..47], &values[..47]);
    let few = ratings_of(&items[..42], &annotators[..42], &values[..42]);
    for ratings in [some, few] {
        assert!(alpha(&ratings, Level::Nominal).is_ok());
    }
}

fn ratings_of(items: &[u32], annotators: &[u32], values: &[u32]) -> Ratings {
    Ratings::new(items, annotators, values).unwrap()
}

#[test]
fn the_interval_depends_on_the_seed_and_not_on_threads() {
    let ratings = from_matrix(&conformance()["krippendorff2011_4x12"]["data"]);
    let interval = |threads: usize, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| alpha_interval(&ratings, Level::Ordinal, 0.95, 500, seed).unwrap())
    };
    assert_eq!(interval(1, 7), interval(3, 7));
    assert_ne!(interval(1, 7).interval, interval(1, 8).interval);
    let result = interval(2, 7);
    let point = alpha(&ratings, Level::Ordinal).unwrap().alpha;
    assert!(result.interval.low < point && point < result.interval.high);
    assert!(alpha_interval(&ratings, Level::Ordinal, 1.0, 500, 1).is_err());
    assert!(alpha_interval(&ratings, Level::Ordinal, 0.95, 0, 1).is_err());
    let too_few = alpha_interval(&ratings, Level::Ordinal, 0.999, 1000, 1);
    assert!(matches!(too_few, Err(Undefined::TooFew { what: "rounds", .. })), "{too_few:?}");
}
