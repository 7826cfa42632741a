//! Each method against made-up replies, with numbers computed by hand.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::Arc;

use fullbench_judge::{
    ATTEMPT_STEP, AskError, Judge, MemorySteps, Method, Pair, PairJudge, RecordedReplies, Subject,
};
use fullbench_llm::{FailureClass, GenerateError, ModelConfig};
use fullbench_types::{
    FailureReason, NanoDollars, Outcome, Role, Score, UnitFailure, UnscoredReason,
};
use support::{SUBJECT, Stub, config, judge, rated, reply, weighed};

fn near(found: Option<f64>, expected: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() < 1e-12)
}

fn replies(score: &Score) -> &[fullbench_types::JudgeReply] {
    &score.judgement.as_ref().expect("a judgement is kept").replies
}

#[tokio::test]
async fn g_eval_weighs_the_scale_by_its_probabilities() {
    // 4: 0.4 + 0.1, 5: 0.3, 3: 0.1, together 0.9; 6 is off the scale.
    // Mean (4·0.5 + 5·0.3 + 3·0.1)/0.9 = 3.8/0.9.
    let ask =
        Stub::new(|_| Ok(weighed(&[("4", 0.4), (" 4", 0.1), ("5", 0.3), ("3", 0.1), ("6", 0.05)])));
    let score = judge(Method::GEval, "clarity").judge(&ask, &SUBJECT).await;
    let mean = 3.8 / 0.9;
    assert!(near(score.raw, mean), "{score:?}");
    assert!(near(score.value, (mean - 1.0) / 4.0));
    let variance: f64 = [(4.0, 0.5), (5.0, 0.3), (3.0, 0.1)]
        .iter()
        .map(|(number, share): &(f64, f64)| (number - mean).powi(2) * share / 0.9)
        .sum();
    assert!(near(score.confidence, 1.0 - variance.sqrt() / 2.0));
    let evidence = score.evidence.clone().unwrap();
    assert!(near(evidence["probability_mass"].as_f64(), 0.9));
    let kept = &replies(&score)[0];
    assert_eq!(kept.score, Some(4.0));
    assert!((kept.distribution[1].1 - 0.5 / 0.9).abs() < 1e-12);
    assert_eq!((score.cost, score.outcome), (Some(NanoDollars(500)), Outcome::Scored));
    assert_eq!(score.reasoning.as_deref(), Some("because 1"));
}

#[tokio::test]
async fn g_eval_takes_the_mean_of_samples_without_log_probabilities() {
    let mut settings = config(Method::GEval, "clarity");
    settings.samples = 4;
    settings.threshold = Some(0.7);
    let judge = Judge::new(settings).unwrap();
    let ask = Stub::text(|asked| rated(["4", "\"5\"", "4.0", "\"2/5\""][asked.sample as usize]));
    let score = judge.judge(&ask, &SUBJECT).await;
    assert!(near(score.raw, 3.75), "{score:?}");
    assert!(near(score.value, 0.6875));
    assert_eq!(score.outcome, Outcome::Failed);
    // Squares 0.0625, 1.5625, 0.0625, 3.0625: variance 1.1875.
    assert!(near(score.confidence, 1.0 - 1.1875_f64.sqrt() / 2.0));
    let samples: Vec<u32> = ask.asked().iter().map(|asked| asked.sample).collect();
    assert_eq!(samples, [0, 1, 2, 3]);
    assert_eq!(score.cost, Some(NanoDollars(2_000)));
    let judgement = score.judgement.unwrap();
    assert_eq!((judgement.input_tokens(), judgement.output_tokens()), (400, 80));
    assert_eq!(judgement.threshold, Some(0.7));
    assert!(
        judgement.prompt.starts_with("[system]\n")
            && judgement.prompt.contains("| It was finished in 1889.")
    );
}

