//! `fullbench organization add`, `set-plan` and `list`.

use fullbench_store::{NewOrganization, OrganizationChange, OrganizationRecord};
use fullbench_types::{Plan, SYSTEM_ORGANIZATION};
use serde::Serialize;
use serde_json::json;

use super::named;
use crate::arguments::PlainFormat;
use crate::arguments::organization::{
    AddOrganizationArguments, ListOrganizationsArguments, SetPlanArguments,
};
use crate::commands::audit::{Noted, SYSTEM};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

#[derive(Serialize)]
struct ListedOrganization {
    organization_id: String,
    name: String,
    slug: String,
    plan: Plan,
    created_at: String,
}

/// Makes an organization.
pub(super) async fn add(add: &AddOrganizationArguments, home: &Home) -> Result<Exit, CliError> {
    if !is_slug(&add.slug) {
        let message = format!("`{}` cannot be the name in addresses", add.slug);
        let hint = "use up to 63 lower-case letters, digits and `-`, a letter or digit first";
        return Err(CliError::input(message, Some(hint.to_owned())));
    }
    if add.slug == SYSTEM {
        let message = format!("`{SYSTEM}` is what the log of the installation is called");
        return Err(CliError::input(message, Some("choose another slug".to_owned())));
    }
    let name = add.name.trim().to_owned();
    if name.is_empty() || name.contains(char::is_control) {
        return Err(CliError::input("a name has letters, in one line", None));
    }
    let new = NewOrganization { name, slug: add.slug.clone(), plan: add.plan };
    let store = home.open_whole().await?;
    // There is no organization without an entry that was before it; its name goes with it when it is erased.
    let asked = Noted::begin(&store, SYSTEM_ORGANIZATION, "add_organization", None).await?;
    let made = store.create_organization(new).await?;
    asked.end(&json!({"organization_id": made.id.0})).await?;
    let noted = Noted::begin(&store, made.id, "add_organization", None).await?;
    noted.end(&listed(&made)).await?;
    write_line(&format!("organization {} · {} · {}", made.slug, made.name, made.id.0));
    write_line(&format!(
        "its first owner: fullbench user add EMAIL --role owner --organization {}",
        made.slug
    ));
    Ok(Exit::Fine)
}

/// Gives an organization another plan.
pub(super) async fn set_plan(set: &SetPlanArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_whole_existing().await?;
    let organization = store.scoped(named(&store, &set.slug).await?);
    let before = organization.organization_record().await?;
    let noted = Noted::begin(&store, before.id, "set_plan", None).await?;
    let noted = noted.instead_of(&listed(&before));
    let change = OrganizationChange { plan: Some(set.plan), ..OrganizationChange::default() };
    let changed = organization.change_organization(change).await?;
    noted.end(&listed(&changed)).await?;
    write_line(&format!("{} has the plan {}; it was {}", changed.slug, changed.plan, before.plan));
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
    let mut table = output::table(&["slug", "name", "plan", "since", "id"]);
    for one in all {
        let since = one.created_at.strftime("%F %H:%M").to_string();
        let (plan, id) = (one.plan.to_string(), one.id.0.to_string());
        table.add_row(vec![one.slug, one.name, plan, since, id]);
    }
    output::print_text(&table.to_string())?;
    Ok(Exit::Fine)
}

fn listed(one: &OrganizationRecord) -> ListedOrganization {
    ListedOrganization {
        organization_id: one.id.0.to_string(),
        name: one.name.clone(),
        slug: one.slug.clone(),
        plan: one.plan,
        created_at: one.created_at.to_string(),
    }
}

fn is_slug(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    (1..=63).contains(&text.len())
        && text.bytes().next().is_some_and(is_letter)
        && text.bytes().all(|byte| is_letter(byte) || byte == b'-')
}
