//! YAML with positions: a plain value, and for every node the line and column it stands at.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};
use serde_json::{Map, Number, Value};

use crate::InputProblem;

/// Nodes a file may unfold to: stops an alias bomb.
const MAX_NODES: usize = 1_000_000;
/// How deep nodes may nest.
const MAX_DEPTH: usize = 100;

/// Line and column of a node, both from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: u64,
    pub(crate) column: u64,
}

/// A node with its position, and the positions of a mapping's keys.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) position: Position,
    pub(crate) content: Content,
}

#[derive(Debug, Clone)]
pub(crate) enum Content {
    Scalar(Value),
    Sequence(Vec<Node>),
    Mapping(Vec<(String, Position, Node)>),
}

/// A step of a path into a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Node {
    /// The value without positions.
    pub(crate) fn value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::Sequence(items) => items.iter().map(Self::value).collect(),
            Content::Mapping(entries) => {
                let entries = entries.iter().map(|(key, _, node)| (key.clone(), node.value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// The position of the deepest node on the path; of the key where the last step is a key.
    pub(crate) fn position_of(&self, path: &[Step]) -> Position {
        let mut node = self;
        let mut position = self.position;
        for step in path {
            let next = match (&node.content, step) {
                (Content::Sequence(items), Step::Index(index)) => {
                    items.get(*index).map(|item| (item.position, item))
                }
                (Content::Mapping(entries), Step::Key(key)) => entries
                    .iter()
                    .find(|(name, _, _)| name == key)
                    .map(|(_, position, value)| (*position, value)),
                _ => None,
            };
            let Some((found, next)) = next else { break };
            (position, node) = (found, next);
        }
        position
    }
}

/// Reads one YAML document.
pub(crate) fn parse(text: &str) -> Result<Node, InputProblem> {
    let mut reader =
        Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), nodes: 0 };
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentStart(_) => {}
            Event::StreamEnd => return Err(InputProblem::new("the file is empty")),
            other => {
                let node = reader.node(other, span, 0)?;
                return reader.end().map(|()| node);
            }
        }
    }
}

struct Reader<'text> {
    parser: Parser<'text, saphyr_parser::StrInput<'text>>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
}

impl<'text> Reader<'text> {
    fn next(&mut self) -> Result<(Event<'text>, Span), InputProblem> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let marker = error.marker();
                let problem =
                    InputProblem::new(format!("this is not valid YAML: {}", error.info()));
                Err(at(problem, position(marker.line(), marker.col())))
            }
            None => Err(InputProblem::new("the file ends too early")),
        }
    }

    fn end(&mut self) -> Result<(), InputProblem> {
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentEnd => {}
                _ => {
                    let problem = InputProblem::new("the file holds more than one YAML document")
                        .hint("keep one evaluation per file; remove everything from `---` on");
                    return Err(at(problem, start_of(&span)));
                }
            }
        }
    }

    fn node(
        &mut self,
        event: Event<'text>,
        span: Span,
        depth: usize,
    ) -> Result<Node, InputProblem> {
        let position = start_of(&span);
        self.nodes += 1;
        if self.nodes > MAX_NODES || depth > MAX_DEPTH {
            return Err(at(
                InputProblem::new("the YAML is nested too deeply or unfolds too far"),
                position,
            ));
        }
        let (anchor, content) = match event {
            Event::Alias(anchor) => return self.alias(anchor, position),
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, Content::Scalar(scalar(&text, style, tag.as_deref())))
            }
            Event::SequenceStart(anchor, _) => (anchor, self.sequence(depth)?),
            Event::MappingStart(anchor, _) => (anchor, self.mapping(depth)?),
            _ => return Err(at(InputProblem::new("this is not valid YAML here"), position)),
        };
        let node = Node { position, content };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn alias(&mut self, anchor: usize, position: Position) -> Result<Node, InputProblem> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(at(InputProblem::new("an alias (`*name`) without its anchor"), position));
        };
        self.nodes += size(&node);
        if self.nodes > MAX_NODES {
            return Err(at(InputProblem::new("the YAML unfolds too far"), position));
        }
        Ok(Node { position, ..node })
    }

    fn sequence(&mut self, depth: usize) -> Result<Content, InputProblem> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                return Ok(Content::Sequence(items));
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Content, InputProblem> {
        let mut entries: Vec<(String, Position, Node)> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            let position = start_of(&span);
            let key = match event {
                Event::MappingEnd => return Ok(Content::Mapping(entries)),
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(at(InputProblem::new("a key must be plain text"), position)),
            };
            if let Some((_, first, _)) = entries.iter().find(|(name, _, _)| *name == key) {
                let problem =
                    InputProblem::new(format!("the key `{key}` stands here a second time"))
                        .hint(format!("it was first given on line {}; keep one", first.line));
                return Err(at(problem, position));
            }
            let (event, span) = self.next()?;
            entries.push((key, position, self.node(event, span, depth + 1)?));
        }
    }
}

fn size(node: &Node) -> usize {
    match &node.content {
        Content::Scalar(_) => 1,
        Content::Sequence(items) => 1 + items.iter().map(size).sum::<usize>(),
        Content::Mapping(entries) => {
            1 + entries.iter().map(|(_, _, node)| size(node)).sum::<usize>()
        }
    }
}

fn start_of(span: &Span) -> Position {
    position(span.start.line(), span.start.col())
}

fn position(line: usize, column: usize) -> Position {
    Position { line: line as u64, column: column as u64 + 1 }
}

fn at(problem: InputProblem, position: Position) -> InputProblem {
    InputProblem { line: Some(position.line), column: Some(position.column), ..problem }
}

/// A scalar by the rules of the YAML 1.2 core schema.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let plain = style == ScalarStyle::Plain;
    let as_text = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
    if !plain || as_text {
        return Value::String(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

fn number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        return i64::from_str_radix(hexadecimal, 16).ok().map(Number::from);
    }
    if let Some(octal) = text.strip_prefix("0o") {
        return i64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if !digits.chars().all(|letter| letter.is_ascii_digit() || "eE.+-".contains(letter)) {
        return None;
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_follow_the_core_schema() {
        let Ok(node) = parse("[1, -2.5, 1e3, 0x1F, yes, 'true', true, ~, 2026-01-01, 1.2.3, .5]")
        else {
            unreachable!("valid YAML")
        };
        let expected = serde_json::json!([
            1,
            -2.5,
            1000.0,
            31,
            "yes",
            "true",
            true,
            null,
            "2026-01-01",
            "1.2.3",
            0.5
        ]);
        assert_eq!(node.value(), expected);
    }

    #[test]
    fn a_key_given_twice_is_refused_with_both_lines() {
        let problem = parse("a: 1\nb: 2\na: 3\n").err().unwrap_or_default();
        assert_eq!(problem.line, Some(3));
        assert!(problem.hint.unwrap_or_default().contains("line 1"));
    }

    #[test]
    fn an_alias_bomb_is_refused() {
        let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let before = level - 1;
            let aliases = vec![format!("*a{before}"); 10].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        assert!(parse(&text).is_err());
    }
}
