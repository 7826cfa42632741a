//! What parameters do to a text, and what is told of it.

use fullbench_llm::{FailureClass, Parameters};
use fullbench_local::{LocalModel, LocalOptions};
use fullbench_types::FinishReason;
use serde_json::json;

use crate::support::{QUESTION, answer, ask, model, path, request, short, user};

fn sampled(seed: i64) -> Parameters {
    Parameters { temperature: Some(1.0), seed: Some(seed), ..short() }
}

#[tokio::test]
async fn an_answer_has_its_text_tokens_and_reason_to_stop() {
    let Some(model) = model() else { return };
    let cut = answer(&model, QUESTION, short()).await;
    assert!(!cut.text.is_empty());
    assert_eq!(cut.finish_reason, FinishReason::Length);
    let usage = cut.usage.expect("tokens are counted");
    assert_eq!(usage.output_tokens, 24);
    assert!(usage.input_tokens > 5 && usage.cached_input_tokens <= usage.input_tokens);
    assert!(cut.latency_us > 0 && cut.time_to_first_token_us.is_none());
    let whole = answer(&model, "Say hi.", Parameters { max_tokens: Some(200), ..short() }).await;
    assert_eq!(whole.finish_reason, FinishReason::Stop);
    assert!(!whole.text.contains("<|im_end|>"), "{}", whole.text);
}

#[tokio::test]
async fn the_same_seed_gives_the_same_text_whatever_else_is_asked() {
    let Some(model) = model() else { return };
    let first = answer(&model, QUESTION, sampled(1)).await;
    let noise = ["Why is the sky blue?", QUESTION, "Count to ten."].map(|question| {
        let model = model.clone();
        tokio::spawn(async move { answer(&model, question, sampled(9)).await })
    });
    let again = answer(&model, QUESTION, sampled(1)).await;
    for other in noise {
        other.await.unwrap();
    }
    assert_eq!(first.text, again.text);
    assert_ne!(first.text, answer(&model, QUESTION, sampled(2)).await.text);
    let greedy = answer(&model, QUESTION, short()).await.text;
    assert_eq!(greedy, answer(&model, QUESTION, short()).await.text);
}

#[tokio::test]
async fn what_is_kept_of_an_earlier_prompt_changes_no_number() {
    let Some(path) = path() else { return };
    // A model of its own: the other tests' prompts would push this one's out.
    let options = LocalOptions { context_tokens: Some(1_024), ..LocalOptions::default() };
    let model = LocalModel::load(&path, options).unwrap();
    let parameters = || Parameters { top_logprobs: Some(5), ..sampled(4) };
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let (one, two) = (format!("{long} What animal jumps?"), format!("{long} What is lazy?"));
    answer(&model, "Something else entirely.", short()).await;
    let fresh = answer(&model, &one, parameters()).await;
    assert_eq!(fresh.usage.unwrap().cached_input_tokens, 0);
    answer(&model, &two, parameters()).await;
    let kept = answer(&model, &one, parameters()).await;
    assert!(kept.usage.unwrap().cached_input_tokens >= 128, "{:?}", kept.usage);
    assert_eq!(fresh.text, kept.text);
    assert_eq!(fresh.logprobs, kept.logprobs, "to the last bit");
}

#[tokio::test]
async fn without_a_seed_a_request_can_be_repeated_and_repetitions_differ() {
    let Some(model) = model() else { return };
    let parameters = Parameters { seed: None, ..sampled(0) };
    let first = answer(&model, QUESTION, parameters.clone()).await.text;
    assert_eq!(first, answer(&model, QUESTION, parameters.clone()).await.text);
    let mut other = request(user(QUESTION), parameters);
    other.repetition = 1;
    use fullbench_llm::LanguageModel;
    assert_ne!(first, model.generate(&other).await.unwrap().generation.text);
}

#[tokio::test]
async fn the_text_ends_before_a_stop_text() {
    let Some(model) = model() else { return };
    let whole = answer(&model, QUESTION, short()).await.text;
    let word = whole.split_whitespace().nth(3).expect("several words").to_owned();
    let stop = Parameters { stop: vec![word.clone()], top_logprobs: Some(0), ..short() };
    let stopped = answer(&model, QUESTION, stop).await;
    assert_eq!(stopped.finish_reason, FinishReason::Stop);
    assert_eq!(stopped.text, whole[..whole.find(&word).unwrap()]);
    let spelled: String = stopped.logprobs.unwrap().into_iter().map(|token| token.token).collect();
    assert_eq!(spelled, stopped.text);
}

