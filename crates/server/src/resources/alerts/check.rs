//! What is right of a rule: each field by itself, and what each kind needs.

use fullbench_types::{AlertKind, email_address};

use super::wanted::Filter;
use crate::app::App;
use crate::problem::Problem;
use crate::resources::webhooks::check_url;

/// Letters of a name, at most.
const MAX_NAME: usize = 255;
/// How far back a rule may look: the results of a week are still read in a moment.
const WINDOW: std::ops::RangeInclusive<u32> = 60..=604_800;
const COUNT: std::ops::RangeInclusive<u32> = 1..=1_000_000;
const REPEAT: std::ops::RangeInclusive<u32> = 300..=2_592_000;
/// Addresses of mail, at most.
const MAX_EMAILS: usize = 20;
/// Letters of an address of mail, at most.
const MAX_EMAIL: usize = 254;

pub(super) fn name(name: &str) -> Result<(), Problem> {
    if name.trim().is_empty() || name.chars().count() > MAX_NAME {
        return Err(Problem::field("name", format!("a name has 1 to {MAX_NAME} letters")));
    }
    Ok(())
}

pub(super) fn threshold(kind: AlertKind, threshold: f64) -> Result<(), Problem> {
    let (most, what) = match kind {
        AlertKind::ErrorRate | AlertKind::ProviderErrors => (1.0, "a share from 0 to 1"),
        AlertKind::ScoreDrop => (1.0, "a difference from 0 to 1"),
        AlertKind::Spend => (100.0, "a share of the budget from 0 to 100, 0.8 for 80 %"),
        AlertKind::Latency => (86_400_000.0, "0 to 86400000 milliseconds"),
        AlertKind::QueueTime => (2_592_000.0, "0 to 2592000 seconds"),
    };
    match (0.0..=most).contains(&threshold) {
        true => Ok(()),
        false => Err(Problem::field("threshold", format!("for `{kind}` it is {what}"))),
    }
}

pub(super) fn window(seconds: u32) -> Result<(), Problem> {
    within("window_seconds", seconds, WINDOW)
}

pub(super) fn minimum_count(count: u32) -> Result<(), Problem> {
    within("minimum_count", count, COUNT)
}

pub(super) fn repeat(seconds: Option<u32>) -> Result<(), Problem> {
    seconds.map_or(Ok(()), |seconds| within("repeat_seconds", seconds, REPEAT))
}

/// What a kind can look at: waits and spending are of the organization as a whole, and values are those of a scorer.
pub(super) fn filter(kind: AlertKind, filter: &Filter) -> Result<(), Problem> {
    for (field, name) in [("filter.model", &filter.model), ("filter.scorer", &filter.scorer)] {
        let is_right = |name: &String| (1..=MAX_NAME).contains(&name.chars().count());
        if !name.as_ref().is_none_or(is_right) {
            return Err(Problem::field(field, format!("a name has 1 to {MAX_NAME} letters")));
        }
    }
    let is_whole = matches!(kind, AlertKind::QueueTime | AlertKind::Spend);
    for (field, is_given) in
        [("filter.provider", filter.provider.is_some()), ("filter.model", filter.model.is_some())]
    {
        if is_whole && is_given {
            let message = format!("`{kind}` is of the organization as a whole");
            return Err(Problem::field(field, message).hint("leave it out"));
        }
    }
    match (kind == AlertKind::ScoreDrop, filter.scorer.is_some()) {
        (true, false) => {
            let problem = Problem::field("filter.scorer", "a scorer has to be named");
            Err(problem.hint("the name that its scores have, such as `exact_match`"))
        }
        (false, true) => {
            let message = format!("`{kind}` has nothing to do with a scorer");
            Err(Problem::field("filter.scorer", message).hint("leave it out"))
        }
        _ => Ok(()),
    }
}

/// The addresses as they are kept, each once.
pub(super) fn emails(app: &App, emails: &[String]) -> Result<Vec<String>, Problem> {
    if emails.len() > MAX_EMAILS {
        let message = format!("name at most {MAX_EMAILS} addresses");
        return Err(Problem::field("channels.emails", message));
    }
    let mut kept = Vec::with_capacity(emails.len());
    for (place, given) in emails.iter().enumerate() {
        let is_short = given.chars().count() <= MAX_EMAIL;
        let Some(address) = email_address(given).filter(|_| is_short) else {
            let field = format!("channels.emails[{place}]");
            return Err(Problem::field(field, "this is no address of mail"));
        };
        if !kept.contains(&address) {
            kept.push(address);
        }
    }
    if !kept.is_empty() && app.mailer().is_none() {
        let problem = Problem::field("channels.emails", "the server sends no mail");
        let hint = "start it with FULLBENCH_SMTP_URL, `--mail-from` and `--public-url`, or use webhooks or Slack";
        return Err(problem.hint(hint));
    }
    Ok(kept)
}

/// The address is a secret: it is sent nothing in the clear, but where a server of one's own may be reached.
pub(super) fn slack_url(app: &App, url: &str) -> Result<(), Problem> {
    let field = "channels.slack_url";
    check_url(app, field, url)?;
    if !app.config().allow_private_webhooks && !url.to_ascii_lowercase().starts_with("https://") {
        return Err(Problem::field(field, "Slack is reached by https://"));
    }
    Ok(())
}

fn within(field: &str, given: u32, allowed: std::ops::RangeInclusive<u32>) -> Result<(), Problem> {
    if allowed.contains(&given) {
        return Ok(());
    }
    Err(Problem::field(field, format!("use {} to {}", allowed.start(), allowed.end())))
}
