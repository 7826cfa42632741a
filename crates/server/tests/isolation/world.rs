//! Two organizations on one server, both with something of everything and with members in every role.

use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_store::NewOrganization;
use fullbench_types::{DEFAULT_ORGANIZATION, OrganizationId, Plan, UserRole};
use serde_json::Value;
use uuid::Uuid;

use crate::backend::Place;
use crate::common::caller::{Caller, person};
use crate::common::{TestServer, key_of};
use crate::made::{Ids, Maker};

/// Two organizations on one server.
pub(crate) struct World {
    pub(crate) server: TestServer,
    pub(crate) home: Organization,
    pub(crate) elsewhere: Organization,
    _simulator: Simulator,
}

/// An organization with something of everything.
pub(crate) struct Organization {
    /// A word that is in everything it has.
    pub(crate) mark: &'static str,
    /// What there is.
    pub(crate) ids: Ids,
    pub(crate) members: Vec<Member>,
}

/// Somebody of an organization.
pub(crate) struct Member {
    pub(crate) role: UserRole,
    /// They call with a browser, else with a key.
    pub(crate) is_session: bool,
    pub(crate) user: Uuid,
    pub(crate) caller: Caller,
}

impl std::fmt::Display for Member {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "{} with a {}",
            self.role,
            if self.is_session { "session" } else { "key" }
        )
    }
}

impl World {
    pub(crate) async fn start(place: Place) -> Self {
        let simulator = Simulator::start(SimulatorConfig::default()).unwrap();
        let server = TestServer::start_with_models(place, &simulator.url()).await;
        let new = NewOrganization {
            name: "Elsewhere".to_owned(),
            slug: "elsewhere".to_owned(),
            plan: Plan::Free,
        };
        let other = server.store.create_organization(new).await.unwrap().id;
        let base_url = format!("{}/v1", simulator.url());
        let (word, mark, slug) = ("alpaca", "zanzibar", "default");
        let named = Named { word, mark, slug, provider: "openai" };
        let home = Organization::new(&server, DEFAULT_ORGANIZATION, named, &base_url).await;
        let (word, mark, slug) = ("xylophone", "timbuktu", "elsewhere");
        let named = Named { word, mark, slug, provider: "anthropic" };
        let elsewhere = Organization::new(&server, other, named, &base_url).await;
        let world = Self { server, home, elsewhere, _simulator: simulator };
        world.let_a_minute_pass().await;
        world
    }

    /// Makes it as if webhooks and alerts had been tried out more than a minute ago.
    pub(crate) async fn let_a_minute_pass(&self) {
        let earlier = "UPDATE webhook_deliveries SET created_at = created_at - 60001; \
            UPDATE alert_notifications SET created_at = created_at - 60001";
        self.server.place.execute(earlier).await.unwrap();
    }
}

/// What is called how in an organization.
struct Named {
    word: &'static str,
    mark: &'static str,
    slug: &'static str,
    provider: &'static str,
}

impl Organization {
    async fn new(server: &TestServer, id: OrganizationId, named: Named, base_url: &str) -> Self {
        let Named { word, mark, slug, provider } = named;
        let store = &server.store;
        let (mut members, mut owner) = (Vec::new(), None);
        for role in UserRole::ALL {
            let email = format!("{role}@{slug}.example.com");
            let user = person(store, id, &email, *role).await;
            let caller = Caller::signed_in(server, &email, slug).await;
            members.push(Member { role: *role, is_session: true, user: user.id, caller });
            let key = key_of(&store.scoped(id), Some(user.id), *role).await;
            let caller = Caller::with_key(server, &key);
            members.push(Member { role: *role, is_session: false, user: user.id, caller });
            if *role == UserRole::Owner {
                owner = Some(user);
            }
        }
        let owner = owner.unwrap();
        let email = format!("{mark}@{slug}.example.com");
        let member = person(store, id, &email, UserRole::Viewer).await;
        let mut organization = Self { mark, ids: Ids::new(), members };
        let maker = Maker {
            caller: &organization.owner(false).caller,
            store: store.scoped(id),
            mark,
            word,
            provider,
            base_url: base_url.to_owned(),
        };
        let mut ids = maker.everything(owner.id, member.id).await;
        ids.insert("slug", slug.to_owned());
        ids.insert("email", owner.email);
        organization.ids = ids;
        organization
    }

    /// An owner, in a browser or with a key.
    pub(crate) fn owner(&self, is_session: bool) -> &Member {
        let is_meant =
            |member: &&Member| member.role == UserRole::Owner && member.is_session == is_session;
        self.members.iter().find(is_meant).unwrap()
    }

    /// Waits until the execution has the scores that were asked for a moment ago.
    pub(crate) async fn until_scored(&self) {
        let path = format!("/v1/executions/{}", self.ids["execution_id"]);
        let is_over = |execution: &Value| execution["status"] == "completed";
        self.owner(false).caller.wait(&path, is_over).await;
    }

    /// Fails where a text has something of this organization in it that was not sent.
    pub(crate) fn assert_hidden(&self, text: &str, sent: &str, said: &str) {
        assert!(!text.contains(self.mark), "{said} reveals: {text}");
        for (name, id) in &self.ids {
            let is_id = name.ends_with("_id") || name.ends_with("_name");
            let is_revealed = is_id && text.contains(id.as_str()) && !sent.contains(id.as_str());
            assert!(!is_revealed, "{said} reveals the `{name}`: {text}");
        }
    }
}
