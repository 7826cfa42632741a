//! `binary`: pass, fail or unsure.
//!
//! With several samples more than half of them decide. `unsure`, or no majority, is no verdict: it has no value and is
//! `unscored(pending_human)`, since it is for a person to decide; the reasoning says what the judge said.

use fullbench_types::{Generation, Score, UnscoredReason};
use futures::future::join_all;
use serde_json::json;

use crate::judge::{Found, Judge, prompt_failed};
use crate::reply::Object;
use crate::sampling::{Gathered, NoScore, Place, Reading, Sampler};
use crate::subject::Subject;

const PASS: &str = "pass";
const FAIL: &str = "fail";
const UNSURE: &str = "unsure";

type Verdict = (&'static str, String);

/// Judges a subject.
pub(crate) async fn judge(judge: &Judge, sampler: Sampler<'_>, subject: &Subject<'_>) -> Found {
    let none = |missing| Found { score: Err(missing), replies: Vec::new(), prompts: Vec::new() };
    let Some(request) = judge.requests.first() else {
        return none(NoScore::new(UnscoredReason::ScorerError, "the judge makes no request"));
    };
    let rendered =
        judge.prompts.render(request.kind, &judge.given(request, &[]), &judge.slots(subject));
    let messages = match rendered {
        Ok(messages) => messages,
        Err(error) => return none(prompt_failed(&error)),
    };
    let recorded = sampler.ask.is_recorded();
    let samples = (0..judge.config.samples).map(|sample| {
        let place = Place { index: 0, request, sample, part: None };
        sampler.sample(place, messages.clone(), move |generation| read(generation, recorded))
    });
    let gathered = Gathered::of(join_all(samples).await);
    Found { score: scored(&gathered), replies: gathered.replies, prompts: vec![messages] }
}

/// The verdict of all samples.
fn scored(gathered: &Gathered<Verdict>) -> Result<Score, NoScore> {
    if let Some(no_score) = gathered.no_score() {
        return Err(no_score);
    }
    let verdicts = &gathered.values;
    let count = |word| verdicts.iter().filter(|(verdict, _)| *verdict == word).count();
    let counts = [(PASS, count(PASS)), (FAIL, count(FAIL)), (UNSURE, count(UNSURE))];
    let majority = counts.into_iter().find(|(_, count)| count * 2 > verdicts.len());
    let reason =
        |word| verdicts.iter().find(|(verdict, _)| *verdict == word).map(|(_, why)| why.clone());
    let share = |count: usize| (verdicts.len() > 1).then(|| count as f64 / verdicts.len() as f64);
    let evidence = json!({
        "verdict": majority.map_or(UNSURE, |(word, _)| word),
        "pass": counts[0].1,
        "fail": counts[1].1,
        "unsure": counts[2].1,
    });
    let score = match majority {
        Some((word, count)) if word != UNSURE => Score {
            reasoning: reason(word),
            confidence: share(count),
            ..Score::binary(word == PASS)
        },
        Some(_) => {
            let why = reason(UNSURE).unwrap_or_default();
            Score::unscored(UnscoredReason::PendingHuman)
                .because(format!("the judge is unsure: {why}"))
        }
        None => Score::unscored(UnscoredReason::PendingHuman)
            .because("the judge is unsure: no verdict has more than half of the samples"),
    };
    Ok(Score { evidence: Some(evidence), ..score })
}

fn read(generation: &Generation, recorded: bool) -> Result<Reading<Verdict>, String> {
    let words = [PASS, FAIL, UNSURE];
    let text = generation.text.trim();
    if recorded && let Some(word) = words.into_iter().find(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(number(word, String::new()));
    }
    let required: &[&str] = if recorded { &["verdict"] } else { &["reasoning", "verdict"] };
    let object = Object::find(&generation.text, required)?;
    let word = object.word("verdict", &words)?;
    let reasoning = match object.text("reasoning") {
        Ok(reasoning) => reasoning,
        Err(_) if recorded => String::new(),
        Err(complaint) => return Err(complaint),
    };
    Ok(number(word, reasoning))
}

fn number(word: &'static str, reasoning: String) -> Reading<Verdict> {
    let score = match word {
        PASS => Some(1.0),
        FAIL => Some(0.0),
        _ => None,
    };
    Reading { score, ..Reading::of((word, reasoning)) }
}
