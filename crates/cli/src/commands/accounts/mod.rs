//! `fullbench user` and `fullbench organization`: accounts, on the database itself.

pub(crate) mod organization;
mod password;
pub(crate) mod user;

/// A time for people.
fn day(time: jiff::Timestamp) -> String {
    time.strftime("%F %H:%M").to_string()
}
