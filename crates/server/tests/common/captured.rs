//! What the server writes into its log.

use std::io::Write;
use std::sync::{Arc, Mutex, Once};

use tracing::subscriber::DefaultGuard;
use tracing_subscriber::filter::LevelFilter;

const DEBUG: LevelFilter = LevelFilter::DEBUG;

/// Every thread has a listener: where there is one alone, places in the code that another thread comes to first are taken for
/// places that nobody listens to.
static LISTENING: Once = Once::new();

/// What was written into the log so far.
#[derive(Clone, Default)]
pub(crate) struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    /// Captures everything that this thread logs while the guard is there.
    pub(crate) fn start() -> (Self, DefaultGuard) {
        LISTENING.call_once(|| {
            let silent = tracing_subscriber::fmt().with_max_level(DEBUG).with_writer(std::io::sink);
            tracing::subscriber::set_global_default(silent.finish()).unwrap();
        });
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(DEBUG)
            .with_writer(move || writer.clone())
            .finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
