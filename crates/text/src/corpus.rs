//! Corpus metrics: each segment has a few numbers that can be summed, and the score is made of the sums.
//!
//! A corpus on all cores, a single sentence and ten thousand resamples are therefore one path: rows of numbers,
//! added, then scored.

use rayon::prelude::*;

use crate::signature::{Conditions, ReferenceCount};

/// How summed numbers become a score.
pub trait Aggregate: Send + Sync {
    /// How many numbers a segment has.
    fn width(&self) -> usize;

    /// The score of summed numbers.
    fn score(&self, total: &[f64]) -> f64;

    /// The precision in which resamples are summed and scored.
    fn resampling_precision(&self) -> Precision {
        Precision::Double
    }

    /// The score of numbers summed in single precision.
    fn score_single(&self, total: &[f32]) -> f64 {
        let total: Vec<f64> = total.iter().copied().map(f64::from).collect();
        self.score(&total)
    }
}

/// The precision of resampling. sacreBLEU resamples in single precision; being equal to it means rounding where it
/// rounds. Scores that are not resampled are always double.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precision {
    /// Sums and scores are double.
    Double,
    /// Sums are single, scores double.
    SingleSums,
    /// Sums and scores are single.
    Single,
}

/// A metric of hypotheses against references, over a corpus or a single segment.
pub trait CorpusMetric: Aggregate {
    /// The name with its variant, as sacreBLEU writes it: `BLEU`, `chrF2++`, `TER`.
    fn name(&self) -> String;

    /// Writes a segment's numbers into `row`, which is `width` long. A segment without references counts as having
    /// one empty reference.
    fn count(&self, hypothesis: &str, references: &[&str], row: &mut [f64]);

    /// How the score was made.
    fn signature(&self, conditions: &Conditions) -> String;

    /// Whether a lower score is a better one.
    fn lower_is_better(&self) -> bool {
        false
    }

    /// A segment's numbers.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let mut row = vec![0.0; self.width()];
        self.count(hypothesis, references, &mut row);
        row
    }

    /// The score of one segment.
    fn sentence_score(&self, hypothesis: &str, references: &[&str]) -> f64 {
        self.score(&self.statistics(hypothesis, references))
    }
}

/// A hypothesis and its references.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// The text to score.
    pub hypothesis: &'a str,
    /// What it is compared with.
    pub references: &'a [&'a str],
}

/// The numbers of all segments of a corpus, row by row.
#[derive(Clone, PartialEq, Debug)]
pub struct Statistics {
    width: usize,
    rows: Vec<f64>,
}

impl Statistics {
    /// Counts all segments, on all cores.
    pub fn of(metric: &(impl CorpusMetric + ?Sized), segments: &[Segment<'_>]) -> Self {
        let width = metric.width();
        let mut rows = vec![0.0; width * segments.len()];
        rows.par_chunks_mut(width)
            .zip(segments)
            .with_min_len(64)
            .for_each(|(row, segment)| metric.count(segment.hypothesis, segment.references, row));
        Self { width, rows }
    }

    /// Rows that were counted before, one after another. What is left over at the end is no row.
    pub fn from_rows(width: usize, mut rows: Vec<f64>) -> Self {
        let width = width.max(1);
        rows.truncate(rows.len() / width * width);
        Self { width, rows }
    }

    /// A score for each segment, made on all cores, to be averaged by [`Mean`].
    pub fn of_each(
        segments: &[Segment<'_>],
        score: impl Fn(&Segment<'_>) -> f64 + Send + Sync,
    ) -> Self {
        let scores: Vec<f64> = segments.par_iter().with_min_len(64).map(score).collect();
        Self::of_scores(&scores)
    }

    /// A score for each segment, to be averaged by [`Mean`].
    pub fn of_scores(scores: &[f64]) -> Self {
        Self { width: Mean.width(), rows: scores.iter().flat_map(|&score| [score, 1.0]).collect() }
    }

    /// How many segments there are.
    pub fn len(&self) -> usize {
        self.rows.len() / self.width
    }

    /// Whether there is no segment.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many numbers a segment has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Each segment's numbers.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width)
    }

    /// A segment's numbers.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.rows[index * self.width..(index + 1) * self.width]
    }

    /// The sums over all segments.
    pub fn total(&self) -> Vec<f64> {
        let mut total = vec![0.0; self.width];
        for row in self.rows() {
            add(&mut total, row);
        }
        total
    }
}

/// Adds a row to a total.
pub fn add(total: &mut [f64], row: &[f64]) {
    for (sum, number) in total.iter_mut().zip(row) {
        *sum += number;
    }
}

/// The number of references of a corpus, for its signature.
pub fn reference_count(segments: &[Segment<'_>]) -> ReferenceCount {
    ReferenceCount::of(segments.iter().map(|segment| segment.references.len()))
}

/// The mean of the scores of segments, for metrics such as ROUGE that are averaged.
#[derive(Clone, Copy, Debug)]
pub struct Mean;

impl Aggregate for Mean {
    fn width(&self) -> usize {
        2
    }

    fn score(&self, total: &[f64]) -> f64 {
        let (sum, count) = (total[0], total[1]);
        if count > 0.0 { sum / count } else { 0.0 }
    }
}
