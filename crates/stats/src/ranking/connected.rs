//! Who can be compared with whom.

use super::cells::{Cells, HIGH_WINS, LOW_WINS, TIE, Tally};
use crate::Undefined;

/// Refuses players that no chain of duels connects, naming the groups.
pub(super) fn check_connected(cells: &Cells, tallies: &[Tally]) -> Result<(), Undefined> {
    let mut root: Vec<usize> = (0..cells.players).collect();
    for (meeting, tally) in cells.meetings.iter().zip(tallies) {
        if tally.iter().sum::<f64>() > 0.0 {
            let low = root_of(&mut root, meeting.low as usize);
            let high = root_of(&mut root, meeting.high as usize);
            root[low.max(high)] = low.min(high);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); cells.players];
    for player in 0..cells.players {
        groups[root_of(&mut root, player)].push(player);
    }
    groups.retain(|group| !group.is_empty());
    if groups.len() == 1 {
        return Ok(());
    }
    groups.sort_by_key(Vec::len);
    Err(Undefined::Disconnected { groups })
}

fn root_of(root: &mut [usize], player: usize) -> usize {
    let mut top = player;
    while root[top] != top {
        root[top] = root[root[top]];
        top = root[top];
    }
    top
}

/// The players who won, lost or tied against whom, as sets of bits; reused from round to round.
#[derive(Debug, Clone, Default)]
pub(super) struct WinGraph {
    words: usize,
    beaten: Vec<u64>,
    beaten_by: Vec<u64>,
}

impl WinGraph {
    /// Refuses duels in which one set of players never lost a point to the others: then no finite strengths fit best (Ford
    /// 1957). A tie is half a point for each.
    pub(super) fn check(&mut self, cells: &Cells, tallies: &[Tally]) -> Result<(), Undefined> {
        let words = cells.players.div_ceil(64);
        self.words = words;
        for bits in [&mut self.beaten, &mut self.beaten_by] {
            bits.clear();
            bits.resize(cells.players * words, 0);
        }
        for (meeting, tally) in cells.meetings.iter().zip(tallies) {
            let (low, high) = (meeting.low as usize, meeting.high as usize);
            if tally[LOW_WINS] + tally[TIE] > 0.0 {
                self.beaten[low * words + high / 64] |= 1 << (high % 64);
                self.beaten_by[high * words + low / 64] |= 1 << (low % 64);
            }
            if tally[HIGH_WINS] + tally[TIE] > 0.0 {
                self.beaten[high * words + low / 64] |= 1 << (low % 64);
                self.beaten_by[low * words + high / 64] |= 1 << (high % 64);
            }
        }
        // Nobody whom player 0 reaches by wins has a point against the rest; the rest has none against those who reach player 0.
        let (below, above) = self.reach(&self.beaten, cells.players);
        if !above.is_empty() {
            return Err(Undefined::Separated { above, below });
        }
        let (above, below) = self.reach(&self.beaten_by, cells.players);
        if !below.is_empty() {
            return Err(Undefined::Separated { above, below });
        }
        Ok(())
    }

    /// The players that player 0 reaches along the edges, and the others.
    fn reach(&self, edges: &[u64], players: usize) -> (Vec<usize>, Vec<usize>) {
        let mut seen = vec![0u64; self.words];
        let mut open = vec![0];
        seen[0] = 1;
        while let Some(player) = open.pop() {
            let row = &edges[player * self.words..(player + 1) * self.words];
            for (word, (seen, edges)) in seen.iter_mut().zip(row).enumerate() {
                let mut fresh = edges & !*seen;
                *seen |= fresh;
                while fresh != 0 {
                    open.push(word * 64 + fresh.trailing_zeros() as usize);
                    fresh &= fresh - 1;
                }
            }
        }
        (0..players).partition(|player| seen[player / 64] >> (player % 64) & 1 == 1)
    }
}
