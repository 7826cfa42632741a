//! Shifts: moving a run of words to another place counts as one edit. The best shift is taken again and again,
//! while one helps.

use std::cmp::Reverse;

use super::beam::{Beam, Edit};

const MAX_SHIFT_SIZE: usize = 10;
const MAX_SHIFT_DISTANCE: usize = 50;
const MAX_SHIFT_CANDIDATES: usize = 1000;

/// The number of edits and shifts that make the hypothesis into the reference, as far as the search finds them.
pub(super) fn edits(hypothesis: &[u32], reference: &[u32]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let mut beam = Beam::new(hypothesis, reference);
    let (mut shifts, mut tried) = (0, 0);
    loop {
        let best = best_shift(&mut beam, reference, &mut tried);
        if tried >= MAX_SHIFT_CANDIDATES {
            break;
        }
        match best {
            Some((gain, words)) if gain > 0 => beam.set(&words),
            _ => break,
        }
        shifts += 1;
    }
    shifts + beam.distance() as usize
}

/// How the two texts lie beside each other.
struct Alignment {
    /// For each word of the reference, the hypothesis's word at or before it; -1 is before the first.
    place: Vec<i64>,
    reference_wrong: Vec<bool>,
    hypothesis_wrong: Vec<bool>,
}

impl Alignment {
    fn of(trace: &[Edit]) -> Self {
        let mut alignment =
            Self { place: Vec::new(), reference_wrong: Vec::new(), hypothesis_wrong: Vec::new() };
        let mut place = -1;
        for edit in trace {
            let wrong = *edit != Edit::Keep;
            if *edit != Edit::Insert {
                place += 1;
                alignment.hypothesis_wrong.push(wrong);
            }
            if *edit != Edit::Delete {
                alignment.place.push(place);
                alignment.reference_wrong.push(wrong);
            }
        }
        alignment
    }
}

/// What makes a shift better than another: gain, length, and start and target as early as possible.
type Rank = (i64, usize, Reverse<(usize, usize)>);

/// A run of words that both texts have at different places.
#[derive(Clone, Copy)]
struct Run {
    hypothesis: usize,
    reference: usize,
    length: usize,
}

/// The shift that lowers the distance most; of equal ones the longest, then the earliest run, then the earliest
/// target. Gives how much it gains, and the shifted words.
fn best_shift(
    beam: &mut Beam<'_>,
    reference: &[u32],
    tried: &mut usize,
) -> Option<(i64, Vec<u32>)> {
    let distance = i64::from(beam.distance());
    let alignment = Alignment::of(&beam.trace());
    let hypothesis = beam.hypothesis().to_vec();
    let mut best: Option<Rank> = None;
    let mut shifted = Vec::with_capacity(hypothesis.len());
    for_each_run(&hypothesis, reference, |run| {
        if !worth_trying(run, &alignment) {
            return true;
        }
        let mut previous = None;
        for index in run.reference..=run.reference + run.length {
            // The place before the reference's word `index`.
            let target = match index.checked_sub(1) {
                None => 0,
                Some(before) => match alignment.place.get(before) {
                    Some(place) => (place + 1) as usize,
                    None => break,
                },
            };
            if previous.replace(target) == Some(target) {
                continue;
            }
            shift(&hypothesis, run, target, &mut shifted);
            let gain = distance - i64::from(beam.distance_of(&shifted));
            *tried += 1;
            let candidate = (gain, run.length, Reverse((run.hypothesis, target)));
            if best.is_none_or(|best| candidate > best) {
                best = Some(candidate);
            }
        }
        *tried < MAX_SHIFT_CANDIDATES
    });
    let (gain, length, Reverse((start, target))) = best?;
    shift(&hypothesis, Run { hypothesis: start, reference: 0, length }, target, &mut shifted);
    Some((gain, shifted))
}

/// A run is moved only when something is wrong where it is and where it would go, and when that is another place.
fn worth_trying(run: Run, alignment: &Alignment) -> bool {
    let Run { hypothesis, reference, length } = run;
    let place = alignment.place[reference];
    alignment.hypothesis_wrong[hypothesis..hypothesis + length].contains(&true)
        && alignment.reference_wrong[reference..reference + length].contains(&true)
        && !(hypothesis as i64..(hypothesis + length) as i64).contains(&place)
}

/// Gives all runs, until told to stop.
fn for_each_run(hypothesis: &[u32], reference: &[u32], mut found: impl FnMut(Run) -> bool) {
    for start in 0..hypothesis.len() {
        let last = (start + MAX_SHIFT_DISTANCE + 1).min(reference.len());
        for other in start.saturating_sub(MAX_SHIFT_DISTANCE)..last {
            let pairs = hypothesis[start..].iter().zip(&reference[other..]).take(MAX_SHIFT_SIZE);
            let longest = pairs.take_while(|(left, right)| left == right).count();
            for length in 1..=longest {
                if !found(Run { hypothesis: start, reference: other, length }) {
                    return;
                }
            }
        }
    }
}

/// Writes the words with a run moved to before `target`; a target within the run moves it on by as much.
fn shift(words: &[u32], run: Run, target: usize, shifted: &mut Vec<u32>) {
    let (start, end) = (run.hypothesis, run.hypothesis + run.length);
    shifted.clear();
    if target < start {
        shifted.extend_from_slice(&words[..target]);
        shifted.extend_from_slice(&words[start..end]);
        shifted.extend_from_slice(&words[target..start]);
        shifted.extend_from_slice(&words[end..]);
    } else {
        let target = if target > end { target } else { (target + run.length).min(words.len()) };
        shifted.extend_from_slice(&words[..start]);
        shifted.extend_from_slice(&words[end..target]);
        shifted.extend_from_slice(&words[start..end]);
        shifted.extend_from_slice(&words[target..]);
    }
}
