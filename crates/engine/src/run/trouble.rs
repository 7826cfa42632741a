//! What a run says of models and endpoints that were in trouble.

use std::collections::BTreeSet;

use fullbench_llm::{EndpointSnapshot, ModelSnapshot};

/// Sentences on what happened to a model, for the notes of a run.
pub(super) fn trouble_of(model: &str, snapshot: &ModelSnapshot) -> Vec<String> {
    let down = |name: &str, times: u64| {
        (times > 0).then(|| {
            format!("{name} was down for a while: its circuit breaker opened {times} times")
        })
    };
    if snapshot.endpoints.is_empty() {
        return down(model, snapshot.breaker_opened_times).into_iter().collect();
    }
    let mut notes = Vec::new();
    for EndpointSnapshot { name, breaker_opened_times, set_aside, .. } in &snapshot.endpoints {
        let name = format!("the endpoint {name} of {model}");
        notes.extend(down(&name, *breaker_opened_times));
        notes.extend(set_aside.as_ref().map(|reason| format!("{name} was set aside: {reason}")));
    }
    let reported: BTreeSet<&String> =
        snapshot.endpoints.iter().flat_map(|endpoint| &endpoint.reported_models).collect();
    if reported.len() > 1 {
        let names: Vec<&str> = reported.into_iter().map(String::as_str).collect();
        notes.push(format!(
            "the endpoints of {model} report different models ({}): they may not be equivalent",
            names.join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(name: &str, reported: &str) -> EndpointSnapshot {
        EndpointSnapshot {
            name: name.to_owned(),
            reported_models: vec![reported.to_owned()],
            ..EndpointSnapshot::default()
        }
    }

    #[test]
    fn endpoints_are_named_and_unequal_ones_told() {
        let mut snapshot = ModelSnapshot {
            endpoints: vec![endpoint("east", "m-1"), endpoint("west", "m-1")],
            ..ModelSnapshot::default()
        };
        assert!(trouble_of("m", &snapshot).is_empty());
        snapshot.endpoints[0].set_aside = Some("key refused".to_owned());
        snapshot.endpoints[1].reported_models = vec!["m-2".to_owned()];
        let notes = trouble_of("m", &snapshot);
        assert_eq!(notes[0], "the endpoint east of m was set aside: key refused");
        assert!(notes[1].contains("m-1, m-2"), "{notes:?}");
    }
}
