//! An HTTP server on loopback, for tests.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;

/// What it does with a request.
pub(crate) enum Answer {
    /// This status and body.
    Status(u16, Vec<u8>),
    /// Reads it and closes the connection.
    Close,
}

/// What came; the head in lower case.
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// It answers as a test says, one connection after another, and then with 200.
pub(crate) struct Server {
    pub(crate) url: String,
    pub(crate) requests: mpsc::Receiver<Request>,
    answers: mpsc::Sender<Answer>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::of("http", Ok)
    }

    /// One that speaks through what `accept` makes of a connection.
    pub(crate) fn of<S: Read + Write>(
        scheme: &str,
        accept: impl Fn(TcpStream) -> std::io::Result<S> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, requests) = mpsc::channel();
        let (answers, wanted) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if let Ok(stream) = accept(stream.unwrap()) {
                    serve(stream, &sender, &wanted);
                }
            }
        });
        Self {
            url: format!("{scheme}://localhost:{port}"),
            requests,
            answers,
        }
    }

    pub(crate) fn answer(&self, answer: Answer) {
        self.answers.send(answer).unwrap();
    }
}

/// Requests of one connection.
fn serve<S: Read + Write>(
    stream: S,
    requests: &mpsc::Sender<Request>,
    answers: &mpsc::Receiver<Answer>,
) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match reader.read_line(&mut head) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
        }
        let head = head.to_lowercase();
        let mut lines = head.lines();
        let length = lines.find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        if requests.send(Request { head, body }).is_err() {
            return;
        }
        let (status, body) = match answers.try_recv() {
            Ok(Answer::Close) => return,
            Ok(Answer::Status(status, body)) => (status, body),
            Err(_) => (200, Vec::new()),
        };
        let length = body.len();
        let head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {length}\r\n\r\n");
        let answer = [head.as_bytes(), &body].concat();
        if reader.get_mut().write_all(&answer).is_err() {
            return;
        }
    }
}
