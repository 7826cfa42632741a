//! What is written to people of an alert: by mail as it is, to Slack with everything escaped that would mean something there.

use fullbench_store::AlertMessage;
use fullbench_types::{AlertKind, AlertNews};

/// The subject of mail.
pub(super) fn subject(message: &AlertMessage) -> String {
    let news = match message.news {
        AlertNews::Firing => "Firing",
        AlertNews::Repeated => "Still firing",
        AlertNews::Resolved => "Resolved",
        AlertNews::Test => "Test",
    };
    format!("[Fullbench] {news}: {}", message.name)
}

/// The text of mail.
pub(super) fn text(message: &AlertMessage) -> String {
    lines(message, |given| given.to_owned())
}

/// The text of a message to Slack.
pub(super) fn slack_text(message: &AlertMessage) -> String {
    format!("{}\n{}", escaped(&subject(message)), lines(message, escaped))
}

/// What users chose goes through `given`.
fn lines(message: &AlertMessage, given: impl Fn(&str) -> String) -> String {
    let mut lines = Vec::new();
    let name = given(&message.name);
    lines.push(match (message.news, message.because.as_deref()) {
        (AlertNews::Firing, _) => format!("{name} fires."),
        (AlertNews::Repeated, _) => format!("{name} still fires."),
        (AlertNews::Resolved, Some(because)) => {
            format!("{name} has ended: the rule was {because}.")
        }
        (AlertNews::Resolved, None) => format!("{name} has ended."),
        (AlertNews::Test, _) => {
            format!("This is a test of {name}: what it watches may be as it should.")
        }
    });
    lines.push(String::new());
    lines.push(format!("What: {}", watched(message.kind)));
    let value = message.value.map_or("not known".to_owned(), |value| number(message.kind, value));
    let observations = match message.count {
        Some(count) if counts(message.kind) => format!(" (of {count})"),
        _ => String::new(),
    };
    lines.push(format!("Value: {value}{observations}"));
    lines.push(format!("Threshold: {}", number(message.kind, message.threshold)));
    if message.kind != AlertKind::Spend {
        lines.push(format!("Window: {}", duration(message.window_seconds)));
    }
    let filter = &message.filter;
    for (what, value) in [
        ("Provider", &filter.provider),
        ("Model", &filter.model),
        ("Scorer", &filter.scorer),
        ("Of", &message.subject),
    ] {
        if let Some(value) = value {
            lines.push(format!("{what}: {}", given(value)));
        }
    }
    if let Some(since) = message.since {
        lines.push(format!("Since: {since}"));
    }
    lines.push(format!("At: {}", message.at));
    lines.push(format!("Rule: {}", message.alert_id));
    lines.push(String::new());
    lines.join("\n")
}

fn watched(kind: AlertKind) -> &'static str {
    kind.about().trim_end_matches('.')
}

/// Whether a value is made of observations that can be counted.
fn counts(kind: AlertKind) -> bool {
    !matches!(kind, AlertKind::Spend | AlertKind::QueueTime)
}

fn number(kind: AlertKind, value: f64) -> String {
    match kind {
        AlertKind::ErrorRate | AlertKind::ProviderErrors | AlertKind::Spend => {
            format!("{:.2} %", 100.0 * value)
        }
        AlertKind::Latency => format!("{value:.1} ms"),
        AlertKind::QueueTime => format!("{value:.1} s"),
        AlertKind::ScoreDrop => format!("{value:.4}"),
    }
}

fn duration(seconds: u32) -> String {
    match seconds {
        seconds if seconds % 86_400 == 0 => format!("{} d", seconds / 86_400),
        seconds if seconds % 3600 == 0 => format!("{} h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}

/// A text in which nothing is a link, a mention or a line of its own: `&`, `<` and `>` as Slack asks for, and `@` so that
/// servers which take the same messages call nobody.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '@' => safe.push_str("@\u{200b}"),
            letter if letter.is_control() => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use fullbench_store::AlertFilter;
    use jiff::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn message(kind: AlertKind, value: f64) -> AlertMessage {
        AlertMessage {
            alert_id: Uuid::nil(),
            name: "<!channel> a & b\r\n@here".to_owned(),
            kind,
            news: AlertNews::Firing,
            value: Some(value),
            threshold: 0.05,
            count: Some(40),
            subject: None,
            window_seconds: 3600,
            filter: AlertFilter { model: Some("m<1>".to_owned()), ..AlertFilter::default() },
            since: Some(Timestamp::UNIX_EPOCH),
            at: Timestamp::UNIX_EPOCH,
            because: None,
        }
    }

    #[test]
    fn mail_says_what_value_threshold_window_and_since() {
        let text = text(&message(AlertKind::ErrorRate, 0.125));
        for line in [
            "What: Units that failed, as a share of those that ended",
            "Value: 12.50 % (of 40)",
            "Threshold: 5.00 %",
            "Window: 1 h",
            "Model: m<1>",
            "Since: 1970-01-01T00:00:00Z",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn nothing_that_is_said_calls_anybody_in_slack() {
        let text = slack_text(&message(AlertKind::Latency, 1234.5));
        assert!(
            text.starts_with("[Fullbench] Firing: &lt;!channel&gt; a &amp; b  @\u{200b}here\n")
        );
        assert!(
            text.contains("Value: 1234.5 ms (of 40)\n") && text.contains("Model: m&lt;1&gt;\n")
        );
        assert!(!text.contains('<') && !text.contains('>') && !text.contains("@here"), "{text}");
    }
}
