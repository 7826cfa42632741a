//! Filters against a naive reading of the same JSON, and what is said of wrong ones.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::CaseFilter;

fn matches(filter: Value, row: Value) -> bool {
    CaseFilter::parse(&filter).unwrap().matches(row.as_object().unwrap())
}

#[test]
fn operators_do_what_they_say() {
    let row = json!({
        "category": "math", "level": 3, "tags": ["a", "b"], "nested": {"deep": [{"x": 1.5}]}, "empty": null,
        "dotted.name": true, "note": "a long text",
    });
    let holding = [
        json!({}),
        json!({"category": "math", "level": 3.0}),
        json!({"tags": "a"}),
        json!({"tags": ["a", "b"]}),
        json!({"nested.deep.0.x": {"$gt": 1, "$lt": 2}}),
        json!({"nested": {"deep": [{"x": 1.5}]}}),
        json!({"dotted.name": true}),
        json!({"level": {"$in": [1, 3]}}),
        json!({"level": {"$nin": [1, 2]}}),
        json!({"missing": {"$ne": 1}}),
        json!({"missing": null, "empty": null}),
        json!({"missing": {"$exists": false}, "empty": {"$exists": false}, "level": {"$exists": true}}),
        json!({"note": {"$contains": "long"}, "tags": {"$contains": "b"}}),
        json!({"$or": [{"level": 9}, {"$and": [{"level": {"$gte": 3}}, {"level": {"$lte": 3}}]}]}),
        json!({"$not": {"level": 4}}),
        json!({"level": {"$not": {"$gt": 3}}}),
        json!({"category": {"$gt": "mat", "$lt": "mathematics"}}),
    ];
    for filter in holding {
        assert!(matches(filter.clone(), row.clone()), "{filter}");
        assert!(!matches(json!({"$not": filter}), row.clone()), "not {filter}");
    }
    let failing = [
        json!({"category": "Math"}),
        json!({"category": {"$gt": 1}}),
        json!({"level": {"$lt": "9"}}),
        json!({"level": "3"}),
        json!({"missing": {"$lt": 1}}),
        json!({"tags": {"$gt": "a"}}),
        json!({"level": {"$contains": 3}}),
        json!({"level": {"$in": []}}),
    ];
    for filter in failing {
        assert!(!matches(filter.clone(), row.clone()), "{filter}");
    }
}

#[test]
fn a_case_is_asked_for_its_metadata_and_its_row() {
    let fields = json!({"category": "row", "metadata": {"category": "inner"}, "level": 1});
    let mapping = fullbench_store::FieldMapping::default();
    let case = mapping.case(0, "k".to_owned(), fields.as_object().unwrap().clone());
    for (filter, expected) in [
        (json!({"category": "inner", "level": 1}), true),
        (json!({"category": "row"}), false),
        (json!({"metadata.category": "inner"}), true),
    ] {
        assert_eq!(CaseFilter::parse(&filter).unwrap().matches_case(&case), expected, "{filter}");
    }
}

#[test]
fn errors_name_the_path() {
    let deep = (0..8).fold(json!({"a": 1}), |inner, _| json!({"$not": inner}));
    let many: Map<String, Value> = (0..65).map(|index| (format!("f{index}"), json!(1))).collect();
    let wrong = [
        (json!([1]), None),
        (json!({"$gt": 1}), Some("$gt")),
        (json!({"$nor": []}), Some("$nor")),
        (json!({"$or": []}), Some("$or")),
        (json!({"$and": {"a": 1}}), Some("$and")),
        (json!({"$or": [{"a": 1}, {"b": {"$gtt": 1}}]}), Some("$or[1].b.$gtt")),
        (json!({"a": {"$gt": null}}), Some("a.$gt")),
        (json!({"a": {"$gt": 1, "b": 2}}), Some("a.b")),
        (json!({"a": {"$in": 1}}), Some("a.$in")),
        (json!({"a": {"$exists": 1}}), Some("a.$exists")),
        (json!({"a": {"$not": 1}}), Some("a.$not")),
        (json!({"a": {"$not": {"b": 1}}}), Some("a.$not")),
        (deep, Some("$not.$not.$not.$not.$not.$not.$not.$not")),
        (Value::Object(many), Some("f64")),
    ];
    for (filter, field) in wrong {
        let problem = CaseFilter::parse(&filter).unwrap_err();
        assert_eq!(problem.field.as_deref(), field, "{filter}: {problem}");
    }
    assert!(CaseFilter::parse_text("{").is_err());
    assert!(CaseFilter::parse_text("{\"a\": 1}").is_ok());
}

/// The value at a path, found one step after the other.
fn naive_lookup<'row>(row: &'row Value, path: &str) -> &'row Value {
    path.split('.').fold(row, |value, step| &value[step])
}

