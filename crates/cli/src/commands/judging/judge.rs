//! `fullbench judge`: making judges, and looking at them.

use fullbench_engine::ModelEntry;
use fullbench_judge::{Judge, JudgeConfig, Subject};
use fullbench_llm::ModelConfig;
use fullbench_score::ScorerConfig;
use fullbench_store::{JudgeRecord, NewJudge, ScopedStore};
use serde_json::{Map, Value, json};

use super::{analytics, stored_criterion, time};
use crate::arguments::PlainFormat;
use crate::arguments::judging::{AddJudgeArguments, JudgeArguments, JudgeCommand, PromptArguments};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Makes, lists or shows judges, or says what their judgements show.
pub(crate) async fn run(arguments: &JudgeArguments, home: &Home) -> Result<Exit, CliError> {
    if let JudgeCommand::Check(check) = &arguments.command {
        return super::check::run(check, home).await;
    }
    let store = match &arguments.command {
        JudgeCommand::Add(_) => home.open().await?,
        _ => home.open_existing().await?,
    };
    match &arguments.command {
        JudgeCommand::List(printing) => print(&store.judges().await?, printing.output)?,
        JudgeCommand::History(named) => {
            print(&store.judge_history(&named.name).await?, named.printing.output)?;
        }
        JudgeCommand::Show(named) => {
            let judge = store.judge(&named.name).await?;
            let model = store.model(&judge.provider, &judge.model).await?;
            let criterion =
                store.criterion_revision(&judge.criterion, judge.criterion_revision).await?;
            let mut shown = described(&judge);
            shown["criterion"] = json!(criterion.criterion);
            shown["model"] = model.config;
            output::print_json(&shown)?;
        }
        JudgeCommand::Add(add) => add_judge(&store, add).await?,
        JudgeCommand::Prompt(prompt) => print_prompts(&store, prompt).await?,
        JudgeCommand::Check(_) => {}
        JudgeCommand::Performance(filter) => analytics::performance(&store, filter).await?,
        JudgeCommand::Agreement(filter) => analytics::agreement(&store, filter).await?,
        JudgeCommand::Difficulty(filter) => analytics::difficulty(&store, filter).await?,
        JudgeCommand::Errors(filter) => analytics::errors(&store, filter).await?,
        JudgeCommand::Cost(filter) => analytics::cost(&store, filter).await?,
    }
    Ok(Exit::Fine)
}

fn described(judge: &JudgeRecord) -> Value {
    json!({ "id": judge.id, "name": judge.name, "revision": judge.revision,
        "criterion": judge.criterion, "criterion_revision": judge.criterion_revision,
        "method": judge.method, "model": format!("{}:{}", judge.provider, judge.model),
        "parameters": judge.parameters, "description": judge.description,
        "predecessor": judge.predecessor, "created_at": judge.created_at.to_string() })
}

fn print(judges: &[JudgeRecord], format: PlainFormat) -> Result<(), CliError> {
    if format == PlainFormat::Json {
        return output::print_json(&judges.iter().map(described).collect::<Vec<Value>>());
    }
    if judges.is_empty() {
        write_line("no judges yet: `fullbench judge add NAME --criterion … --model …` makes one");
        return Ok(());
    }
    let mut table = output::table(&[
        "judge",
        "revision",
        "criterion",
        "method",
        "model",
        "parameters",
        "since",
    ]);
    for judge in judges {
        let parameters = match judge.parameters.as_object() {
            Some(map) if map.is_empty() => String::new(),
            _ => output::shortened(&judge.parameters.to_string(), 40),
        };
        table.add_row(vec![
            judge.name.clone(),
            judge.revision.to_string(),
            judge.criterion.clone(),
            judge.method.clone(),
            format!("{}:{}", judge.provider, judge.model),
            parameters,
            time(judge.created_at),
        ]);
    }
    output::print_text(&format!("{table}\n"))
}

