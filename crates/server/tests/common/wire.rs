//! The way to a database, which can be cut and mended.

use std::sync::Arc;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Passes connections on to a server until it is cut: then those that are there break off, and new ones are closed at once.
pub(crate) struct Wire {
    pub(crate) port: u16,
    is_whole: Arc<watch::Sender<bool>>,
}

impl Wire {
    /// A wire to a port of this machine.
    pub(crate) async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_whole = Arc::new(watch::Sender::new(true));
        let whole = is_whole.clone();
        tokio::spawn(async move {
            while let Ok((mut caller, _)) = listener.accept().await {
                let mut state = whole.subscribe();
                if *state.borrow_and_update() {
                    tokio::spawn(async move {
                        let mut called = TcpStream::connect(("127.0.0.1", server)).await.unwrap();
                        tokio::select! {
                            _ = copy_bidirectional(&mut caller, &mut called) => {}
                            _ = state.wait_for(|is_whole| !is_whole) => {}
                        }
                    });
                }
            }
        });
        Self { port, is_whole }
    }

    pub(crate) fn cut(&self) {
        self.is_whole.send_replace(false);
    }

    pub(crate) fn mend(&self) {
        self.is_whole.send_replace(true);
    }
}
