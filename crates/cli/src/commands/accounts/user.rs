//! `fullbench user`.

use fullbench_store::{MemberChange, NewUser, ScopedStore, Store, UserRecord};
use fullbench_types::email_address;
use serde::Serialize;

use super::{day, password};
use crate::arguments::PlainFormat;
use crate::arguments::accounts::{
    AddUserArguments, ListUsersArguments, OfOrganization, UserArguments, UserCommand,
};
use crate::commands::audit::Noted;
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

#[derive(Serialize)]
struct ListedUser {
    user_id: String,
    email: String,
    name: String,
    role: String,
    has_second_factor: bool,
    last_sign_in_at: Option<String>,
    disabled_at: Option<String>,
}

/// Adds, lists and changes people.
pub(crate) async fn run(arguments: &UserArguments, home: &Home) -> Result<Exit, CliError> {
    let whole = home.open_whole().await?;
    match &arguments.command {
        UserCommand::Add(add) => self::add(&whole, add).await?,
        UserCommand::List(list) => self::list(&whole, list).await?,
        UserCommand::SetPassword(set) => {
            let store = scoped(&whole, &set.of).await?;
            let user = found(&store, &set.email).await?;
            let hash = password::asked(&set.password, &user.email)?;
            let noted = noted(&whole, &store, "set_password", Some(&user)).await?;
            store.set_password(user.id, hash).await?;
            noted.end(&()).await?;
            write_line(&format!("{} has a new password, and is signed in nowhere", user.email));
        }
        UserCommand::Disable(disable) => {
            let store = scoped(&whole, &disable.of).await?;
            let user = found(&store, &disable.email).await?;
            let change = MemberChange { disabled: Some(true), role: None };
            let noted = noted(&whole, &store, "disable_user", Some(&user)).await?;
            let changed = store.change_member(&user, change).await?;
            noted.end(&listed(changed)).await?;
            write_line(&format!("{} may do nothing, and is signed in nowhere", user.email));
        }
    }
    Ok(Exit::Fine)
}

async fn add(whole: &Store, arguments: &AddUserArguments) -> Result<(), CliError> {
    let store = scoped(whole, &arguments.of).await?;
    let email = address(&arguments.email)?;
    if store.user_of_email(&email).await?.is_some() {
        let hint = "`fullbench user set-password` gives somebody a new password".to_owned();
        return Err(CliError::input(format!("there is `{email}` already"), Some(hint)));
    }
    let name = arguments.name.clone().unwrap_or_else(|| email.clone());
    let password = Some(password::asked(&arguments.password, &email)?);
    let new = NewUser { email, name, role: arguments.role, password };
    let noted = noted(whole, &store, "add_user", None).await?;
    let added = store.add_user(new).await?;
    write_line(&format!("{} is {} now", added.email, added.role));
    noted.end(&listed(added)).await?;
    Ok(())
}

async fn list(store: &Store, arguments: &ListUsersArguments) -> Result<(), CliError> {
    let people = scoped(store, &arguments.of).await?.users().await?;
    if arguments.output == PlainFormat::Json {
        let listed: Vec<ListedUser> = people.into_iter().map(listed).collect();
        return output::print_json(&listed);
    }
    let mut table = output::table(&["email", "name", "role", "code", "last signed in", "disabled"]);
    for person in people {
        table.add_row(vec![
            person.email,
            person.name,
            person.role.to_string(),
            if person.has_second_factor { "yes" } else { "no" }.to_owned(),
            person.last_sign_in_at.map(day).unwrap_or_default(),
            person.disabled_at.map(day).unwrap_or_default(),
        ]);
    }
    output::print_text(&table.to_string())
}

async fn noted(
    whole: &Store,
    store: &ScopedStore,
    action: &str,
    user: Option<&UserRecord>,
) -> Result<Noted, CliError> {
    Noted::begin(whole, store.organization(), action, user.map(|user| user.id.to_string())).await
}

fn listed(person: UserRecord) -> ListedUser {
    ListedUser {
        user_id: person.id.to_string(),
        email: person.email,
        name: person.name,
        role: person.role.to_string(),
        has_second_factor: person.has_second_factor,
        last_sign_in_at: person.last_sign_in_at.map(|time| time.to_string()),
        disabled_at: person.disabled_at.map(|time| time.to_string()),
    }
}

/// The store of the organization that is meant.
async fn scoped(store: &Store, of: &OfOrganization) -> Result<ScopedStore, CliError> {
    let found = match &of.organization {
        Some(slug) => store.organization_of_slug(slug).await?,
        None => store.only_organization().await?,
    };
    let organization = found.ok_or_else(|| {
        let message = match &of.organization {
            Some(slug) => format!("there is no organization `{slug}`"),
            None => "there are several organizations".to_owned(),
        };
        let hint = "name one with --organization; `fullbench organization list` shows them";
        CliError::input(message, Some(hint.to_owned()))
    })?;
    Ok(store.scoped(organization.id))
}

async fn found(store: &ScopedStore, email: &str) -> Result<UserRecord, CliError> {
    let email = address(email)?;
    let unknown = || {
        let hint = "`fullbench user list` shows who there is".to_owned();
        CliError::input(format!("there is nobody with the address `{email}`"), Some(hint))
    };
    store.user_of_email(&email).await?.ok_or_else(unknown)
}

fn address(text: &str) -> Result<String, CliError> {
    let wrong = || CliError::input(format!("`{text}` is no mail address"), None);
    email_address(text).ok_or_else(wrong)
}
