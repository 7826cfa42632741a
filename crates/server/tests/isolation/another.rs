//! Another of what whoever comes first uses up, so that everybody who may do it does it.

use fullbench_store::NewUser;
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use uuid::Uuid;

use crate::common::answer;
use crate::made::{Ids, session_of};
use crate::operations::{Operation, operation};
use crate::world::{Member, World};

/// What uses something up, what makes another, and what names it.
const USED_UP: [(&str, &str, &str); 8] = [
    ("delete_alert", "create_alert", "alert_id"),
    ("delete_dataset", "create_dataset", "dataset_id"),
    ("delete_webhook", "create_webhook", "webhook_id"),
    ("remove_baseline", "set_baseline", "baseline_name"),
    ("remove_provider_key", "set_provider_key", "provider"),
    ("renew_api_key", "create_api_key", "api_key_id"),
    ("revoke_api_key", "create_api_key", "api_key_id"),
    ("revoke_invitation", "invite", "invitation_id"),
];

impl World {
    /// What an operation of somebody at home names: what is there, or another that an owner made where others have had it.
    pub(crate) async fn another(&self, operation: &Operation, member: &Member) -> Ids {
        let mut ids = self.home.ids.clone();
        let store = self.server.store.scoped(DEFAULT_ORGANIZATION);
        let word = Uuid::now_v7().to_string();
        match operation.id.as_str() {
            "end_session" => {
                ids.insert("session_id", session_of(&store, member.user, &word).await);
            }
            "remove_member" => {
                let new = NewUser {
                    email: format!("{word}@example.com"),
                    name: "Ann".to_owned(),
                    role: UserRole::Viewer,
                    password: None,
                };
                ids.insert("user_id", store.add_user(new).await.unwrap().id.to_string());
            }
            id => {
                if let Some((_, making, name)) = USED_UP.iter().find(|(using, ..)| *using == id) {
                    let made = self.made_by(making, member, name).await;
                    ids.insert(name, made.unwrap_or_else(|| self.home.ids[name].clone()));
                }
            }
        }
        ids
    }

    /// What names something new, where it is not the same as before.
    async fn made_by(&self, making: &str, member: &Member, name: &str) -> Option<String> {
        // Not everybody sees keys of others.
        let is_own = making == "create_api_key";
        let maker = if is_own { member } else { self.home.owner(false) };
        let request = operation(making).request(&maker.caller, &self.home.ids, &self.home.ids);
        let (status, made) = answer(request).await;
        assert!((200..300).contains(&status), "{making} as {maker}: {status} {made}");
        made[name].as_str().map(str::to_owned)
    }
}
