//! Who judges what, how and by which mark: criteria, thresholds, methods, models and judges.
//!
//! Nothing here is ever changed in place. A changed criterion is a new revision, a changed judge a successor, a changed
//! threshold one more row, so that every judgement can be traced to exactly what it was made with.

mod criteria;
mod judged;
mod judges;
mod parts;
mod steps;
mod thresholds;

pub use criteria::{CriterionRecord, CriterionSource};
pub use judged::JudgedRecord;
pub use judges::{JudgeRecord, NewJudge};
pub use parts::{MethodRecord, ModelRecord, NewModel};
pub use thresholds::ThresholdRecord;

use jiff::Timestamp;

use crate::{EntityKind, StoreError};

/// The longest name.
const MAX_NAME: usize = 100;

/// Refuses names that cannot be typed or differ in case only. Judges are often named after models, hence `-` and `.` there.
fn check_name(kind: EntityKind, name: &str) -> Result<(), StoreError> {
    let first =
        name.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
    let allowed = |letter: char| {
        let also = matches!(letter, '-' | '.') && kind == EntityKind::Judge;
        letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_' || also
    };
    if first && name.len() <= MAX_NAME && name.chars().all(allowed) {
        return Ok(());
    }
    Err(StoreError::NameInvalid { kind, name: name.to_owned() })
}

/// A stored time.
fn time(milliseconds: i64, of: &str) -> Result<Timestamp, StoreError> {
    Timestamp::from_millisecond(milliseconds)
        .map_err(|_| StoreError::Damaged(format!("{of}: a time out of range")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_lower_case_and_can_be_typed() {
        for name in ["a", "strict_faithfulness", "gpt-4.1", "4o", &"x".repeat(100)] {
            assert!(check_name(EntityKind::Judge, name).is_ok(), "{name}");
        }
        for name in ["", "Upper", "two words", "_a", "é", "a/b", "a\u{1b}", &"x".repeat(101)] {
            let refused = check_name(EntityKind::Judge, name);
            assert!(matches!(refused, Err(StoreError::NameInvalid { .. })), "{name}");
        }
        assert!(check_name(EntityKind::Criterion, "gpt-4.1").is_err());
    }
}
