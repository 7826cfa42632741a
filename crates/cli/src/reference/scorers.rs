//! The page of the scorers.

use fullbench_score::descriptions;

use super::evaluation_file::properties;

/// The page.
pub(super) fn page() -> String {
    let mut text = String::from(
        "# Scorers\n\nGenerated from the code by `make reference`. A scorer is named in the evaluation file by its type alone, ",
    );
    text.push_str("or as a mapping with `type`, its parameters, and a `name` of its own where two are of one type.\n\n");
    text.push_str("| scorer | what it does | needs a reference | value |\n|---|---|---|---|\n");
    for scorer in descriptions() {
        let reference = if scorer.needs_reference { "yes" } else { "no" };
        let value = if scorer.binary { "yes or no" } else { "graded" };
        text.push_str(&format!(
            "| [`{0}`](#{0}) | {1} | {reference} | {value} |\n",
            scorer.kind, scorer.summary
        ));
    }
    for scorer in descriptions() {
        text.push_str(&format!(
            "\n## {}\n\n{}\n\n```yaml\nscorers:\n  - {}\n```\n\n",
            scorer.kind, scorer.summary, scorer.example
        ));
        let definitions = [&scorer.parameters["$defs"], &scorer.parameters["definitions"]];
        let definitions = definitions.into_iter().find(|found| found.is_object());
        text.push_str(&properties(
            &scorer.parameters,
            definitions.unwrap_or(&serde_json::Value::Null),
        ));
    }
    text
}
