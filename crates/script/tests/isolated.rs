//! Hostile scripts in processes of their own, among them those that no thread could be rid of.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod hostile;

fn main() {
    fullbench_script::serve_if_asked();
    for attempt in hostile::ENDLESS_STEPS.iter().chain(hostile::ATTEMPTS) {
        hostile::check(attempt);
    }
    eprintln!("{} attempts stopped", hostile::ENDLESS_STEPS.len() + hostile::ATTEMPTS.len());
}
