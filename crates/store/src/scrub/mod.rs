//! Takes out of texts what nobody wants to find in a database: addresses, numbers of phones and cards, keys.
//!
//! Pure functions on texts. What is found is replaced by a word in brackets, so that a reader sees that something was there.
//! Doubtful cases are left alone: a date, an id or the number of an answer must stay what it is.

mod cards;
mod digits;
mod phones;
mod records;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use fullbench_types::ScrubKind;
use regex::Regex;
use serde_json::Value;

/// Takes some kinds of things out of texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Scrubber {
    kinds: Vec<ScrubKind>,
}

impl Scrubber {
    pub(crate) fn new(kinds: &[ScrubKind]) -> Self {
        let mut kinds = kinds.to_vec();
        // Keys first: what is in one is nothing else.
        kinds.sort_unstable();
        kinds.dedup();
        Self { kinds }
    }

    /// Nothing is taken out.
    pub(crate) fn is_idle(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The text without what is to be taken out.
    pub(crate) fn text<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let mut scrubbed = Cow::Borrowed(text);
        for kind in &self.kinds {
            let found = match kind {
                ScrubKind::Key => matches(&KEYS, &scrubbed),
                ScrubKind::Email => matches(&EMAILS, &scrubbed),
                ScrubKind::Card => cards::find(&scrubbed),
                ScrubKind::Phone => phones::find(&scrubbed),
            };
            if !found.is_empty() {
                scrubbed = Cow::Owned(replaced(&scrubbed, &found, *kind));
            }
        }
        scrubbed
    }

    /// Changes a text that is owned.
    pub(crate) fn change(&self, text: &mut String) {
        if let Cow::Owned(scrubbed) = self.text(text) {
            *text = scrubbed;
        }
    }

    /// Changes all texts in a value; names of fields and numbers stay.
    pub(crate) fn change_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.change(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.change_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|inner| self.change_value(inner)),
            _ => {}
        }
    }

    /// Changes all texts in a text of JSON; what is no JSON is a text.
    pub(crate) fn change_json(&self, json: &mut String) {
        match serde_json::from_str::<Value>(json) {
            Ok(before) => {
                let mut value = before.clone();
                self.change_value(&mut value);
                if value != before {
                    *json = value.to_string();
                }
            }
            Err(_) => self.change(json),
        }
    }
}

fn replaced(text: &str, found: &[Range<usize>], kind: ScrubKind) -> String {
    let mut scrubbed = String::with_capacity(text.len());
    let mut end = 0;
    for range in found {
        scrubbed.push_str(&text[end..range.start]);
        scrubbed.push('[');
        scrubbed.push_str(kind.as_str());
        scrubbed.push(']');
        end = range.end;
    }
    scrubbed.push_str(&text[end..]);
    scrubbed
}

fn matches(pattern: &Option<Regex>, text: &str) -> Vec<Range<usize>> {
    pattern.iter().flat_map(|pattern| pattern.find_iter(text)).map(|found| found.range()).collect()
}

/// Addresses as people have them: no quotes, no bare names of machines.
static EMAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[\p{L}\p{N}_][\p{L}\p{N}._%+'-]*@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,24}\b").ok()
});

/// Keys and tokens, by what those who give them out let them begin with.
static KEYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let kinds = [
        r"sk-[A-Za-z0-9_-]{16,}",
        r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
        r"xai-[A-Za-z0-9]{20,}",
        r"AIza[A-Za-z0-9_-]{35}",
        r"ya29\.[A-Za-z0-9_-]{20,}",
        r"(?:AKIA|ASIA)[A-Z0-9]{16}\b",
        r"gh[pousr]_[A-Za-z0-9]{36,}",
        r"github_pat_[A-Za-z0-9_]{22,}",
        r"glpat-[A-Za-z0-9_-]{20,}",
        r"hf_[A-Za-z0-9]{30,}",
        r"npm_[A-Za-z0-9]{36}\b",
        r"xox[abeprs]-[A-Za-z0-9-]{10,}",
        r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
        r"whsec_[A-Za-z0-9+/]{24,}={0,2}",
        r"fb_[A-Za-z0-9_-]{24,}",
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    ];
    let block = r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.)*?-----END [A-Z ]*PRIVATE KEY-----";
    Regex::new(&format!(r"\b(?:{})|{block}", kinds.join("|"))).ok()
});

#[cfg(test)]
mod tests;
