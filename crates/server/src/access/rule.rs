//! The rule of an endpoint.

use fullbench_types::Action;

/// Who may call an endpoint. Every endpoint is made with one: there is no default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Anybody.
    Public,
    /// Anybody who is signed in, about themselves: keys have no account.
    Account,
    /// Whose role, and whose key if it is for some actions only, allows this.
    Needs(Action),
    /// Who runs the server.
    Operator,
}

impl From<Action> for Rule {
    fn from(action: Action) -> Self {
        Self::Needs(action)
    }
}
