//! What the files of sentence-transformers beside a model say is done, or refused.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use fullbench_embed::{EmbedError, SentenceModel};

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tiny-roberta");

/// The tiny model with more files.
fn model(files: &[(&str, &str)]) -> Result<SentenceModel, EmbedError> {
    let folder = tempfile::tempdir().unwrap();
    for name in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"] {
        std::fs::copy(Path::new(TINY).join(name), folder.path().join(name)).unwrap();
    }
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    SentenceModel::load("tiny", folder.path())
}

fn vector(model: &SentenceModel, text: &str) -> Vec<f32> {
    model.embed_all(&[text]).unwrap().remove(0).vector
}

#[test]
fn prompts_and_small_letters_are_put_on_as_the_library_does() {
    let plain = model(&[]).unwrap();
    let lowering = model(&[("sentence_bert_config.json", r#"{"do_lower_case": true}"#)]).unwrap();
    assert_eq!(vector(&lowering, "The CAT"), vector(&plain, "the cat"));
    let prompts = r#"{"prompts": {"query": "query: "}, "default_prompt_name": "query"}"#;
    let prompted = model(&[("config_sentence_transformers.json", prompts)]).unwrap();
    assert_eq!(vector(&prompted, "the cat"), vector(&plain, "query: the cat"));
    let unnamed = r#"{"prompts": {"query": "query: "}, "default_prompt_name": null}"#;
    let unprompted = model(&[("config_sentence_transformers.json", unnamed)]).unwrap();
    assert_eq!(vector(&unprompted, "the cat"), vector(&plain, "the cat"));
}

#[test]
fn pooling_is_read_from_flags_and_from_words_and_what_is_not_known_is_refused() {
    let pooled = |json: &str| model(&[("1_Pooling/config.json", json)]);
    let mean = vector(&model(&[]).unwrap(), "the cat");
    let first = pooled(r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#);
    let first = vector(&first.unwrap(), "the cat");
    assert_ne!(first, mean);
    let words = [("mean", &mean), ("cls", &first)];
    for (word, expected) in words {
        let model = pooled(&format!(r#"{{"pooling_mode": "{word}", "include_prompt": true}}"#));
        assert_eq!(vector(&model.unwrap(), "the cat"), *expected);
    }
    for unknown in [
        r#"{"pooling_mode_mean_tokens": true, "pooling_mode_weightedmean_tokens": true}"#,
        r#"{"pooling_mode": "lasttoken"}"#,
        r#"{"pooling_mode": "mean", "include_prompt": false}"#,
    ] {
        let error = pooled(unknown).unwrap_err();
        assert!(matches!(error, EmbedError::Unsupported { .. }), "{unknown}: {error}");
    }
}
