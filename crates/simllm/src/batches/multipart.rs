//! Forms with a file in them, as clients upload it.

/// The value of a field of a form; `content_type` has the boundary.
pub(super) fn field<'body>(
    content_type: &str,
    body: &'body [u8],
    name: &str,
) -> Option<&'body [u8]> {
    let boundary = content_type.split("boundary=").nth(1)?.trim_matches('"');
    let delimiter = format!("--{boundary}");
    let named = format!("name=\"{name}\"");
    let mut rest = body;
    while let Some(start) = find(rest, delimiter.as_bytes()) {
        let part = &rest[start + delimiter.len()..];
        let end = find(part, format!("\r\n{delimiter}").as_bytes())?;
        let head_end = find(&part[..end], b"\r\n\r\n")?;
        if String::from_utf8_lossy(&part[..head_end]).contains(&named) {
            return Some(&part[head_end + 4..end]);
        }
        rest = &part[end..];
    }
    None
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_names() {
        let body = b"--x\r\nContent-Disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\nContent-Type: text/plain\r\n\r\none\r\ntwo\n\r\n--x--\r\n";
        let content_type = "multipart/form-data; boundary=x";
        assert_eq!(field(content_type, body, "purpose"), Some(&b"batch"[..]));
        assert_eq!(field(content_type, body, "file"), Some(&b"one\r\ntwo\n"[..]));
        assert_eq!(field(content_type, body, "other"), None);
        assert_eq!(field("text/plain", body, "file"), None);
    }
}