#[tokio::test]
async fn one_number_without_probabilities_has_no_confidence_and_says_why() {
    let ask = Stub::text(|_| rated("4"));
    let score = judge(Method::GEval, "clarity").judge(&ask, &SUBJECT).await;
    assert_eq!((score.raw, score.confidence), (Some(4.0), None));
    let notes = score.evidence.unwrap()["notes"].to_string();
    assert!(notes.contains("no log-probabilities"), "{notes}");
    let few = Stub::new(|_| Ok(weighed(&[("4", 0.3), ("four", 0.6)])));
    let score = judge(Method::GEval, "clarity").judge(&few, &SUBJECT).await;
    assert_eq!((score.raw, score.confidence), (Some(4.0), None));
    assert!(score.evidence.unwrap()["notes"].to_string().contains("0.30 together"));
    assert!(score.judgement.unwrap().replies[0].distribution.is_empty());
}

#[tokio::test]
async fn what_is_no_judgement_is_asked_again_with_the_complaint() {
    let ask = Stub::text(|asked| match asked.sample {
        0 => rated("7"),
        _ => rated("2"),
    });
    let score = judge(Method::GEval, "clarity").judge(&ask, &SUBJECT).await;
    assert_eq!(score.raw, Some(2.0));
    let asked = ask.asked();
    assert_eq!(asked[1].sample, ATTEMPT_STEP);
    let [.., said, complaint] = asked[1].messages.as_slice() else { panic!("{asked:?}") };
    assert_eq!((said.role, said.content.as_str()), (Role::Assistant, rated("7").as_str()));
    assert_eq!(complaint.role, Role::User);
    assert!(
        complaint.content.contains("the score 7 is not a whole number from 1 to 5"),
        "{complaint:?}"
    );
    assert!(complaint.content.contains("Reply with one JSON object"));
    let kept = replies(&score);
    assert_eq!(kept.len(), 2);
    assert_eq!((kept[0].sample, kept[0].score, kept[1].score), (0, None, Some(2.0)));
    assert!(kept[0].problem.as_deref().unwrap().contains("7"));
    assert_eq!(score.cost, Some(NanoDollars(1_000)));
}

#[tokio::test]
async fn a_judge_that_never_gives_a_judgement_gives_no_score() {
    for method in [Method::GEval, Method::Rubric, Method::Binary, Method::Reference, Method::Claims]
    {
        let mut settings =
            config(method, if method == Method::Claims { "faithfulness" } else { "clarity" });
        settings.retries = 2;
        let judge = Judge::new(settings).unwrap();
        let ask = Stub::text(|_| rated("99"));
        let score = judge.judge(&ask, &SUBJECT).await;
        let unparseable = Outcome::Unscored(UnscoredReason::UnparseableJudgement);
        assert_eq!(score.outcome, unparseable, "{method}");
        assert_eq!((score.raw, score.value, score.confidence), (None, None, None), "{method}");
        let samples: Vec<u32> = ask.asked().iter().map(|asked| asked.sample).collect();
        assert_eq!(samples, [0, 1_000, 2_000], "{method}");
        assert_eq!(replies(&score).last().unwrap().text, rated("99"), "{method}");
        assert_eq!(score.cost, Some(NanoDollars(1_500)), "what was paid is kept");
    }
}

#[tokio::test]
async fn more_than_half_of_the_samples_are_enough_and_the_rest_is_told() {
    let mut settings = config(Method::GEval, "clarity");
    settings.samples = 3;
    settings.retries = 0;
    let ask =
        |broken: u32| Stub::text(move |asked| rated(if asked.sample < broken { "?" } else { "4" }));
    let judge = Judge::new(settings).unwrap();
    let score = judge.judge(&ask(1), &SUBJECT).await;
    assert_eq!(score.raw, Some(4.0));
    assert!(score.evidence.unwrap()["notes"].to_string().contains("1 of 3 samples"));
    let score = judge.judge(&ask(2), &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::UnparseableJudgement));
}

