//! The dashboard and the alerts in `deploy/` ask for measurements that there are, with labels that they have.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// What is measured, and what it means.
const DESCRIBED: &str = include_str!("../src/metrics/described.rs");
/// Labels that Prometheus adds itself.
const OF_PROMETHEUS: [&str; 2] = ["instance", "job"];
/// Names of the series that a histogram has.
const OF_HISTOGRAMS: [&str; 3] = ["_bucket", "_sum", "_count"];
/// What every measurement of ours begins with.
const OURS: &str = "fullbench_";

#[test]
fn the_dashboard_asks_for_what_is_measured() {
    let text = fs::read_to_string(repository().join("deploy/grafana/fullbench.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&text).unwrap();
    let mut expressions = Vec::new();
    collect(&dashboard, &["expr", "definition"], &mut expressions);
    assert!(expressions.len() > 40, "only {} expressions were found", expressions.len());
    let measured = Measured::read();
    let mut asked = BTreeSet::new();
    for expression in &expressions {
        asked.extend(measured.check(expression));
    }
    let all: BTreeSet<&String> = measured.kinds.keys().collect();
    let missing: Vec<_> = all.into_iter().filter(|name| !asked.contains(*name)).collect();
    assert!(missing.is_empty(), "the dashboard does not show {missing:?}");
}

#[test]
fn the_alerts_ask_for_what_is_measured() {
    let text =
        fs::read_to_string(repository().join("deploy/prometheus/fullbench.rules.yml")).unwrap();
    let measured = Measured::read();
    let alerts: Vec<&str> = text.split("- alert:").skip(1).collect();
    assert!(alerts.len() > 20, "only {} alerts were found", alerts.len());
    for alert in alerts {
        let name = alert.lines().next().unwrap_or_default().trim();
        let (_, rest) =
            alert.split_once("expr: |").unwrap_or_else(|| panic!("{name} asks nothing"));
        let (expression, said) = rest.split_once("for:").unwrap_or_else(|| panic!("{name}: `for`"));
        measured.check(expression);
        for part in ["severity: ", "summary: ", "description: ", "runbook_url: "] {
            assert!(said.contains(part), "{name} has no `{part}`");
        }
    }
}

#[test]
fn every_alert_names_a_section_of_the_guide() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    let guide = read("docs/guides/operating.md");
    let headings = guide.lines().filter(|line| line.starts_with('#'));
    let anchors: BTreeSet<String> = headings
        .map(|line| line.trim_start_matches('#').trim().to_lowercase())
        .map(|title| title.chars().filter_map(anchor_letter).collect())
        .collect();
    let rules = read("deploy/prometheus/fullbench.rules.yml");
    let links = rules.lines().filter_map(|line| line.split_once("runbook_url: "));
    for (_, link) in links {
        let (page, anchor) = link.split_once('#').unwrap();
        assert!(page.ends_with("docs/guides/operating.md"), "{link}");
        assert!(anchors.contains(anchor), "the guide has no section for {link}");
    }
}

#[test]
fn what_the_server_cannot_read_is_handed_to_it() {
    let unit = fs::read_to_string(repository().join("deploy/fullbench.service")).unwrap();
    let has = |line: &str| unit.lines().any(|found| found == line);
    assert!(has("DynamicUser=yes"), "it owns no file");
    assert!(has("LoadCredential=fullbench.toml:/etc/fullbench/fullbench.toml"));
    assert!(has("Environment=FULLBENCH_CONFIG=%d/fullbench.toml"));
}

#[test]
fn no_log_of_a_service_has_the_first_key_in_it() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).unwrap();
    assert!(read("deploy/fullbench.service").contains("serve --log-format json"));
    let image = read("deploy/Dockerfile");
    let is_set =
        |line: &str| line.starts_with("ENV ") && line.contains("FULLBENCH_LOG_FORMAT=json");
    assert!(image.lines().any(is_set), "{image}");
}

#[test]
fn no_container_is_unhealthy_because_its_database_is_down() {
    let image = fs::read_to_string(repository().join("deploy/Dockerfile")).unwrap();
    let (_, check) = image.split_once("HEALTHCHECK").unwrap();
    let (check, _) = check.split_once("ENTRYPOINT").unwrap();
    assert!(check.contains("/healthz") && !check.contains("/readyz"), "{check}");
    // Where TLS comes from, a variable, a file or a flag, is not for the check to know.
    assert!(check.contains("https http") && !check.contains("TLS"), "{check}");
}

/// A letter of a heading as it is in a link to it.
fn anchor_letter(letter: char) -> Option<char> {
    match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    }
}

