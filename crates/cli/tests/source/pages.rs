//! A service on this machine that answers page by page, and can hold one back.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// What the service does, and what it heard.
#[derive(Default)]
struct State {
    /// From this page on nothing is answered.
    hold: Option<usize>,
    /// Whether somebody waits for such a page.
    held: bool,
    heard: Vec<String>,
}

/// A running service; it ends with this.
pub(super) struct Pages {
    address: String,
    state: Arc<(Mutex<State>, Condvar)>,
    ended: Arc<AtomicBool>,
}

impl Pages {
    /// Serves rows as JSON lists at `/items?page=N`, from 1.
    pub(super) fn serve(pages: Vec<Vec<String>>) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let state = Arc::new((Mutex::new(State::default()), Condvar::new()));
        let ended = Arc::new(AtomicBool::new(false));
        let (shared, over) = (Arc::clone(&state), Arc::clone(&ended));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                answer(stream, &pages, &shared);
            }
        });
        Pages { address, state, ended }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers nothing from this page on, counted from 0.
    pub(super) fn hold_at(&self, page: usize) {
        let mut state = self.state.0.lock().unwrap();
        (state.hold, state.held) = (Some(page), false);
    }

    /// Answers everything.
    pub(super) fn let_go(&self) {
        self.state.0.lock().unwrap().hold = None;
    }

    /// Waits until somebody asked for a page that is held back.
    pub(super) fn wait_until_held(&self) {
        let (lock, changed) = &*self.state;
        let state = lock.lock().unwrap();
        drop(changed.wait_while(state, |state| !state.held).unwrap());
    }

    /// Whether some request had this text in it.
    pub(super) fn heard(&self, text: &str) -> bool {
        self.state.0.lock().unwrap().heard.iter().any(|request| request.contains(text))
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // One more connection wakes the thread, which then closes the port.
        drop(TcpStream::connect(&self.address));
    }
}

fn answer(mut stream: TcpStream, pages: &[Vec<String>], (lock, changed): &(Mutex<State>, Condvar)) {
    let mut request = String::new();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while reader.read_line(&mut request).is_ok_and(|read| read > 2) {}
    let number = request.split("page=").nth(1).and_then(|rest| rest.split([' ', '&']).next()?.parse::<usize>().ok());
    let page = number.unwrap_or(1).saturating_sub(1);
    let mut state = lock.lock().unwrap();
    state.heard.push(request);
    if state.hold.is_some_and(|hold| page >= hold) {
        state.held = true;
        changed.notify_all();
        // Whoever asked is killed before it is answered; the connection ends with this.
        return std::mem::forget(stream);
    }
    drop(state);
    let body = format!("[{}]", pages.get(page).map(|rows| rows.join(",")).unwrap_or_default());
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    drop(stream.write_all((head + &body).as_bytes()));
}
