//! The last part of what was printed beside the protocol.
//!
//! *Invariant:* holds at most twice [`KEPT`] bytes, however much is printed.

/// How many bytes are kept for reading.
const KEPT: usize = 16 << 10;

/// The last bytes of a stream.
#[derive(Default)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    /// More of the stream.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * KEPT {
            self.bytes.drain(..self.bytes.len() - KEPT);
            self.cut = true;
        }
    }

    /// What is kept, as text; absent when there is nothing.
    pub(crate) fn text(&self) -> Option<String> {
        let from = self.bytes.len().saturating_sub(KEPT);
        let text = String::from_utf8_lossy(&self.bytes[from..]);
        let mark = if self.cut || from > 0 { "…" } else { "" };
        (!self.bytes.is_empty()).then(|| format!("{mark}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_end_is_kept() {
        let mut tail = Tail::default();
        assert_eq!(tail.text(), None);
        for number in 0..100_000 {
            tail.push(format!("{number}\n").as_bytes());
        }
        let text = tail.text().unwrap_or_default();
        assert!(text.starts_with('…') && text.ends_with("99998\n99999\n"), "{}", &text[text.len() - 20..]);
        assert!(text.len() <= KEPT + 3 && tail.bytes.len() <= 2 * KEPT);
    }
}
