//! A file of credentials, a token that a client shows, and a certificate: recognised or refused.
#![no_main]

use gtrace_tls::{Credentials, subject};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let certificate = data.into();
    let _ = subject(&certificate);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (file, token) = text.split_once('\0').unwrap_or((text, text));
    if let Ok(credentials) = Credentials::parse(file) {
        let now = jiff::Timestamp::UNIX_EPOCH;
        for (token, certificate) in [(Some(token), None), (None, Some(&certificate))] {
            if let Ok(known) = credentials.authenticate(token, certificate, now) {
                assert!(credentials.still_holds(&known, certificate, now));
            }
        }
    }
});
