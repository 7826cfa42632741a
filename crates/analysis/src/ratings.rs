//! Ratings from a table in long format: `item`, `annotator`, `value`.

use std::borrow::Cow;
use std::path::Path;

use fullbench_stats::Undefined;
use fullbench_stats::agreement::{Level, Ratings};

use crate::AnalysisError;
use crate::columns::renamed;
use crate::table::{MISSING, Table, Texts, Wanted};

/// Ratings with the names of what they are about.
pub(crate) struct NamedRatings {
    pub(crate) table: Table,
    pub(crate) ratings: Ratings,
    /// The name of each value.
    pub(crate) values: Vec<String>,
    /// Rows without a value.
    pub(crate) missing: usize,
}

impl NamedRatings {
    /// Reads ratings; beside the three columns it asks for `more`. Rows whose value is empty are missing ratings.
    ///
    /// Values are names at the nominal level. Where they have an order they are numbers, or names that `order` lists from
    /// the lowest to the highest.
    pub(crate) fn read(
        path: &Path,
        columns: &[(String, String)],
        more: Vec<Wanted>,
        level: Level,
        order: &[String],
    ) -> Result<Self, AnalysisError> {
        let mut wanted = vec![
            Wanted::text("item"),
            Wanted::text("annotator"),
            Wanted::text("value").may_be_empty(),
        ];
        wanted.extend(more);
        let table = Table::read(path, &renamed(wanted, columns)?)?;
        let nothing = Texts::default();
        let texts = |role| table.texts(role).unwrap_or(&nothing);
        let (items, annotators, given) = (texts("item"), texts("annotator"), texts("value"));
        let rated = Rated::new(&items.codes, &annotators.codes, &given.codes);
        if rated.items.is_empty() {
            let hint = "fill in the column of values";
            return Err(table.problem(0, Some("value"), "no row has a value", hint));
        }
        let (ratings, values) = if level == Level::Nominal && order.is_empty() {
            let ratings = Ratings::new(&rated.items, &rated.annotators, &rated.values);
            (ratings, given.names.iter().map(str::to_owned).collect())
        } else {
            let numbers = numbers(&table, given, level, order)?;
            let ratings =
                Ratings::with_numbers(&rated.items, &rated.annotators, &rated.values, &numbers);
            let names = |ratings: &Ratings| {
                let name = |value: &f64| match order.get(*value as usize) {
                    Some(name) => name.clone(),
                    None => value.to_string(),
                };
                ratings.numbers().iter().map(name).collect()
            };
            let names = ratings.as_ref().map(names).unwrap_or_default();
            (ratings, names)
        };
        let ratings = ratings.map_err(|reason| refused(&table, &rated, reason))?;
        let missing = table.rows() - rated.items.len();
        Ok(Self { ratings, values, missing, table })
    }

    /// The name of an item.
    pub(crate) fn item(&self, item: usize) -> &str {
        self.name("item", item)
    }

    /// The name of an annotator.
    pub(crate) fn annotator(&self, annotator: usize) -> &str {
        self.name("annotator", annotator)
    }

    /// The name of a value.
    pub(crate) fn value(&self, value: u32) -> &str {
        self.values.get(value as usize).map_or("", String::as_str)
    }

    fn name(&self, role: &str, code: usize) -> &str {
        self.table.texts(role).and_then(|texts| texts.names.get(code)).unwrap_or_default()
    }
}

/// The rows that have a value.
struct Rated<'a> {
    items: Cow<'a, [u32]>,
    annotators: Cow<'a, [u32]>,
    values: Cow<'a, [u32]>,
    /// The row of each in the table; none where they are the same.
    rows: Option<Vec<usize>>,
}

impl<'a> Rated<'a> {
    fn new(items: &'a [u32], annotators: &'a [u32], values: &'a [u32]) -> Self {
        if !values.contains(&MISSING) {
            let (items, annotators, values) = (items.into(), annotators.into(), values.into());
            return Self { items, annotators, values, rows: None };
        }
        let rows: Vec<usize> = (0..values.len()).filter(|&row| values[row] != MISSING).collect();
        let of = |codes: &[u32]| rows.iter().map(|&row| codes[row]).collect();
        let (items, annotators, values) = (of(items), of(annotators), of(values));
        Self {
            items: Cow::Owned(items),
            annotators: Cow::Owned(annotators),
            values: Cow::Owned(values),
            rows: Some(rows),
        }
    }

    /// The row of a rating in the table.
    fn row(&self, index: usize) -> usize {
        self.rows.as_ref().map_or(index, |rows| rows.get(index).copied().unwrap_or(index))
    }
}

/// The number that each distinct value stands for.
fn numbers(
    table: &Table,
    given: &Texts,
    level: Level,
    order: &[String],
) -> Result<Vec<f64>, AnalysisError> {
    if let Some(name) = order.iter().enumerate().find(|(at, name)| order[..*at].contains(name)) {
        let message = format!("the order has `{}` twice", name.1);
        return Err(AnalysisError::question(message, "name each value once, the lowest first"));
    }
    let mut numbers = Vec::with_capacity(given.names.len());
    for (code, name) in given.names.iter().enumerate() {
        let problem = |message: String, hint: &str| {
            let row = given.first_row(code as u32).unwrap_or_default();
            table.problem(row, Some("value"), message, hint)
        };
        let value = if order.is_empty() {
            let value = name.parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| {
                let message =
                    format!("`{name}` is not a number, and the {} level needs one", level.name());
                problem(
                    message,
                    "write numbers, or name the values in order: `--order low,middle,high`",
                )
            })?
        } else {
            let place = order.iter().position(|other| other == name);
            place.ok_or_else(|| {
                let message = format!("`{name}` is not in the order that was given");
                problem(message, "add it to `--order`, or correct it")
            })? as f64
        };
        if level == Level::Ratio && value < 0.0 {
            let message =
                format!("`{name}` is negative, and a ratio scale has nothing below its zero");
            return Err(problem(message, "use `--level interval`"));
        }
        numbers.push(value);
    }
    Ok(numbers)
}

/// The error for ratings that the statistics refuse.
fn refused(table: &Table, rated: &Rated<'_>, reason: Undefined) -> AnalysisError {
    match reason {
        Undefined::Repeated { index, first, .. } => {
            let (row, before) = (rated.row(index), table.line(rated.row(first)));
            let text =
                |role| table.texts(role).and_then(|texts| texts.get(row)).unwrap_or_default();
            let message = format!(
                "`{}` already rated item `{}` on line {before}",
                text("annotator"),
                text("item")
            );
            let hint = "keep one rating of each item by each annotator; different questions need different items";
            table.problem(row, Some("annotator"), message, hint)
        }
        reason => AnalysisError::undefined("agreement", reason, "check the file"),
    }
}
