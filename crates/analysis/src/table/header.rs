//! Which columns a file has, and where the wanted ones are.

use super::Wanted;

/// The place of each wanted column; none where it is absent and may be.
pub(super) fn places(
    header: &[String],
    wanted: &[Wanted],
) -> Result<Vec<Option<usize>>, (String, String)> {
    for (index, name) in header.iter().enumerate() {
        if header[..index].contains(name) && wanted.iter().any(|wanted| wanted.column == *name) {
            return Err((
                format!("two columns have the name `{name}`"),
                "rename one of them".to_owned(),
            ));
        }
    }
    let mut places = Vec::new();
    for wanted in wanted {
        let place = header.iter().position(|name| *name == wanted.column);
        if place.is_none() && wanted.required {
            return Err(absent(header, wanted));
        }
        places.push(place);
    }
    Ok(places)
}

/// A column that must be there and is not.
pub(super) fn absent(header: &[String], wanted: &Wanted) -> (String, String) {
    (format!("there is no column `{}`", wanted.column), advice(header, wanted))
}

fn advice(header: &[String], wanted: &Wanted) -> String {
    if header.is_empty() {
        return "the first line must name the columns".to_owned();
    }
    if let [only] = header
        && only.contains([';', '\t'])
    {
        return "columns are separated by commas in .csv and by tabs in .tsv files".to_owned();
    }
    let names: Vec<String> = header.iter().take(12).map(|name| format!("`{name}`")).collect();
    let near = header
        .iter()
        .map(|name| (strsim::jaro_winkler(&name.to_lowercase(), &wanted.column), name))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(score, _)| *score > 0.8);
    let example = near.map_or("NAME", |(_, name)| name.as_str());
    format!(
        "the file has {}; if one of them is meant, say `--column {}={example}`",
        names.join(", "),
        wanted.role
    )
}
