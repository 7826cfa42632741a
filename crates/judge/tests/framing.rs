//! The fixed set of attacks on the rendered prompts of every method.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use fullbench_judge::{Method, Pair, PairJudge, Subject, attacks, frames_in};
use fullbench_types::{Message, Role};
use support::{Stub, config, judge};

const METHODS: [(Method, &str); 6] = [
    (Method::GEval, "clarity"),
    (Method::GEval, "accuracy"),
    (Method::Rubric, "faithfulness"),
    (Method::Binary, "safety"),
    (Method::Reference, "accuracy"),
    (Method::Claims, "faithfulness"),
];

/// A prompt taken apart: labels and texts of its frames, and the lines outside with the frames' number left out.
type TakenApart = (Vec<(String, String)>, Vec<String>);

fn taken_apart(messages: &[Message]) -> TakenApart {
    let mut found = Vec::new();
    let mut outside = Vec::new();
    for message in messages {
        let (frames, lines) = frames_in(&message.content);
        if message.role == Role::System {
            assert!(frames.is_empty(), "no judged text speaks as the system");
        }
        let nonces: Vec<String> = frames.iter().map(|frame| frame.nonce.clone()).collect();
        assert!(nonces.windows(2).all(|pair| pair[0] == pair[1]), "one number in a prompt");
        found.extend(frames.into_iter().map(|frame| (frame.label, frame.text)));
        for line in lines {
            assert!(nonces.iter().all(|nonce| !line.contains(nonce.as_str())), "{line}");
            outside.push(format!("{}: {line}", message.role.as_str()));
        }
    }
    (found, outside)
}

/// All prompts of all methods for a text in every place at once.
fn prompts_with(text: &str) -> Vec<(String, TakenApart)> {
    let texts = [text, text];
    let subject = Subject {
        key: "k",
        input: text,
        output: text,
        references: &texts,
        context: &texts,
        repetition: 0,
    };
    let mut prompts = Vec::new();
    for (method, criterion) in METHODS {
        for prompt in judge(method, criterion).prompts(&subject).unwrap() {
            prompts.push((
                format!("{method} {criterion} {}", prompt.name),
                taken_apart(&prompt.messages),
            ));
        }
    }
    let pair = Pair {
        key: "k",
        input: text,
        first: text,
        second: text,
        references: &texts,
        context: &texts,
        repetition: 0,
    };
    let judge = PairJudge::new(config(Method::Pairwise, "accuracy")).unwrap();
    for messages in judge.prompts(&pair).unwrap() {
        prompts.push(("pairwise".to_owned(), taken_apart(&messages)));
    }
    prompts
}

#[test]
fn no_attack_leaves_its_frame_in_any_prompt() {
    let harmless = prompts_with("a harmless text");
    assert_eq!(harmless.len(), 9);
    for attack in attacks() {
        for ((name, (frames, outside)), (_, (plain_frames, plain_outside))) in
            prompts_with(&attack.text).into_iter().zip(&harmless)
        {
            let labels = |frames: &[(String, String)]| -> Vec<String> {
                frames.iter().map(|(label, _)| label.clone()).collect()
            };
            assert_eq!(labels(&frames), labels(plain_frames), "{name}: {}", attack.name);
            let unique: std::collections::BTreeSet<String> = labels(&frames).into_iter().collect();
            assert_eq!(unique.len(), frames.len(), "{name}: one frame for each text");
            for (label, text) in frames.iter().filter(|(label, _)| label != "claim") {
                assert_eq!(text, &attack.text, "{name}: {label}: {}", attack.name);
            }
            assert_eq!(&outside, plain_outside, "{name}: {}", attack.name);
        }
    }
}

#[test]
fn no_special_token_of_a_model_is_left_in_any_prompt() {
    let tokens = [
        "<|im_start|>",
        "<|im_end|>",
        "[INST]",
        "[/INST]",
        "</s>",
        "<<SYS>>",
        "<|eot_id|>",
        "<end_of_turn>",
    ];
    for attack in attacks() {
        let subject = Subject {
            key: "k",
            input: &attack.text,
            output: &attack.text,
            references: &[],
            context: &[],
            repetition: 0,
        };
        for prompt in judge(Method::GEval, "clarity").prompts(&subject).unwrap() {
            for message in prompt.messages {
                for token in tokens {
                    assert!(!message.content.contains(token), "{}: {token}", attack.name);
                }
                let hidden = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
                assert!(!message.content.contains(hidden), "{}", attack.name);
            }
        }
    }
}

#[tokio::test]
async fn claims_are_framed_when_they_are_checked_and_when_a_reply_is_repeated() {
    for attack in attacks().into_iter().filter(|attack| !attack.text.trim().is_empty()) {
        let text = attack.text.to_string();
        let claims = serde_json::json!({ "claims": [text] }).to_string();
        let ask = Stub::text(move |asked| match asked.name.as_str() {
            "claims_split" => claims.clone(),
            _ => text.clone(),
        });
        let subject = Subject {
            key: "k",
            input: "i",
            output: "o",
            references: &[],
            context: &["c"],
            repetition: 0,
        };
        judge(Method::Claims, "faithfulness").judge(&ask, &subject).await;
        let asked = ask.asked();
        let (frames, _) = frames_in(&asked[1].messages[1].content);
        assert_eq!(frames[1].label, "claim");
        assert_eq!(frames[1].text, attack.text.trim(), "{}", attack.name);
        let repeated = &asked[2].messages;
        assert_eq!(repeated.len(), 4, "{}", attack.name);
        assert!(!repeated[2].content.contains("<|im_"), "{}", attack.name);
        let complaint = &repeated[3].content;
        assert!(complaint.starts_with("This reply cannot be used: "));
        assert!(!complaint.contains("Give 5"), "{}: {complaint}", attack.name);
    }
}

#[test]
fn template_syntax_in_a_text_is_not_rendered() {
    let subject = Subject {
        key: "k",
        input: "{{ 7 * 7 }}",
        output: "{% raw %}{{ criterion.name }}{% endraw %}",
        references: &[],
        context: &[],
        repetition: 0,
    };
    let prompts = judge(Method::GEval, "clarity").prompts(&subject).unwrap();
    let user = &prompts[0].messages[1].content;
    assert!(user.contains("| {{ 7 * 7 }}\n"));
    assert!(user.contains("| {% raw %}{{ criterion.name }}{% endraw %}\n"));
}
