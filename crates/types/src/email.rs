//! Addresses of mail, as people are known by.

/// The most letters of an address (RFC 5321).
const LONGEST: usize = 254;

/// The address as it is kept and compared: without spaces around it, in lower case; none where it cannot be one.
#[must_use]
pub fn email_address(text: &str) -> Option<String> {
    let address = text.trim().to_lowercase();
    let (local, domain) = address.split_once('@')?;
    let is_odd = |letter: char| {
        letter.is_whitespace() || letter.is_control() || "@<>()[]\\,;:\"".contains(letter)
    };
    let is_whole = !local.is_empty() && !domain.is_empty() && address.len() <= LONGEST;
    let is_plain = !local.contains(is_odd) && !domain.contains(is_odd);
    (is_whole && is_plain).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_however_it_is_written() {
        assert_eq!(email_address(" Ann@Example.COM "), Some("ann@example.com".to_owned()));
        assert_eq!(email_address("owner@localhost"), Some("owner@localhost".to_owned()));
    }

    #[test]
    fn what_could_say_more_than_an_address_is_none() {
        for text in ["", "ann", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nBcc: d@e", "A <a@b>", "a,b@c"]
        {
            assert_eq!(email_address(text), None, "{text:?}");
        }
        assert_eq!(email_address(&format!("{}@b", "a".repeat(300))), None);
    }
}
