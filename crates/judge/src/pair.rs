//! `pairwise`: the better of two outputs, always asked in both orders.

use fullbench_llm::ModelConfig;
use fullbench_types::{Generation, JudgeReply, Judgement, Message, NanoDollars, UnscoredReason};
use futures::future::join;
use serde::{Deserialize, Serialize};

use crate::ask::Ask;
use crate::config::{JudgeConfig, Method};
use crate::error::JudgeError;
use crate::judge::{Judge, prompt_failed, total_cost};
use crate::prompts::{PromptError, Slot};
use crate::reply::Object;
use crate::sampling::{NoScore, Place, Reading, Sampled, Sampler};
use crate::subject::Pair;

/// A judge of pairs.
pub struct PairJudge {
    judge: Judge,
}

/// Which of two outputs a judge prefers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preference {
    /// 1 when the first output is better, −1 when the second is, 0 for a tie; none when a judgement is missing.
    pub preference: Option<i8>,
    /// What each order said in the same terms: the first output shown first, then the second shown first.
    pub orders: Option<(i8, i8)>,
    /// The orders contradict each other, which makes it a tie: the position decided, not the outputs.
    pub is_flipped: bool,
    /// Why there is no preference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<UnscoredReason>,
    /// The judge's reason, in both orders where they differ; or why there is no preference.
    pub reasoning: String,
    /// What it cost; none where no price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoDollars>,
    /// Rests on a response served from the cache.
    pub cached: bool,
    /// How the judge came to it.
    pub judgement: Judgement,
}

/// 1, −1 or 0 for the answer shown first, and why.
type Verdict = (i8, String);

impl PairJudge {
    /// A judge of pairs.
    ///
    /// # Errors
    /// Says which setting is wrong and what to do.
    pub fn new(config: JudgeConfig) -> Result<Self, JudgeError> {
        if config.method != Method::Pairwise {
            let message = format!("`{}` judges single answers", config.method);
            return Err(JudgeError::setting("method", message, "use `pairwise` to compare two"));
        }
        Ok(Self { judge: Judge::build(config)? })
    }

    /// One model for each request the judge makes; none when its replies are recorded.
    #[must_use]
    pub fn models(&self) -> Vec<ModelConfig> {
        self.judge.models()
    }

    /// The judge's configuration.
    #[must_use]
    pub fn config(&self) -> &JudgeConfig {
        self.judge.config()
    }

    /// The prompts of both orders, as they are sent.
    ///
    /// # Errors
    /// When a template of the user fails on this pair.
    pub fn prompts(&self, pair: &Pair<'_>) -> Result<[Vec<Message>; 2], PromptError> {
        Ok([
            self.messages(pair, pair.first, pair.second)?,
            self.messages(pair, pair.second, pair.first)?,
        ])
    }

    /// The better of two outputs.
    pub async fn compare(&self, ask: &dyn Ask, pair: &Pair<'_>) -> Preference {
        if let Some(missing) = self.judge.missing_of(pair.references, pair.context) {
            return self.none(&missing, Vec::new(), &[]);
        }
        let prompts = match self.prompts(pair) {
            Ok(prompts) => prompts,
            Err(error) => return self.none(&prompt_failed(&error), Vec::new(), &[]),
        };
        let Some(request) = self.judge.requests.first() else {
            let missing = NoScore::new(UnscoredReason::ScorerError, "the judge makes no request");
            return self.none(&missing, Vec::new(), &[]);
        };
        let sampler = Sampler {
            ask,
            key: pair.key,
            repetition: pair.repetition,
            retries: self.judge.config.retries,
        };
        let order = |sample: u32, part: &str, messages: &Vec<Message>| {
            let place = Place { index: 0, request, sample, part: Some(part.to_owned()) };
            sampler.sample(place, messages.clone(), read)
        };
        let [one, other] = &prompts;
        let (one, other) =
            join(order(0, "first, second", one), order(1, "second, first", other)).await;
        self.preferred(one, other, &prompts)
    }

    fn preferred(
        &self,
        one: Sampled<Verdict>,
        other: Sampled<Verdict>,
        prompts: &[Vec<Message>],
    ) -> Preference {
        let mut replies = one.replies;
        replies.extend(other.replies);
        let ((said, why), (turned, turned_why)) = match (one.result, other.result) {
            (Ok(one), Ok(other)) => (one, other),
            // What failed may pass by itself, and comes first.
            (Err(one), Err(other)) => {
                let told = if one.is_unparseable() { other } else { one };
                return self.none(&told, replies, prompts);
            }
            (Err(missing), _) | (_, Err(missing)) => return self.none(&missing, replies, prompts),
        };
        let orders = (said, -turned);
        let is_flipped = orders.0 != orders.1;
        let reasoning = match is_flipped {
            true => format!("the orders disagree. First order: {why} Second order: {turned_why}"),
            false => why,
        };
        Preference {
            preference: Some(if is_flipped { 0 } else { orders.0 }),
            orders: Some(orders),
            is_flipped,
            unscored: None,
            reasoning,
            cost: total_cost(&replies),
            cached: replies.iter().any(|reply| reply.cached),
            judgement: self.judge.judgement(replies, prompts),
        }
    }

    fn none(
        &self,
        missing: &NoScore,
        replies: Vec<JudgeReply>,
        prompts: &[Vec<Message>],
    ) -> Preference {
        Preference {
            preference: None,
            orders: None,
            is_flipped: false,
            unscored: Some(missing.reason),
            reasoning: missing.message.clone(),
            cost: total_cost(&replies),
            cached: replies.iter().any(|reply| reply.cached),
            judgement: self.judge.judgement(replies, prompts),
        }
    }

    fn messages(
        &self,
        pair: &Pair<'_>,
        shown_first: &str,
        shown_second: &str,
    ) -> Result<Vec<Message>, PromptError> {
        let references = if self.judge.shows_references() { pair.references } else { &[] };
        let slots = [
            Slot::One("input", pair.input),
            Slot::Many("context", "context", pair.context.to_vec()),
            Slot::Many("references", "reference", references.to_vec()),
            Slot::One("answer_a", shown_first),
            Slot::One("answer_b", shown_second),
        ];
        match self.judge.requests.first() {
            Some(request) => {
                self.judge.prompts.render(request.kind, &self.judge.given(request, &[]), &slots)
            }
            None => Ok(Vec::new()),
        }
    }
}

fn read(generation: &Generation) -> Result<Reading<Verdict>, String> {
    let object = Object::find(&generation.text, &["reasoning", "winner"])?;
    let winner = match object.word("winner", &["A", "B", "tie"])? {
        "A" => 1,
        "B" => -1,
        _ => 0,
    };
    let reading = Reading::of((winner, object.text("reasoning")?));
    Ok(Reading { score: Some(f64::from(winner)), ..reading })
}
