//! Codes that change with the time (RFC 6238), as authenticator apps make them.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use subtle::ConstantTimeEq;

/// Seconds for which a code holds.
const STEP: i64 = 30;
/// Digits of a code.
const DIGITS: u32 = 6;
/// Letters of Base32 (RFC 4648).
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The time step whose code this is, among those that hold now: a clock may be half a minute off.
pub(super) fn step_of(secret: &[u8], code: &str, seconds: i64) -> Option<i64> {
    let now = seconds.div_euclid(STEP);
    let sent: String = code.chars().filter(|letter| !letter.is_whitespace()).collect();
    let mut found = None;
    for step in [now - 1, now, now + 1] {
        if bool::from(sent.as_bytes().ct_eq(code_of(secret, step).as_bytes())) {
            found = Some(step);
        }
    }
    found
}

/// The code of a time step.
fn code_of(secret: &[u8], step: i64) -> String {
    let Ok(mut code) = Hmac::<Sha1>::new_from_slice(secret) else {
        unreachable!("HMAC takes keys of every length")
    };
    code.update(&step.to_be_bytes());
    let digest: [u8; 20] = code.finalize().into_bytes().into();
    let offset = usize::from(digest[19] & 0x0f);
    let mut four = [0; 4];
    four.copy_from_slice(&digest[offset..offset + 4]);
    let number = (u32::from_be_bytes(four) & 0x7fff_ffff) % 10_u32.pow(DIGITS);
    format!("{number:0width$}", width = DIGITS as usize)
}

/// Bytes in Base32, without padding.
pub(super) fn base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    for group in bytes.chunks(5) {
        let mut padded = [0; 8];
        padded[3..3 + group.len()].copy_from_slice(group);
        let bits = u64::from_be_bytes(padded);
        for place in 0..(group.len() * 8).div_ceil(5) {
            let letter = bits >> (35 - 5 * place) & 31;
            text.push(char::from(LETTERS[letter as usize]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The secret of the examples in RFC 6238.
    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn codes_are_those_of_the_standard() {
        // The last six digits of those in appendix B.
        for (seconds, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(step_of(SECRET, code, seconds), Some(seconds / 30), "{seconds}");
        }
    }

    #[test]
    fn a_code_holds_a_step_longer_and_no_more() {
        assert_eq!(step_of(SECRET, "287082", 59 + 30), Some(1));
        assert_eq!(step_of(SECRET, "287082", 59 - 30), Some(1));
        assert_eq!(step_of(SECRET, "287082", 59 + 60), None);
        assert_eq!(step_of(SECRET, "287 082", 59), Some(1));
        assert_eq!(step_of(SECRET, "", 59), None);
    }

    #[test]
    fn base32_is_that_of_the_standard() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
    }
}
