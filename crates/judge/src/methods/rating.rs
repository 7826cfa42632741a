//! `g_eval`, `rubric` and `reference`: a number on a scale.
//!
//! The score is the mean of the samples; a sample whose log-probabilities are known counts with its probability-weighted mean
//! (Liu et al. 2023, G-Eval), the others with the number itself. It rests on the samples that gave a number, which must be more
//! than half of them.

use fullbench_types::{ContentHash, FinishReason, Generation, Score, UnscoredReason};
use futures::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::spread::{Weights, confidence, expectation, mean};
use crate::config::Method;
use crate::judge::{Found, Judge, prompt_failed};
use crate::prompts::PromptKind;
use crate::reply::{Object, ScoreAt, distribution, plain_score};
use crate::sampling::{Gathered, NoScore, Place, Reading, Sampled, Sampler};
use crate::subject::Subject;

/// What one sample gave.
#[derive(Debug, Clone)]
struct Rating {
    weights: Weights,
    /// The probability of all numbers of the scale, where it is known.
    mass: Option<f64>,
    /// Why the number counts as it is, where log-probabilities were asked for.
    note: Option<String>,
    reasoning: Option<String>,
    detail: Option<Detail>,
}

/// What a rubric judge says besides the number.
#[derive(Debug, Clone, Serialize)]
struct Detail {
    evidence: Vec<Evidence>,
    strengths: Vec<String>,
    weaknesses: Vec<String>,
}

/// One thing a judgement rests on.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Evidence {
    r#type: String,
    content: String,
    relevance: f64,
}

/// Judges a subject.
pub(crate) async fn judge(judge: &Judge, sampler: Sampler<'_>, subject: &Subject<'_>) -> Found {
    let mut replies = Vec::new();
    let none = |missing, replies| Found { score: Err(missing), replies, prompts: Vec::new() };
    let Some(request) = judge.requests.first() else {
        return none(
            NoScore::new(UnscoredReason::ScorerError, "the judge makes no request"),
            replies,
        );
    };
    let written = steps_of(judge, sampler).await;
    replies.extend(written.replies);
    let steps = match written.result {
        Ok(steps) => steps,
        Err(missing) => return none(missing, replies),
    };
    let rendered =
        judge.prompts.render(request.kind, &judge.given(request, &steps), &judge.slots(subject));
    let messages = match rendered {
        Ok(messages) => messages,
        Err(error) => return none(prompt_failed(&error), replies),
    };
    let samples = (0..judge.config.samples).map(|sample| {
        let place = Place { index: 0, request, sample, part: None };
        let recorded = sampler.ask.is_recorded();
        sampler.sample(place, messages.clone(), move |generation| read(judge, generation, recorded))
    });
    let gathered = Gathered::of(join_all(samples).await);
    let score = scored(judge, &gathered);
    replies.extend(gathered.replies);
    Found { score, replies, prompts: vec![messages] }
}

/// The score of all samples.
fn scored(judge: &Judge, gathered: &Gathered<Rating>) -> Result<Score, NoScore> {
    if let Some(no_score) = gathered.no_score() {
        return Err(no_score);
    }
    let ratings = &gathered.values;
    let mut notes: Vec<String> = Vec::new();
    let unparseable = gathered.missing.len();
    if unparseable > 0 {
        let asked = ratings.len() + unparseable;
        notes.push(format!("{unparseable} of {asked} samples gave no judgement"));
    }
    let samples: Vec<Weights> = ratings.iter().map(|rating| rating.weights.clone()).collect();
    let raw = mean(&samples);
    notes.extend(ratings.iter().filter_map(|rating| rating.note.clone()));
    notes.dedup();
    let nearest = ratings.iter().min_by(|left, right| {
        let distance = |rating: &Rating| (expectation(&rating.weights) - raw).abs();
        distance(left).total_cmp(&distance(right))
    });
    let is_measured = samples.len() > 1 || ratings.iter().any(|rating| rating.mass.is_some());
    let score = Score::graded(raw, judge.scale.value(raw), judge.config.threshold);
    Ok(Score {
        reasoning: nearest.and_then(|rating| rating.reasoning.clone()),
        evidence: evidence(ratings, nearest, &notes),
        confidence: is_measured.then(|| confidence(&samples, judge.scale)),
        ..score
    })
}

