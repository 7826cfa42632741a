//! What an app of somebody does with a second factor (RFC 6238).

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

/// The code that an app shows so many steps from now.
pub(crate) fn code(secret: &str, steps: i64) -> String {
    let step = jiff::Timestamp::now().as_second() / 30 + steps;
    let mut mac = Hmac::<Sha1>::new_from_slice(&bytes_of(secret)).unwrap();
    mac.update(&step.to_be_bytes());
    let digest: [u8; 20] = mac.finalize().into_bytes().into();
    let offset = usize::from(digest[19] & 15);
    let four: [u8; 4] = digest[offset..offset + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
}

/// The bytes that letters of base 32 stand for (RFC 4648), a whole number of them.
pub(crate) fn bytes_of(letters: &str) -> Vec<u8> {
    let place = |letter| "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(letter).unwrap() as u64;
    let places: Vec<u64> = letters.chars().map(place).collect();
    let groups = places.chunks(8).map(|group| group.iter().fold(0, |all, five| all << 5 | five));
    groups.flat_map(|group: u64| group.to_be_bytes()[3..].to_vec()).collect()
}
