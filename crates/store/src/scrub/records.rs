//! Records without what is to be taken out of their texts.

use std::borrow::Cow;

use fullbench_types::{Generation, Score, UnitFailure};

use super::Scrubber;
use crate::DatasetVersion;

impl Scrubber {
    /// An answer. Where something was taken out, its tokens and the provider's reply are left out too: they hold it in pieces.
    pub(crate) fn generation<'record>(
        &self,
        generation: &'record Generation,
    ) -> Cow<'record, Generation> {
        if self.is_idle() {
            return Cow::Borrowed(generation);
        }
        let mut scrubbed = generation.clone();
        self.change(&mut scrubbed.text);
        scrubbed.alternatives.iter_mut().for_each(|text| self.change(text));
        if (&scrubbed.text, &scrubbed.alternatives) != (&generation.text, &generation.alternatives)
        {
            scrubbed.logprobs = None;
            scrubbed.raw = None;
        }
        if let Some(raw) = &mut scrubbed.raw {
            self.change_json(raw);
        }
        Cow::Owned(scrubbed)
    }

    /// A failure.
    pub(crate) fn failure<'record>(
        &self,
        failure: &'record UnitFailure,
    ) -> Cow<'record, UnitFailure> {
        match self.text(&failure.message) {
            Cow::Borrowed(_) => Cow::Borrowed(failure),
            Cow::Owned(message) => Cow::Owned(UnitFailure { message, ..failure.clone() }),
        }
    }

    /// A score: its reasons, its evidence, and what a judge was asked and said.
    pub(crate) fn score<'record>(&self, score: &'record Score) -> Cow<'record, Score> {
        if self.is_idle() {
            return Cow::Borrowed(score);
        }
        let mut scrubbed = score.clone();
        scrubbed.reasoning.iter_mut().for_each(|text| self.change(text));
        scrubbed.evidence.iter_mut().for_each(|value| self.change_value(value));
        if let Some(judgement) = &mut scrubbed.judgement {
            self.change(&mut judgement.prompt);
            for reply in &mut judgement.replies {
                self.change(&mut reply.text);
                reply.problem.iter_mut().for_each(|text| self.change(text));
            }
        }
        Cow::Owned(scrubbed)
    }

    /// Cases that are kept with their data set. The hash stays that of what was sent: it is their name.
    pub(crate) fn content<'record>(
        &self,
        content: &'record DatasetVersion,
    ) -> Cow<'record, DatasetVersion> {
        if self.is_idle() {
            return Cow::Borrowed(content);
        }
        let mut scrubbed = content.clone();
        let fields = scrubbed.inline.iter_mut().flat_map(|case| case.fields.values_mut());
        fields.for_each(|value| self.change_value(value));
        Cow::Owned(scrubbed)
    }
}
