//! Server-sent events: bytes in, events out, however the bytes are cut.

use crate::model::CallError;

/// One event of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its data, lines joined.
    pub(crate) data: String,
}

/// Collects bytes into events. The `event:` name is not kept: every format repeats it inside the data.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    buffer: Vec<u8>,
    /// Where the first line that is not read yet begins.
    position: usize,
    data: Option<String>,
}

impl EventReader {
    /// Takes the next bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.position > 0 {
            self.buffer.drain(..self.position);
            self.position = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event, or none until there are more bytes.
    pub(crate) fn next_event(&mut self) -> Result<Option<Event>, CallError> {
        while let Some(length) = self.buffer[self.position..].iter().position(|byte| *byte == b'\n')
        {
            let line = &self.buffer[self.position..self.position + length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Ok(line) = std::str::from_utf8(line) else {
                return Err(CallError::malformed("the stream is not UTF-8"));
            };
            if line.is_empty() {
                self.position += length + 1;
                if let Some(data) = self.data.take() {
                    return Ok(Some(Event { data }));
                }
                continue;
            }
            if let Some(value) = line.strip_prefix("data:") {
                let value = value.strip_prefix(' ').unwrap_or(value);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(value);
                    }
                    None => self.data = Some(value.to_owned()),
                }
            }
            self.position += length + 1;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;

    fn read(stream: &[u8], piece: usize) -> Vec<String> {
        let mut reader = EventReader::default();
        let mut events = Vec::new();
        for bytes in stream.chunks(piece) {
            reader.push(bytes);
            while let Some(event) = reader.next_event().unwrap() {
                events.push(event.data);
            }
        }
        events
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        let stream = ": hello\r\nevent: ping\r\ndata: {\"é\": 1}\r\n\r\ndata:a\ndata: b\n\n\n\nid: 3\n\ndata: [DONE]\n\ndata: cut";
        let expected = ["{\"é\": 1}", "a\nb", "[DONE]"];
        for piece in [1, 2, 3, 7, 1_000] {
            assert_eq!(read(stream.as_bytes(), piece), expected, "in pieces of {piece}");
        }
    }

    #[test]
    fn broken_text_is_refused() {
        let mut reader = EventReader::default();
        reader.push(b"data: \xff\n\n");
        assert!(reader.next_event().is_err());
    }
}
