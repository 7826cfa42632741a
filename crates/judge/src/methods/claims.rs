//! `claims`: the output is split into claims, and each is checked against the context.
//!
//! A claim that is called supported or contradicted needs a quote that really stands in the context; a reply whose quote does not is
//! no judgement. The value is the share of supported claims. An output without claims has no such share and is
//! `unscored(scorer_error)` with that reason; so has one whose claims could not all be judged.

use fullbench_types::{Generation, Score, UnscoredReason};
use futures::future::join_all;
use serde::Serialize;
use serde_json::json;

use super::quote::occurs;
use crate::judge::{Found, Judge, prompt_failed};
use crate::reply::Object;
use crate::sampling::{Gathered, NoScore, Place, Reading, Sampled, Sampler};
use crate::subject::Subject;

/// Most claims of one output; attempts are counted in steps of a thousand.
const MOST_CLAIMS: usize = 999;

const SUPPORTED: &str = "supported";
const CONTRADICTED: &str = "contradicted";
const NOT_FOUND: &str = "not_found";

/// What the context says of a claim.
#[derive(Debug, Clone, Serialize)]
struct Checked {
    claim: String,
    verdict: &'static str,
    quote: Option<String>,
    reasoning: String,
}

/// Judges a subject.
pub(crate) async fn judge(judge: &Judge, sampler: Sampler<'_>, subject: &Subject<'_>) -> Found {
    let mut found = Found {
        score: Err(NoScore::new(UnscoredReason::ScorerError, "the judge makes no request")),
        replies: Vec::new(),
        prompts: Vec::new(),
    };
    let [split, check] = judge.requests.as_slice() else { return found };
    let rendered =
        judge.prompts.render(split.kind, &judge.given(split, &[]), &judge.split_slots(subject));
    let messages = match rendered {
        Ok(messages) => messages,
        Err(error) => return Found { score: Err(prompt_failed(&error)), ..found },
    };
    found.prompts.push(messages.clone());
    let place = Place { index: 0, request: split, sample: 0, part: Some("split".to_owned()) };
    let Sampled { replies, result } = sampler.sample(place, messages, read_claims).await;
    found.replies.extend(replies);
    let claims = match result {
        Ok(claims) => claims,
        Err(missing) => return Found { score: Err(missing), ..found },
    };
    if claims.is_empty() {
        let message = "the answer makes no claim that could be checked";
        return Found { score: Err(NoScore::new(UnscoredReason::ScorerError, message)), ..found };
    }
    let mut checks = Vec::with_capacity(claims.len());
    for (sample, claim) in (0..).zip(&claims) {
        let slots = judge.check_slots(subject, claim);
        let messages = match judge.prompts.render(check.kind, &judge.given(check, &[]), &slots) {
            Ok(messages) => messages,
            Err(error) => return Found { score: Err(prompt_failed(&error)), ..found },
        };
        // The others differ by their claim alone, which is kept with the score.
        if sample == 0 {
            found.prompts.push(messages.clone());
        }
        let part = Some(format!("claim {}", sample + 1));
        let place = Place { index: 1, request: check, sample, part };
        checks.push(sampler.sample(place, messages, move |generation| {
            read_check(generation, claim, subject.context)
        }));
    }
    let gathered = Gathered::of(join_all(checks).await);
    let score = scored(judge, &gathered);
    found.replies.extend(gathered.replies);
    Found { score, ..found }
}

fn scored(judge: &Judge, gathered: &Gathered<Checked>) -> Result<Score, NoScore> {
    // A share of some of the claims would be of other claims for every judge.
    if let Some(missing) = gathered.no_score().or(gathered.missing.first().cloned()) {
        return Err(missing);
    }
    let checked = &gathered.values;
    let count = |verdict| checked.iter().filter(|one| one.verdict == verdict).count();
    let (supported, contradicted) = (count(SUPPORTED), count(CONTRADICTED));
    let share = supported as f64 / checked.len() as f64;
    let reasoning = format!(
        "{supported} of {} claims are supported by the context, {contradicted} contradicted, {} not found",
        checked.len(),
        count(NOT_FOUND),
    );
    let score = Score::graded(share, share, judge.config.threshold).because(reasoning);
    Ok(Score { evidence: Some(json!({ "claims": checked })), ..score })
}

fn read_claims(generation: &Generation) -> Result<Reading<Vec<String>>, String> {
    let object = Object::find(&generation.text, &["claims"])?;
    let claims: Vec<String> = object.read("claims", "a list of texts")?;
    let claims: Vec<String> = claims.iter().map(|claim| claim.trim().to_owned()).collect();
    if claims.iter().any(String::is_empty) {
        return Err("a claim is empty".to_owned());
    }
    if claims.len() > MOST_CLAIMS {
        return Err(format!("there are more than {MOST_CLAIMS} claims"));
    }
    Ok(Reading::of(claims))
}

fn read_check(
    generation: &Generation,
    claim: &str,
    context: &[&str],
) -> Result<Reading<Checked>, String> {
    let object = Object::find(&generation.text, &["reasoning", "quote", "verdict"])?;
    let verdict = object.word("verdict", &[SUPPORTED, CONTRADICTED, NOT_FOUND])?;
    let quote = object.text("quote")?;
    let quote = (verdict != NOT_FOUND).then_some(quote);
    if let Some(quote) = &quote
        && !occurs(quote, context)
    {
        return Err("the `quote` does not stand in the context word for word".to_owned());
    }
    let reasoning = object.text("reasoning")?;
    let checked = Checked { claim: claim.to_owned(), verdict, quote, reasoning };
    let score = f64::from(u8::from(verdict == SUPPORTED));
    Ok(Reading { score: Some(score), ..Reading::of(checked) })
}
