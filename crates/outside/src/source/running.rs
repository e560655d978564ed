//! A source that is read beside the one who takes its pages: while a page is worked on, the next is fetched.
//!
//! *Invariant:* at most two pages wait; a feed that is dropped ends its reading and leaves no thread behind.

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use heldset_core::code::Code;
use heldset_engine::feeds::{Feed, Page};
use heldset_engine::refusal::{Outcome, Refusal};
use tokio::sync::oneshot;

/// What reads a source to its end.
pub(super) type Work = Pin<Box<dyn Future<Output = Result<(), Stop>>>>;

/// Why a reading ends before the source does.
pub(super) enum Stop {
    /// Nobody wants more.
    Enough,
    /// It cannot go on.
    Refused(Box<Refusal>),
}

impl From<Box<Refusal>> for Stop {
    fn from(refusal: Box<Refusal>) -> Self {
        Stop::Refused(refusal)
    }
}

/// Where pages go.
pub(super) struct Out {
    pages: SyncSender<Outcome<Page>>,
    left: Option<u64>,
}

impl Out {
    /// Hands a page on, cut to what is still wanted.
    pub(super) fn page(&mut self, mut page: Page) -> Result<(), Stop> {
        if let Some(left) = self.left {
            let taken = (page.rows.len() as u64).min(left);
            if taken < page.rows.len() as u64 {
                page.rows.truncate(taken as usize);
                page.next = None;
            }
            self.left = Some(left - taken);
        }
        self.pages.send(Ok(page)).map_err(|_| Stop::Enough)?;
        if self.left == Some(0) { Err(Stop::Enough) } else { Ok(()) }
    }

    /// How many rows are still wanted, at most `usual`.
    pub(super) fn wanted(&self, usual: u64) -> u64 {
        self.left.map_or(usual, |left| left.clamp(1, usual))
    }
}

/// Starts a reading.
pub(super) fn start(limit: Option<u64>, work: impl FnOnce(Out) -> Work + Send + 'static) -> Outcome<Box<dyn Feed>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| unable(&error))?;
    let (pages, taken) = sync_channel(1);
    let (cancel, cancelled) = oneshot::channel::<()>();
    let thread = std::thread::Builder::new().name("source".to_owned()).spawn(move || {
        let out = Out { pages: pages.clone(), left: limit };
        let ended = runtime.block_on(async {
            tokio::select! {
                ended = work(out) => ended,
                _ = cancelled => Err(Stop::Enough),
            }
        });
        runtime.shutdown_background();
        if let Err(Stop::Refused(refusal)) = ended {
            let _ = pages.send(Err(refusal));
        }
    });
    let thread = thread.map_err(|error| unable(&error))?;
    Ok(Box::new(Running { taken: Some(taken), cancel: Some(cancel), thread: Some(thread) }))
}

struct Running {
    taken: Option<Receiver<Outcome<Page>>>,
    cancel: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Feed for Running {
    fn next(&mut self) -> Outcome<Option<Page>> {
        let Some(taken) = &self.taken else { return Ok(None) };
        match taken.recv() {
            Ok(Ok(page)) => Ok(Some(page)),
            Ok(Err(refusal)) => {
                self.taken = None;
                Err(refusal)
            }
            Err(_) => self.ended(),
        }
    }
}

impl Running {
    /// The reading is over: by its end, or because it broke down.
    fn ended(&mut self) -> Outcome<Option<Page>> {
        self.taken = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Err(_)) => {
                Err(Refusal::incomplete(Code::E070, "the reading of the source broke down", "report it, please"))
            }
            _ => Ok(None),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The order matters: nobody takes any more, then the reading is told, then it is waited for.
        self.taken = None;
        self.cancel = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn unable(error: &std::io::Error) -> Box<Refusal> {
    Refusal::incomplete(Code::E070, format!("the reading of a source cannot be started: {error}"), "try it again")
}
