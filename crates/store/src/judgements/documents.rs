//! What several judges gave to the same documents, and how hard documents are.
//!
//! A document is a case together with an output: two models that answer a case alike have written the same one.

use std::collections::{BTreeMap, HashMap};

use fullbench_stats::Moments;
use fullbench_types::{ContentHash, RunId, UnitKey};

use super::rows::Read;
use super::{JudgeKey, JudgedBy, JudgementFilter};
use crate::{ScopedStore, StoreError};

/// A case and an output that was judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedDocument {
    /// Hash of case key and output.
    pub hash: ContentHash,
    /// The identity of its case.
    pub case_key: String,
    /// A run it is in.
    pub run: RunId,
    /// The unit of the run whose output it is.
    pub unit: UnitKey,
}

/// What one judge gave to one document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DocumentScore {
    /// Position among the documents.
    pub document: u32,
    /// Position among the judges.
    pub judge: u32,
    /// The mean of the values it gave, from 0 to 1.
    pub value: f64,
    /// How many times it judged the document.
    pub judgements: u64,
}

/// What judges gave to documents: one row for each pair of them that has a value.
#[derive(Debug, Clone, Default)]
pub struct DocumentScores {
    /// The documents, by case key.
    pub documents: Vec<JudgedDocument>,
    /// The judges, by name.
    pub judges: Vec<JudgedBy>,
    /// The values, by document and judge.
    pub scores: Vec<DocumentScore>,
}

/// How judges find a document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentDifficulty {
    /// The document.
    pub document: JudgedDocument,
    /// The mean over judges, from 0 to 1.
    pub mean: f64,
    /// The standard deviation between judges; none for one judge.
    pub spread: Option<f64>,
    /// Judges that gave a value.
    pub judges: u64,
}

impl ScopedStore {
    /// What judges gave to documents, for statistics of agreement. Values of different criteria do not agree and need not, so
    /// give one in the filter. Memory grows with the pairs of a document and a judge, since that is the answer.
    pub async fn document_scores(
        &self,
        filter: &JudgementFilter,
    ) -> Result<DocumentScores, StoreError> {
        let mut documents: HashMap<ContentHash, JudgedDocument> = HashMap::new();
        let mut judges: HashMap<JudgeKey, JudgedBy> = HashMap::new();
        let mut values: HashMap<(ContentHash, JudgeKey), Moments> = HashMap::new();
        self.each_judgement(filter, Read::WithTexts, |row| {
            let (Some(value), Some((case_key, text))) = (row.value, row.judged) else { return };
            let hash = ContentHash::of_parts(&[case_key.as_bytes(), text.as_bytes()]);
            values.entry((hash, row.by.key)).or_default().add(value);
            judges.entry(row.by.key).or_insert(row.by);
            let (run, unit) = (row.run, row.unit);
            let document = JudgedDocument { hash, case_key, run, unit };
            let first = documents.entry(hash).or_insert_with(|| document.clone());
            if (run, unit) < (first.run, first.unit) {
                *first = document;
            }
        })
        .await?;

        let mut documents: Vec<JudgedDocument> = documents.into_values().collect();
        documents.sort_by(|a, b| (&a.case_key, a.hash).cmp(&(&b.case_key, b.hash)));
        let mut judges: Vec<JudgedBy> = judges.into_values().collect();
        judges.sort_by_cached_key(JudgedBy::position);
        let document_at = positions(documents.iter().map(|document| document.hash));
        let judge_at = positions(judges.iter().map(|judge| judge.key));
        let mut scores: Vec<DocumentScore> = values
            .into_iter()
            .filter_map(|((document, judge), moments)| {
                Some(DocumentScore {
                    document: *document_at.get(&document)?,
                    judge: *judge_at.get(&judge)?,
                    value: moments.mean().ok()?,
                    judgements: moments.count(),
                })
            })
            .collect();
        scores.sort_by_key(|score| (score.document, score.judge));
        Ok(DocumentScores { documents, judges, scores })
    }

    /// The hardest documents: those with the lowest mean over judges, of equal ones those on which judges differ most.
    pub async fn document_difficulty(
        &self,
        filter: &JudgementFilter,
        limit: usize,
    ) -> Result<Vec<DocumentDifficulty>, StoreError> {
        let DocumentScores { documents, scores, .. } = self.document_scores(filter).await?;
        let mut by_document: BTreeMap<u32, Moments> = BTreeMap::new();
        for score in scores {
            by_document.entry(score.document).or_default().add(score.value);
        }
        let mut difficulties: Vec<DocumentDifficulty> = documents
            .into_iter()
            .zip(by_document.into_values())
            .filter_map(|(document, values)| {
                Some(DocumentDifficulty {
                    document,
                    mean: values.mean().ok()?,
                    spread: values.variance().ok().map(f64::sqrt),
                    judges: values.count(),
                })
            })
            .collect();
        difficulties.sort_by(|a, b| {
            let spread = |one: &DocumentDifficulty| one.spread.unwrap_or_default();
            a.mean.total_cmp(&b.mean).then(spread(b).total_cmp(&spread(a)))
        });
        difficulties.truncate(limit);
        Ok(difficulties)
    }
}

fn positions<K: Eq + std::hash::Hash>(keys: impl Iterator<Item = K>) -> HashMap<K, u32> {
    keys.zip(0..).collect()
}
