//! Events on their way to those who watch: each is written once, however many read it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use fullbench_store::EventRecord;
use fullbench_types::{OrganizationId, RunId};
use serde_json::json;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::app::App;

/// Events that a reader may be behind before it reads them from the database.
const BEHIND: usize = 256;

/// What is watched: an organization, or one of its runs.
pub(crate) type Watched = (OrganizationId, Option<RunId>);

/// Something for a reader.
#[derive(Debug, Clone)]
pub(crate) enum Told {
    /// An event, written as a reader gets it.
    Event { number: u64, text: Bytes },
    /// Some were missed: they are in the database.
    Missed,
}

/// Channels to readers; there is one only while somebody reads.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    channels: Mutex<HashMap<Watched, broadcast::Sender<Told>>>,
    readers: Arc<Mutex<HashMap<OrganizationId, usize>>>,
}

/// The place of a reader among those of its organization.
#[derive(Debug)]
pub(crate) struct Place {
    organization: OrganizationId,
    readers: Arc<Mutex<HashMap<OrganizationId, usize>>>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = readers.entry(self.organization) {
            *entry.get_mut() -= 1;
            if *entry.get() == 0 {
                entry.remove();
            }
        }
    }
}

impl Streams {
    /// A place for one more reader; none where an organization has as many as it may.
    pub(crate) fn place(&self, organization: OrganizationId, most: usize) -> Option<Place> {
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let count = readers.entry(organization).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Place { organization, readers: self.readers.clone() })
    }

    /// Events from now on.
    pub(crate) fn watch(&self, watched: Watched) -> broadcast::Receiver<Told> {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        channels.entry(watched).or_insert_with(|| broadcast::Sender::new(BEHIND)).subscribe()
    }

    fn tell(&self, event: &EventRecord) {
        let mut channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = None;
        let run = event.run.map(|run| (event.organization, Some(run)));
        for watched in [Some((event.organization, None)), run].into_iter().flatten() {
            let Some(channel) = channels.get(&watched) else { continue };
            if channel.receiver_count() == 0 {
                channels.remove(&watched);
                continue;
            }
            let text = text.get_or_insert_with(|| written(event)).clone();
            let _ = channel.send(Told::Event { number: event.number, text });
        }
    }

    fn tell_missed(&self) {
        let channels = self.channels.lock().unwrap_or_else(PoisonError::into_inner);
        for channel in channels.values() {
            let _ = channel.send(Told::Missed);
        }
    }
}

/// Hands events of the store on to readers until the server stops.
pub(crate) fn start(app: &App) {
    let mut events = app.store().listen();
    let app = app.clone();
    app.tasks().clone().spawn(async move {
        loop {
            tokio::select! {
                () = app.stop().cancelled() => return,
                event = events.recv() => match event {
                    Ok(event) => app.streams().tell(&event),
                    Err(RecvError::Lagged(_)) => app.streams().tell_missed(),
                    Err(RecvError::Closed) => return,
                },
            }
        }
    });
}

/// An event as server-sent events write it.
pub(crate) fn written(event: &EventRecord) -> Bytes {
    let data = json!({
        "event_id": event.number,
        "type": event.kind,
        "run_id": event.run,
        "created_at": event.created_at,
        "data": event.data,
    });
    // JSON has no line ends, so that one line of data is enough.
    Bytes::from(format!("id: {}\nevent: {}\ndata: {data}\n\n", event.number, event.kind))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_organization_does_not_take_the_streams_of_all() {
        let streams = Streams::default();
        let [greedy, other] = [1, 2].map(|number| OrganizationId(Uuid::from_u128(number)));
        let held: Vec<Option<Place>> = (0..4).map(|_| streams.place(greedy, 3)).collect();
        assert_eq!(held.iter().flatten().count(), 3);
        assert!(streams.place(other, 3).is_some());
        drop(held);
        assert!(streams.place(greedy, 3).is_some(), "readers that are gone leave their places");
        assert!(streams.readers.lock().unwrap().is_empty(), "nobody is remembered");
    }
}
