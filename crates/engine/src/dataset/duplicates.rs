//! Cases that say nearly the same: inside one data set, and between two.

use std::collections::{BTreeMap, HashMap};

use fullbench_embed::{EmbedError, Neighbour, neighbours};
use serde::Serialize;

use super::CaseText;

/// Neighbours that are kept of each text: enough to hold a group together.
const MOST_NEIGHBOURS: usize = 32;
/// Cases of the other data set that are told of a leaked one.
const MOST_SOURCES: usize = 3;

/// Cases of one data set that say nearly the same.
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
}

/// A case that is nearly in another data set as well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leak {
    /// The case.
    #[serde(flatten)]
    pub case: CaseText,
    /// The nearest cases of the other data set, nearest first.
    pub sources: Vec<Duplicate>,
}

/// Texts of a data set, each distinct one once, with the cases that have it.
#[derive(Debug)]
pub struct DistinctTexts<'cases> {
    texts: Vec<String>,
    cases: Vec<Vec<&'cases CaseText>>,
}

impl<'cases> DistinctTexts<'cases> {
    /// Takes cases together whose texts are the same but for space.
    #[must_use]
    pub fn of(cases: &'cases [CaseText]) -> Self {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut distinct = Self { texts: Vec::new(), cases: Vec::new() };
        for case in cases {
            let text = case.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let place = *places.entry(text).or_insert_with_key(|text| {
                distinct.texts.push(text.clone());
                distinct.cases.push(Vec::new());
                distinct.texts.len() - 1
            });
            distinct.cases[place].push(case);
        }
        distinct
    }

    /// The texts, whose embeddings are asked for below.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Groups of cases linked by a cosine of at least `threshold`, in the order of the file. A group may hold cases
    /// that are less alike, where others lie between them.
    ///
    /// # Errors
    /// When the vectors do not fit together.
    pub fn groups(
        &self,
        vectors: &[Vec<f32>],
        threshold: f64,
    ) -> Result<Vec<DuplicateGroup>, EmbedError> {
        let near = neighbours(vectors, None, threshold, MOST_NEIGHBOURS)?;
        let mut links = Links::new(self.texts.len());
        for (place, found) in near.iter().enumerate() {
            found.iter().for_each(|other| links.join(place, other.place));
        }
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for place in 0..self.texts.len() {
            members.entry(links.first_of(place)).or_default().push(place);
        }
        let groups = members.into_values().filter_map(|places| {
            let count: usize = places.iter().map(|place| self.cases[*place].len()).sum();
            let of_text = |place: &usize| {
                let exact = self.cases[*place].len() > 1;
                let nearest = near[*place].first().map_or(-1.0, |other| other.cosine);
                let cosine = if exact { 1.0 } else { nearest };
                self.cases[*place].iter().map(move |case| Duplicate {
                    case: (*case).clone(),
                    cosine,
                    exact,
                })
            };
            (count > 1).then(|| DuplicateGroup { cases: places.iter().flat_map(of_text).collect() })
        });
        Ok(groups.collect())
    }

    /// Cases whose cosine to one of another data set is at least `threshold`, in the order of the file.
    ///
    /// # Errors
    /// When the vectors do not fit together.
    pub fn leaks(
        &self,
        vectors: &[Vec<f32>],
        others: &DistinctTexts<'_>,
        other_vectors: &[Vec<f32>],
        threshold: f64,
    ) -> Result<Vec<Leak>, EmbedError> {
        let near = neighbours(vectors, Some(other_vectors), threshold, MOST_SOURCES)?;
        let mut leaks = Vec::new();
        for ((text, cases), found) in self.texts.iter().zip(&self.cases).zip(&near) {
            let source = |neighbour: &Neighbour| {
                let exact = others.texts[neighbour.place] == *text;
                let cosine = if exact { 1.0 } else { neighbour.cosine };
                let cases = others.cases[neighbour.place].iter();
                cases.map(move |case| Duplicate { case: (*case).clone(), cosine, exact })
            };
            let sources: Vec<Duplicate> =
                found.iter().flat_map(source).take(MOST_SOURCES).collect();
            if !sources.is_empty() {
                leaks.extend(
                    cases
                        .iter()
                        .map(|case| Leak { case: (*case).clone(), sources: sources.clone() }),
                );
            }
        }
        Ok(leaks)
    }
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
    fn vectors(distinct: &DistinctTexts<'_>) -> Vec<Vec<f32>> {
        let degrees = |text: &String| text.parse::<f32>().unwrap().to_radians();
        distinct.texts().iter().map(degrees).map(|angle| vec![angle.cos(), angle.sin()]).collect()
    }

    #[test]
    fn groups_are_linked_texts_and_copies() {
        let cases = cases(&["0", "90", "5", "180", " 90 ", "10", "270"]);
        let distinct = DistinctTexts::of(&cases);
        assert_eq!(distinct.texts(), ["0", "90", "5", "180", "10", "270"]);
        let groups = distinct.groups(&vectors(&distinct), 0.99).unwrap();
        let ids = |group: &DuplicateGroup| -> Vec<String> {
            group.cases.iter().map(|duplicate| duplicate.case.id.clone()).collect()
        };
        assert_eq!(
            groups.iter().map(ids).collect::<Vec<_>>(),
            [vec!["c0", "c2", "c5"], vec!["c1", "c4"]]
        );
        assert!(groups[1].cases.iter().all(|duplicate| duplicate.exact && duplicate.cosine == 1.0));
        let degrees = 5.0_f64.to_radians().cos();
        assert!((groups[0].cases[0].cosine - degrees).abs() < 1e-6);
    }

    #[test]
    fn leaks_name_the_nearest_of_the_other_set() {
        let (test, train) = (cases(&["0", "45", "0"]), cases(&["50", "4", "200", "2", "0"]));
        let (test, train) = (DistinctTexts::of(&test), DistinctTexts::of(&train));
        let leaks = test.leaks(&vectors(&test), &train, &vectors(&train), 0.997).unwrap();
        assert_eq!(leaks.len(), 2);
        let sources: Vec<&str> =
            leaks[0].sources.iter().map(|source| source.case.id.as_str()).collect();
        assert_eq!(sources, ["c4", "c3", "c1"]);
        assert!(leaks[0].sources[0].exact && !leaks[0].sources[1].exact);
    }
}
