//! `gtrace.SITE.HOST.KIND`.

use std::fmt;
use std::str::FromStr;

use crate::check_name;

gtrace_event::shown_enum! {
    /// What a message is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Kind {
        /// A batch of records, as [`crate::encode`] writes it.
        Records = "records",
        /// The state of a host, JSON.
        State = "state",
        /// What a head has of a host: a [`super::HeadPosition`].
        Position = "position",
        /// A question to a head.
        Call = "call",
    }
}

impl Kind {
    /// The subjects of all hosts of all sites.
    pub fn all_hosts(self) -> String {
        format!("gtrace.*.*.{}", self.name())
    }
}

/// The subject of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The site: a name without dots.
    pub site: String,
    /// The host's name in the fleet.
    pub host: String,
    /// What the message is.
    pub kind: Kind,
}

/// A text that is no subject of a fleet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no subject of a fleet: it is gtrace.SITE.HOST.KIND")]
pub struct SubjectError(pub String);

/// Dots of a host's name would be parts of the subject; `~` is in no name.
const DOT: char = '~';

/// Why text is no name of a site.
///
/// # Errors
/// What is allowed.
pub fn check_site(site: &str) -> Result<(), String> {
    match check_name(site).is_ok() && !site.contains('.') && site.len() <= 64 {
        true => Ok(()),
        false => Err(format!(
            "`{site}` is no name of a site: it has 1 to 64 letters, digits, `-` and `_`, and begins with no `-`"
        )),
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.replace('.', &DOT.to_string());
        write!(f, "gtrace.{}.{host}.{}", self.site, self.kind.name())
    }
}

impl FromStr for Subject {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        let read = || {
            let mut parts = text.strip_prefix("gtrace.")?.split('.');
            let (site, host, kind) = (parts.next()?, parts.next()?, parts.next()?);
            let kind = Kind::ALL.into_iter().find(|one| one.name() == kind)?;
            if parts.next().is_some() || host.contains('.') || check_site(site).is_err() {
                return None;
            }
            let host = host.replace(DOT, ".");
            check_name(&host).ok()?;
            Some(Self {
                site: site.to_owned(),
                host,
                kind,
            })
        };
        read().ok_or_else(|| {
            let text: String = text.chars().take(300).collect();
            SubjectError(text.replace(char::is_control, " "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_read_back_and_names_with_dots_are_one_part() {
        for host in ["gpu-01", "gpu-01.example.com", "a_b.c", "..."] {
            for kind in Kind::ALL {
                let subject = Subject {
                    site: "berlin_2".to_owned(),
                    host: host.to_owned(),
                    kind,
                };
                let text = subject.to_string();
                assert_eq!(text.split('.').count(), 4, "{text}");
                assert_eq!(text.parse(), Ok(subject));
            }
        }
        for wrong in [
            "",
            "gtrace.a.b",
            "gtrace.a.b.other",
            "gtrace.a.b.records.c",
            "gtrace.a..records",
            "gtrace..b.records",
            "gtrace.a.-b.records",
            "gtrace.*.b.records",
            "gtrace.a.>.records",
            "x.a.b.records",
        ] {
            assert!(wrong.parse::<Subject>().is_err(), "{wrong}");
        }
        assert!(check_site("a.b").is_err());
        assert!(check_site("*").is_err());
    }
}
