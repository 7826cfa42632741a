//! "Did you mean": the nearest of some names.

/// The candidate nearest to what was written, if it is near enough to be a slip.
pub(crate) fn nearest<'name>(
    written: &str,
    candidates: impl IntoIterator<Item = &'name str>,
) -> Option<&'name str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(written, candidate), candidate))
        .filter(|(likeness, candidate)| *likeness >= 0.6 || candidate.starts_with(written))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// A hint that names the nearest candidate, or all of them.
#[must_use]
pub fn did_you_mean<'name>(
    written: &str,
    candidates: impl IntoIterator<Item = &'name str> + Clone,
) -> String {
    if let Some(candidate) = nearest(written, candidates.clone()) {
        return format!("did you mean `{candidate}`?");
    }
    let mut all: Vec<String> = Vec::new();
    for name in candidates.into_iter().map(|name| format!("`{name}`")) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    if all.is_empty() {
        "there is nothing to choose from".to_owned()
    } else {
        format!("there is {}", all.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognized() {
        assert_eq!(nearest("promt", ["prompt", "models"]), Some("prompt"));
        assert_eq!(nearest("zzz", ["prompt", "models"]), None);
    }
}
