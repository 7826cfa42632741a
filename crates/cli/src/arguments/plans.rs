//! Plans of organizations, and what they allow.

use std::mem::discriminant;
use std::num::NonZeroU32;

use bytesize::ByteSize;
use fullbench_server::{Limit, PlanLimit};
use fullbench_types::{NanoDollars, Plan};

/// A plan by its name, in whatever letters.
pub(super) fn plan(text: &str) -> Result<Plan, String> {
    let wrong = || {
        let names: Vec<&str> = Plan::ALL.iter().map(|plan| plan.as_str()).collect();
        format!("there is no plan `{text}`; plans are {}", names.join(", "))
    };
    Plan::from_word(&text.to_uppercase()).ok_or_else(wrong)
}

/// An amount of dollars.
pub(super) fn dollars(text: &str) -> Result<NanoDollars, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| (0.0..=1e9).contains(amount));
    let wrong = || format!("`{text}` is no amount of dollars such as 12.50");
    amount.map(NanoDollars::from_dollars).ok_or_else(wrong)
}

/// What is otherwise with a plan: `PLAN.LIMIT=VALUE`.
pub(super) fn plan_limit(text: &str) -> Result<PlanLimit, String> {
    let parts = text.split_once('=').and_then(|(name, value)| {
        let (plan, limit) = name.split_once('.')?;
        Some((plan.trim(), limit.trim(), value.trim()))
    });
    let Some((name, limit, value)) = parts else {
        return Err("write PLAN.LIMIT=VALUE, for example FREE.storage=1GiB".to_owned());
    };
    let number = || format!("`{value}` is no whole number; 0 means no limit");
    let limit = match limit {
        "requests_per_minute" => {
            Limit::RequestsPerMinute(NonZeroU32::new(value.parse().map_err(|_| number())?))
        }
        "storage" => {
            let size: ByteSize = value
                .parse()
                .map_err(|_| format!("`{value}` is no size such as 1GiB; 0 means no limit"))?;
            Limit::StoredBytes(Some(size.as_u64()).filter(|bytes| *bytes > 0))
        }
        "open_runs" => {
            let runs: u64 = value.parse().map_err(|_| number())?;
            Limit::OpenRuns(Some(runs).filter(|runs| *runs > 0))
        }
        "records" => {
            let records: u64 = value.parse().map_err(|_| number())?;
            Limit::Records(Some(records).filter(|records| *records > 0))
        }
        "month_usd" if value == "none" => Limit::Month(None),
        "month_usd" => Limit::Month(Some(dollars(value)?)),
        other => {
            return Err(format!(
                "there is no limit `{other}`; limits are requests_per_minute, storage, open_runs, records, month_usd"
            ));
        }
    };
    Ok(PlanLimit { plan: plan(name)?, limit })
}

/// Refuses two different values for the same limit of a plan: which one is meant is not known.
pub(crate) fn without_contradictions(limits: &[PlanLimit]) -> Result<&[PlanLimit], String> {
    for (place, limited) in limits.iter().enumerate() {
        let contradicts = |other: &PlanLimit| {
            other.plan == limited.plan
                && discriminant(&other.limit) == discriminant(&limited.limit)
                && other.limit != limited.limit
        };
        if limits[..place].iter().any(contradicts) {
            let limit = name(limited.limit);
            return Err(format!("two different values are given for {}.{limit}", limited.plan));
        }
    }
    Ok(limits)
}

fn name(limit: Limit) -> &'static str {
    match limit {
        Limit::RequestsPerMinute(_) => "requests_per_minute",
        Limit::StoredBytes(_) => "storage",
        Limit::OpenRuns(_) => "open_runs",
        Limit::Records(_) => "records",
        Limit::Month(_) => "month_usd",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn two_values_for_one_limit_are_refused() {
        let read = |texts: &[&str]| texts.iter().map(|text| plan_limit(text).unwrap()).collect();
        let different: Vec<_> =
            read(&["FREE.open_runs=1", "STARTER.open_runs=2", "FREE.storage=1"]);
        assert_eq!(without_contradictions(&different), Ok(different.as_slice()));
        let again: Vec<_> = read(&["FREE.month_usd=none", "free.month_usd=none"]);
        assert!(without_contradictions(&again).is_ok());
        let wrong: Vec<_> = read(&["FREE.open_runs=1", "FREE.storage=1", "FREE.open_runs=0"]);
        let said = without_contradictions(&wrong).unwrap_err();
        assert!(said.contains("FREE.open_runs"), "{said}");
    }

    #[test]
    fn limits_of_plans_are_read_or_refused_with_what_there_is() {
        let read = |text| plan_limit(text).map(|read| (read.plan, read.limit));
        let storage = Limit::StoredBytes(Some(1 << 30));
        assert_eq!(read("FREE.storage=1GiB"), Ok((Plan::Free, storage)));
        let open_runs = Limit::OpenRuns(None);
        assert_eq!(read("enterprise.open_runs=0"), Ok((Plan::Enterprise, open_runs)));
        assert_eq!(read("FREE.records=5"), Ok((Plan::Free, Limit::Records(Some(5)))));
        let month = Limit::Month(Some(NanoDollars::from_dollars(12.5)));
        assert_eq!(read("FREE.month_usd=12.50"), Ok((Plan::Free, month)));
        assert_eq!(read("STARTER.month_usd=none"), Ok((Plan::Starter, Limit::Month(None))));
        let requests = Limit::RequestsPerMinute(NonZeroU32::new(600));
        assert_eq!(read("Starter.requests_per_minute = 600"), Ok((Plan::Starter, requests)));
        for (wrong, said) in [
            ("FREE", "PLAN.LIMIT=VALUE"),
            ("GOLD.storage=1GiB", "STARTER"),
            ("FREE.size=1", "open_runs"),
            ("FREE.storage=much", "1GiB"),
            ("FREE.open_runs=-1", "0 means no limit"),
            ("FREE.month_usd=much", "12.50"),
        ] {
            assert!(read(wrong).is_err_and(|message| message.contains(said)), "{wrong}");
        }
    }
}
