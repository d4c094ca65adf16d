//! The page in a browser: it opens without an error of the console, and asks no network for anything.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

use gtrace_report::Report;

/// Runs Chromium on a page and gives what it prints: the document, and on standard error the console's messages. Every
/// request, of whatever scheme but `file` and `data`, goes to a proxy, which is `listener`.
fn browse(page: &Path, proxy: u16, more: &[&str]) -> Option<Output> {
    let profile = tempfile::tempdir().unwrap();
    let mut command = Command::new("chromium");
    command
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
        .args(["--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions"])
        .args(["--disable-domain-reliability", "--metrics-recording-only", "--disable-client-side-phishing-detection"])
        .args(["--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication", "--enable-logging=stderr"])
        .arg(format!("--proxy-server=127.0.0.1:{proxy}"))
        .arg("--proxy-bypass-list=<-loopback>")
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(more)
        .arg(format!("file://{}", page.display()));
    match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        output => Some(output.unwrap()),
    }
}

/// A page's requests for `marker`, and what its console said.
fn observe(html: &[u8], marker: &'static str) -> Option<(usize, String, String)> {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    fs::write(&page, html).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let proxy = thread::spawn(move || {
        use std::io::{Read as _, Write as _};
        let mut requests = Vec::new();
        for connection in listener.incoming() {
            let mut connection = connection.unwrap();
            let mut bytes = [0; 4096];
            let length = connection.read(&mut bytes).unwrap_or(0);
            let request = String::from_utf8_lossy(&bytes[..length]).into_owned();
            if request == "end" {
                return requests;
            }
            let _ = connection.write_all(
                b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
            );
            requests.push(request.lines().next().unwrap_or("").to_owned());
        }
        requests
    });
    let output = browse(&page, port, &["--dump-dom"]);
    {
        use std::io::Write as _;
        std::net::TcpStream::connect(("127.0.0.1", port))
            .unwrap()
            .write_all(b"end")
            .unwrap();
    }
    let requests = proxy.join().unwrap();
    let output = output?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = stderr
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    // Chromium's own requests, for example for the clock, have other addresses.
    let own = ["google", "gstatic", "gvt1"];
    let of_page = requests
        .iter()
        .filter(|request| !own.iter().any(|host| request.contains(host)));
    let of_page: Vec<_> = of_page
        .inspect(|request| println!("{marker}: {request}"))
        .collect();
    Some((
        of_page.len(),
        console.join("\n"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    ))
}

#[test]
fn the_page_opens_in_a_browser_without_an_error_and_without_a_request() {
    let report = Report::new(common::material()).html().unwrap();
    fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html"),
        &report,
    )
    .unwrap();
    let Some((requests, console, document)) = observe(&report, "report") else {
        eprintln!("skipped: chromium is not installed");
        return;
    };
    assert_eq!((requests, console.as_str()), (0, ""));
    // Scripts ran: the filter is shown. The whole page was read: its last heading is there.
    assert!(
        document.contains("<div class=\"controls\" data-controls=\"\"><label>"),
        "the script did not run"
    );
    assert!(document.contains("files-title"));

    let loud = b"<!doctype html><title>x</title><img src=http://site.example/x.png><script>console.error('loud')</script>";
    let (requests, console, _) = observe(loud, "control").unwrap();
    assert!(requests > 0, "the test sees no request where there is one");
    assert!(
        console.contains("loud"),
        "the test sees no message where there is one"
    );
}
