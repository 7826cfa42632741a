//! ROUGE-Lsum: each line of the reference against all lines of the hypothesis, by the union of their common
//! subsequences.

use super::RougeScore;
use super::vocabulary::Vocabulary;
use crate::ngram::Sequences;
use crate::subsequence::Subsequence;

/// Buffers that are kept between pairs.
#[derive(Default)]
pub(super) struct Summaries {
    hypothesis: Sequences,
    reference: Sequences,
    /// For each word, how often it may still be matched in each text.
    hypothesis_left: Vec<u32>,
    reference_left: Vec<u32>,
    /// For each word, where the hypothesis's lines that have it begin in `lines`.
    starts: Vec<usize>,
    lines: Vec<usize>,
    /// For each word, and for each line of the hypothesis, the last line that looked at it.
    word_seen: Vec<usize>,
    line_seen: Vec<usize>,
    matched: Vec<bool>,
}

impl Summaries {
    pub(super) fn score(
        &mut self,
        hypothesis: &str,
        reference: &str,
        vocabulary: &mut Vocabulary,
        subsequence: &mut Subsequence,
    ) -> RougeScore {
        read_lines(hypothesis, vocabulary, &mut self.hypothesis);
        read_lines(reference, vocabulary, &mut self.reference);
        let largest = vocabulary.largest();
        count_words(&self.hypothesis, largest, &mut self.hypothesis_left);
        count_words(&self.reference, largest, &mut self.reference_left);
        self.index_lines(largest);
        let mut hits = 0;
        for line in 0..self.reference.count() {
            self.unite(line, largest, subsequence);
            for (&word, _) in
                self.reference.get(line).iter().zip(&self.matched).filter(|(_, matched)| **matched)
            {
                let left = (
                    &mut self.hypothesis_left[word as usize],
                    &mut self.reference_left[word as usize],
                );
                if *left.0 > 0 && *left.1 > 0 {
                    hits += 1;
                    *left.0 -= 1;
                    *left.1 -= 1;
                }
            }
        }
        RougeScore::of(hits, self.hypothesis.open().len(), self.reference.open().len())
    }

    /// Marks the words of a reference's line that are in its common subsequence with any line of the hypothesis.
    /// Lines without a common word are passed over, and once every word that can match has matched, so are the
    /// others.
    fn unite(&mut self, line: usize, largest: u32, subsequence: &mut Subsequence) {
        let words = self.reference.get(line);
        let matched = &mut self.matched;
        matched.clear();
        matched.resize(words.len(), false);
        let (starts, lines) = (&self.starts, &self.lines);
        let lines_with = |word: usize| &lines[starts[word]..starts[word + 1]];
        let mut unmatched =
            words.iter().filter(|&&word| !lines_with(word as usize).is_empty()).count();
        for &word in words {
            let word = word as usize;
            if std::mem::replace(&mut self.word_seen[word], line) == line {
                continue;
            }
            for &other in lines_with(word) {
                if unmatched == 0 {
                    return;
                }
                if std::mem::replace(&mut self.line_seen[other], line) == line {
                    continue;
                }
                subsequence.read_back(words, self.hypothesis.get(other), largest, |position| {
                    unmatched -= usize::from(!std::mem::replace(&mut matched[position], true));
                });
            }
        }
    }

    /// Lists for each word the hypothesis's lines that have it.
    fn index_lines(&mut self, largest: u32) {
        let words = largest as usize + 1;
        reset(&mut self.starts, words + 1, 0);
        reset(&mut self.word_seen, words, usize::MAX);
        for line in 0..self.hypothesis.count() {
            for &word in self.hypothesis.get(line) {
                let first = std::mem::replace(&mut self.word_seen[word as usize], line) != line;
                self.starts[word as usize] += usize::from(first);
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        reset(&mut self.lines, sum, 0);
        reset(&mut self.word_seen, words, usize::MAX);
        for line in 0..self.hypothesis.count() {
            for &word in self.hypothesis.get(line) {
                if std::mem::replace(&mut self.word_seen[word as usize], line) != line {
                    self.starts[word as usize] -= 1;
                    self.lines[self.starts[word as usize]] = line;
                }
            }
        }
        reset(&mut self.word_seen, words, usize::MAX);
        reset(&mut self.line_seen, self.hypothesis.count(), usize::MAX);
    }
}

fn reset(values: &mut Vec<usize>, length: usize, value: usize) {
    values.clear();
    values.resize(length, value);
}

fn read_lines(text: &str, vocabulary: &mut Vocabulary, lines: &mut Sequences) {
    lines.clear();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        vocabulary.read(line, lines.open());
        lines.close();
    }
}

fn count_words(lines: &Sequences, largest: u32, counts: &mut Vec<u32>) {
    counts.clear();
    counts.resize(largest as usize + 1, 0);
    for line in 0..lines.count() {
        for &word in lines.get(line) {
            counts[word as usize] += 1;
        }
    }
}
