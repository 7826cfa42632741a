//! Numbers as people and models write them: `1,234.50`, `-$5`, `50%`, `1.5e-3`, `2 × 10^6`, `−7`.

/// A number of any length, exact: `digits · 10^exponent`, no zeros at either end of the digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

/// A number in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'text> {
    negative: bool,
    /// Digits with their separators and their point, as they stand.
    mantissa: &'text str,
    exponent: i64,
    /// The number with its sign and its exponent, as it stands.
    pub(crate) text: &'text str,
}

/// The last number of a text.
pub(crate) fn last_number(text: &str) -> Option<Found<'_>> {
    let mut last = None;
    let mut from = 0;
    while let Some(found) = next_number(text, from) {
        from = end_of(text, &found);
        last = Some(found);
    }
    last
}

/// The first number of a text.
pub(crate) fn first_number(text: &str) -> Option<Found<'_>> {
    next_number(text, 0)
}

/// The number that a text consists of, but for a currency, a percent sign and a final period.
pub(crate) fn only_number(text: &str) -> Option<Found<'_>> {
    let text = text.trim();
    let found = next_number(text, 0)?;
    let before = &text[..offset(text, &found)];
    let after = text[end_of(text, &found)..].trim_start();
    let after = after.strip_prefix(['%', '$', '€', '£', '¥', '₹']).unwrap_or(after);
    let clean = before.trim_end().chars().all(is_currency) && matches!(after, "" | ".");
    clean.then_some(found)
}

fn offset(text: &str, found: &Found<'_>) -> usize {
    found.text.as_ptr() as usize - text.as_ptr() as usize
}

fn end_of(text: &str, found: &Found<'_>) -> usize {
    offset(text, found) + found.text.len()
}

fn is_currency(character: char) -> bool {
    matches!(character, '$' | '€' | '£' | '¥' | '₹')
}

/// The first number that begins at or after a place.
fn next_number(text: &str, from: usize) -> Option<Found<'_>> {
    let bytes = text.as_bytes();
    let mut digit = from + bytes[from..].iter().position(u8::is_ascii_digit)?;
    let has_point = digit > from
        && bytes[digit - 1] == b'.'
        && (digit < 2 || !bytes[digit - 2].is_ascii_digit());
    if has_point {
        digit -= 1;
    }
    let mantissa_end = if has_point {
        digit + 1 + digits_at(&bytes[digit + 1..])
    } else {
        mantissa_end(bytes, digit)
    };
    let (start, negative) = sign_before(text, from, digit);
    let (exponent, end) = exponent_after(text, mantissa_end);
    Some(Found {
        negative,
        mantissa: &text[digit..mantissa_end],
        exponent,
        text: &text[start..end],
    })
}

