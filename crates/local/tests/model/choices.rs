//! The probability of given answers.

use fullbench_llm::{FailureClass, Parameters};
use fullbench_types::Generation;

use crate::support::{QUESTION, answer, ask, model, short};

fn of(choices: &[&str]) -> Parameters {
    let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
    Parameters { choices, top_logprobs: Some(0), ..Parameters::default() }
}

fn logprob(generation: &Generation, choice: &str) -> f64 {
    let choices = generation.choices.as_ref().expect("choices were asked for");
    choices.iter().find(|told| told.choice == choice).expect("it was given").logprob
}

#[tokio::test]
async fn probabilities_of_choices_sum_to_one_and_the_likeliest_is_the_answer() {
    let Some(model) = model() else { return };
    let question = "Is Paris the capital of France? Answer Yes or No.";
    let chosen = answer(&model, question, of(&["Yes", "No", "Perhaps the blue whale"])).await;
    let choices = chosen.choices.clone().unwrap();
    assert_eq!(
        choices.iter().map(|told| told.choice.as_str()).collect::<Vec<_>>(),
        ["Yes", "No", "Perhaps the blue whale"]
    );
    let total: f64 = choices.iter().map(|told| told.probability).sum();
    assert!((total - 1.0).abs() < 1e-9, "{total}");
    let best = choices.iter().max_by(|left, right| left.logprob.total_cmp(&right.logprob)).unwrap();
    assert_eq!(chosen.text, best.choice);
    assert!(choices.iter().all(|told| told.logprob < 0.0 && told.logprob.is_finite()));
    assert!(choices[2].probability < best.probability / 100.0, "nonsense is unlikely: {choices:?}");
}

#[tokio::test]
async fn a_choice_is_as_likely_as_the_same_text_when_it_is_written() {
    let Some(model) = model() else { return };
    let written = answer(
        &model,
        QUESTION,
        Parameters { max_tokens: Some(6), top_logprobs: Some(0), ..short() },
    )
    .await;
    let expected: f64 = written.logprobs.as_ref().unwrap().iter().map(|token| token.logprob).sum();
    let chosen =
        answer(&model, QUESTION, of(&["No.", &written.text, "A different story altogether"])).await;
    assert!((logprob(&chosen, &written.text) - expected).abs() < 0.05, "{expected} {chosen:?}");
    assert_eq!(chosen.text, written.text);
    let told: f64 = chosen.logprobs.unwrap().iter().map(|token| token.logprob).sum();
    assert_eq!(
        told,
        logprob(&answer(&model, QUESTION, of(&[&written.text, "No."])).await, &written.text)
    );
}

#[tokio::test]
async fn the_order_and_number_of_choices_change_no_probability() {
    let Some(model) = model() else { return };
    let one = answer(&model, QUESTION, of(&["Once upon a time", "The cat", "B"])).await;
    let two = answer(&model, QUESTION, of(&["B", "Once upon a time"])).await;
    for choice in ["B", "Once upon a time"] {
        assert_eq!(logprob(&one, choice), logprob(&two, choice), "{choice}");
    }
    assert!(
        logprob(&one, "The cat") <= logprob(&answer(&model, QUESTION, of(&["The"])).await, "The")
    );
}

#[tokio::test]
async fn choices_of_any_text_are_weighed() {
    let Some(model) = model() else { return };
    let long = "very ".repeat(200);
    let odd = ["<|im_end|>", "\n", " ", "😀", "\0", "\u{f0000}x\u{f0000}", "Ω≈ç√", long.as_str()];
    let chosen = answer(&model, QUESTION, of(&odd)).await;
    assert_eq!(chosen.choices.unwrap().len(), odd.len());
    let error = ask(&model, QUESTION, of(&["A", ""])).await.unwrap_err();
    assert_eq!(error.class, FailureClass::BadRequest);
    let huge = "very ".repeat(5_000);
    let error = ask(&model, QUESTION, of(&["A", &huge])).await.unwrap_err();
    assert_eq!(error.class, FailureClass::ContextTooLong);
}