/// What is measured, by its name.
struct Measured {
    /// `counter`, `histogram` or `gauge`.
    kinds: BTreeMap<String, &'static str>,
    labels: BTreeMap<String, BTreeSet<String>>,
}

impl Measured {
    fn read() -> Self {
        let mut kinds = BTreeMap::new();
        // The names of a kind stand before the macro that describes them.
        let parts: Vec<&str> = DESCRIBED.split("metrics::describe_").collect();
        for pair in parts.windows(2) {
            let kind = ["counter", "histogram", "gauge"];
            let kind = kind.into_iter().find(|kind| pair[1].starts_with(*kind)).unwrap();
            kinds.extend(names(pair[0]).into_iter().map(|(_, name)| (name, kind)));
        }
        let mut sources = Vec::new();
        source_files(&repository().join("crates"), &mut sources);
        let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for source in sources {
            let text = fs::read_to_string(source).unwrap();
            for kind in ["counter!(", "gauge!(", "histogram!("] {
                let calls = text.split(kind).skip(1);
                let calls = calls.filter_map(|call| call.trim_start().strip_prefix('"'));
                for call in calls.filter(|call| call.starts_with(OURS)).map(arguments) {
                    let name = call.split('"').next().unwrap_or_default().to_owned();
                    assert!(kinds.contains_key(&name), "`{name}` is measured and not described");
                    labels.entry(name).or_default().extend(labels_of(call));
                }
            }
        }
        for name in kinds.keys() {
            assert!(labels.contains_key(name), "`{name}` is described and not measured");
        }
        Self { kinds, labels }
    }

    /// Fails for an expression that asks for what there is not; gives what it asks for.
    fn check(&self, expression: &str) -> Vec<String> {
        let mut asked = Vec::new();
        let mut known: BTreeSet<&str> = OF_PROMETHEUS.into();
        for (end, series) in names(expression) {
            let name = self.measured_name(&series, expression);
            let labels = &self.labels[&name];
            known.extend(labels.iter().map(String::as_str));
            known.extend(series.ends_with("_bucket").then_some("le"));
            let matchers =
                expression[end..].strip_prefix('{').and_then(|rest| rest.split_once('}'));
            for matcher in matchers.map_or("", |(matchers, _)| matchers).split("\",") {
                let label = matcher.split(['=', '!']).next().unwrap_or_default().trim();
                let is_known =
                    label.is_empty() || labels.contains(label) || OF_PROMETHEUS.contains(&label);
                assert!(is_known, "`{series}` has no label `{label}`: {expression}");
            }
            asked.push(name);
        }
        for group in expression.split("by (").skip(1) {
            let (group, _) = group.split_once(')').unwrap();
            for label in group.split(',').map(str::trim) {
                assert!(known.contains(label), "there is no label `{label}`: {expression}");
            }
        }
        asked
    }

    /// The measurement that a series belongs to.
    fn measured_name(&self, series: &str, expression: &str) -> String {
        let base = OF_HISTOGRAMS.iter().find_map(|ending| {
            let base = series.strip_suffix(*ending)?;
            (self.kinds.get(base) == Some(&"histogram")).then(|| base.to_owned())
        });
        let is_whole = self.kinds.get(series).is_some_and(|kind| *kind != "histogram");
        base.or_else(|| is_whole.then(|| series.to_owned()))
            .unwrap_or_else(|| panic!("there is no series `{series}`: {expression}"))
    }
}

/// Our names in a text, each with where it ends.
fn names(text: &str) -> Vec<(usize, String)> {
    let is_part = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    let starts = text.match_indices(OURS).map(|(start, _)| start);
    let ends = starts.map(|start| {
        let rest = &text[start..];
        let length = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len());
        (start + length, rest[..length].to_owned())
    });
    ends.collect()
}

/// The arguments of a macro from after its first quote up to its end.
fn arguments(call: &str) -> &str {
    let mut depth = 1;
    for (place, letter) in call.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &call[..place];
        }
    }
    call
}

/// What stands in quotes before an arrow.
fn labels_of(arguments: &str) -> Vec<String> {
    let before_arrows = arguments.split("\" =>").collect::<Vec<_>>();
    let (_, labelled) = before_arrows.split_last().unwrap();
    labelled.iter().filter_map(|text| Some(text.rsplit_once('"')?.1.to_owned())).collect()
}

/// All texts that have one of these names in a document.
fn collect(value: &Value, wanted: &[&str], found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field.as_str().filter(|_| wanted.contains(&name.as_str())) {
                    Some(text) => found.push(text.to_owned()),
                    None => collect(field, wanted, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, wanted, found)),
        _ => {}
    }
}

/// The sources of all crates, without their tests.
fn source_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if !path.ends_with("tests") {
                source_files(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