#[tokio::test]
async fn alternatives_differ_and_the_first_is_the_answer() {
    let Some(model) = model() else { return };
    let three = answer(&model, QUESTION, Parameters { n: Some(3), ..sampled(5) }).await;
    assert_eq!(three.alternatives.len(), 2);
    assert_ne!(three.text, three.alternatives[0]);
    assert_ne!(three.alternatives[0], three.alternatives[1]);
    assert_eq!(three.text, answer(&model, QUESTION, sampled(5)).await.text);
    assert_eq!(three.usage.unwrap().output_tokens, 3 * 24);
}

#[tokio::test]
async fn log_probabilities_spell_the_answer() {
    let Some(model) = model() else { return };
    let question = "Answer with three emoji.";
    let parameters = Parameters { top_logprobs: Some(5), max_tokens: Some(16), ..sampled(3) };
    let told = answer(&model, question, parameters).await;
    let logprobs = told.logprobs.expect("they were asked for");
    let spelled: String = logprobs.iter().map(|token| token.token.as_str()).collect();
    assert_eq!(spelled, told.text);
    for token in &logprobs {
        assert!(token.logprob <= 0.0 && token.top.len() == 5, "{token:?}");
        let mass: f64 = token.top.iter().map(|top| top.logprob.exp()).sum();
        assert!(mass <= 1.0 + 1e-6, "{mass}");
        assert!(token.top.windows(2).all(|pair| pair[0].logprob >= pair[1].logprob));
        assert!(token.logprob <= token.top[0].logprob);
    }
    let greedy = Parameters { top_logprobs: Some(1), ..short() };
    for token in answer(&model, question, greedy).await.logprobs.unwrap() {
        assert_eq!(token.logprob, token.top[0].logprob, "the likeliest was chosen");
    }
}

#[tokio::test]
async fn a_stream_gives_the_same_text_in_pieces_and_tells_the_first_tokens_time() {
    let Some(model) = model() else { return };
    let parameters = Parameters { stream: true, ..sampled(6) };
    let mut pieces = Vec::new();
    let request = request(user(QUESTION), parameters);
    let reply = model.generate_streaming(&request, |piece| pieces.push(piece.to_owned())).await;
    let streamed = reply.unwrap().generation;
    assert!(pieces.len() > 5, "{pieces:?}");
    assert_eq!(pieces.concat(), streamed.text);
    assert_eq!(streamed.text, answer(&model, QUESTION, sampled(6)).await.text);
    assert!(streamed.time_to_first_token_us.unwrap() < streamed.latency_us);
}

#[tokio::test]
async fn penalties_make_a_text_repeat_itself_less() {
    let Some(model) = model() else { return };
    let question = "Write the word cat twenty times.";
    let longer = Parameters { max_tokens: Some(40), ..short() };
    let plain = answer(&model, question, longer.clone()).await.text;
    let penalties =
        Parameters { frequency_penalty: Some(2.0), presence_penalty: Some(2.0), ..longer };
    let varied = answer(&model, question, penalties).await.text;
    assert_ne!(plain, varied);
}

#[tokio::test]
async fn unknown_parameters_are_refused_by_name() {
    let Some(model) = model() else { return };
    let mut parameters = short();
    parameters.extra.insert("mirostat".to_owned(), json!(2));
    let error = ask(&model, QUESTION, parameters).await.unwrap_err();
    assert_eq!(error.class, FailureClass::BadRequest);
    assert!(error.message.contains("`mirostat`"), "{}", error.message);
}

#[tokio::test]
async fn an_answer_fills_the_context_and_no_more() {
    let Some(path) = path() else { return };
    let options = LocalOptions { context_tokens: Some(96), ..LocalOptions::default() };
    let model = LocalModel::load(&path, options).unwrap();
    let capacity = model.context_tokens();
    let parameters = Parameters { max_tokens: Some(100_000), ..short() };
    let full = answer(&model, QUESTION, parameters).await;
    assert_eq!(full.finish_reason, FinishReason::Length);
    let usage = full.usage.unwrap();
    assert_eq!(usage.input_tokens + usage.output_tokens, capacity as u64);
}

#[tokio::test]
async fn one_file_is_loaded_once() {
    let (Some(path), Some(model)) = (path(), model()) else { return };
    let resident = crate::queue::resident_bytes();
    let shared = LocalModel::load(&path, LocalOptions::default()).unwrap();
    assert_eq!(shared.name(), model.name());
    assert!(crate::queue::resident_bytes() < resident + 50_000_000, "a second copy was loaded");
}
