//! JSON in outputs: finding it, reaching into it, comparing it.

use fullbench_types::{lookup, text_of};
use serde_json::Value;

/// The output as JSON: all of it, or with `extract` the first JSON in it. The error says what is wrong.
pub(crate) fn json_of(output: &str, extract: bool) -> Result<Value, String> {
    match serde_json::from_str(output) {
        Ok(value) => Ok(value),
        Err(_) if extract => extracted(output).ok_or_else(|| "no JSON in the output".to_owned()),
        Err(error) => Err(format!("the output is not JSON: {error}")),
    }
}

/// The first value in a ``` fence, else the first object or list in the text.
fn extracted(output: &str) -> Option<Value> {
    let mut fences = output.split("```").skip(1).step_by(2);
    let fenced = fences.find_map(|block| {
        let content = block.split_once('\n').map_or(block, |(_, content)| content);
        serde_json::from_str(content).or_else(|_| serde_json::from_str(block)).ok()
    });
    fenced.or_else(|| first_container(output))
}

/// The first place where an object or a list begins and ends well.
fn first_container(output: &str) -> Option<Value> {
    /// Every try may read to the end, so that more of them would take quadratic time.
    const MOST_TRIES: usize = 200;
    let starts = output.match_indices(['{', '[']).take(MOST_TRIES);
    for (start, _) in starts {
        let mut values = serde_json::Deserializer::from_str(&output[start..]).into_iter::<Value>();
        if let Some(Ok(value)) = values.next() {
            return Some(value);
        }
    }
    None
}

/// The value at a dotted path; list items are reached by their number.
pub(crate) fn at<'value>(value: &'value Value, path: &str) -> Option<&'value Value> {
    match value {
        Value::Object(map) => lookup(map, path),
        Value::Array(items) => {
            let (index, rest) =
                path.split_once('.').map_or((path, None), |(index, rest)| (index, Some(rest)));
            let item = items.get(index.parse::<usize>().ok()?)?;
            rest.map_or(Some(item), |rest| at(item, rest))
        }
        _ => None,
    }
}

/// The first difference as a place and a sentence; numbers differ by more than the tolerance.
pub(crate) fn difference(found: &Value, expected: &Value, tolerance: f64) -> Option<String> {
    let mut path = String::new();
    first_difference(found, expected, tolerance, &mut path)
}

fn first_difference(
    found: &Value,
    expected: &Value,
    tolerance: f64,
    path: &mut String,
) -> Option<String> {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            for (key, value) in expected {
                let Some(other) = found.get(key) else {
                    return Some(told(path, &format!("`{key}` is missing")));
                };
                if let Some(difference) =
                    below(path, key, |path| first_difference(other, value, tolerance, path))
                {
                    return Some(difference);
                }
            }
            let extra = found.keys().find(|key| !expected.contains_key(*key))?;
            Some(told(path, &format!("`{extra}` is not expected")))
        }
        (Value::Array(found), Value::Array(expected)) => {
            if found.len() != expected.len() {
                return Some(told(
                    path,
                    &format!("expected {} items, got {}", expected.len(), found.len()),
                ));
            }
            let mut pairs = found.iter().zip(expected).enumerate();
            pairs.find_map(|(index, (found, expected))| {
                below(path, &index.to_string(), |path| {
                    first_difference(found, expected, tolerance, path)
                })
            })
        }
        (Value::Number(first), Value::Number(second)) if first == second => None,
        (Value::Number(_), Value::Number(_)) if is_near(found, expected, tolerance) => None,
        (found, expected) if found == expected => None,
        (found, expected) => {
            Some(told(path, &format!("expected {}, got {}", brief(expected), brief(found))))
        }
    }
}

fn below<T>(path: &mut String, key: &str, look: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    if length > 0 {
        path.push('.');
    }
    path.push_str(key);
    let result = look(path);
    path.truncate(length);
    result
}

