//! The plan: which units a run consists of. Computed from the spec, never stored.

use fullbench_types::UnitKey;

/// The cases a run uses, in the order of the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaseSelection {
    /// All of so many.
    All(u64),
    /// These, ascending.
    Some(Vec<u64>),
}

impl CaseSelection {
    /// How many cases.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Some(indexes) => indexes.len() as u64,
        }
    }

    /// No cases at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The case at a position.
    #[must_use]
    pub fn case_index(&self, position: u64) -> Option<u64> {
        match self {
            Self::All(count) => (position < *count).then_some(position),
            Self::Some(indexes) => indexes.get(usize::try_from(position).ok()?).copied(),
        }
    }

    /// The position of a case.
    #[must_use]
    pub fn position(&self, case_index: u64) -> Option<u64> {
        match self {
            Self::All(count) => (case_index < *count).then_some(case_index),
            Self::Some(indexes) => {
                indexes.binary_search(&case_index).ok().map(|position| position as u64)
            }
        }
    }
}

/// Models × cases × repetitions. The units of one model form a lane, ordered by case and repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The cases.
    pub cases: CaseSelection,
    /// How many models.
    pub models: u32,
    /// How often each model answers each case.
    pub repetitions: u32,
}

impl Plan {
    /// Units of one lane.
    #[must_use]
    pub fn lane_units(&self) -> u64 {
        self.cases.len() * u64::from(self.repetitions)
    }

    /// Units of the run.
    #[must_use]
    pub fn units(&self) -> u64 {
        self.lane_units() * u64::from(self.models)
    }

    /// The unit at a position of a lane.
    #[must_use]
    pub fn unit(&self, model_index: u32, position: u64) -> Option<UnitKey> {
        let repetitions = u64::from(self.repetitions);
        let case_index = self.cases.case_index(position / repetitions)?;
        Some(UnitKey { case_index, model_index, repetition: (position % repetitions) as u32 })
    }

    /// The position of a unit in its lane.
    #[must_use]
    pub fn position(&self, key: &UnitKey) -> Option<u64> {
        let case = self.cases.position(key.case_index)?;
        Some(case * u64::from(self.repetitions) + u64::from(key.repetition))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_positions_correspond() {
        for cases in [CaseSelection::All(5), CaseSelection::Some(vec![2, 3, 11])] {
            let plan = Plan { cases, models: 2, repetitions: 3 };
            for position in 0..plan.lane_units() {
                let unit = plan.unit(1, position);
                assert_eq!(unit.and_then(|unit| plan.position(&unit)), Some(position));
            }
            assert_eq!(plan.unit(0, plan.lane_units()), None);
        }
    }
}
