//! Cases that say nearly the same: inside one data set, and between two.

use std::collections::{BTreeMap, HashMap};

use fullbench_embed::{EmbedError, Embedding, visit_neighbours};
use serde::Serialize;

use super::CaseText;

/// Cases of the other data set that are told of a leaked one.
const MOST_SOURCES: usize = 3;

/// Cases of one data set that are linked by saying nearly the same. Some of them may be less alike, where others lie
/// between them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DuplicateGroup {
    /// Its cases in the order of the file.
    pub cases: Vec<Duplicate>,
}

/// A case of a group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Duplicate {
    /// The case.
    #[serde(flatten)]
    pub case: CaseText,
    /// The largest cosine to another case of the group; 1 for the same text.
    pub cosine: f64,
    /// Another case has the very same text, but for space.
    pub exact: bool,
    /// An earlier case that stays says the same or nearly the same, as far as that can be told.
    pub redundant: bool,
    /// The text is longer than the model reads: only its beginning was compared.
    pub truncated: bool,
}

/// A case that is nearly in another data set as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leak {
    /// The case.
    #[serde(flatten)]
    pub case: CaseText,
    /// The nearest cases of the other data set: those with the very same text first, then nearest first.
    pub sources: Vec<LeakSource>,
}

/// A case of the other data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeakSource {
    /// The case.
    #[serde(flatten)]
    pub case: CaseText,
    /// The cosine; 1 for the same text.
    pub cosine: f64,
    /// Both have the very same text, but for space.
    pub exact: bool,
    /// One of the texts is longer than the model reads: only its beginning was compared.
    pub truncated: bool,
}

/// Texts of a data set, each distinct one once, with the cases that have it.
#[derive(Debug, Default)]
pub struct DistinctTexts<'cases> {
    texts: Vec<String>,
    places: HashMap<String, usize>,
    /// The cases of each text with their places in the file.
    cases: Vec<Vec<(usize, &'cases CaseText)>>,
}

impl<'cases> DistinctTexts<'cases> {
    /// Takes cases together whose texts are the same but for space.
    #[must_use]
    pub fn of(cases: &'cases [CaseText]) -> Self {
        let mut distinct = Self::default();
        for (index, case) in cases.iter().enumerate() {
            let text = case.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = *distinct.places.entry(text).or_insert_with_key(|text| {
                distinct.texts.push(text.clone());
                distinct.cases.push(Vec::new());
                distinct.texts.len() - 1
            });
            distinct.cases[place].push((index, case));
        }
        distinct
    }

    /// The texts, whose embeddings are asked for below.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Groups of cases linked by a cosine of at least `threshold`, in the order of the file.
    ///
    /// # Errors
    /// When the vectors do not fit together.
    pub fn groups(
        &self,
        embeddings: &[Embedding],
        threshold: f64,
    ) -> Result<Vec<DuplicateGroup>, EmbedError> {
        let mut links = Links::new(self.texts.len());
        let mut nearest = vec![-1.0; self.texts.len()];
        let mut stays = vec![true; self.texts.len()];
        visit_neighbours(&vectors(embeddings), None, threshold, |place, near| {
            near.iter().for_each(|other| links.join(place, other.place));
            nearest[place] = near.first().map_or(-1.0, |other| other.cosine);
            let is_said = near.iter().any(|other| other.place < place && stays[other.place]);
            // Of a text that was cut nobody knows how it goes on.
            stays[place] = embeddings[place].truncated || !is_said;
        })?;
        let mut members: BTreeMap<usize, Vec<(usize, Duplicate)>> = BTreeMap::new();
        for (place, cases) in self.cases.iter().enumerate() {
            let exact = cases.len() > 1;
            let group = members.entry(links.first_of(place)).or_default();
            for (copy, (index, case)) in cases.iter().enumerate() {
                let duplicate = Duplicate {
                    case: (*case).clone(),
                    cosine: if exact { 1.0 } else { nearest[place] },
                    exact,
                    redundant: copy > 0 || !stays[place],
                    truncated: embeddings[place].truncated,
                };
                group.push((*index, duplicate));
            }
        }
        let groups = members.into_values().filter(|cases| cases.len() > 1).map(|mut cases| {
            cases.sort_by_key(|(index, _)| *index);
            DuplicateGroup { cases: cases.into_iter().map(|(_, duplicate)| duplicate).collect() }
        });
        Ok(groups.collect())
    }

