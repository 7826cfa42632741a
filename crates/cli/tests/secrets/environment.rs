//! A master key in the environment of two servers, changed in the steps of the guide to secrets.

use std::process::Command;
use std::time::Duration;

use crate::UNTIL_LOOKED;
use crate::backend::Place;
use crate::load::{self, Load};
use crate::support::serving::Serving;
use crate::support::{Folder, said};

const OLD: &str = "the key that every server begins with 0123456789";
const NEW: &str = "the key that comes in its place 9876543210";

/// Time for some calls of what was started.
const SOME_CALLS: Duration = Duration::from_millis(500);

/// Two servers with home folders of their own, and what they share.
struct Servers<'test> {
    folders: [Folder; 2],
    database: String,
    models: &'test str,
}

impl Servers<'_> {
    fn command(&self, place: usize, arguments: &[&str], keys: (&str, Option<&str>)) -> Command {
        let mut command = self.folders[place].command(arguments);
        command.env("FULLBENCH_DATABASE", &self.database).env("FULLBENCH_SECRET_KEY", keys.0);
        if let Some(old) = keys.1 {
            command.env("FULLBENCH_SECRET_KEY_OLD", old);
        }
        command
    }

    fn start(&self, place: usize, keys: (&str, Option<&str>), key: Option<String>) -> Serving {
        let arguments = Serving::arguments(self.models);
        Serving::of(self.command(place, &arguments, keys), key)
    }

    /// The exit code of a verb about secrets.
    fn secrets(&self, verb: &str, keys: (&str, Option<&str>)) -> Option<i32> {
        let said = said(self.command(0, &["secrets", verb], keys).output().unwrap());
        assert!(!said.stderr.contains(OLD) && !said.stderr.contains(NEW), "{}", said.stderr);
        said.code
    }
}

#[test]
fn a_key_in_the_environment_is_changed_on_two_servers_without_a_failed_request() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let Some(place) = runtime.block_on(Place::postgres()) else { return };
    let models = load::models();
    let servers = Servers {
        folders: [Folder::new(), Folder::new()],
        database: place.url(),
        models: &models.url(),
    };
    let first = servers.start(0, (OLD, None), None);
    let key = first.key();
    let mut both = [first, servers.start(1, (OLD, None), Some(key.clone()))];
    load::keep_own_key(&both[0], &models);
    let (_, before) = both[0].client().get("/v1/organization/webhook-secret");

    let load = Load::start(&[&both[0], &both[1]], &models);
    let mut restart = |keys| {
        for (place, server) in both.iter_mut().enumerate() {
            load.replace(server, || servers.start(place, keys, Some(key.clone())));
            std::thread::sleep(SOME_CALLS);
        }
    };
    restart((OLD, Some(NEW)));
    restart((NEW, Some(OLD)));
    assert_eq!(servers.secrets("status", (NEW, None)), Some(2), "the old key is needed still");
    assert_eq!(servers.secrets("rotate", (NEW, Some(OLD))), Some(0));
    std::thread::sleep(UNTIL_LOOKED);
    assert_eq!(servers.secrets("forget-old", (NEW, Some(OLD))), Some(0));
    assert_eq!(servers.secrets("status", (NEW, None)), Some(0));
    restart((NEW, None));
    load.end();
    let (_, after) = both[1].client().get("/v1/organization/webhook-secret");
    assert_eq!(before, after, "secrets of webhooks stay what they are");
    assert_eq!(servers.secrets("status", (OLD, None)), Some(2), "the old key opens nothing");
}