/// What the score rests on; none where the reply says it all.
fn evidence(ratings: &[Rating], nearest: Option<&Rating>, notes: &[String]) -> Option<Value> {
    let mut fields = Map::new();
    let detail = nearest.and_then(|rating| rating.detail.as_ref());
    if let Some(Value::Object(detail)) = detail.map(|detail| json!(detail)) {
        fields.extend(detail);
    }
    if ratings.len() > 1 {
        let scores: Vec<f64> = ratings.iter().map(|rating| expectation(&rating.weights)).collect();
        fields.insert("samples".to_owned(), json!(scores));
    }
    let masses: Vec<f64> = ratings.iter().filter_map(|rating| rating.mass).collect();
    if !masses.is_empty() {
        let mean = masses.iter().sum::<f64>() / masses.len() as f64;
        fields.insert("probability_mass".to_owned(), json!(mean));
    }
    if !notes.is_empty() {
        fields.insert("notes".to_owned(), json!(notes));
    }
    (!fields.is_empty()).then_some(Value::Object(fields))
}

/// Reads a reply.
fn read(judge: &Judge, generation: &Generation, recorded: bool) -> Result<Reading<Rating>, String> {
    let text = &generation.text;
    let is_rubric = judge.config.method == Method::Rubric;
    let required: &[&str] = match (recorded, is_rubric) {
        (true, _) => &["score"],
        (false, true) => &["evidence", "strengths", "weaknesses", "feedback", "score"],
        (false, false) => &["reasoning", "score"],
    };
    let object = match Object::find(text, required) {
        Ok(object) => object,
        Err(_) if recorded && !text.contains('{') => {
            let score = plain_score(text, judge.scale)?;
            return Ok(reading(judge, generation, &score, None, None));
        }
        Err(complaint) => return Err(complaint),
    };
    let score = object.score("score", judge.scale)?;
    let name = if is_rubric { "feedback" } else { "reasoning" };
    let reasoning = match object.text(name) {
        Ok(reasoning) => Some(reasoning),
        Err(_) if recorded => None,
        Err(complaint) => return Err(complaint),
    };
    let detail = match is_rubric {
        true => match detail(&object) {
            Ok(detail) => Some(detail),
            Err(_) if recorded => None,
            Err(complaint) => return Err(complaint),
        },
        false => None,
    };
    Ok(reading(judge, generation, &score, reasoning, detail))
}

fn detail(object: &Object<'_>) -> Result<Detail, String> {
    let kind = "a list of objects with `type`, `content` and `relevance`";
    let evidence: Vec<Evidence> = object.read("evidence", kind)?;
    if evidence.iter().any(|one| !(0.0..=1.0).contains(&one.relevance)) {
        return Err("a `relevance` is not from 0 to 1".to_owned());
    }
    Ok(Detail {
        evidence,
        strengths: object.read("strengths", "a list of texts")?,
        weaknesses: object.read("weaknesses", "a list of texts")?,
    })
}

fn reading(
    judge: &Judge,
    generation: &Generation,
    score: &ScoreAt,
    reasoning: Option<String>,
    detail: Option<Detail>,
) -> Reading<Rating> {
    let asked = judge.requests.first().is_some_and(|request| request.model.top_logprobs.is_some());
    let found = match &generation.logprobs {
        Some(tokens) => distribution(&generation.text, score, tokens, judge.scale),
        None => Err("the model gave no log-probabilities".to_owned()),
    };
    let (weights, mass, note) = match found {
        Ok(found) => (found.probabilities, Some(found.mass), None),
        Err(reason) => {
            let is_told = asked && generation.finish_reason != FinishReason::Recorded;
            let note = is_told.then(|| format!("the score counts as it is: {reason}"));
            (vec![(score.number, 1.0)], None, note)
        }
    };
    Reading {
        score: Some(f64::from(score.number)),
        distribution: if mass.is_some() { weights.clone() } else { Vec::new() },
        value: Rating { weights, mass, note, reasoning, detail },
    }
}

