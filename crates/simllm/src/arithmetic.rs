//! Finds the last arithmetic expression of a text and solves it exactly.

/// An expression as it stands in the text, with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Solved<'text> {
    pub(crate) expression: &'text str,
    pub(crate) value: Fraction,
}

/// An exact number; the denominator is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fraction {
    numerator: i128,
    denominator: i128,
}

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let divisor = greatest_common_divisor(numerator.checked_abs()?, denominator.checked_abs()?);
        let sign = denominator.signum();
        Some(Self {
            numerator: sign * numerator / divisor,
            denominator: sign * denominator / divisor,
        })
    }

    /// The same number moved by a whole one.
    pub(crate) fn moved(self, by: i128) -> Self {
        let numerator =
            by.checked_mul(self.denominator).and_then(|by| self.numerator.checked_add(by));
        numerator.map_or(self, |numerator| Self { numerator, ..self })
    }

    /// Whole numbers as such, others with up to four decimals.
    pub(crate) fn text(self) -> String {
        if self.denominator == 1 {
            return self.numerator.to_string();
        }
        let rounded = format!("{:.4}", self.numerator as f64 / self.denominator as f64);
        rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    fn apply(self, operator: char, other: Self) -> Option<Self> {
        let (left, right) = (self, other);
        match operator {
            '+' | '-' => {
                let first = left.numerator.checked_mul(right.denominator)?;
                let second = right.numerator.checked_mul(left.denominator)?;
                let sum = if operator == '+' {
                    first.checked_add(second)
                } else {
                    first.checked_sub(second)
                };
                Self::new(sum?, left.denominator.checked_mul(right.denominator)?)
            }
            '*' => Self::new(
                left.numerator.checked_mul(right.numerator)?,
                left.denominator.checked_mul(right.denominator)?,
            ),
            _ => Self::new(
                left.numerator.checked_mul(right.denominator)?,
                left.denominator.checked_mul(right.numerator)?,
            ),
        }
    }
}

fn greatest_common_divisor(first: i128, second: i128) -> i128 {
    let (mut first, mut second) = (first, second);
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first.max(1)
}

/// The last run of whole numbers joined by `+ - * / × ÷` that has a value.
pub(crate) fn last_expression(text: &str) -> Option<Solved<'_>> {
    let mut last = None;
    let mut rest = 0;
    while let Some(offset) = text[rest..].find(|character: char| character.is_ascii_digit()) {
        let mut start = rest + offset;
        if start > rest && text[..start].ends_with('-') {
            start -= 1;
        }
        let (end, terms, operators) = scan(text, start);
        rest = end.max(rest + offset + 1);
        if operators.is_empty() {
            continue;
        }
        if let Some(value) = evaluate(&terms, &operators) {
            last = Some(Solved { expression: &text[start..end], value });
        }
    }
    last
}

/// Reads numbers and operators from `start`; gives the end of the last number.
fn scan(text: &str, start: usize) -> (usize, Vec<i128>, Vec<char>) {
    let (mut terms, mut operators) = (Vec::new(), Vec::new());
    let mut end = start;
    let mut position = start;
    while let Some((value, after)) = number(text, position) {
        terms.push(value);
        end = after;
        let spaces = text[after..].trim_start_matches(' ');
        let mut characters = spaces.chars();
        let Some(operator) = characters.next().and_then(normalized) else { break };
        operators.push(operator);
        position = text.len() - characters.as_str().trim_start_matches(' ').len();
    }
    operators.truncate(terms.len().saturating_sub(1));
    (end, terms, operators)
}

fn normalized(character: char) -> Option<char> {
    match character {
        '+' | '-' | '*' | '/' => Some(character),
        '×' | '·' => Some('*'),
        '÷' => Some('/'),
        '−' => Some('-'),
        _ => None,
    }
}

fn number(text: &str, start: usize) -> Option<(i128, usize)> {
    let unsigned = text[start..].strip_prefix('-').map_or(start, |_| start + 1);
    let digits = text[unsigned..].bytes().take_while(u8::is_ascii_digit).count();
    let end = unsigned + digits;
    Some((text[start..end].parse().ok()?, end))
}

fn evaluate(terms: &[i128], operators: &[char]) -> Option<Fraction> {
    let whole = |value: i128| Fraction { numerator: value, denominator: 1 };
    let mut sum = whole(0);
    let mut sign = '+';
    let mut product = whole(*terms.first()?);
    for (operator, term) in operators.iter().zip(&terms[1..]) {
        if matches!(operator, '*' | '/') {
            product = product.apply(*operator, whole(*term))?;
        } else {
            sum = sum.apply(sign, product)?;
            sign = *operator;
            product = whole(*term);
        }
    }
    sum.apply(sign, product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_found_and_solved() {
        let cases = [
            ("What is 17 * 23?", Some(("17 * 23", "391"))),
            ("2+3*4", Some(("2+3*4", "14"))),
            ("10 - 2 - 3 is what", Some(("10 - 2 - 3", "5"))),
            ("first 1 + 1, then 6 × 7.", Some(("6 × 7", "42"))),
            ("7 / 2", Some(("7 / 2", "3.5"))),
            ("1 / 3", Some(("1 / 3", "0.3333"))),
            ("-5 + 3", Some(("-5 + 3", "-2"))),
            ("5 + -3", Some(("5 + -3", "2"))),
            ("5--3", Some(("5--3", "8"))),
            ("8 / 0", None),
            ("4 +", None),
            ("I have 3 apples", None),
            ("99999999999999999999999999999999999999999999 * 2", None),
            ("é3+4é", Some(("3+4", "7"))),
        ];
        for (text, expected) in cases {
            let found =
                last_expression(text).map(|solved| (solved.expression, solved.value.text()));
            assert_eq!(found, expected.map(|(found, value)| (found, value.to_owned())), "{text}");
        }
    }

    #[test]
    fn huge_numbers_do_not_overflow() {
        let huge = i128::MAX.to_string();
        assert_eq!(last_expression(&format!("{huge} * {huge}")), None);
        assert_eq!(last_expression(&format!("-{huge} - {huge}")), None);
    }
}
