//! Every role, with a key and in a browser, on every endpoint, at home and with what belongs to another organization.

use crate::backend::{Place, on_every_backend};
use crate::common::caller::Caller;
use crate::made::nowhere;
use crate::operations::{Operation, Rule, operations};
use crate::seen::{answered, assert_same, bare, everything};
use crate::world::{Member, World};

on_every_backend!(everybody_does_what_their_role_allows_and_nothing_elsewhere);

async fn everybody_does_what_their_role_allows_and_nothing_elsewhere(place: Place) {
    let world = World::start(place).await;
    let mut operations = operations();
    // Who runs the server belongs to no organization, and what is for everybody has no caller.
    operations.retain(|operation| matches!(operation.rule, Rule::Needs(_) | Rule::Account));
    // What is made under the name of something at home would be there for those who come after.
    operations
        .sort_by_key(|operation| (operation.id == "sign_out", operation.makes_what_it_names()));
    let before = everything(&world.home).await;
    for operation in &operations {
        refuses_who_is_nobody(operation, &world).await;
        for member in &world.elsewhere.members {
            is_closed_to_others(operation, member, &world).await;
        }
        for member in &world.home.members {
            is_closed_to_lower_roles(operation, member, &world).await;
        }
    }
    assert_same(&world.home, &before).await;
    operations.sort_by_key(|operation| {
        let order = ["GET", "POST", "PATCH", "PUT", "DELETE"];
        let end = match operation.id.as_str() {
            // A new password ends the other sessions.
            "end_session" => 0,
            // Its runs and their baselines go with a data set.
            "delete_dataset" => 2,
            "sign_out" => 3,
            "erase_organization" => 4,
            _ => 1,
        };
        (end, order.iter().position(|one| *one == operation.method))
    });
    for operation in &operations {
        is_open_to_its_roles(operation, &world).await;
    }
}

/// Without anything to show, and with a cookie that another site has sent along, everything is closed.
async fn refuses_who_is_nobody(operation: &Operation, world: &World) {
    let home = &world.home.ids;
    let nobody = Caller::nobody(&world.server);
    let (status, text) = answered(operation.request(&nobody, home, home)).await;
    assert_eq!(status, 401, "{operation} as nobody: {text}");
    world.home.assert_hidden(&text, &operation.path(home), &operation.to_string());
    if operation.method != "GET" {
        let forged = world.home.owner(true).caller.without_token();
        let (status, text) = answered(operation.request(&forged, home, home)).await;
        let is_refused = status == 403 && text.contains("forged_request");
        assert!(is_refused, "{operation} without the token of the session: {status} {text}");
    }
}

/// What somebody of another organization gets who names what is at home: nothing, as if it were not there.
async fn is_closed_to_others(operation: &Operation, member: &Member, world: &World) {
    let (home, own) = (&world.home.ids, &world.elsewhere.ids);
    let said = format!("{operation} as {member} of another organization");
    let sent = operation.path(home);
    // The slug of the organization that is to be erased is all that names one.
    let is_erasure = operation.id == "erase_organization";
    let named_in_body = if is_erasure { home } else { own };
    let request = operation.request(&member.caller, home, named_in_body);
    let (status, text) = answered(request).await;
    world.home.assert_hidden(&text, &sent, &said);
    if !operation.allows(member.role, member.is_session) {
        assert_eq!(status, 403, "{said}: {text}");
    } else if is_erasure {
        assert_eq!(status, 422, "{said}: {text}");
    } else if !operation.names_something() || operation.makes_what_it_names() {
        assert!(is_done(operation, status), "{said}: {status} {text}");
        let has_own = !operation.is_stream || text.contains(&own["run_id"]);
        assert!(has_own, "{said} tells of what is one's own: {text}");
    } else {
        assert_eq!(status, 404, "{said}: {text}");
        let nowhere = nowhere(home);
        let (status, other) = answered(operation.request(&member.caller, &nowhere, own)).await;
        assert_eq!(status, 404, "{said}, of what is not there: {other}");
        assert_eq!(bare(&text, home), bare(&other, &nowhere), "{said} is told that it is there");
    }
}

/// Whom the role does not allow it is refused, and the others come as far as to what is not there.
async fn is_closed_to_lower_roles(operation: &Operation, member: &Member, world: &World) {
    let home = &world.home.ids;
    let said = format!("{operation} as {member}");
    if !operation.allows(member.role, member.is_session) {
        let (status, text) = answered(operation.request(&member.caller, home, home)).await;
        assert_eq!(status, 403, "{said}: {text}");
        world.home.assert_hidden(&text, &operation.path(home), &said);
    } else if operation.names_something() && !operation.makes_what_it_names() {
        let request = operation.request(&member.caller, &nowhere(home), home);
        let (status, text) = answered(request).await;
        assert_eq!(status, 404, "{said}, of what is not there: {text}");
    }
}

/// The same requests are carried out at home by everybody who may: nothing that was refused before was refused for anything else.
async fn is_open_to_its_roles(operation: &Operation, world: &World) {
    let home = &world.home;
    // Who comes first has what was there all the time, with all that belongs to it.
    let first = home.owner(operation.rule == Rule::Account);
    let others = home.members.iter().filter(|member| !std::ptr::eq(*member, first));
    for member in std::iter::once(first).chain(others) {
        let is_first = std::ptr::eq(member, first);
        // There is one organization to be erased, and nobody left in it who could make another.
        let is_meant = is_first || operation.id != "erase_organization";
        if !is_meant || !operation.allows(member.role, member.is_session) {
            continue;
        }
        match operation.id.as_str() {
            "test_alert" | "test_webhook" => world.let_a_minute_pass().await,
            "score_execution" => home.until_scored().await,
            _ => {}
        }
        let named =
            if is_first { home.ids.clone() } else { world.another(operation, member).await };
        let request = operation.request(&member.caller, &named, &home.ids);
        let (status, text) = answered(request).await;
        assert!(is_done(operation, status), "{operation} as {member}: {status} {text}");
    }
}

/// Whether an answer says that a request was carried out, as far as it could be.
fn is_done(operation: &Operation, status: u16) -> bool {
    match operation.id.as_str() {
        // The code is none, whether there is a second factor to be confirmed or not.
        "confirm_second_factor" => matches!(status, 409 | 422),
        // Nobody has a second factor, and all runs and deliveries are over.
        "renew_recovery_codes"
        | "resume_evaluation"
        | "resume_batch_evaluation"
        | "cancel_batch_evaluation"
        | "cancel_execution" => status == 409,
        _ => (200..300).contains(&status),
    }
}