    /// Cases whose cosine to one of another data set is at least `threshold`, in the order of the file.
    ///
    /// # Errors
    /// When the vectors do not fit together.
    pub fn leaks(
        &self,
        embeddings: &[Embedding],
        others: &DistinctTexts<'_>,
        other_embeddings: &[Embedding],
        threshold: f64,
    ) -> Result<Vec<Leak>, EmbedError> {
        let mut leaks = Vec::new();
        let other_vectors = vectors(other_embeddings);
        visit_neighbours(&vectors(embeddings), Some(&other_vectors), threshold, |place, near| {
            let same = others.places.get(&self.texts[place]).copied();
            let near = near.iter().filter(|other| Some(other.place) != same);
            let near = near.map(|other| (other.place, other.cosine));
            let mut sources = Vec::new();
            for (other, cosine) in same.map(|other| (other, 1.0)).into_iter().chain(near) {
                let exact = same == Some(other);
                let truncated =
                    !exact && (embeddings[place].truncated || other_embeddings[other].truncated);
                sources.extend(others.cases[other].iter().map(|(_, case)| LeakSource {
                    case: (*case).clone(),
                    cosine,
                    exact,
                    truncated,
                }));
                if sources.len() >= MOST_SOURCES {
                    break;
                }
            }
            sources.truncate(MOST_SOURCES);
            if !sources.is_empty() {
                leaks.extend(self.cases[place].iter().map(|(index, case)| {
                    (*index, Leak { case: (*case).clone(), sources: sources.clone() })
                }));
            }
        })?;
        leaks.sort_by_key(|(index, _)| *index);
        Ok(leaks.into_iter().map(|(_, leak)| leak).collect())
    }
}

fn vectors(embeddings: &[Embedding]) -> Vec<&[f32]> {
    embeddings.iter().map(|embedding| embedding.vector.as_slice()).collect()
}

/// Which texts are linked, directly or by others: a forest whose roots are the first texts.
struct Links(Vec<usize>);

impl Links {
    fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    fn first_of(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.first_of(left), self.first_of(right));
        self.0[left.max(right)] = left.min(right);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn cases(texts: &[&str]) -> Vec<CaseText> {
        let case = |(index, text): (usize, &&str)| CaseText {
            id: format!("c{index}"),
            line: None,
            text: (*text).to_owned(),
        };
        texts.iter().enumerate().map(case).collect()
    }

    /// Texts as vectors on a circle, by the number of degrees they name.
    fn embeddings(distinct: &DistinctTexts<'_>) -> Vec<Embedding> {
        let degrees = |text: &String| text.parse::<f32>().unwrap().to_radians();
        let angles = distinct.texts().iter().map(degrees);
        angles
            .map(|angle| Embedding { vector: vec![angle.cos(), angle.sin()], truncated: false })
            .collect()
    }

    fn ids<'group>(cases: impl Iterator<Item = &'group Duplicate>) -> Vec<&'group str> {
        cases.map(|duplicate| duplicate.case.id.as_str()).collect()
    }

    #[test]
    fn groups_are_linked_texts_and_copies() {
        let cases = cases(&["0", "90", "5", "180", " 90 ", "10", "270"]);
        let distinct = DistinctTexts::of(&cases);
        assert_eq!(distinct.texts(), ["0", "90", "5", "180", "10", "270"]);
        let groups = distinct.groups(&embeddings(&distinct), 0.99).unwrap();
        assert_eq!(groups.len(), 2);
        assert_eq!(ids(groups[0].cases.iter()), ["c0", "c2", "c5"]);
        assert_eq!(ids(groups[1].cases.iter()), ["c1", "c4"]);
        assert!(groups[1].cases.iter().all(|duplicate| duplicate.exact && duplicate.cosine == 1.0));
        let degrees = 5.0_f64.to_radians().cos();
        assert!((groups[0].cases[0].cosine - degrees).abs() < 1e-6);
        // The last of the chain is too far from the first to go for it.
        let redundant = groups.iter().flat_map(|group| &group.cases).filter(|case| case.redundant);
        assert_eq!(ids(redundant), ["c2", "c4"]);
    }

    #[test]
    fn a_text_that_was_cut_stays() {
        let cases = cases(&["0", "1"]);
        let distinct = DistinctTexts::of(&cases);
        let mut embedded = embeddings(&distinct);
        embedded[1].truncated = true;
        let groups = distinct.groups(&embedded, 0.99).unwrap();
        assert!(groups[0].cases[1].truncated && !groups[0].cases[1].redundant);
    }

    #[test]
    fn leaks_name_the_same_text_first_then_the_nearest_of_the_other_set() {
        let (test, train) =
            (cases(&["0", "45", "0"]), cases(&["50", "4", "200", "2", "1", "0.5", "0"]));
        let (test, train) = (DistinctTexts::of(&test), DistinctTexts::of(&train));
        let leaks = test.leaks(&embeddings(&test), &train, &embeddings(&train), 0.997).unwrap();
        assert_eq!(leaks.len(), 2);
        let sources: Vec<&str> =
            leaks[0].sources.iter().map(|source| source.case.id.as_str()).collect();
        assert_eq!(sources, ["c6", "c5", "c4"]);
        assert!(leaks[0].sources[0].exact && !leaks[0].sources[1].exact);
    }
}
