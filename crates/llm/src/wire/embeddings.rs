//! Embeddings of OpenAI and of every compatible server.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{error_in_reply, read, write};
use crate::model::CallError;

#[derive(Serialize)]
struct Body<'request> {
    model: &'request str,
    input: &'request [&'request str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

/// The body of a request.
pub(crate) fn body(
    model: &str,
    texts: &[&str],
    dimensions: Option<u32>,
) -> Result<Vec<u8>, CallError> {
    let body = Body { model, input: texts, encoding_format: "float", dimensions };
    write(&body, &Map::new())
}

/// The vectors of a reply in the order of its texts, all of one length.
#[derive(Debug, PartialEq)]
pub(crate) struct EmbeddingReply {
    pub(crate) vectors: Vec<Vec<f32>>,
    pub(crate) input_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct List {
    error: Option<Value>,
    data: Option<Vec<Item>>,
    usage: Option<ListUsage>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct ListUsage {
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// Reads a reply to so many texts; anything but exactly one usable vector for each of them is malformed.
pub(crate) fn parse(body: &str, texts: usize) -> Result<EmbeddingReply, CallError> {
    let list: List = read(body)?;
    if let Some(error) = &list.error {
        return Err(error_in_reply(error));
    }
    let items = list.data.unwrap_or_default();
    if items.len() != texts {
        let message = format!("the reply has {} vectors for {texts} texts", items.len());
        return Err(CallError::malformed(message));
    }
    let length = items.first().map_or(0, |item| item.embedding.len());
    let mut places: Vec<Option<Vec<f32>>> = vec![None; texts];
    for Item { index, embedding } in items {
        if embedding.is_empty() || embedding.len() != length {
            let message = format!("a vector has {} values, another {length}", embedding.len());
            return Err(CallError::malformed(message));
        }
        // What does not fit into 32 bits is read as infinite.
        if !embedding.iter().all(|value| value.is_finite()) {
            return Err(CallError::malformed("a vector has a value that is not finite"));
        }
        match places.get_mut(index) {
            Some(place @ None) => *place = Some(embedding),
            Some(Some(_)) => {
                return Err(CallError::malformed(format!("the index {index} comes twice")));
            }
            None => {
                let message = format!("the index {index} is beyond the {texts} texts");
                return Err(CallError::malformed(message));
            }
        }
    }
    let usage = list.usage;
    Ok(EmbeddingReply {
        // As many vectors as texts, and none of them twice: every place is taken.
        vectors: places.into_iter().flatten().collect(),
        input_tokens: usage.and_then(|usage| usage.prompt_tokens.or(usage.total_tokens)),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use crate::model::FailureClass;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn dimensions_are_sent_only_when_given() {
        let sent = |dimensions| -> Value {
            serde_json::from_slice(&body("m", &["a", "b"], dimensions).unwrap()).unwrap()
        };
        let plain = json!({"model": "m", "input": ["a", "b"], "encoding_format": "float"});
        assert_eq!(sent(None), plain);
        assert_eq!(sent(Some(64))["dimensions"], 64);
    }

    #[test]
    fn vectors_are_put_in_the_order_of_their_texts() {
        let shuffled = r#"{"object":"list","model":"m","data":[
            {"object":"embedding","index":2,"embedding":[0.5,2]},
            {"object":"embedding","index":0,"embedding":[-1e-3,0]},
            {"object":"embedding","index":1,"embedding":[1,1]}],
            "usage":{"prompt_tokens":7,"total_tokens":8}}"#;
        let reply = parse(shuffled, 3).unwrap();
        assert_eq!(reply.vectors, [[-1e-3, 0.0], [1.0, 1.0], [0.5, 2.0]]);
        assert_eq!(reply.input_tokens, Some(7));
    }

    #[test]
    fn tokens_are_reported_as_far_as_they_are_counted() {
        let tokens = |usage: &str| {
            let body = format!(r#"{{"data":[{{"index":0,"embedding":[1]}}]{usage}}}"#);
            parse(&body, 1).unwrap().input_tokens
        };
        assert_eq!(tokens(""), None);
        assert_eq!(tokens(r#","usage":null"#), None);
        assert_eq!(tokens(r#","usage":{}"#), None);
        assert_eq!(tokens(r#","usage":{"total_tokens":5}"#), Some(5));
    }

    #[test]
    fn a_reply_without_one_usable_vector_for_each_text_is_malformed() {
        for (wrong, why) in [
            (r#"{"data":[{"index":0,"embedding":[1]}]}"#, "1 vectors for 2 texts"),
            (r#"{"data":[]}"#, "0 vectors"),
            (r#"{"object":"list"}"#, "0 vectors"),
            (
                r#"{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}"#,
                "the index 1 comes twice",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}"#,
                "the index 2 is beyond the 2 texts",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}"#,
                "a vector has 2 values, another 1",
            ),
            (
                r#"{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}"#,
                "a vector has 0 values",
            ),
            // Infinite or out of range, by how the library was built to read numbers.
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1e39]}]}"#, ""),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[null]}]}"#, "null"),
            (r#"{"data":[{"index":0,"embedding":[[1]]}]}"#, "sequence"),
            (r#"{"data":[{"index":-1,"embedding":[1]}]}"#, "-1"),
            (r#"{"data":[{"embedding":[1]}]}"#, "index"),
            (r#"{"data":[{"index":0,"embedding":"AAAA"}]}"#, "string"),
            (r#"{"error":{"message":"out of memory"}}"#, "the reply is an error: out of memory"),
            ("<html>hello</html>", "not valid"),
            ("", "not valid"),
        ] {
            let error = parse(wrong, 2).expect_err(wrong);
            assert_eq!(error.class, FailureClass::Malformed, "{wrong}");
            assert!(error.message.contains(why), "{wrong}: {}", error.message);
        }
    }

    proptest! {
        #[test]
        fn no_reply_makes_the_reader_panic(body in ".{0,200}", texts in 0_usize..5) {
            let _ = parse(&body, texts);
        }

        #[test]
        fn any_order_of_any_finite_vectors_reads_back(
            vectors in prop::collection::vec(prop::collection::vec(-1e30_f32..1e30, 3), 1..20),
            seed in any::<u64>(),
        ) {
            let mut items: Vec<Value> = vectors
                .iter()
                .enumerate()
                .map(|(index, vector)| json!({"index": index, "embedding": vector}))
                .collect();
            fastrand::Rng::with_seed(seed).shuffle(&mut items);
            let body = json!({ "data": items }).to_string();
            prop_assert_eq!(parse(&body, vectors.len()).unwrap().vectors, vectors);
        }
    }
}
