//! What providers say of their limits in headers: `Retry-After` and what is left of the current window.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::HeaderMap;

/// What a provider said of its limits; all none where it said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RateHeaders {
    /// Requests left in the current window.
    pub remaining_requests: Option<u64>,
    /// Time until the window of requests begins anew.
    pub reset_requests: Option<Duration>,
    /// Tokens left in the current window.
    pub remaining_tokens: Option<u64>,
    /// Time until the window of tokens begins anew.
    pub reset_tokens: Option<Duration>,
}

/// Prefixes of headers about tokens, OpenAI's first.
const TOKEN_HEADERS: [(&str, &str); 4] = [
    ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
    ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ("anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    ("anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
];

const REQUEST_HEADERS: [(&str, &str); 2] = [
    ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
];

impl RateHeaders {
    /// Reads the headers of OpenAI and Anthropic.
    #[must_use]
    pub fn read(headers: &HeaderMap) -> Self {
        let (remaining_requests, reset_requests) = tightest(headers, &REQUEST_HEADERS);
        let (remaining_tokens, reset_tokens) = tightest(headers, &TOKEN_HEADERS);
        Self { remaining_requests, reset_requests, remaining_tokens, reset_tokens }
    }

    /// How long to call nothing: until the reset, when nothing is left.
    #[must_use]
    pub fn hold(&self) -> Option<Duration> {
        let requests = self.reset_requests.filter(|_| self.remaining_requests == Some(0));
        let tokens = self.reset_tokens.filter(|_| self.remaining_tokens == Some(0));
        requests.max(tokens).filter(|hold| !hold.is_zero())
    }
}

/// The pair of headers with the least left.
fn tightest(headers: &HeaderMap, names: &[(&str, &str)]) -> (Option<u64>, Option<Duration>) {
    let pairs = names.iter().filter_map(|(remaining, reset)| {
        let remaining: u64 = text(headers, remaining)?.parse().ok()?;
        Some((
            remaining,
            text(headers, reset).and_then(|reset| parse_wait(reset, Timestamp::now())),
        ))
    });
    match pairs.min_by_key(|(remaining, _)| *remaining) {
        Some((remaining, reset)) => (Some(remaining), reset),
        None => (None, None),
    }
}

/// How long the provider asks to wait: `retry-after-ms`, or `Retry-After` as seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let milliseconds = text(headers, "retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    if let Some(milliseconds) = milliseconds {
        return seconds(milliseconds / 1_000.0);
    }
    parse_wait(text(headers, "retry-after")?, Timestamp::now())
}

fn text<'headers>(headers: &'headers HeaderMap, name: &str) -> Option<&'headers str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// A time to wait, as seconds (`1.5`), a duration (`6m0s`, `120ms`), or a moment (RFC 3339, HTTP date).
pub(crate) fn parse_wait(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        return seconds(number);
    }
    if let Some(duration) = parse_duration(text) {
        return Some(duration);
    }
    let moment: Timestamp = match text.parse() {
        Ok(moment) => moment,
        Err(_) => rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?,
    };
    Some(Duration::try_from(moment.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// Durations as OpenAI writes them: `1h2m3.5s`, `120ms`.
fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit_end = rest[digits..]
            .find(|letter: char| letter.is_ascii_digit())
            .map_or(rest.len(), |length| digits + length);
        total += number
            * match &rest[digits..unit_end] {
                "d" => 86_400.0,
                "h" => 3_600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 1e-3,
                "us" | "µs" => 1e-6,
                _ => return None,
            };
        rest = &rest[unit_end..];
    }
    if text.is_empty() { None } else { seconds(total) }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number.max(0.0)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &str)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn waits_are_read_in_every_form_providers_use() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let wait = |text| parse_wait(text, now).map(|wait| wait.as_secs_f64());
        assert_eq!(wait("2"), Some(2.0));
        assert_eq!(wait("0.5"), Some(0.5));
        assert_eq!(wait("-3"), Some(0.0));
        assert_eq!(wait("1s"), Some(1.0));
        assert_eq!(wait("6m0s"), Some(360.0));
        assert_eq!(wait("120ms"), Some(0.12));
        assert_eq!(wait("1h2m3.5s"), Some(3_723.5));
        assert_eq!(wait("2026-01-01T00:00:30Z"), Some(30.0));
        assert_eq!(wait("Thu, 01 Jan 2026 00:01:00 GMT"), Some(60.0));
        assert_eq!(wait("Thu, 01 Jan 2015 00:01:00 GMT"), Some(0.0));
        for nonsense in ["", "soon", "5x", "s", "NaN s", "1e400"] {
            assert_eq!(wait(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn retry_after_in_milliseconds_is_the_more_precise_one() {
        let both = headers(&[("retry-after", "1"), ("retry-after-ms", "250")]);
        assert_eq!(retry_after(&both), Some(Duration::from_millis(250)));
        assert_eq!(retry_after(&headers(&[("retry-after", "3")])), Some(Duration::from_secs(3)));
        assert_eq!(retry_after(&headers(&[])), None);
    }

    #[test]
    fn calls_are_held_until_the_reset_only_when_nothing_is_left() {
        let openai = headers(&[
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "12"),
            ("x-ratelimit-reset-tokens", "1h"),
        ]);
        let rate = RateHeaders::read(&openai);
        assert_eq!(rate.remaining_tokens, Some(12));
        assert_eq!(rate.hold(), Some(Duration::from_secs(360)));
        assert_eq!(RateHeaders::default().hold(), None);
        let anthropic = headers(&[
            ("anthropic-ratelimit-tokens-remaining", "500"),
            ("anthropic-ratelimit-output-tokens-remaining", "0"),
            ("anthropic-ratelimit-output-tokens-reset", "2126-01-01T00:00:00Z"),
        ]);
        assert!(RateHeaders::read(&anthropic).hold().is_some());
    }
}