async fn add_judge(store: &ScopedStore, add: &AddJudgeArguments) -> Result<(), CliError> {
    let model = model_of(&add.model)?;
    let parameters = parameters_of(&add.set)?;
    let criterion = stored_criterion(store, &add.criterion).await?.criterion;
    let model_config = serde_json::to_value(&model)
        .map_err(|error| CliError::internal(format!("the model cannot be stored: {error}")))?;
    let mut entry = parameters.clone();
    entry.insert("criterion".to_owned(), json!(criterion));
    entry.insert("model".to_owned(), model_config.clone());
    let methods = ["g_eval", "rubric", "binary", "reference", "claims"];
    if !methods.contains(&add.method.as_str()) {
        let hint = format!("methods: {}", methods.join(", "));
        return Err(CliError::input(format!("there is no method `{}`", add.method), Some(hint)));
    }
    let config =
        ScorerConfig { kind: add.method.clone(), name: Some(add.name.clone()), parameters: entry };
    fullbench_score::build(&config)
        .map_err(|error| CliError::input(format!("the judge: {error}"), error.hint.clone()))?;
    let new = NewJudge {
        name: add.name.clone(),
        criterion: criterion.name,
        method: add.method.clone(),
        provider: model.provider.as_str().to_owned(),
        // A name of its own tells apart configurations of one model.
        model: model.name.clone().or(model.model.clone()).unwrap_or_default(),
        model_config,
        parameters: Value::Object(parameters),
        description: add.description.clone(),
    };
    let judge = match add.succeed {
        true => store.succeed_judge(&new).await?,
        false => store.add_judge(&new).await?,
    };
    write_line(&format!(
        "judge {}, revision {}: use it as `{{ type: judge, judge: {} }}` among the scorers",
        judge.name, judge.revision, judge.name
    ));
    Ok(())
}

/// A model as `provider:model` or a mapping.
fn model_of(said: &str) -> Result<ModelConfig, CliError> {
    let value = match said.trim_start().starts_with('{') {
        true => serde_json::from_str(said).map_err(|error| {
            let hint = "write it as JSON: '{\"provider\": \"openai\", \"model\": \"gpt-4o-mini\"}'";
            CliError::input(format!("--model: {error}"), Some(hint.to_owned()))
        })?,
        false => Value::String(said.to_owned()),
    };
    let ModelEntry(model) = serde_json::from_value(value).map_err(|error| {
        let hint = "write `openai:gpt-4o-mini`, or a mapping such as '{\"provider\": \"openai\", \"model\": \"gpt-4o-mini\"}'";
        CliError::input(format!("--model: {error}"), Some(hint.to_owned()))
    })?;
    model
        .validate()
        .map_err(|error| CliError::input(format!("--model: {}", error.message), error.hint))?;
    Ok(model)
}

/// Parameters as `name=value`; a value is JSON where it is valid, and otherwise a text.
fn parameters_of(said: &[String]) -> Result<Map<String, Value>, CliError> {
    let mut parameters = Map::new();
    for setting in said {
        let Some((name, value)) = setting.split_once('=') else {
            let hint = "write it as `samples=5`".to_owned();
            return Err(CliError::input(format!("--set {setting}: there is no `=`"), Some(hint)));
        };
        let name = name.trim();
        if ["model", "criterion", "method", "stored", "replies", "judge"].contains(&name) {
            let hint = "the criterion, the method and the model have options of their own";
            let message = format!("--set {name}: this is no parameter of a judge");
            return Err(CliError::input(message, Some(hint.to_owned())));
        }
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        parameters.insert(name.to_owned(), value);
    }
    Ok(parameters)
}

async fn print_prompts(store: &ScopedStore, arguments: &PromptArguments) -> Result<(), CliError> {
    let record = store.judge(&arguments.name).await?;
    let model = store.model(&record.provider, &record.model).await?;
    let criterion = store.criterion_revision(&record.criterion, record.criterion_revision).await?;
    let mut config = record.parameters.as_object().cloned().unwrap_or_default();
    // Where the context is found is a matter of the scorer, not of the prompt.
    config.remove("context");
    config.insert("method".to_owned(), json!(record.method));
    config.insert("criterion".to_owned(), json!(criterion.criterion));
    config.insert("model".to_owned(), model.config);
    let config: JudgeConfig = serde_json::from_value(Value::Object(config))
        .map_err(|error| CliError::internal(format!("the stored judge cannot be read: {error}")))?;
    let judge = Judge::new(config).map_err(|error| CliError::internal(error.to_string()))?;
    let subject = Subject {
        key: "example",
        input: &arguments.input,
        output: &arguments.answer,
        references: &[&arguments.reference],
        context: &[&arguments.context],
        repetition: 0,
    };
    let prompts = judge.prompts(&subject).map_err(|error| CliError::internal(error.to_string()))?;
    let mut text = String::new();
    for prompt in prompts {
        text.push_str(&format!("=== {}\n", prompt.name));
        for message in prompt.messages {
            text.push_str(&format!("--- {}\n{}\n", message.role.as_str(), message.content));
        }
    }
    output::print_text(&text)
}
