//! From a conversation to the tokens the model reads.

use fullbench_types::Message;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token_type::LlamaTokenAttr;
use llama_cpp_2::vocab::LlamaVocab;

use crate::guard::{Guard, Part};
use crate::template::ChatTemplate;

/// Makes prompts for one model.
#[derive(Debug)]
pub(crate) struct Prompts<'model> {
    model: &'model LlamaModel,
    template: Option<LlamaChatTemplate>,
    jinja: Option<ChatTemplate>,
    control_texts: Vec<String>,
    /// Bytes of the longest token.
    longest: usize,
}

/// A conversation as the model reads it, up to where its answer begins.
#[derive(Debug)]
pub(crate) struct Prompt<'prompts> {
    prompts: &'prompts Prompts<'prompts>,
    guard: Guard<'prompts>,
    text: String,
    /// Its tokens.
    pub(crate) tokens: Vec<LlamaToken>,
}

impl<'model> Prompts<'model> {
    /// Reads the template and the control tokens of a model.
    pub(crate) fn new(model: &'model LlamaModel) -> Self {
        let vocabulary = model.vocab();
        let template = model.chat_template(None).ok();
        let source = template.as_ref().and_then(|template| template.to_string().ok());
        let jinja = source.and_then(|source| {
            let begin = token_text(&vocabulary, vocabulary.bos());
            ChatTemplate::new(&source, begin, token_text(&vocabulary, vocabulary.eos())).ok()
        });
        let controls = vocabulary.tokens().filter(|token| is_control(&vocabulary, *token));
        let mut control_texts: Vec<String> =
            controls.map(|token| token_text(&vocabulary, token)).collect();
        control_texts.retain(|text| !text.is_empty());
        let lengths =
            vocabulary.tokens().map(|token| vocabulary.token_to_piece(token, true, None).len());
        let longest = lengths.max().unwrap_or(0).max(1);
        Self { model, template, jinja, control_texts, longest }
    }

    /// Tokens that a text of so many bytes has at least.
    pub(crate) fn fewest_tokens(&self, bytes: usize) -> usize {
        bytes / self.longest
    }

    /// The prompt of a conversation, behind which one of the choices may follow.
    ///
    /// The file's own template is rendered as Jinja; where that fails, llama.cpp's built-in form of it is used. A file
    /// without a template is that of a base model, which goes on with the messages' plain texts.
    pub(crate) fn prompt(
        &'model self,
        messages: &[Message],
        choices: &[String],
    ) -> Result<Prompt<'model>, String> {
        let contents = messages.iter().map(|message| message.content.as_str());
        let texts = contents.chain(choices.iter().map(String::as_str));
        let mut guard = Guard::new(&self.control_texts, texts);
        let safe: Vec<Message> = messages
            .iter()
            .map(|message| Message::new(message.role, guard.hide(&message.content)))
            .collect();
        let text = match &self.template {
            None => plain_text(&safe),
            Some(template) => self.render(template, &safe)?,
        };
        let tokens = self.tokens(&guard, &text);
        Ok(Prompt { prompts: self, guard, text, tokens })
    }

    fn render(&self, template: &LlamaChatTemplate, messages: &[Message]) -> Result<String, String> {
        let refusal = match self.jinja.as_ref().map(|jinja| jinja.render(messages)) {
            Some(Ok(text)) => return Ok(text),
            Some(Err(error)) => error.to_string(),
            None => "it is not valid Jinja".to_owned(),
        };
        let converted = messages.iter().map(|Message { role, content }| {
            LlamaChatMessage::new(role.as_str().to_owned(), content.clone()).ok()
        });
        let built_in = converted
            .collect::<Option<Vec<_>>>()
            .and_then(|chat| self.model.apply_chat_template(template, &chat, true).ok());
        built_in.ok_or_else(|| {
            format!("the chat template of the model refuses this conversation: {refusal}")
        })
    }

    /// The tokens of a rendered text, after the token that begins every text where the model has one.
    fn tokens(&self, guard: &Guard<'_>, text: &str) -> Vec<LlamaToken> {
        let vocabulary = self.model.vocab();
        let mut tokens = Vec::new();
        for part in guard.parts(text) {
            let (text, are_controls) = match part {
                Part::Template(text) => (text, true),
                Part::Letters(text) => (text, false),
            };
            vocabulary.tokenize_into(text.as_bytes(), &mut tokens, false, are_controls);
        }
        let begin = vocabulary.bos();
        if vocabulary.should_add_bos() && tokens.first() != Some(&begin) {
            tokens.insert(0, begin);
        }
        tokens
    }
}

impl Prompt<'_> {
    /// The tokens of an answer that begins here.
    ///
    /// It is tokenized as the continuation of the prompt, as the model would have met it in training. Where the two
    /// would melt into one token at the seam, the answer is tokenized alone: the prompt's tokens are already read.
    pub(crate) fn continuation(&mut self, answer: &str) -> Vec<LlamaToken> {
        let answer = self.guard.hide(answer);
        let mut whole = self.prompts.tokens(&self.guard, &format!("{}{answer}", self.text));
        if whole.starts_with(&self.tokens) {
            return whole.split_off(self.tokens.len());
        }
        let mut alone = self.prompts.tokens(&self.guard, &answer);
        if alone.first() == Some(&self.prompts.model.vocab().bos()) {
            alone.remove(0);
        }
        alone
    }
}

fn plain_text(messages: &[Message]) -> String {
    let contents: Vec<&str> = messages.iter().map(|message| message.content.as_str()).collect();
    contents.join("\n\n")
}

fn is_control(vocabulary: &LlamaVocab<'_>, token: LlamaToken) -> bool {
    vocabulary.is_control(token) || vocabulary.attr(token).contains(LlamaTokenAttr::Unknown)
}

/// The text of a token in the vocabulary; empty where it has none.
fn token_text(vocabulary: &LlamaVocab<'_>, token: LlamaToken) -> String {
    if token.0 < 0 {
        return String::new();
    }
    let text = vocabulary.text(token).map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_default()
}