fn told(path: &str, what: &str) -> String {
    if path.is_empty() { what.to_owned() } else { format!("at `{path}`: {what}") }
}

/// A value for a sentence, cut where it is long.
pub(crate) fn brief(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The same value, or text that reads the same: a reference from a CSV file is always text.
pub(crate) fn reads_alike(found: &Value, expected: &Value, tolerance: f64) -> bool {
    if difference(found, expected, tolerance).is_none() {
        return true;
    }
    let is_scalar = |value: &Value| !value.is_object() && !value.is_array();
    match (found, expected) {
        (Value::String(_), Value::String(_)) => false,
        (Value::String(text), other) | (other, Value::String(text)) if is_scalar(other) => {
            let text = text.trim();
            text == text_of(other)
                || text
                    .parse::<f64>()
                    .is_ok_and(|number| is_near(&Value::from(number), other, tolerance))
        }
        _ => false,
    }
}

fn is_near(found: &Value, expected: &Value, tolerance: f64) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => within(found, expected, tolerance),
        _ => false,
    }
}

/// Within the tolerance, or beyond it by no more than floats err in their last digits.
pub(crate) fn within(found: f64, expected: f64, tolerance: f64) -> bool {
    let slack = 4.0 * f64::EPSILON * found.abs().max(expected.abs());
    let exact = found == expected;
    exact || (tolerance > 0.0 && (found - expected).abs() <= tolerance + slack)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_found_in_fences_and_in_prose() {
        let cases = [
            ("{\"a\": 1}", Some(json!({"a": 1}))),
            ("Here:\n```json\n{\"a\": 1}\n```\nDone.", Some(json!({"a": 1}))),
            ("```\n[1, 2]\n```", Some(json!([1, 2]))),
            ("```{\"a\": 1}```", Some(json!({"a": 1}))),
            ("```python\nprint({})\n```\n```json\n42\n```", Some(json!(42))),
            ("The result is {\"a\": [1, {}]} as asked", Some(json!({"a": [1, {}]}))),
            ("set {x} then [1]", Some(json!([1]))),
            ("the answer is 42", None),
            ("{\"a\": ", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(json_of(text, true).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_hostile_output_takes_no_quadratic_time() {
        assert_eq!(json_of(&"[\"".repeat(200_000), true).ok(), None);
    }

    #[test]
    fn differences_are_named_by_their_place() {
        let expected = json!({"a": {"b": [1, 2]}, "c": "x"});
        let cases = [
            (json!({"c": "x", "a": {"b": [1.0, 2]}}), None),
            (json!({"a": {"b": [1, 3]}, "c": "x"}), Some("at `a.b.1`: expected 2, got 3")),
            (json!({"a": {"b": [1]}, "c": "x"}), Some("at `a.b`: expected 2 items, got 1")),
            (json!({"a": {"b": [1, 2]}}), Some("`c` is missing")),
            (json!({"a": {"b": [1, 2], "d": 1}, "c": "x"}), Some("at `a`: `d` is not expected")),
            (json!([]), Some("expected {\"a\":{\"b\":[1,2]},\"c\":\"x\"}, got []")),
        ];
        for (found, told) in cases {
            assert_eq!(difference(&found, &expected, 0.0).as_deref(), told);
        }
    }

    #[test]
    fn values_that_read_the_same_are_alike() {
        assert!(reads_alike(&json!(42), &json!("42"), 0.0));
        assert!(reads_alike(&json!("42.0"), &json!(42), 0.0));
        assert!(reads_alike(&json!(true), &json!("true"), 0.0));
        assert!(reads_alike(&json!(0.3), &json!(0.29), 0.01));
        assert!(!reads_alike(&json!("x"), &json!("X"), 0.0));
        assert!(!reads_alike(&json!(9_007_199_254_740_993_u64), &json!(1), 0.0));
        assert!(!reads_alike(&json!({}), &json!("{}"), 0.0));
    }
}
