//! Servers of one's own for tests: HTTP by hand, an endpoint that speaks as OpenAI's does, one that speaks as Letta's.

#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests take of it what they need"
)]

mod letta;
mod openai;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub use letta::letta;
pub use openai::{Say, openai};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// What a server does with a request.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Answers with a status and a body.
    Body(u16, String),
    /// The same with a header.
    With(u16, &'static str, String, String),
    /// Closes the connection without a word.
    Close,
    /// Promises more than it sends.
    Truncated(String),
    /// Sends these bytes, whatever they are.
    Raw(Vec<u8>),
    /// Never answers.
    Hang,
}

type Answer = dyn Fn(usize, &Request) -> Reply + Send + Sync;

/// A server on a free port until it is dropped.
pub struct Server {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    connections: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Server {
    /// Starts one that answers by the number of the request and the request.
    pub fn start(answer: impl Fn(usize, &Request) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            address: listener.local_addr().unwrap(),
            seen: Arc::default(),
            connections: Arc::default(),
            stop: Arc::default(),
        };
        let (seen, connections, stop) = (server.seen.clone(), server.connections.clone(), server.stop.clone());
        let answer: Arc<Answer> = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                connections.fetch_add(1, Ordering::SeqCst);
                let (seen, answer) = (seen.clone(), answer.clone());
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// How many connections were opened.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, answer: &Answer) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader) {
        let number = {
            let mut seen = seen.lock().unwrap();
            seen.push(request.clone());
            seen.len() - 1
        };
        let whole = |status: u16, header: &str, body: &str| {
            format!("HTTP/1.1 {status} X\r\n{header}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
        };
        let bytes = match answer(number, &request) {
            Reply::Body(status, body) => whole(status, "content-type: application/json\r\n", &body),
            Reply::With(status, name, value, body) => whole(status, &format!("{name}: {value}\r\n"), &body),
            Reply::Raw(bytes) => bytes,
            Reply::Close => return,
            Reply::Truncated(body) => {
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len() + 10);
                let _ = writer.write_all(format!("{head}{body}").as_bytes());
                return;
            }
            Reply::Hang => {
                // Waits until the other side gives up.
                let _ = reader.read(&mut [0; 1]);
                return;
            }
        };
        if writer.write_all(&bytes).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_owned(), value.trim().to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body: String::from_utf8_lossy(&body).into_owned() })
}
