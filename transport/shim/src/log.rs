//! Words for the user: a line on standard error, or in the file that GTRACE_LOG names. Never on
//! standard output, which is the program's.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

static FILE: OnceLock<Option<File>> = OnceLock::new();

/// Most characters of a line.
const LINE_MAX: usize = 2000;

/// A line of `text`. Some of it may be a server's words, which are not to reach a terminal as commands.
fn line(text: &str) -> String {
    let printable = text.chars().take(LINE_MAX);
    let printable: String = printable
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    format!("gtrace: {printable}\n")
}

/// Writes one line.
pub(crate) fn say(text: &str) {
    let line = line(text);
    let file = FILE.get_or_init(|| {
        let path = std::env::var_os("GTRACE_LOG").filter(|path| !path.is_empty())?;
        OpenOptions::new().append(true).create(true).open(path).ok()
    });
    // With neither file nor standard error nobody can be notified.
    let _ = match file {
        Some(file) => (&*file).write_all(line.as_bytes()),
        None => std::io::stderr().write_all(line.as_bytes()),
    };
}

/// Writes one line, once in the process for each `key`.
pub(crate) fn once(key: &str, text: &str) {
    if first(gtrace_protocol::op_id(key)) {
        say(text);
    }
}

const SEEN: usize = 256;
static KEYS: [AtomicU32; SEEN] = [const { AtomicU32::new(0) }; SEEN];

/// Whether `key` was not seen before. A full table has seen everything.
fn first(key: u32) -> bool {
    let key = key.max(1);
    for at in 0..SEEN {
        let slot = &KEYS[(key as usize + at) % SEEN];
        match slot.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return true,
            Err(seen) if seen == key => return false,
            Err(_) => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_cannot_speak_to_the_terminal() {
        assert_eq!(line("gone (\x1b[2J\n)"), "gtrace: gone (?[2J?)\n");
        assert!(line(&"x".repeat(1 << 22)).len() < LINE_MAX + 20);
    }

    #[test]
    fn a_key_is_new_once() {
        assert!(first(0xdead_0001));
        assert!(!first(0xdead_0001));
        assert!(first(0xdead_0001 + SEEN as u32));
        assert!(!first(0xdead_0001 + SEEN as u32));
    }
}
