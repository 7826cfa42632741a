//! Samples, differences and other references of versions.

use std::collections::{BTreeMap, BTreeSet};

use fullbench_engine::{
    DiffPaging, SampleConfig, SampleStrategy, diff_versions, sample_cases, with_ground_truth,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::files::Folder;

fn sample(size: u64, strategy: SampleStrategy, by: Option<&str>) -> SampleConfig {
    SampleConfig { size, strategy, by: by.map(str::to_owned), seed: 7 }
}

#[test]
fn samples_are_drawn_by_the_seed_and_in_proportion() {
    let folder = Folder::new();
    let rows: Vec<Value> = (0..100)
        .map(|index| {
            let category = if index % 4 == 0 { "math" } else { "text" };
            json!({"id": index, "input": "x", "category": category, "metadata": {"half": index < 50}})
        })
        .collect();
    let mut reader = folder.reader(&folder.version(&rows));
    let random = sample_cases(&sample(10, SampleStrategy::Random, None), &mut reader).unwrap();
    assert_eq!((random.indexes.len(), &random.strata), (10, &None));
    assert!(random.indexes.is_sorted());
    let other = SampleConfig { seed: 8, ..sample(10, SampleStrategy::Random, None) };
    assert_ne!(sample_cases(&other, &mut reader).unwrap(), random);

    let by_category = sample(20, SampleStrategy::Stratified, Some("category"));
    let drawn = sample_cases(&by_category, &mut reader).unwrap();
    assert_eq!(drawn, sample_cases(&by_category, &mut reader).unwrap());
    let strata: Vec<_> = drawn
        .strata
        .unwrap()
        .into_iter()
        .map(|stratum| (stratum.value, stratum.cases, stratum.sampled))
        .collect();
    assert_eq!(strata, [("math".to_owned(), 25, 5), ("text".to_owned(), 75, 15)]);
    assert_eq!(drawn.indexes.iter().filter(|index| **index % 4 == 0).count(), 5);

    let inner = sample(10, SampleStrategy::Stratified, Some("half"));
    assert_eq!(sample_cases(&inner, &mut reader).unwrap().strata.unwrap().len(), 2);
    let all = sample(500, SampleStrategy::Stratified, Some("category"));
    assert_eq!(sample_cases(&all, &mut reader).unwrap().indexes, (0..100).collect::<Vec<_>>());
    for wrong in [
        sample(0, SampleStrategy::Random, None),
        sample(5, SampleStrategy::Stratified, None),
        sample(5, SampleStrategy::Stratified, Some("nothing")),
    ] {
        assert!(sample_cases(&wrong, &mut reader).is_err(), "{wrong:?}");
    }
}

const ALL: DiffPaging = DiffPaging { offset: 0, limit: 100 };

#[test]
fn a_difference_names_cases_fields_and_columns() {
    let folder = Folder::new();
    let left = folder.version(&[
        json!({"id": "same", "input": "x", "level": 1, "gone": "y"}),
        json!({"id": "changed", "input": "x", "level": 1, "gone": "y"}),
        json!({"id": "removed", "input": "x", "level": 1, "gone": null}),
    ]);
    let right = folder.version(&[
        json!({"id": "added", "input": "x"}),
        json!({"id": "changed", "input": "y", "level": "one", "fresh": true}),
        json!({"gone": "y", "level": 1.0, "input": "x", "id": "same", "fresh": null}),
    ]);
    let diff = diff_versions(&mut folder.reader(&left), &mut folder.reader(&right), ALL).unwrap();
    let keys = |list: &fullbench_engine::CaseList| -> Vec<_> {
        assert_eq!(list.count, list.cases.len() as u64);
        list.cases
            .iter()
            .map(|case| (case.key.clone(), case.left_index, case.right_index))
            .collect()
    };
    assert_eq!(keys(&diff.added), [("added".to_owned(), None, Some(0))]);
    assert_eq!(keys(&diff.removed), [("removed".to_owned(), Some(2), None)]);
    assert_eq!(keys(&diff.changed), [("changed".to_owned(), Some(1), Some(1))]);
    assert_eq!(keys(&diff.unchanged), [("same".to_owned(), Some(0), Some(2))]);
    assert_eq!(diff.changed.cases[0].fields, ["input", "level", "fresh", "gone"]);
    let schema = serde_json::to_value(&diff.schema).unwrap();
    let expected = json!({
        "added": [{"name": "fresh", "type": "boolean", "nullable": true}],
        "removed": [],
        "retyped": [{"name": "level", "left": "integer", "right": "mixed"}],
    });
    assert_eq!(schema, expected);
    assert!(!diff.mapping_changed);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_difference_is_that_of_two_maps(
        left in prop::collection::btree_map(0u8..20, 0u8..3, 1..15),
        right in prop::collection::btree_map(0u8..20, 0u8..3, 1..15),
        offset in 0u64..4,
        limit in 0usize..4,
    ) {
        let folder = Folder::new();
        let version = |map: &BTreeMap<u8, u8>| {
            let rows: Vec<_> = map.iter().map(|(id, value)| json!({"id": id, "input": "x", "v": value})).collect();
            folder.version(&rows)
        };
        let (left_version, right_version) = (version(&left), version(&right));
        let paging = DiffPaging { offset, limit };
        let diff = diff_versions(&mut folder.reader(&left_version), &mut folder.reader(&right_version), paging).unwrap();
        let keys = |wanted: &dyn Fn(u8) -> bool| -> Vec<String> {
            (0..20).filter(|id| wanted(*id)).map(|id| id.to_string()).collect()
        };
        let both = |id: u8| left.contains_key(&id) && right.contains_key(&id);
        let expected = [
            (&diff.added, keys(&|id| right.contains_key(&id) && !left.contains_key(&id))),
            (&diff.removed, keys(&|id| left.contains_key(&id) && !right.contains_key(&id))),
            (&diff.changed, keys(&|id| both(id) && left[&id] != right[&id])),
            (&diff.unchanged, keys(&|id| both(id) && left[&id] == right[&id])),
        ];
        for (list, keys) in expected {
            prop_assert_eq!(list.count, keys.len() as u64);
            let page: Vec<_> = keys.into_iter().skip(offset as usize).take(limit).collect();
            let found: Vec<_> = list.cases.iter().map(|case| case.key.clone()).collect();
            prop_assert_eq!(found, page);
        }
    }

    #[test]
    fn agreed_answers_are_the_references_and_nothing_else_changes(
        answers in prop::collection::btree_map(0u64..6, prop::collection::vec(
            prop_oneof![Just(json!(null)), Just(json!(["a", "b"])), Just(json!("text")), Just(json!({"answer": 4}))], 0..3), 0..6),
        shape in 0usize..4,
    ) {
        let folder = Folder::new();
        let rows: Vec<Value> = (0..6)
            .map(|index| match shape {
                0 => json!({"id": index, "input": "x"}),
                1 => json!({"id": index, "input": "x", "expected_output": "old"}),
                2 => json!({"id": index, "input": "x", "reference": "old", "references": ["older", "oldest"]}),
                _ => json!({"id": index, "input": "x", "references": []}),
            })
            .collect();
        let version = folder.version(&rows);
        let mut reader = folder.reader(&version);
        let derived = with_ground_truth(&mut reader, folder.objects(), &answers).unwrap();
        prop_assert_eq!(derived.cases, version.cases);
        if answers.is_empty() {
            prop_assert_eq!(&derived, version.as_ref());
        }
        let names: BTreeSet<_> = derived.fields.iter().cloned().collect();
        let derived = std::sync::Arc::new(derived);
        let mut changed = folder.reader(&derived);
        for index in 0..derived.cases {
            let (before, after) = (reader.case(index).unwrap(), changed.case(index).unwrap());
            prop_assert_eq!((&before.key, &before.input), (&after.key, &after.input));
            prop_assert!(after.fields.keys().all(|name| names.contains(name)));
            match answers.get(&index) {
                Some(agreed) => prop_assert_eq!(&after.references, agreed),
                None => prop_assert_eq!(after, before),
            }
        }
    }
}

#[test]
fn answers_find_their_place_in_nested_fields_and_wrong_cases_are_refused() {
    let folder = Folder::new();
    let rows = [json!({"input": "x", "gold": {"a": "old"}}), json!({"input": "y"})];
    let mut version = folder.version(&rows).as_ref().clone();
    version.mapping.references = vec!["gold.a".to_owned()];
    let mut reader = folder.reader(&std::sync::Arc::new(version));
    let answers = BTreeMap::from([(0, vec![json!("new")]), (1, vec![json!("newer")])]);
    let derived =
        std::sync::Arc::new(with_ground_truth(&mut reader, folder.objects(), &answers).unwrap());
    let mut changed = folder.reader(&derived);
    assert_eq!(changed.case(0).unwrap().fields["gold"], json!({"a": "new"}));
    assert_eq!(changed.case(1).unwrap().references, [json!("newer")]);
    assert_ne!(derived.hash, reader.version().hash);
    let wrong = BTreeMap::from([(2, vec![])]);
    assert!(with_ground_truth(&mut reader, folder.objects(), &wrong).is_err());
}
