//! Events on their way to those who watch: each is written once, however many read it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    open: Arc<Mutex<Open>>,
}

#[derive(Debug, Default)]
struct Open {
    channels: HashMap<Watched, broadcast::Sender<Told>>,
    /// How many read of each organization.
    readers: HashMap<OrganizationId, usize>,
}

/// What one reader is told from now on.
#[derive(Debug)]
pub(crate) struct Listener {
    streams: Streams,
    watched: Watched,
    receiver: Option<broadcast::Receiver<Told>>,
}

impl Listener {
    /// The next thing that is told.
    pub(crate) async fn told(&mut self) -> Result<Told, RecvError> {
        match &mut self.receiver {
            Some(receiver) => receiver.recv().await,
            None => Err(RecvError::Closed),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Whoever comes last sees that nobody is left.
        drop(self.receiver.take());
        let mut open = self.streams.lock();
        if let Entry::Occupied(channel) = open.channels.entry(self.watched)
            && channel.get().receiver_count() == 0
        {
            channel.remove();
        }
        if let Entry::Occupied(mut readers) = open.readers.entry(self.watched.0) {
            *readers.get_mut() -= 1;
            if *readers.get() == 0 {
                readers.remove();
            }
        }
    }
}

impl Streams {
    /// Events from now on; none where as many read of the organization as may.
    pub(crate) fn read(&self, watched: Watched, most: usize) -> Option<Listener> {
        let mut open = self.lock();
        let readers = open.readers.entry(watched.0).or_default();
        if *readers >= most {
            return None;
        }
        *readers += 1;
        let channel = open.channels.entry(watched);
        let receiver = channel.or_insert_with(|| broadcast::Sender::new(BEHIND)).subscribe();
        Some(Listener { streams: self.clone(), watched, receiver: Some(receiver) })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, event: &EventRecord) {
        let open = self.lock();
        let mut text = None;
        let run = event.run.map(|run| (event.organization, Some(run)));
        for watched in [Some((event.organization, None)), run].into_iter().flatten() {
            let Some(channel) = open.channels.get(&watched) else { continue };
            let text = text.get_or_insert_with(|| written(event)).clone();
            let _ = channel.send(Told::Event { number: event.number, text });
        }
    }

    fn tell_missed(&self) {
        for channel in self.lock().channels.values() {
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
mod tests {
    use uuid::Uuid;

    use super::*;

    fn number(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn one_organization_does_not_take_the_streams_of_all() {
        let streams = Streams::default();
        let [greedy, other] =
            [1, 2].map(|organization| (OrganizationId(number(organization)), None));
        let held: Vec<Option<Listener>> = (0..4).map(|_| streams.read(greedy, 3)).collect();
        assert_eq!(held.iter().flatten().count(), 3);
        assert!(streams.read(other, 3).is_some());
        drop(held);
        assert!(streams.read(greedy, 3).is_some(), "readers that are gone leave their places");
    }

    #[test]
    fn nothing_is_left_of_readers_that_are_gone() {
        let streams = Streams::default();
        let run = |run: u128| (OrganizationId(number(1)), Some(RunId(number(run))));
        for ended in 0..1_000 {
            let (one, another) = (streams.read(run(ended), 2), streams.read(run(ended), 2));
            drop(one);
            assert_eq!(streams.lock().channels.len(), 1, "somebody still reads");
            drop(another);
        }
        let open = streams.lock();
        assert_eq!((open.channels.len(), open.readers.len()), (0, 0));
    }
}
