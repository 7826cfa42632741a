//! The list of probes, the same for the same examples and seed.

use std::collections::{BTreeMap, BTreeSet};

use fullbench_judge::{Attack, AttackKind, attacks};
use fullbench_stats::random_stream;
use rand::RngExt;

use super::padding::padded;
use super::{FormatChange, Judged, Probe, ProbeCase, ProbeOptions};
use crate::Example;

/// Streams of the seed, one for each draw.
const SAMPLE_STREAM: u64 = 1;
const PAIR_STREAM: u64 = 2;
/// How many attacks of each kind follow poor answers.
const INJECTED_OF_EACH_KIND: usize = 4;

/// The probes of a judge: every answer as it is, and of a sample drawn by the seed those that the options ask for.
///
/// For judges of pairs, examples with an `other` answer are compared with it, and answers to the same input that have none with
/// each other; changes and attacks are made to the first of the two.
#[must_use]
pub fn probes(examples: &[Example], judged: Judged, options: &ProbeOptions) -> Vec<ProbeCase> {
    let bases = bases(examples, judged, options);
    let mut plan = Plan { examples, cases: Vec::new(), ids: BTreeSet::new() };
    for base in &bases {
        let (probe, name) = match base.with {
            None => (Probe::Base, "base".to_owned()),
            Some(with) => (Probe::Pair, format!("pair·{}", examples[with].id)),
        };
        plan.add(base, probe, &name, base.output.to_owned(), 0);
    }
    let mut sample: Vec<usize> = (0..bases.len()).collect();
    shuffle(&mut sample, options.seed, SAMPLE_STREAM);
    sample.truncate(options.sample);
    sample.sort_unstable();
    let sample: Vec<&Base> = sample.into_iter().map(|index| &bases[index]).collect();
    for base in &sample {
        for round in 1..=options.retests {
            let output = base.output.to_owned();
            plan.add(base, Probe::Retest, &format!("retest·{round}"), output, round);
        }
    }
    if options.formats {
        plan.formats(&sample);
    }
    if options.padding {
        for base in &sample {
            if let Some(output) = padded(&examples[base.example].input, base.output) {
                plan.add(base, Probe::Padded, "padded", output, 0);
            }
        }
    }
    if judged == Judged::Single && options.comparisons {
        for (example, with) in pairs_of((0..examples.len()).collect(), examples, options) {
            let pair = Base {
                example,
                with: Some(with),
                output: &examples[example].output,
                other: Some(&examples[with].output),
            };
            let name = format!("compared·{}", examples[with].id);
            plan.add(&pair, Probe::Compared, &name, pair.output.to_owned(), 0);
        }
    }
    if options.attacks {
        plan.attacks(&sample);
        plan.injections(&poor(examples, &bases, judged, options), options.injections);
    }
    plan.cases
}

/// An answer, or a pair of them, as it is.
struct Base<'a> {
    example: usize,
    with: Option<usize>,
    output: &'a str,
    other: Option<&'a str>,
}

fn bases<'a>(examples: &'a [Example], judged: Judged, options: &ProbeOptions) -> Vec<Base<'a>> {
    let each = examples.iter().enumerate();
    let base = |(example, given): (usize, &'a Example)| Base {
        example,
        with: None,
        output: &given.output,
        other: None,
    };
    if judged == Judged::Single {
        return each.map(base).collect();
    }
    let compared = each.clone().filter(|(_, example)| example.other.is_some());
    let mut bases: Vec<Base> =
        compared.map(|given| Base { other: given.1.other.as_deref(), ..base(given) }).collect();
    let alone = each.filter(|(_, example)| example.other.is_none()).map(|(index, _)| index);
    let pairs = pairs_of(alone.collect(), examples, options);
    bases.extend(pairs.into_iter().map(|(example, with)| Base {
        example,
        with: Some(with),
        output: &examples[example].output,
        other: Some(&examples[with].output),
    }));
    bases
}

/// A sample of pairs of answers to the same input.
fn pairs_of(
    among: Vec<usize>,
    examples: &[Example],
    options: &ProbeOptions,
) -> Vec<(usize, usize)> {
    let mut by_input: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for index in among {
        by_input.entry(&examples[index].input).or_default().push(index);
    }
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for (stream, answers) in (PAIR_STREAM + 1..).zip(by_input.values_mut()) {
        shuffle(answers, options.seed, stream);
        pairs.extend(answers.windows(2).map(|pair| (pair[0], pair[1])));
    }
    shuffle(&mut pairs, options.seed, PAIR_STREAM);
    pairs.truncate(options.sample);
    pairs.sort_unstable();
    pairs
}

