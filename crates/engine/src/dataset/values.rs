//! Values compared by what they say: numbers as numbers, objects whatever the order of their entries.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values say the same.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            compare_numbers(left, right) == Some(Ordering::Equal)
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(name, value)| right.get(name).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// The order of two numbers or two texts; none between anything else.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare_numbers(left, right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// Exact, also where a whole number is larger than floating point numbers can tell apart.
fn compare_numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => compare_mixed(left, right.as_f64()?),
        (None, Some(right)) => Some(compare_mixed(right, left.as_f64()?)?.reverse()),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn compare_mixed(whole: i128, number: f64) -> Option<Ordering> {
    // The cast is exact or ends at the bounds of the type, which no whole number of JSON reaches.
    let order = whole.cmp(&(number.trunc() as i128));
    if order == Ordering::Equal { 0.0.partial_cmp(&number.fract()) } else { Some(order) }
}

/// A number that is written without fraction.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_equal_by_value_and_exact() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(equal(
            &json!({"a": [1, {"b": -0.0}], "c": null}),
            &json!({"c": null, "a": [1.0, {"b": 0}]})
        ));
        assert!(!equal(&json!(i64::MAX), &json!(9_223_372_036_854_775_807.0_f64)));
        assert_eq!(compare(&json!(u64::MAX), &json!(1e300)), Some(Ordering::Less));
        assert_eq!(compare(&json!(-3), &json!(-3.5)), Some(Ordering::Greater));
        assert_eq!(compare(&json!(0.1), &json!(0)), Some(Ordering::Greater));
        assert_eq!(compare(&json!("10"), &json!(9)), None);
        assert_eq!(compare(&json!(true), &json!(false)), None);
    }
}
