//! What is taken out, and what must stay.
#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;

fn scrubbed(text: &str) -> String {
    Scrubber::new(ScrubKind::ALL).text(text).into_owned()
}

#[test]
fn addresses_are_taken_out() {
    for (text, expected) in [
        ("write to ann.lee+test@mail.example.co.uk, please", "write to [email], please"),
        ("<ann@example.com>", "<[email]>"),
        ("jürgen@müller.de.", "[email]."),
        ("a@b.io and c@d.org", "[email] and [email]"),
    ] {
        assert_eq!(scrubbed(text), expected);
    }
    for text in ["@ann on the net", "a @ b.com", "user@localhost", "x@1.2", "f(a@b)", "at 5 @ 3.50"]
    {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn cards_are_taken_out_where_the_check_digit_is_right() {
    for card in [
        "4111111111111111",
        "4111 1111 1111 1111",
        "5500-0000-0000-0004",
        "378282246310005",
        "3782 822463 10005",
        "6011111111111117",
        "3530111333300000",
        "30569309025904",
        "2223003122003222",
        "6200000000000005",
    ] {
        assert_eq!(
            scrubbed(&format!("card {card}, exp 12/27")),
            "card [card], exp 12/27",
            "{card}"
        );
    }
    for text in [
        "4111111111111112",
        "4111 1111 1111 1112",
        "1234567812345670",
        "0000000000000000",
        "41111111111111111111",
        "order X4111111111111111",
        "0.4111111111111111",
        "4111111111111111.5",
        "9999999999999995",
        "4111 1111-1111 1111",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn phones_are_taken_out() {
    for phone in [
        "+49 30 1234567",
        "+14155552671",
        "+1 (415) 555-2671",
        "+44 20 7946 0958",
        "+33 6 12 34 56 78",
        "+352 27 12 34",
        "+86-10-1234-5678",
        "(415) 555-2671",
        "415-555-2671",
        "415.555.2671",
        "1-800-555-0199",
        "030 1234567",
        "0171/2345678",
        "020 7946 0958",
        "(030) 1234567",
        "06 12 34 56 78",
        "01.23.45.67.89",
    ] {
        assert_eq!(scrubbed(&format!("call {phone} now")), "call [phone] now", "{phone}");
        assert_eq!(scrubbed(&format!("tel:{phone}.")), "tel:[phone].", "{phone}");
    }
}

#[test]
fn dates_ids_and_numbers_of_answers_stay() {
    for text in [
        "2024-11-16",
        "16.11.2026",
        "11/16/2026 10:30:00",
        "2026-11-16T14:17:55Z",
        "01-02-2024 10:30",
        "01.02.2024",
        "09:15-10:45",
        "The answer is 42.",
        "1234567890",
        "0123456789",
        "3.14159265358979",
        "1,234,567,890",
        "1 234 567 890",
        "12345678901234567890",
        "+5",
        "2+2=4",
        "12+34567890123",
        "x = +10000000",
        "-273.15",
        "$415-555",
        "192.168.100.200",
        "10.0.0.1",
        "415 555 2671",
        "v1.2.3",
        "978-3-16-148410-0",
        "ISBN 9783161484100",
        "019999d0-1234-7123-8123-123456789012",
        "550e8400-e29b-41d4-a716-446655440000",
        "case-415-555-2671",
        "#415-555-2671",
        "007-123-456",
        "115-155-2671",
        "5 6 7 8 9 10 11 12",
        "0.1 0.2 0.3 0.4 0.5",
        "00 12 34 56 78",
        "2 + 49 301234567",
        "12:30 06 12",
        "f(x)+4915112345678",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn keys_are_taken_out_by_what_they_begin_with() {
    let letters = "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA2cD5fG8h";
    for key in [
        format!("sk-proj-{letters}"),
        format!("sk-ant-api03-{letters}"),
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("ghp_{}", &letters[..36]),
        format!("xoxb-{letters}"),
        format!("AIza{}", &letters[..35]),
        format!("hf_{letters}"),
        format!("fb_{letters}"),
        format!("sk_live_{letters}"),
        format!("eyJ{letters}.eyJ{letters}.{letters}"),
        format!("-----BEGIN RSA PRIVATE KEY-----\n{letters}\n-----END RSA PRIVATE KEY-----"),
    ] {
        assert_eq!(scrubbed(&format!("use {key} here")), "use [key] here", "{key}");
    }
    for text in [
        "sk-learn",
        "a task-oriented-conversation-agent",
        "risk-adjusted-returns-of-funds",
        "hf_hub",
        "eyJust",
    ] {
        assert_eq!(scrubbed(text), text);
    }
}

#[test]
fn only_what_was_asked_for_is_taken_out() {
    let text = "ann@example.com, +14155552671, 4111111111111111";
    let only = |kind| Scrubber::new(&[kind]).text(text).into_owned();
    assert_eq!(only(ScrubKind::Email), "[email], +14155552671, 4111111111111111");
    assert_eq!(only(ScrubKind::Phone), "ann@example.com, [phone], 4111111111111111");
    assert_eq!(only(ScrubKind::Card), "ann@example.com, +14155552671, [card]");
    assert!(Scrubber::default().is_idle());
    assert!(matches!(Scrubber::new(ScrubKind::ALL).text("plain größe 🙂"), Cow::Borrowed(_)));
}

#[test]
fn values_keep_their_shape() {
    let scrubber = Scrubber::new(ScrubKind::ALL);
    let mut json =
        json!({"to": ["\nann@example.com"], "n": 4111111111111111_u64, "ok": true}).to_string();
    scrubber.change_json(&mut json);
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read, json!({"to": ["\n[email]"], "n": 4111111111111111_u64, "ok": true}));
    let mut text = "no JSON: ann@example.com".to_owned();
    scrubber.change_json(&mut text);
    assert_eq!(text, "no JSON: [email]");
}