/// The steps a judge goes by; only `g_eval` has some.
pub(crate) async fn steps_of(judge: &Judge, sampler: Sampler<'_>) -> Sampled<Vec<String>> {
    match judge.config.method {
        Method::GEval => steps(judge, sampler).await,
        _ => Sampled { replies: Vec::new(), result: Ok(Vec::new()) },
    }
}

/// The evaluation steps: given, kept, or written by the model now. Replies are those of the one who asked.
async fn steps(judge: &Judge, sampler: Sampler<'_>) -> Sampled<Vec<String>> {
    let known = |steps: &[String]| Sampled { replies: Vec::new(), result: Ok(steps.to_vec()) };
    // Recorded replies are answers to prompts of their own.
    if !judge.config.steps.is_empty() || sampler.ask.is_recorded() {
        return known(&judge.config.steps);
    }
    let mut replies = Vec::new();
    let found = judge.steps.get_or_try_init(async || {
        let key = steps_key(judge);
        let store = judge.steps_store.get();
        if let Some(store) = store
            && let Some(steps) = store.get(&key).await
        {
            return Ok(Ok(steps));
        }
        let _turn = match store {
            Some(store) => store.turn(&key).await,
            None => None,
        };
        // Whoever had the turn before may have written them.
        if let Some(store) = store
            && let Some(steps) = store.get(&key).await
        {
            return Ok(Ok(steps));
        }
        let written = written(judge, sampler).await;
        replies = written.replies;
        let steps = match written.result {
            Ok(steps) => steps,
            Err(missing) if missing.is_unparseable() => return Ok(Err(missing.message)),
            // A call that failed may go through for the next output.
            Err(missing) => return Err(missing),
        };
        // Where another run was faster, its steps count, so that all runs judge by the same.
        Ok(Ok(match store {
            Some(store) => store.keep(&key, steps).await,
            None => steps,
        }))
    });
    let result = match found.await {
        Ok(Ok(steps)) => Ok(steps.clone()),
        Ok(Err(message)) => Err(NoScore::new(
            UnscoredReason::UnparseableJudgement,
            format!("the model wrote no evaluation steps, give them as `steps`: {message}"),
        )),
        Err(missing) => Err(missing),
    };
    Sampled { replies, result }
}

/// Asks the model to write the steps.
async fn written(judge: &Judge, sampler: Sampler<'_>) -> Sampled<Vec<String>> {
    let place = judge.requests.iter().enumerate();
    let place = place.into_iter().find(|(_, request)| request.kind == PromptKind::GEvalSteps);
    let Some((index, request)) = place else {
        return Sampled { replies: Vec::new(), result: Ok(Vec::new()) };
    };
    let messages = match judge.prompts.render(request.kind, &judge.given(request, &[]), &[]) {
        Ok(messages) => messages,
        Err(error) => return Sampled { replies: Vec::new(), result: Err(prompt_failed(&error)) },
    };
    let place = Place { index, request, sample: 0, part: Some("steps".to_owned()) };
    // The steps are the same for every unit, whatever its repetition.
    let sampler = Sampler { repetition: 0, ..sampler };
    sampler.sample(place, messages, read_steps).await
}

fn read_steps(generation: &Generation) -> Result<Reading<Vec<String>>, String> {
    let object = Object::find(&generation.text, &["steps"])?;
    let steps: Vec<String> = object.read("steps", "a list of texts")?;
    if steps.is_empty() || steps.iter().any(|step| step.trim().is_empty()) {
        return Err("`steps` must be a list of texts that are not empty".to_owned());
    }
    Ok(Reading::of(steps.into_iter().map(|step| step.trim().to_owned()).collect()))
}

/// Steps are kept by criterion, model and prompt.
fn steps_key(judge: &Judge) -> ContentHash {
    let model = &judge.config.model;
    let criterion = serde_json::to_string(&judge.criterion).unwrap_or_default();
    let template = judge.template_of(PromptKind::GEvalSteps);
    ContentHash::of_parts(&[
        b"fullbench judge steps 1",
        criterion.as_bytes(),
        model.provider.as_str().as_bytes(),
        model.effective_base_url().as_bytes(),
        model.model.as_deref().unwrap_or_default().as_bytes(),
        &template.0,
    ])
}
