//! The chat template of a model file: Jinja, as Hugging Face renders it.

use fullbench_types::{Message, Role};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, context};

/// Turns a conversation into the text a model was trained on.
#[derive(Debug)]
pub(crate) struct ChatTemplate {
    environment: Environment<'static>,
    begin: String,
    end: String,
}

const NAME: &str = "chat";

impl ChatTemplate {
    /// Reads a template; `begin` and `end` are the texts of the tokens around a text.
    ///
    /// No clock is offered to it (`strftime_now`): the same conversation must give the same text tomorrow.
    pub(crate) fn new(source: &str, begin: String, end: String) -> Result<Self, Error> {
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
        environment.set_syntax(syntax);
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<Value, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        environment.add_template_owned(NAME, source.to_owned())?;
        Ok(Self { environment, begin, end })
    }

    /// The conversation as text, up to where the model's answer begins.
    ///
    /// A template that refuses system messages is given the system's text at the beginning of the first message.
    pub(crate) fn render(&self, messages: &[Message]) -> Result<String, Error> {
        self.render_as_is(messages).or_else(|error| match messages {
            [Message { role: Role::System, content: system }, first, rest @ ..] => {
                let first = Message::new(first.role, format!("{system}\n\n{}", first.content));
                let merged: Vec<Message> = [&[first], rest].concat();
                self.render_as_is(&merged).map_err(|_| error)
            }
            _ => Err(error),
        })
    }

    fn render_as_is(&self, messages: &[Message]) -> Result<String, Error> {
        let turns: Vec<Value> = messages
            .iter()
            .map(|Message { role, content }| context! { role => role.as_str(), content => content.as_str() })
            .collect();
        self.environment.get_template(NAME)?.render(context! {
            messages => turns,
            add_generation_prompt => true,
            bos_token => self.begin.as_str(),
            eos_token => self.end.as_str(),
            tools => (),
            documents => (),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn rendered(source: &str, messages: &[Message]) -> Result<String, Error> {
        ChatTemplate::new(source, "<s>".to_owned(), "</s>".to_owned()).unwrap().render(messages)
    }

    #[test]
    fn a_template_with_a_default_system_message_is_followed() {
        let source = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}\
            {{ '<|im_start|>system\nBe kind.<|im_end|>\n' }}{% endif %}\
            {{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}\
            {% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";
        let text = rendered(source, &[Message::new(Role::User, "Hi")]).unwrap();
        assert_eq!(
            text,
            "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
        );
    }

    #[test]
    fn a_template_that_refuses_system_messages_gets_their_text_in_the_first_message() {
        let source = "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}\
            {% for message in messages %}[{{ message.content.strip() }}]{% endfor %}";
        let user = Message::new(Role::User, "Hi ");
        let system = Message::new(Role::System, "Be kind.");
        assert_eq!(rendered(source, std::slice::from_ref(&user)).unwrap(), "<s>[Hi]");
        assert_eq!(rendered(source, &[system.clone(), user]).unwrap(), "<s>[Be kind.\n\nHi]");
        assert!(rendered(source, &[system]).is_err());
    }

    #[test]
    fn markup_in_a_message_stays_as_it_is() {
        let text =
            rendered("{{ messages[0].content }}", &[Message::new(Role::User, "{{ 1 }} <b>&")]);
        assert_eq!(text.unwrap(), "{{ 1 }} <b>&");
    }
}
