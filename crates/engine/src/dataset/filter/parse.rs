//! Reads a filter from JSON, naming the path to what is wrong.

use std::cmp::Ordering::{Equal, Greater, Less};

use serde_json::{Map, Value};

use super::{CaseFilter, Condition, Test};
use crate::InputProblem;
use crate::dataset::rows::kind;
use crate::spec::did_you_mean;

const LOGICAL: [&str; 3] = ["$and", "$or", "$not"];
const OPERATORS: [&str; 11] =
    ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$exists", "$contains", "$not"];

/// The condition that a filter is.
pub(super) fn condition(filter: &Value) -> Result<Condition, InputProblem> {
    Parser { conditions: 0 }.filter(filter, "", 1)
}

struct Parser {
    conditions: usize,
}

impl Parser {
    fn filter(
        &mut self,
        filter: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Condition, InputProblem> {
        let entries = object(filter, at)?;
        check_depth(at, depth)?;
        let mut all = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let here = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
            all.push(match name.as_str() {
                "$and" => Condition::All(self.filters(value, &here, depth)?),
                "$or" => Condition::Any(self.filters(value, &here, depth)?),
                "$not" => Condition::Not(Box::new(self.filter(value, &here, depth + 1)?)),
                operator if operator.starts_with('$') => {
                    let hint = if OPERATORS.contains(&operator) {
                        format!("it belongs to a field: {{\"field\": {{\"{operator}\": …}}}}")
                    } else {
                        did_you_mean(operator, LOGICAL)
                    };
                    let message = format!("`{operator}` cannot stand here");
                    return Err(InputProblem::new(message).in_field(here).hint(hint));
                }
                field => self.field(field, value, &here, depth)?,
            });
        }
        Ok(Condition::All(all))
    }

    fn filters(
        &mut self,
        list: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Vec<Condition>, InputProblem> {
        match list {
            Value::Array(items) if !items.is_empty() => {
                let items = items.iter().enumerate();
                items
                    .map(|(index, item)| self.filter(item, &format!("{at}[{index}]"), depth + 1))
                    .collect()
            }
            _ => Err(InputProblem::new("expected a list of at least one filter")
                .in_field(at)
                .hint("write [{\"category\": \"math\"}, {\"level\": 3}]")),
        }
    }

    /// What is asked of a field: a value, or operators.
    fn field(
        &mut self,
        path: &str,
        asked: &Value,
        at: &str,
        depth: usize,
    ) -> Result<Condition, InputProblem> {
        let operators =
            asked.as_object().filter(|entries| entries.keys().any(|name| name.starts_with('$')));
        let Some(operators) = operators else {
            return self.test(path, Test::Equal(asked.clone()), at);
        };
        check_depth(at, depth)?;
        let mut all = Vec::with_capacity(operators.len());
        for (operator, value) in operators {
            let here = format!("{at}.{operator}");
            all.push(match operator.as_str() {
                "$not" => {
                    let has_operators =
                        object(value, &here)?.keys().any(|name| name.starts_with('$'));
                    if !has_operators {
                        let problem = InputProblem::new("`$not` of a field takes operators");
                        return Err(problem.in_field(here).hint("write {\"$ne\": …} for a value"));
                    }
                    Condition::Not(Box::new(self.field(path, value, &here, depth + 1)?))
                }
                "$ne" => {
                    let equal = Test::Equal(value.clone());
                    Condition::Not(Box::new(self.test(path, equal, &here)?))
                }
                "$nin" => {
                    let among = test("$in", value, &here)?;
                    Condition::Not(Box::new(self.test(path, among, &here)?))
                }
                operator => self.test(path, test(operator, value, &here)?, &here)?,
            });
        }
        Ok(Condition::All(all))
    }

    fn test(&mut self, path: &str, test: Test, at: &str) -> Result<Condition, InputProblem> {
        self.conditions += 1;
        if self.conditions > CaseFilter::MAX_CONDITIONS {
            let most = CaseFilter::MAX_CONDITIONS;
            let problem = InputProblem::new(format!("a filter has at most {most} conditions"));
            return Err(problem.in_field(at).hint("use `$in` for several values of one field"));
        }
        Ok(Condition::Field { path: path.to_owned(), test })
    }
}

fn test(operator: &str, value: &Value, at: &str) -> Result<Test, InputProblem> {
    let ordered = |orders| match value {
        Value::Number(_) | Value::String(_) => Ok(Test::Ordered { orders, value: value.clone() }),
        other => {
            let message = format!("`{operator}` takes a number or a text, not {}", kind(other));
            Err(InputProblem::new(message).in_field(at))
        }
    };
    match operator {
        "$eq" => Ok(Test::Equal(value.clone())),
        "$gt" => ordered(&[Greater]),
        "$gte" => ordered(&[Greater, Equal]),
        "$lt" => ordered(&[Less]),
        "$lte" => ordered(&[Less, Equal]),
        "$in" => match value {
            Value::Array(values) if values.len() <= CaseFilter::MAX_VALUES => {
                Ok(Test::In(values.clone()))
            }
            _ => {
                let most = CaseFilter::MAX_VALUES;
                Err(InputProblem::new(format!("expected a list of at most {most} values"))
                    .in_field(at))
            }
        },
        "$exists" => match value {
            Value::Bool(wanted) => Ok(Test::Exists(*wanted)),
            _ => Err(InputProblem::new("`$exists` takes true or false").in_field(at)),
        },
        "$contains" => Ok(Test::Contains(value.clone())),
        unknown => {
            let message = format!("there is no operator `{unknown}`");
            let hint = did_you_mean(unknown, OPERATORS);
            Err(InputProblem::new(message).in_field(at).hint(hint))
        }
    }
}

fn object<'filter>(
    value: &'filter Value,
    at: &str,
) -> Result<&'filter Map<String, Value>, InputProblem> {
    value.as_object().ok_or_else(|| {
        let problem = InputProblem::new(format!("a filter is an object, not {}", kind(value)))
            .hint("write {\"category\": \"math\"}");
        if at.is_empty() { problem } else { problem.in_field(at) }
    })
}

fn check_depth(at: &str, depth: usize) -> Result<(), InputProblem> {
    if depth <= CaseFilter::MAX_DEPTH {
        return Ok(());
    }
    let most = CaseFilter::MAX_DEPTH;
    Err(InputProblem::new(format!("a filter is nested at most {most} deep")).in_field(at))
}
