//! When a lane should stop early: every call fails, and always for the same reason.

use std::sync::{Mutex, PoisonError};

use fullbench_llm::FailureClass;

/// Failures in a row, of one class, after which a lane stops: a bad key shows at once, other reasons get a few more calls.
fn tolerated(class: FailureClass) -> u32 {
    match class {
        FailureClass::Auth => 3,
        _ => 10,
    }
}

/// Counts failures of the same class in a row.
#[derive(Debug)]
pub(crate) struct FailureStreak {
    streak: Mutex<Option<(FailureClass, u32)>>,
    patience: u32,
}

impl FailureStreak {
    /// No failures yet; as many times more of them are borne as the patience says.
    pub(crate) fn new(patience: u32) -> Self {
        Self { streak: Mutex::default(), patience }
    }

    /// An answer came: the streak is over.
    pub(crate) fn success(&self) {
        *self.streak.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// A unit failed; true when the lane should stop.
    pub(crate) fn failure(&self, class: FailureClass) -> bool {
        let mut streak = self.streak.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match *streak {
            Some((before, count)) if before == class => count + 1,
            _ => 1,
        };
        *streak = Some((class, count));
        count >= tolerated(class) * self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_key_stops_the_lane_and_a_success_does_not() {
        let streak = FailureStreak::new(1);
        assert!(!streak.failure(FailureClass::Auth));
        assert!(!streak.failure(FailureClass::Auth));
        streak.success();
        assert!(!streak.failure(FailureClass::Auth));
        assert!(!streak.failure(FailureClass::Auth));
        assert!(streak.failure(FailureClass::Auth));
    }
}
