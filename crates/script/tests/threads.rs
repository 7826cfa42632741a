//! Hostile scripts on threads of this process, as in a program that has not called `serve_if_asked`.
#![allow(clippy::unwrap_used)]

mod hostile;

/// One of them that got through would take the results of a whole run with it.
#[test]
fn every_attempt_is_stopped_and_the_next_script_works() {
    let mut failures = Vec::new();
    for attempt in hostile::ATTEMPTS {
        if let Err(failure) = std::panic::catch_unwind(|| hostile::check(attempt)) {
            failures.push(failure.downcast_ref::<String>().cloned().unwrap_or_default());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
