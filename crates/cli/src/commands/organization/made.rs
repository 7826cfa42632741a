//! `fullbench organization add` and `list`.

use fullbench_store::{NewOrganization, OrganizationRecord};
use fullbench_types::Plan;
use serde::Serialize;

use crate::arguments::PlainFormat;
use crate::arguments::organization::{AddOrganizationArguments, ListOrganizationsArguments};
use crate::commands::audit::Noted;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

#[derive(Serialize)]
struct ListedOrganization {
    organization_id: String,
    name: String,
    slug: String,
    created_at: String,
}

/// Makes an organization.
pub(super) async fn add(add: &AddOrganizationArguments, home: &Home) -> Result<Exit, CliError> {
    if !is_slug(&add.slug) {
        let message = format!("`{}` cannot be the name in addresses", add.slug);
        let hint = "use up to 63 lower-case letters, digits and `-`, a letter or digit first";
        return Err(CliError::input(message, Some(hint.to_owned())));
    }
    let name = add.name.trim().to_owned();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(CliError::input("a name has letters, in one line", None));
    }
    let new = NewOrganization { name, slug: add.slug.clone(), plan: Plan::Free };
    let store = home.open_whole().await?;
    let made = store.create_organization(new).await?;
    let noted = Noted::begin(&store, made.id, "add_organization", None).await?;
    noted.end(&listed(&made)).await?;
    write_line(&format!("organization {} · {} · {}", made.slug, made.name, made.id.0));
    write_line(&format!(
        "its first owner: fullbench user add EMAIL --role owner --organization {}",
        made.slug
    ));
    Ok(Exit::Fine)
}

/// Lists organizations.
pub(super) async fn list(list: &ListOrganizationsArguments, home: &Home) -> Result<Exit, CliError> {
    let all = home.open_whole().await?.organizations().await?;
    if list.output == PlainFormat::Json {
        let listed: Vec<ListedOrganization> = all.iter().map(listed).collect();
        output::print_json(&listed)?;
        return Ok(Exit::Fine);
    }
    let mut table = output::table(&["slug", "name", "since", "id"]);
    for one in all {
        let since = one.created_at.strftime("%F %H:%M").to_string();
        table.add_row(vec![one.slug, one.name, since, one.id.0.to_string()]);
    }
    output::print_text(&table.to_string())?;
    Ok(Exit::Fine)
}

fn listed(one: &OrganizationRecord) -> ListedOrganization {
    ListedOrganization {
        organization_id: one.id.0.to_string(),
        name: one.name.clone(),
        slug: one.slug.clone(),
        created_at: one.created_at.to_string(),
    }
}

fn is_slug(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.bytes().next().is_some_and(is_letter)
        && text.bytes().all(|byte| is_letter(byte) || byte == b'-')
}
