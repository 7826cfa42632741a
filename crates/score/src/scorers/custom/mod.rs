//! Scorers that users write: `javascript` in a sandbox, `command` for those who trust what they run.

mod argument;
mod command;
mod javascript;
mod returned;

pub(crate) use command::Command;
pub(crate) use javascript::JavaScript;