fn naive(filter: &Value, row: &Value) -> bool {
    filter.as_object().unwrap().iter().all(|(name, asked)| match name.as_str() {
        "$and" => asked.as_array().unwrap().iter().all(|filter| naive(filter, row)),
        "$or" => asked.as_array().unwrap().iter().any(|filter| naive(filter, row)),
        "$not" => !naive(asked, row),
        path => naive_field(naive_lookup(row, path), asked),
    })
}

fn naive_field(found: &Value, asked: &Value) -> bool {
    let operators = asked.as_object().filter(|map| map.keys().any(|key| key.starts_with('$')));
    let Some(operators) = operators else { return naive_equal(found, asked) };
    operators.iter().all(|(operator, value)| {
        let order = match (found, value) {
            (Value::Number(found), Value::Number(value)) => {
                found.as_f64().partial_cmp(&value.as_f64())
            }
            (Value::String(found), Value::String(value)) => found.partial_cmp(value),
            _ => None,
        };
        match operator.as_str() {
            "$eq" => naive_equal(found, value),
            "$ne" => !naive_equal(found, value),
            "$gt" => order.is_some_and(|order| order.is_gt()),
            "$gte" => order.is_some_and(|order| order.is_ge()),
            "$lt" => order.is_some_and(|order| order.is_lt()),
            "$lte" => order.is_some_and(|order| order.is_le()),
            "$in" => value.as_array().unwrap().iter().any(|value| naive_equal(found, value)),
            "$nin" => !value.as_array().unwrap().iter().any(|value| naive_equal(found, value)),
            "$exists" => value.as_bool().unwrap() != found.is_null(),
            "$contains" if found.is_string() => {
                value.is_string() && found.as_str().unwrap().contains(value.as_str().unwrap())
            }
            "$contains" => found.as_array().is_some_and(|items| items.contains(value)),
            _ => unreachable!(),
        }
    })
}

/// Equal, or equal to an item; every number that is drawn is written in one way.
fn naive_equal(found: &Value, asked: &Value) -> bool {
    found == asked || found.as_array().is_some_and(|items| items.contains(asked))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        (-3i64..4).prop_map(|half| Value::from(half as f64 + 0.5)),
        "[ab]{0,2}".prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => scalar(),
        1 => prop::collection::vec(scalar(), 0..3).prop_map(Value::from),
    ]
}

fn name() -> impl Strategy<Value = String> {
    "[abc]"
}

fn row() -> impl Strategy<Value = Value> {
    let inner = prop::collection::hash_map(name(), value(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    prop::collection::hash_map(name(), prop_oneof![3 => value(), 1 => inner], 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

fn asked() -> impl Strategy<Value = Value> {
    let orderable =
        || scalar().prop_filter("has an order", |value| value.is_number() || value.is_string());
    let list = || prop::collection::vec(scalar(), 0..3);
    let simple = prop_oneof![
        (prop::sample::select(vec!["$eq", "$ne"]), value())
            .prop_map(|(name, value)| json!({name: value})),
        (prop::sample::select(vec!["$gt", "$gte", "$lt", "$lte"]), orderable())
            .prop_map(|(name, value)| json!({name: value})),
        (prop::sample::select(vec!["$in", "$nin"]), list())
            .prop_map(|(name, value)| json!({name: value})),
        any::<bool>().prop_map(|wanted| json!({"$exists": wanted})),
        scalar().prop_map(|value| json!({"$contains": value})),
        (orderable(), orderable()).prop_map(|(low, high)| json!({"$gte": low, "$lt": high})),
    ];
    prop_oneof![1 => value(), 3 => simple]
}

fn filter() -> impl Strategy<Value = Value> {
    let path = prop_oneof![3 => name(), 1 => (name(), name()).prop_map(|(outer, inner)| format!("{outer}.{inner}"))];
    let fields = prop::collection::hash_map(path, asked(), 0..3)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    fields.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (prop::sample::select(vec!["$and", "$or"]), prop::collection::vec(inner.clone(), 1..3))
                .prop_map(|(name, filters)| json!({name: filters})),
            (inner.clone(), name(), asked())
                .prop_map(|(inner, name, asked)| json!({"$not": inner, name: asked})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn filters_hold_where_a_naive_reading_does(filter in filter(), row in row()) {
        let parsed = CaseFilter::parse(&filter).unwrap();
        prop_assert_eq!(parsed.matches(row.as_object().unwrap()), naive(&filter, &row), "{} on {}", filter, row);
    }

    #[test]
    fn nothing_that_is_json_makes_the_reading_panic(filter in value(), nested in filter()) {
        let _ = CaseFilter::parse(&filter);
        let _ = CaseFilter::parse(&json!({"a": nested, "$or": [filter]}));
    }
}
