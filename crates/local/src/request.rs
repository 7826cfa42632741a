//! What a local model takes from a request, and the seed of requests that name none.

use fullbench_llm::{CallError, FailureClass, GenerationRequest, LOCAL_SETTINGS, Parameters};

/// Refuses parameters that would be dropped in silence.
pub(crate) fn refuse_unsupported(parameters: &Parameters) -> Result<(), CallError> {
    let refuse = |message: String| Err(CallError::new(FailureClass::BadRequest, message));
    let unknown = parameters.extra.keys().filter(|name| !LOCAL_SETTINGS.contains(&name.as_str()));
    let names: Vec<String> = unknown.map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        return refuse(format!("a local model has no {}", names.join(", ")));
    }
    if parameters.reasoning_effort.is_some() {
        return refuse("a local model has no `reasoning_effort`".to_owned());
    }
    if parameters.stop.iter().chain(&parameters.choices).any(String::is_empty) {
        return refuse("`stop` and `choices` may not have empty texts".to_owned());
    }
    let is_written = parameters.json_schema.is_some()
        || !parameters.stop.is_empty()
        || parameters.max_tokens.is_some()
        || parameters.n.is_some_and(|count| count > 1);
    if !parameters.choices.is_empty() && is_written {
        let message = "`json_schema`, `stop`, `max_tokens` and `n` mean nothing with `choices`";
        return refuse(message.to_owned());
    }
    Ok(())
}

/// The seed of a request; where it names none, one that belongs to what is asked: the same on every machine and for
/// every path of the file, another for each repetition and sample.
pub(crate) fn seed_of(request: &GenerationRequest) -> u64 {
    if let Some(seed) = request.seed() {
        return seed.cast_unsigned();
    }
    let asked = GenerationRequest {
        organization: fullbench_types::DEFAULT_ORGANIZATION,
        base_url: String::new(),
        model: String::new(),
        revision: None,
        ..request.clone()
    };
    let key = asked.cache_key();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&key.0[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use fullbench_llm::Provider;
    use fullbench_types::{DEFAULT_ORGANIZATION, Message, Role};
    use serde_json::json;

    fn request() -> GenerationRequest {
        GenerationRequest {
            organization: DEFAULT_ORGANIZATION,
            provider: Provider::Local,
            base_url: String::new(),
            model: "a.gguf".to_owned(),
            revision: Some("1".to_owned()),
            messages: vec![Message::new(Role::User, "hello")],
            parameters: Arc::new(Parameters::default()),
            repetition: 0,
            sample: 0,
        }
    }

    #[test]
    fn the_seed_belongs_to_what_is_asked() {
        let seed = seed_of(&request());
        let moved =
            GenerationRequest { model: "/b/a.gguf".to_owned(), revision: None, ..request() };
        assert_eq!(seed_of(&moved), seed);
        assert_ne!(seed_of(&GenerationRequest { repetition: 1, ..request() }), seed);
        assert_ne!(seed_of(&GenerationRequest { sample: 1, ..request() }), seed);
        let given = Parameters { seed: Some(-1), ..Parameters::default() };
        let given = GenerationRequest { parameters: Arc::new(given), repetition: 3, ..request() };
        assert_eq!(seed_of(&given), 2);
    }

    #[test]
    fn what_a_local_model_does_not_have_is_named() {
        let mut parameters = Parameters::default();
        assert!(refuse_unsupported(&parameters).is_ok());
        parameters.extra.insert("threads".to_owned(), json!(2));
        assert!(refuse_unsupported(&parameters).is_ok());
        parameters.extra.insert("min_p".to_owned(), json!(0.1));
        let error = refuse_unsupported(&parameters);
        assert!(matches!(&error, Err(error) if error.class == FailureClass::BadRequest));
        assert!(error.is_err_and(|error| error.message.contains("`min_p`")));
    }
}
