//! Passwords: what may be one, and hashes by argon2id, which take memory and time on purpose.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use fullbench_store::PasswordHash;
use tokio::sync::Semaphore;
use unicode_normalization::UnicodeNormalization;

use crate::problem::{INTERNAL, Problem, UNAVAILABLE};

/// Letters of a password.
const LENGTH: std::ops::RangeInclusive<usize> = 10..=1024;
/// What OWASP asks for at least: 19 MiB, two passes, one lane.
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
/// How long a password waits for its turn.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most passwords that are hashed at once: many sign-ins wait for each other instead of taking all memory.
#[derive(Debug)]
pub(crate) struct Passwords {
    places: Arc<Semaphore>,
}

/// What comparing a password with a hash gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is another password.
    Wrong,
    /// It is the password.
    Right,
    /// It is the password, and its hash is weaker than new ones are.
    Outdated,
}

impl Default for Passwords {
    fn default() -> Self {
        let places = available_parallelism().map_or(1, |cores| cores.get());
        Self { places: Arc::new(Semaphore::new(places)) }
    }
}

impl Passwords {
    /// The hash of a new password that is good enough.
    pub(crate) async fn hash(&self, password: &str, email: &str) -> Result<PasswordHash, Problem> {
        let accepted =
            accepted(password, email).map_err(|problem| Problem::field("password", problem))?;
        self.in_turn(move || hashed(&accepted)).await?
    }

    /// Compares a password with a hash. Where there is none the same work is done, so that time tells nothing.
    pub(crate) async fn verify(
        &self,
        kept: Option<&PasswordHash>,
        password: &str,
    ) -> Result<Verdict, Problem> {
        let (phc, is_kept) = match kept {
            Some(kept) => (kept.phc().to_owned(), true),
            None => (hash_of_nobody(), false),
        };
        let password = normalized(password);
        self.in_turn(move || compared(&phc, &password, is_kept)).await
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let busy = || {
            let problem = Problem::new(UNAVAILABLE, "too many people sign in at this moment");
            problem.hint("try again a little later")
        };
        let turn = tokio::time::timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let place = turn.map_err(|_| busy())?.map_err(|_| busy())?;
        // The work goes on when nobody waits for it any more, and so does its place.
        let in_place = move || {
            let done = work();
            drop(place);
            done
        };
        tokio::task::spawn_blocking(in_place)
            .await
            .map_err(|_| Problem::new(INTERNAL, "a password could not be hashed"))
    }
}

/// The hash of a new password, or why it cannot be one.
pub fn password_hash(password: &str, email: &str) -> Result<PasswordHash, String> {
    let accepted = accepted(password, email).map_err(str::to_owned)?;
    hashed(&accepted).map_err(|problem| problem.detail)
}

/// The password as it is hashed, if it may be one.
fn accepted(password: &str, email: &str) -> Result<String, &'static str> {
    if !LENGTH.contains(&password.chars().take(LENGTH.end() + 1).count()) {
        return Err("a password has 10 to 1024 letters");
    }
    let password = normalized(password);
    if password.to_lowercase() == email.to_lowercase() {
        return Err("a password is not the mail address");
    }
    Ok(password)
}

/// The same letters however they were typed.
fn normalized(password: &str) -> String {
    password.chars().take(LENGTH.end() + 1).nfkc().collect()
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

fn hashed(password: &str) -> Result<PasswordHash, Problem> {
    let failed = || Problem::new(INTERNAL, "a password could not be hashed");
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|_| failed())?;
    let made: Result<Phc, _> = argon2().hash_password_with_salt(password.as_bytes(), &salt);
    made.map(|phc| PasswordHash::new(phc.to_string())).map_err(|_| failed())
}

fn compared(phc: &str, password: &str, is_kept: bool) -> Verdict {
    let Ok(phc) = Phc::new(phc) else { return Verdict::Wrong };
    let is_right = argon2().verify_password(password.as_bytes(), &phc).is_ok();
    if !is_right || !is_kept {
        return Verdict::Wrong;
    }
    let is_current = phc.algorithm.as_str() == "argon2id"
        && Params::try_from(&phc).is_ok_and(|params| {
            params.m_cost() >= MEMORY_KIB && params.t_cost() >= PASSES && params.p_cost() == LANES
        });
    if is_current { Verdict::Right } else { Verdict::Outdated }
}

/// A hash that costs as much to compare as a real one, and that no password is known to have.
fn hash_of_nobody() -> String {
    format!(
        "$argon2id$v=19$m={MEMORY_KIB},t={PASSES},p={LANES}${salt}${hash}",
        salt = "A".repeat(22),
        hash = "A".repeat(43),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn passwords_are_long_and_are_not_the_address() {
        assert!(accepted("123456789", "a@b").is_err());
        assert!(accepted("1234567890", "a@b").is_ok());
        assert!(accepted(&"x".repeat(1025), "a@b").is_err());
        assert!(accepted("Ann@Example.com", "ann@example.com").is_err());
    }

    #[tokio::test]
    async fn a_password_is_the_same_however_its_letters_are_typed() {
        let passwords = Passwords::default();
        let hash = passwords.hash("gr\u{f6}\u{df}er als 10", "a@b").await.unwrap();
        assert!(hash.phc().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.phc());
        assert_eq!(format!("{hash:?}"), "PasswordHash(…)");
        let typed = "gro\u{308}\u{df}er als 10";
        assert_eq!(passwords.verify(Some(&hash), typed).await.unwrap(), Verdict::Right);
        assert_eq!(passwords.verify(Some(&hash), "another one").await.unwrap(), Verdict::Wrong);
    }

    #[tokio::test]
    async fn a_weaker_hash_is_known_as_one() {
        let weak = Argon2::new(
            Algorithm::Argon2id,
            Version::V0x13,
            Params::new(8 * 1024, 1, 1, None).unwrap(),
        );
        let made: Phc = weak.hash_password_with_salt(b"long enough", &[7; 16]).unwrap();
        let hash = PasswordHash::new(made.to_string());
        let verdict = Passwords::default().verify(Some(&hash), "long enough").await.unwrap();
        assert_eq!(verdict, Verdict::Outdated);
    }

    #[tokio::test]
    async fn who_goes_away_leaves_no_room_for_another_before_the_work_is_done() {
        let passwords = Passwords { places: Arc::new(Semaphore::new(1)) };
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (end, ends) = std::sync::mpsc::channel::<()>();
        let work = passwords.in_turn(move || {
            let _ = begun.send(());
            let _ = ends.recv();
        });
        tokio::select! {
            _ = work => unreachable!("it waits"),
            _ = has_begun => {}
        }
        assert_eq!(passwords.places.available_permits(), 0);
        end.send(()).unwrap();
        let _free = passwords.places.acquire().await.unwrap();
    }

    #[test]
    fn nobody_costs_as_much_as_somebody() {
        let phc = hash_of_nobody();
        let parsed = Phc::new(&phc).unwrap();
        let params = Params::try_from(&parsed).unwrap();
        assert_eq!(
            (params.m_cost(), params.t_cost(), params.p_cost()),
            (MEMORY_KIB, PASSES, LANES)
        );
        assert_eq!(parsed.hash.unwrap().len(), 32);
        assert_eq!(compared(&phc, "any password", false), Verdict::Wrong);
    }
}