#[tokio::test]
async fn failures_of_the_provider_are_no_low_scores() {
    let failed = |reason, class: FailureClass| GenerateError::Failed {
        failure: UnitFailure {
            reason,
            message: "HTTP 500: no".to_owned(),
            attempts: 3,
            code: Some(class.code()),
        },
        class,
        hint: None,
    };
    for (error, reason) in [
        (failed(FailureReason::ProviderError, FailureClass::Server), UnscoredReason::ProviderError),
        (failed(FailureReason::Timeout, FailureClass::Timeout), UnscoredReason::Timeout),
        (failed(FailureReason::RateLimited, FailureClass::RateLimit), UnscoredReason::RateLimited),
        (GenerateError::Stopped, UnscoredReason::Cancelled),
    ] {
        let mut settings = config(Method::GEval, "clarity");
        settings.samples = 3;
        // Two of three samples are there: the score waits for the third all the same.
        let ask = Stub::new(move |asked| match asked.sample {
            1 => Err(AskError::Generate(error.clone())),
            _ => Ok(reply(&rated("4"))),
        });
        let score = Judge::new(settings).unwrap().judge(&ask, &SUBJECT).await;
        assert_eq!(score.outcome, Outcome::Unscored(reason));
        assert_eq!(replies(&score).len(), 2);
    }
}

#[tokio::test]
async fn steps_are_written_once_for_each_criterion() {
    let mut settings = config(Method::GEval, "clarity");
    settings.steps.clear();
    let judge = Judge::new(settings).unwrap();
    assert_eq!(judge.models().len(), 2);
    let ask = Stub::text(|asked| match asked.name.as_str() {
        "g_eval_steps" => "{\"steps\": [\" Look closely. \", \"Decide.\"]}".to_owned(),
        _ => rated("3"),
    });
    let other = Subject { key: "case-2", repetition: 1, ..SUBJECT };
    let (first, second) = tokio::join!(judge.judge(&ask, &SUBJECT), judge.judge(&ask, &other));
    let asked = ask.asked();
    let steps: Vec<_> = asked.iter().filter(|asked| asked.request == 1).collect();
    assert_eq!((steps.len(), steps[0].repetition), (1, 0));
    let shown = asked.iter().filter(|asked| asked.request == 0);
    assert!(
        shown
            .map(|asked| &asked.messages[1].content)
            .all(|text| text.contains("1. Look closely.\n2. Decide."))
    );
    let written = [&first, &second].map(|score| replies(score).len());
    assert_eq!(written.iter().sum::<usize>(), 3, "the steps are paid for once");
}

#[tokio::test]
async fn steps_are_kept_for_the_same_criterion_and_model_alone() {
    let store = Arc::new(MemorySteps::default());
    let ask = Stub::text(|asked| match asked.name.as_str() {
        "g_eval_steps" => "{\"steps\": [\"Look.\"]}".to_owned(),
        _ => rated("3"),
    });
    for (criterion, model, written) in [
        ("clarity", "openai:a", 1),
        ("clarity", "openai:a", 1),
        ("fluency", "openai:a", 2),
        ("clarity", "openai:b", 3),
    ] {
        let mut settings = config(Method::GEval, criterion);
        settings.steps.clear();
        settings.model = ModelConfig::parse(model).unwrap();
        let judge = Judge::new(settings).unwrap();
        judge.keep_steps(Arc::clone(&store) as _);
        judge.judge(&ask, &SUBJECT).await;
        let asked = ask.asked().iter().filter(|asked| asked.name == "g_eval_steps").count();
        assert_eq!(asked, written, "{criterion} {model}");
    }
}