/// The answers that people find poor, the poorest first.
fn poor<'b, 'a>(
    examples: &[Example],
    bases: &'b [Base<'a>],
    judged: Judged,
    options: &ProbeOptions,
) -> Vec<&'b Base<'a>> {
    let mark = match judged {
        Judged::Single => options.mark.unwrap_or(0.5),
        Judged::Pairs => 0.5,
    };
    let mut poor: Vec<(f64, &Base)> = bases
        .iter()
        .filter(|base| base.with.is_none())
        .filter_map(|base| Some((examples[base.example].human()?, base)))
        .filter(|(human, _)| *human < mark)
        .collect();
    poor.sort_by(|a, b| a.0.total_cmp(&b.0));
    poor.into_iter().map(|(_, base)| base).collect()
}

/// Fisher and Yates, as Durstenfeld (1964) computes it.
fn shuffle<T>(values: &mut [T], seed: u64, stream: u64) {
    let mut random = random_stream(seed, stream);
    for last in (1..values.len()).rev() {
        values.swap(last, random.random_range(0..=last));
    }
}

struct Plan<'a> {
    examples: &'a [Example],
    cases: Vec<ProbeCase>,
    ids: BTreeSet<String>,
}

impl Plan<'_> {
    fn add(&mut self, base: &Base<'_>, probe: Probe, name: &str, output: String, round: u32) {
        let wanted = format!("{}·{name}", self.examples[base.example].id);
        let mut id = wanted.clone();
        let mut copies = 1;
        while !self.ids.insert(id.clone()) {
            copies += 1;
            id = format!("{wanted}·copy·{copies}");
        }
        let (example, with) = (base.example, base.with);
        let other = base.other.map(str::to_owned);
        self.cases.push(ProbeCase { id, example, with, probe, output, other, round });
    }

    fn formats(&mut self, sample: &[&Base<'_>]) {
        for base in sample {
            for change in FormatChange::ALL {
                if let Some(output) = change.applied(base.output) {
                    let name = format!("format·{}", change.name());
                    self.add(base, Probe::Format { change }, &name, output, 0);
                }
            }
        }
    }

    /// Each attack in place of the answer, going through the sample.
    fn attacks(&mut self, sample: &[&Base<'_>]) {
        for (attack, base) in attacks().into_iter().zip(sample.iter().cycle()) {
            let probe = Probe::Attack { attack: attack.name.to_owned() };
            self.add(base, probe, &format!("attack·{}", attack.name), attack.text.into_owned(), 0);
        }
    }

    /// Attacks after poor answers: in each round every poor answer meets another attack.
    fn injections(&mut self, poor: &[&Base<'_>], wanted: usize) {
        let attacks = injected();
        if poor.is_empty() || attacks.is_empty() {
            return;
        }
        let mut planned = 0;
        for round in 0..attacks.len() {
            for (index, base) in poor.iter().enumerate() {
                if planned == wanted {
                    return;
                }
                let attack = &attacks[(round + index) % attacks.len()];
                let probe = Probe::Injected { attack: attack.name.to_owned() };
                let output = format!("{}\n\n{}", base.output, attack.text);
                self.add(base, probe, &format!("injected·{}", attack.name), output, 0);
                planned += 1;
            }
        }
    }
}

/// The attacks that follow an answer: some of each kind that makes sense there, the kinds taking turns.
fn injected() -> Vec<Attack> {
    let all = attacks();
    let of = |kind: AttackKind| -> Vec<&Attack> {
        all.iter().filter(|attack| attack.kind == kind).take(INJECTED_OF_EACH_KIND).collect()
    };
    let kinds = [AttackKind::Instruction, AttackKind::RoleMarker, AttackKind::FakeReply].map(of);
    (0..INJECTED_OF_EACH_KIND)
        .flat_map(|turn| kinds.iter().filter_map(move |kind| kind.get(turn)))
        .map(|attack| (*attack).clone())
        .collect()
}
