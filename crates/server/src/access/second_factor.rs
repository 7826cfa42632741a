//! Second factors: a secret that an app makes codes of, and codes on paper for whoever lost it.

use fullbench_store::{Credentials, Purpose, SealedSecret, UserRecord};
use jiff::Timestamp;

use super::secret::{hash_of, hex};
use super::totp;
use crate::app::App;
use crate::problem::{Problem, internal};

/// Bytes of a secret, as many as RFC 4226 recommends.
const SECRET_BYTES: usize = 20;
/// Codes on paper.
const RECOVERY_CODES: usize = 10;
/// Bytes of each.
const RECOVERY_BYTES: usize = 10;

/// A second factor that is offered to somebody.
pub(crate) struct Offered {
    /// The secret, as it is typed into an app.
    pub(crate) secret: String,
    /// The same with all an app has to know, to be shown as a picture.
    pub(crate) uri: String,
    /// What is kept.
    pub(crate) sealed: SealedSecret,
}

/// Codes on paper, and what is kept of them.
pub(crate) struct RecoveryCodes {
    /// The codes themselves.
    pub(crate) shown_once: Vec<String>,
    /// What is kept.
    pub(crate) hashes: Vec<String>,
}

/// A new second factor for somebody.
pub(crate) async fn offer(app: &App, user: &UserRecord) -> Result<Offered, Problem> {
    let secret: [u8; SECRET_BYTES] = random()?;
    let store = app.store().scoped(user.organization);
    let sealed = store.seal(Purpose::Totp, &secret, user.id.as_bytes()).await?;
    let secret = totp::base32(&secret);
    let label: String = form_urlencoded::byte_serialize(user.email.as_bytes()).collect();
    let uri = format!("otpauth://totp/Fullbench:{label}?secret={secret}&issuer=Fullbench");
    Ok(Offered { secret, uri, sealed: SealedSecret::new(sealed) })
}

/// The time step whose code this is; none where it is none of now.
pub(crate) async fn step_of(
    app: &App,
    user: &UserRecord,
    sealed: &SealedSecret,
    code: &str,
) -> Result<Option<i64>, Problem> {
    let store = app.store().scoped(user.organization);
    let secret = store.open(Purpose::Totp, sealed.bytes(), user.id.as_bytes()).await?;
    Ok(totp::step_of(&secret, code, Timestamp::now().as_second()))
}

/// Whether this is a code of an app that was not used before.
pub(crate) async fn is_code(
    app: &App,
    credentials: &Credentials,
    code: &str,
) -> Result<bool, Problem> {
    let Some(sealed) = &credentials.totp_secret else { return Ok(false) };
    let user = &credentials.user;
    let Some(step) = step_of(app, user, sealed, code).await? else { return Ok(false) };
    Ok(app.store().scoped(user.organization).take_time_step(user.id, step).await?)
}

/// Whether this is a code on paper that was not used before.
pub(crate) async fn is_recovery_code(
    app: &App,
    user: &UserRecord,
    code: &str,
) -> Result<bool, Problem> {
    let hash = hash_of_code(user, code);
    Ok(app.store().scoped(user.organization).take_recovery_code(user.id, &hash).await?)
}

/// New codes on paper for somebody.
pub(crate) fn recovery_codes(user: &UserRecord) -> Result<RecoveryCodes, Problem> {
    let mut codes = RecoveryCodes { shown_once: Vec::new(), hashes: Vec::new() };
    for _ in 0..RECOVERY_CODES {
        let code = totp::base32(&random::<RECOVERY_BYTES>()?).to_lowercase();
        codes.hashes.push(hash_of_code(user, &code));
        let groups: Vec<&str> = [0, 4, 8, 12].map(|start| &code[start..start + 4]).to_vec();
        codes.shown_once.push(groups.join("-"));
    }
    Ok(codes)
}

/// What is kept of a code on paper, however it is typed.
fn hash_of_code(user: &UserRecord, code: &str) -> String {
    let plain: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    hex(&hash_of(&format!("{}:{}", user.id, plain.to_ascii_lowercase())))
}

fn random<const BYTES: usize>() -> Result<[u8; BYTES], Problem> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| internal(&error))?;
    Ok(bytes)
}
