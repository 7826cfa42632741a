//! What holds for comparisons of any data.
#![allow(clippy::unwrap_used)]

use fullbench_stats::Undefined;
use fullbench_stats::compare::{
    clustered_paired_t, cohen_d, cohen_dz, mcnemar_exact, paired_t, welch_t,
};

/// ERRATA: the seed gives p = 0 or 1 for zero variance.
#[test]
fn no_variation_is_no_test() {
    let constant = [0.1 + 0.2; 5];
    let higher = [0.1 + 0.2 + 0.1; 5];
    for side in [constant, higher] {
        let test = welch_t(&constant, &side, 0.95);
        assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
        assert!(matches!(cohen_d(&constant, &side), Err(Undefined::NoVariation { .. })));
    }
    let before: Vec<f64> = (0..50).map(|i| f64::from(i) * 1e3 / 7.0).collect();
    let after: Vec<f64> = before.iter().map(|value| value + 0.1).collect();
    let test = paired_t(&before, &after, 0.95);
    assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
    let clusters: Vec<u32> = (0..50).map(|i| i / 5).collect();
    let test = clustered_paired_t(&before, &after, &clusters, 0.95);
    assert!(matches!(test, Err(Undefined::NoVariation { .. })), "{test:?}");
    assert!(matches!(cohen_dz(&before, &after), Err(Undefined::NoVariation { .. })));
    assert!(matches!(mcnemar_exact(0, 0), Err(Undefined::NoVariation { .. })));
}