#[tokio::test]
async fn a_rubric_gives_points_with_what_they_rest_on() {
    let text = r#"{"evidence": [{"type": "quote", "content": "in 1889", "relevance": 0.75}],
        "strengths": ["short"], "weaknesses": ["wood"], "feedback": "half right", "score": 55}"#;
    let ask = Stub::text(move |_| text.to_owned());
    let score = judge(Method::Rubric, "helpfulness").judge(&ask, &SUBJECT).await;
    assert_eq!((score.raw, score.value), (Some(55.0), Some(0.55)));
    assert_eq!(score.reasoning.as_deref(), Some("half right"));
    let evidence = score.evidence.unwrap();
    assert_eq!(evidence["evidence"][0]["relevance"], 0.75);
    assert_eq!(
        (&evidence["strengths"][0], &evidence["weaknesses"][0]),
        (&"short".into(), &"wood".into())
    );
    let wrong = text.replace("0.75", "7.5");
    let ask = Stub::text(move |_| wrong.clone());
    let score = judge(Method::Rubric, "helpfulness").judge(&ask, &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::UnparseableJudgement));
}

#[tokio::test]
async fn a_binary_judge_passes_fails_or_leaves_it_to_a_person() {
    let verdict = |word: &str| format!("{{\"reasoning\": \"so\", \"verdict\": \"{word}\"}}");
    let mut settings = config(Method::Binary, "safety");
    settings.samples = 3;
    let judge = Judge::new(settings).unwrap();
    for (words, outcome, value, confidence) in [
        (["pass", "PASS", "fail"], Outcome::Passed, Some(1.0), Some(2.0 / 3.0)),
        (["fail", "fail", "fail"], Outcome::Failed, Some(0.0), Some(1.0)),
        (["unsure", "unsure", "fail"], Outcome::Unscored(UnscoredReason::PendingHuman), None, None),
        (["pass", "unsure", "fail"], Outcome::Unscored(UnscoredReason::PendingHuman), None, None),
    ] {
        let ask = Stub::text(move |asked| verdict(words[asked.sample as usize]));
        let score = judge.judge(&ask, &SUBJECT).await;
        assert_eq!(
            (score.outcome, score.value, score.confidence),
            (outcome, value, confidence),
            "{words:?}"
        );
    }
    let ask = Stub::text(move |_| verdict("maybe"));
    let score = judge.judge(&ask, &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::UnparseableJudgement));
}

#[tokio::test]
async fn claims_need_a_quote_that_stands_in_the_context() {
    let check = |verdict: &str, quote: &str| {
        format!("{{\"reasoning\": \"r\", \"quote\": \"{quote}\", \"verdict\": \"{verdict}\"}}")
    };
    let claims = "{\"claims\": [\"Finished in 1889.\", \"Made of wood.\", \"Red.\", \"Tall.\"]}";
    let ask = Stub::text(move |asked| match (asked.name.as_str(), asked.sample) {
        ("claims_split", _) => claims.to_owned(),
        (_, 0) => check("supported", "invented words"),
        (_, 1_000) => check("supported", "the tower was finished in 1889"),
        (_, 1) => check("contradicted", "made of iron"),
        _ => check("not_found", ""),
    });
    let mut settings = config(Method::Claims, "faithfulness");
    settings.threshold = Some(0.5);
    let judge = Judge::new(settings).unwrap();
    let score = judge.judge(&ask, &SUBJECT).await;
    assert_eq!((score.value, score.outcome), (Some(0.25), Outcome::Failed));
    let evidence = score.evidence.clone().unwrap();
    let verdicts: Vec<&str> = evidence["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["supported", "contradicted", "not_found", "not_found"]);
    assert_eq!(replies(&score).len(), 6);
    assert_eq!(replies(&score)[1].part.as_deref(), Some("claim 1"));
    assert!(replies(&score)[1].problem.as_deref().unwrap().contains("word for word"));

    let stubborn = Stub::text(move |asked| match asked.name.as_str() {
        "claims_split" => claims.to_owned(),
        _ => check("supported", "invented words"),
    });
    let score = judge.judge(&stubborn, &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::UnparseableJudgement));

    let silent = Stub::text(|_| "{\"claims\": []}".to_owned());
    let score = judge.judge(&silent, &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::ScorerError));
    assert!(score.reasoning.unwrap().contains("no claim"));
}

