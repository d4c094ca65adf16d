use std::io::BufRead as _;

use super::*;

/// A daemon that gives `answer` to one request, in writes of `size` bytes.
fn answering(answer: &'static str, size: usize) -> (tempfile::TempDir, Client) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while request.read_line(&mut line).unwrap() > 2 {
            line.clear();
        }
        for piece in answer.as_bytes().chunks(size) {
            // A client that has read enough goes away.
            if stream.write_all(piece).is_err() {
                break;
            }
        }
    });
    (dir, Client::new(Endpoint::Unix(path)))
}

#[test]
fn bodies_are_read_by_length_in_chunks_and_to_the_end_however_they_arrive() {
    for size in [1, 7, 4096] {
        for answer in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1,2]",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[1\r\n3;x=y\r\n,2]\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\n[1,2]",
        ] {
            let (_dir, client) = answering(answer, size);
            assert_eq!(client.get::<Vec<u8>>("/").unwrap(), [1, 2], "{answer}");
        }
    }
}

#[test]
fn a_cut_body_is_an_error_and_not_a_shorter_answer() {
    for answer in [
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1,2]",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2]\r\n",
    ] {
        let (_dir, client) = answering(answer, 64);
        let error = client.get::<Vec<u8>>("/").unwrap_err();
        assert!(matches!(error, ClientError::Broken(_)), "{error}");
    }
}

#[test]
fn messages_come_with_their_ids_and_comments_are_passed_over() {
    let answer =
        "HTTP/1.1 200 OK\r\n\r\n: hello\n\nid: 7\n\nevent: ack\ndata: a\ndata: b\nid:8\r\n\r\n";
    let (_dir, client) = answering(answer, 3);
    let mut stream = client.stream("/", None).unwrap();
    assert_eq!(stream.next_message().unwrap().unwrap(), Message::default());
    assert_eq!(stream.last_id(), Some("7"));
    let message = stream.next_message().unwrap().unwrap();
    assert_eq!(
        (message.event.as_str(), message.data.as_str()),
        ("ack", "a\nb")
    );
    assert_eq!(stream.last_id(), Some("8"));
    assert_eq!(stream.next_message().unwrap(), None);
}

#[test]
fn a_message_that_was_cut_off_has_to_come_again() {
    let answer = "HTTP/1.1 200 OK\r\n\r\nid: 7\ndata: a\n\nid: 81\ndata: b\n";
    // Cut within the id, before its line, and after all but the blank line.
    for end in [answer.len() - 10, answer.len() - 8, answer.len()] {
        let (_dir, client) = answering(&answer[..end], 64);
        let mut stream = client.stream("/", None).unwrap();
        assert_eq!(stream.next_message().unwrap().unwrap().data, "a");
        assert!(!matches!(stream.next_message(), Ok(Some(_))));
        assert_eq!(stream.last_id(), Some("7"));
    }
}

#[test]
fn a_refusal_keeps_the_daemons_words_and_no_daemon_says_how_to_start_it() {
    let answer = "HTTP/1.1 404 Not Found\r\n\r\n{\"error\":\"e\",\"cause\":\"c\",\"remedy\":\"r\"}";
    let (_dir, client) = answering(answer, 64);
    assert_eq!(client.get::<u8>("/").unwrap_err().to_string(), "e: c; r");
    let nowhere = Client::new(Endpoint::Unix("/nonexistent/socket".into()));
    let error = nowhere.get::<u8>("/").unwrap_err().to_string();
    assert!(error.contains("gtrace run"), "{error}");
}

#[test]
fn an_answer_of_another_form_may_be_that_of_another_version() {
    let (_dir, client) = answering("HTTP/1.1 200 OK\r\n\r\n{\"state\":\"new\"}", 64);
    let error = client.get::<u8>("/").unwrap_err().to_string();
    assert!(error.contains("a gtrace of another version"), "{error}");
}

#[test]
fn what_a_peer_says_does_not_command_the_terminal() {
    for answer in [
        "HTTP/1.1 404 Not Found\r\n\r\n{\"error\":\"\\u001b]0;e\",\"cause\":\"\\u001b]0;c\",\"remedy\":\"\\u001b]0;r\"}",
        "HTTP/1.1 500 Oh\r\n\r\n\x1b]0;no JSON",
        "\x1b]0;no HTTP\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: \x1b]0;1\r\n\r\n",
    ] {
        let (_dir, client) = answering(answer, 64);
        let error = client.get::<u8>("/").unwrap_err().to_string();
        assert!(
            !error.contains('\x1b') && error.contains("\\x1b]0;"),
            "{error}"
        );
    }
}

#[test]
fn what_is_larger_than_anything_of_gtrace_is_an_error_and_not_cut() {
    let most = usize::try_from(MAX_BODY).unwrap();
    let head = "HTTP/1.1 200 OK\r\n\r\n";
    for (length, fits) in [(most, true), (most + 1, false)] {
        let answer = format!("{head}{}", "x".repeat(length)).leak();
        let (_dir, client) = answering(answer, 1 << 16);
        let read = client.get_text("/");
        assert_eq!(read.as_ref().ok().map(String::len), fits.then_some(length));
    }
    // A message without an end, of lines that are short each.
    let line = format!("data: {}\n", "x".repeat(1 << 16));
    let (_dir, client) = answering(format!("{head}{}", line.repeat(20)).leak(), 1 << 16);
    let error = client
        .stream("/", None)
        .unwrap()
        .next_message()
        .unwrap_err();
    assert!(error.to_string().contains("larger than 1 MiB"), "{error}");
}

#[test]
fn of_an_answer_no_more_is_read_than_was_asked_for() {
    for (most, read) in [(3, "[1,"), (5, "[1,2]"), (9, "[1,2]")] {
        let (_dir, client) = answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1,2]", 2);
        assert_eq!(client.get_at_most("/", most).unwrap(), read.as_bytes());
    }
}

#[test]
fn query_values_are_escaped() {
    assert_eq!(
        target("/a", &[("x", "b c&d"), ("y", "é")]),
        "/a?x=b%20c%26d&y=%C3%A9"
    );
}

#[test]
fn a_daemon_that_does_not_answer_is_given_up_after_the_deadline() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    let _silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let client = Client::unix(path).with_deadline(Duration::from_millis(50));
    let error = client.get_text("/healthz").unwrap_err();
    assert!(matches!(error, ClientError::Broken(_)), "{error}");
}

#[test]
fn the_raw_stream_has_every_line_that_was_sent() {
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        6\r\ndata: \r\n4\r\n7\n\n:\r\n0\r\n\r\n";
    let (_dir, client) = answering(answer, 3);
    let mut text = String::new();
    let mut raw = client.stream("/s", None).unwrap().into_read();
    raw.read_to_string(&mut text).unwrap();
    assert_eq!(text, "data: 7\n\n:");
}

#[test]
fn a_daemon_that_takes_the_request_and_gives_no_answer_is_named_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("socket");
    // The kernel takes the connection; nobody accepts it.
    let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let client = Client::unix(path).with_deadline(Duration::from_millis(10));
    let error = client.get::<Vec<u8>>("/").unwrap_err();
    assert!(error.to_string().contains("gave no answer"), "{error}");
    assert!(std::error::Error::source(&error).is_none(), "printed twice");
}