fn digits_at(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The end of digits, thousands and decimals that begin at a digit.
fn mantissa_end(bytes: &[u8], start: usize) -> usize {
    let first = digits_at(&bytes[start..]);
    let mut end = start + first;
    if first <= 3 {
        while bytes.get(end) == Some(&b',') && digits_at(&bytes[end + 1..]) == 3 {
            end += 4;
        }
    }
    if bytes.get(end) == Some(&b'.') {
        let decimals = digits_at(&bytes[end + 1..]);
        if decimals > 0 {
            end += 1 + decimals;
        }
    }
    end
}

/// Where the number begins with its sign, and whether that is a minus. A dash after a word or a number is no sign.
fn sign_before(text: &str, from: usize, digit: usize) -> (usize, bool) {
    let before = &text[from..digit];
    let unmarked = before.trim_end_matches(is_currency);
    let sign =
        unmarked.chars().next_back().filter(|character| matches!(character, '-' | '−' | '+'));
    let Some(sign) = sign else { return (digit, false) };
    let start = from + unmarked.len() - sign.len_utf8();
    let joined =
        |character: char| character.is_alphanumeric() || matches!(character, ')' | ']' | '%' | '.');
    let spaced = text[..start].chars().next_back();
    if spaced.is_some_and(joined) {
        return (digit, false);
    }
    (start, sign != '+')
}

/// The exponent written as `e3` or as `× 10^3`, and where the number ends.
fn exponent_after(text: &str, end: usize) -> (i64, usize) {
    let rest = &text[end..];
    if let Some(behind) = rest.strip_prefix(['e', 'E'])
        && let Some((exponent, after)) = whole_number(behind)
        && !after.starts_with(|character: char| character.is_alphanumeric())
    {
        return (exponent, text.len() - after.len());
    }
    let power = rest.trim_start_matches(' ').strip_prefix(['×', 'x', '*', '·']);
    let power = power.and_then(|behind| behind.trim_start_matches(' ').strip_prefix("10^"));
    let Some(power) = power else { return (0, end) };
    let braced = power.strip_prefix(['{', '(']);
    let Some((exponent, after)) = whole_number(braced.unwrap_or(power)) else { return (0, end) };
    let after =
        if braced.is_some() { after.strip_prefix(['}', ')']).unwrap_or(after) } else { after };
    (exponent, text.len() - after.len())
}

fn whole_number(text: &str) -> Option<(i64, &str)> {
    let (negative, unsigned) = match text.strip_prefix(['-', '−']) {
        Some(unsigned) => (true, unsigned),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits_at(unsigned.as_bytes());
    if digits == 0 {
        return None;
    }
    let value = unsigned[..digits].parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
    Some((if negative { -value } else { value }, &unsigned[digits..]))
}

impl Found<'_> {
    /// The exact number.
    pub(crate) fn decimal(&self) -> Decimal {
        let (whole, decimals) = self.mantissa.split_once('.').unwrap_or((self.mantissa, ""));
        let mut digits = String::with_capacity(self.mantissa.len());
        digits.extend(whole.chars().filter(char::is_ascii_digit));
        digits.push_str(decimals);
        let significant = digits.trim_end_matches('0').len();
        let zeros = (digits.len() - significant) as i64;
        digits.truncate(significant);
        let leading = digits.len() - digits.trim_start_matches('0').len();
        digits.drain(..leading);
        if digits.is_empty() {
            return Decimal { negative: false, digits, exponent: 0 };
        }
        Decimal {
            negative: self.negative,
            digits,
            exponent: self.exponent - decimals.len() as i64 + zeros,
        }
    }

    /// The nearest float.
    pub(crate) fn float(&self) -> f64 {
        let digits: String = self.mantissa.chars().filter(|character| *character != ',').collect();
        let value = format!("{digits}e{}", self.exponent).parse::<f64>().unwrap_or(f64::NAN);
        if self.negative { -value } else { value }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_last_number_is_read_as_people_write_it() {
        let cases = [
            ("The answer is 42.", Some(42.0)),
            ("so 1,234.50 dollars", Some(1234.5)),
            ("$1,234,567", Some(1_234_567.0)),
            ("-$5", Some(-5.0)),
            ("$-5.25", Some(-5.25)),
            ("−7", Some(-7.0)),
            ("x=-3", Some(-3.0)),
            ("5-3", Some(3.0)),
            ("5 - 3", Some(3.0)),
            ("10 -3", Some(-3.0)),
            ("GPT-4", Some(4.0)),
            ("- 8 apples", Some(8.0)),
            ("50%", Some(50.0)),
            (".5", Some(0.5)),
            ("-.5", Some(-0.5)),
            ("1.5e3", Some(1500.0)),
            ("1.5E-3", Some(0.0015)),
            ("2e", Some(2.0)),
            ("3 × 10^4", Some(30_000.0)),
            ("3*10^{-2}", Some(0.03)),
            ("12 x 10", Some(10.0)),
            ("1,2,3", Some(3.0)),
            ("1234,567", Some(567.0)),
            ("12,3456", Some(3456.0)),
            ("16 - 3 - 4 = <<16-3-4=9>>9 eggs\nA: 18", Some(18.0)),
            ("#### 18", Some(18.0)),
            ("**18**", Some(18.0)),
            ("\\boxed{18}", Some(18.0)),
            ("5kg", Some(5.0)),
            ("+5", Some(5.0)),
            ("1.", Some(1.0)),
            ("007", Some(7.0)),
            ("no number", None),
            ("", None),
            (". - $", None),
        ];
        for (text, expected) in cases {
            assert_eq!(last_number(text).map(|found| found.float()), expected, "{text}");
        }
    }

    #[test]
    fn equal_numbers_have_one_exact_form() {
        let exact = |text| last_number(text).unwrap().decimal();
        for (first, second) in [
            ("0.1", "0.10"),
            ("1000", "1e3"),
            ("1,000.0", "1000"),
            ("0", "-0.00"),
            ("00.5", ".5"),
            ("123456789012345678901", "123456789012345678901.0"),
        ] {
            assert_eq!(exact(first), exact(second), "{first} and {second}");
        }
        for (first, second) in [
            ("12345678901234567890", "12345678901234567891"),
            ("1", "-1"),
            ("1", "10"),
            ("0.1", "0.01"),
        ] {
            assert_ne!(exact(first), exact(second), "{first} and {second}");
        }
    }

    #[test]
    fn a_whole_text_is_one_number_or_none() {
        for (text, is_one) in [
            (" 42 ", true),
            ("$42.", true),
            ("-$1,000", true),
            ("42%", true),
            ("42 €", true),
            ("1e3", true),
            ("42 apples", false),
            ("4 2", false),
            ("a42", false),
            ("", false),
            ("42..", false),
        ] {
            assert_eq!(only_number(text).is_some(), is_one, "{text}");
        }
        assert_eq!(first_number("from 3 to 9").unwrap().text, "3");
    }

    #[test]
    fn absurd_exponents_are_survived() {
        let huge = last_number("1e99999999999999999999999").unwrap();
        assert_eq!((huge.float(), huge.decimal() == huge.decimal()), (f64::INFINITY, true));
        assert_eq!(last_number("1e-99999999999999999999999").unwrap().float(), 0.0);
    }
}
