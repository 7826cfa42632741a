//! `fullbench user`: accounts, on the database itself.

mod password;
pub(crate) mod user;

/// A time for people.
fn day(time: jiff::Timestamp) -> String {
    time.strftime("%F %H:%M").to_string()
}
