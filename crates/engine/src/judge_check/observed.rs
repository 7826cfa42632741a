//! What a check found, read from the records of its run.

use std::sync::Arc;

use fullbench_check::{Example, Observed, Probe, ProbeCase};
use fullbench_store::{ResultDetail, RunRecord, ScopedStore};
use fullbench_types::{Outcome, Score, TestCase, UnitKey};
use serde_json::Value;

use super::{FIELD, JudgeCheck};
use crate::spec::stored_spec;
use crate::{EngineError, InputProblem};

/// Results read at a time.
const PAGE: u64 = 512;

/// A check with what its judge gave.
#[derive(Debug)]
pub struct CheckedRun {
    /// What was checked.
    pub check: JudgeCheck,
    /// The answers with what people said of them.
    pub examples: Vec<Example>,
    /// What was put before the judge.
    pub probes: Vec<ProbeCase>,
    /// What it gave; probes that were not asked yet are missing.
    pub observed: Vec<Observed>,
}

impl CheckedRun {
    /// What people and the judge said of each labelled answer as it is.
    pub fn labelled(&self) -> impl Iterator<Item = (f64, f64)> {
        self.observed.iter().filter_map(|one| {
            let probe = self.probes.get(one.case).filter(|case| case.probe == Probe::Base)?;
            Some((self.examples.get(probe.example)?.human()?, one.value?))
        })
    }
}

/// Reads the check that a run is.
///
/// # Errors
/// When the run is no check.
pub async fn read_check(store: &ScopedStore, run: &RunRecord) -> Result<CheckedRun, EngineError> {
    let spec = stored_spec(store, run).await?;
    let (Some(check), Some(scorer)) = (spec.judge_check, spec.scorers.first()) else {
        let problem = InputProblem::new(format!("run {} is no check of a judge", run.id));
        return Err(problem
            .hint("start one with `fullbench judge check JUDGE --data FILE`")
            .into());
    };
    // Scorers that were added to the run later are no part of the check.
    let scorer = fullbench_score::build(scorer)
        .map_err(|error| EngineError::StoredSpec(error.to_string()))?
        .hash
        .short();
    let dataset = Arc::new(store.dataset(&run.dataset).await?);
    let mut cases = store.cases(dataset.clone()).await?;
    let mut examples: Vec<Option<Example>> = Vec::new();
    let mut probes = Vec::new();
    for index in 0..dataset.cases {
        let case = cases.case(index)?;
        let (probe, example) = decoded(&case)
            .ok_or_else(|| EngineError::StoredSpec(format!("case `{}` is no probe", case.key)))?;
        if let Some(example) = example {
            if examples.len() <= probe.example {
                examples.resize(probe.example + 1, None);
            }
            examples[probe.example] = Some(example);
        }
        probes.push(probe);
    }
    let examples = examples.into_iter().collect::<Option<Vec<Example>>>();
    let examples =
        examples.ok_or_else(|| EngineError::StoredSpec("an example is missing".to_owned()))?;
    let mut observed = Vec::new();
    let mut after: Option<UnitKey> = None;
    loop {
        let page = store.results_after(run.id, after, PAGE, ResultDetail::Full).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        for unit in &page {
            let entry = unit.scores.iter().find(|entry| entry.scorer == scorer);
            observed.extend(entry.map(|entry| seen(unit.key.case_index as usize, &entry.score)));
        }
    }
    Ok(CheckedRun { check, examples, probes, observed })
}

fn decoded(case: &TestCase) -> Option<(ProbeCase, Option<Example>)> {
    let said = case.fields.get(FIELD)?;
    let number = |name: &str| said.get(name).and_then(Value::as_u64);
    let probe: Probe = serde_json::from_value(said.get("probe")?.clone()).ok()?;
    let example = match said.get("of") {
        Some(example) => Some(serde_json::from_value(example.clone()).ok()?),
        None => None,
    };
    let probe = ProbeCase {
        id: case.key.clone(),
        example: number("example")? as usize,
        with: number("with").map(|with| with as usize),
        probe,
        output: case.fields.get("output")?.as_str()?.to_owned(),
        other: said.get("other").and_then(Value::as_str).map(str::to_owned),
        round: u32::try_from(number("round")?).ok()?,
    };
    Some((probe, example))
}

/// A score as the card looks at it.
fn seen(case: usize, score: &Score) -> Observed {
    let evidence = score.evidence.as_ref();
    let order = |index: usize| {
        let path = format!("/orders/{index}");
        evidence.and_then(|evidence| evidence.pointer(&path)).and_then(Value::as_i64)
    };
    let is_flipped = evidence.and_then(|evidence| evidence.get("flipped")).and_then(Value::as_bool);
    // Of the two orders, in terms of the first answer: shown first it won, shown second it lost.
    let first_shown_preferred = match (is_flipped, order(0), order(1)) {
        (Some(true), Some(shown_first), Some(shown_second)) if shown_first != shown_second => {
            Some(shown_first > shown_second)
        }
        _ => None,
    };
    let members = evidence.and_then(|evidence| evidence.get("members")).and_then(Value::as_array);
    let members = members.into_iter().flatten();
    let replies = score.judgement.as_ref().map_or(&[][..], |judgement| &judgement.replies);
    let called = replies.iter().filter(|reply| !reply.cached);
    let seconds: f64 = called.clone().map(|reply| reply.latency_us as f64 / 1e6).sum();
    Observed {
        case,
        value: score.value,
        unscored: match score.outcome {
            Outcome::Unscored(reason) => Some(reason),
            _ => None,
        },
        is_flipped: is_flipped.filter(|_| score.value.is_some()),
        first_shown_preferred,
        members: members.map(|member| member.get("value").and_then(Value::as_f64)).collect(),
        replies: replies.len() as u32,
        unusable_replies: replies.iter().filter(|reply| reply.problem.is_some()).count() as u32,
        seconds: (called.count() == replies.len() && !replies.is_empty()).then_some(seconds),
        cost: score.cost,
        input_tokens: replies.iter().map(|reply| reply.input_tokens).sum(),
        output_tokens: replies.iter().map(|reply| reply.output_tokens).sum(),
    }
}