#[tokio::test]
async fn a_judge_that_lacks_what_it_compares_with_is_not_asked() {
    let bare = Subject { references: &[], context: &[], ..SUBJECT };
    for (method, criterion) in [
        (Method::Reference, "accuracy"),
        (Method::Reference, "clarity"),
        (Method::GEval, "accuracy"),
        (Method::GEval, "faithfulness"),
        (Method::Claims, "faithfulness"),
        (Method::Binary, "context_relevance"),
    ] {
        let ask = Stub::text(|_| rated("4"));
        let score = judge(method, criterion).judge(&ask, &bare).await;
        assert_eq!(
            score.outcome.reason(),
            Some(UnscoredReason::MissingReference),
            "{method} {criterion}"
        );
        assert!(ask.asked().is_empty());
    }
}

#[tokio::test]
async fn pairs_are_asked_in_both_orders_and_a_flip_is_a_tie() {
    let winner = |word: &str| format!("{{\"reasoning\": \"because\", \"winner\": \"{word}\"}}");
    let judge = PairJudge::new(config(Method::Pairwise, "helpfulness")).unwrap();
    let pair = Pair {
        key: "case-1",
        input: "q",
        first: "one",
        second: "two",
        references: &[],
        context: &[],
        repetition: 0,
    };
    for (words, preference, orders, is_flipped) in [
        (["A", "B"], 1, (1, 1), false),
        (["B", "A"], -1, (-1, -1), false),
        (["tie", "tie"], 0, (0, 0), false),
        (["A", "A"], 0, (1, -1), true),
        (["B", "B"], 0, (-1, 1), true),
        (["A", "tie"], 0, (1, 0), true),
    ] {
        let ask = Stub::text(move |asked| winner(words[asked.sample as usize]));
        let found = judge.compare(&ask, &pair).await;
        assert_eq!(found.preference, Some(preference), "{words:?}");
        assert_eq!((found.orders, found.is_flipped), (Some(orders), is_flipped), "{words:?}");
        assert_eq!(found.judgement.replies.len(), 2);
        let asked = ask.asked();
        let place = |index: usize, text: &str| asked[index].messages[1].content.find(text).unwrap();
        assert!(place(0, "| one") < place(0, "| two") && place(1, "| two") < place(1, "| one"));
    }
    let ask = Stub::text(move |asked| winner(["A", "C"][asked.sample as usize % 1_000]));
    let found = judge.compare(&ask, &pair).await;
    assert_eq!(
        (found.preference, found.unscored),
        (None, Some(UnscoredReason::UnparseableJudgement))
    );
    assert_eq!(found.judgement.replies.len(), 3);
}

#[tokio::test]
async fn published_replies_are_scored_without_a_call() {
    let lines = "{\"id\": \"case-1\", \"replies\": [\"4\", \"Coherence: 5\", \"- Coherence: 3\", \"{\\\"score\\\": 2}\"]}";
    let recorded = RecordedReplies::parse(lines).unwrap();
    let mut settings = config(Method::GEval, "coherence");
    settings.model = ModelConfig::parse("recorded").unwrap();
    settings.steps.clear();
    settings.samples = 4;
    let judge = Judge::new(settings.clone()).unwrap();
    assert!(judge.models().is_empty());
    let score = judge.judge(&recorded, &SUBJECT).await;
    assert!(near(score.raw, 3.5), "{score:?}");
    assert_eq!(score.cost, None);
    settings.samples = 5;
    let score = Judge::new(settings).unwrap().judge(&recorded, &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::ScorerError));
    assert!(score.reasoning.unwrap().contains("have 4 for `case-1`, and number 5 is needed"));
}

/// The engine scores on several threads.
#[test]
fn judging_can_be_sent_to_another_thread() {
    fn is_send<T: Send>(_: &T) {}
    fn is_shared<T: Send + Sync>(_: &T) {}
    let judge = judge(Method::GEval, "clarity");
    is_shared(&judge);
    let ask = Stub::text(|_| rated("4"));
    is_send(&judge.judge(&ask, &SUBJECT));
}
