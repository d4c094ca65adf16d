//! Which links are measured, and by which address.

use std::ffi::OsString;

use gtrace_link::{LinkError, Preference, Target};

use super::args::Args;
use super::server::OwnServer;
use crate::cli::exec::probe;
use gtrace_measure::remote::report::NotMeasured;

/// A link to be measured.
pub(super) struct Way {
    pub(super) preference: Preference,
    pub(super) address: String,
    pub(super) target: Target,
    /// What the client's library is to read.
    pub(super) environment: Vec<(&'static str, OsString)>,
}

/// What of the links can be measured.
pub(super) struct Ways {
    pub(super) ways: Vec<Way>,
    pub(super) others: Vec<NotMeasured>,
}

const ALL: [Preference; 4] = [
    Preference::SharedMemory,
    Preference::Unix,
    Preference::Rdma,
    Preference::Tcp,
];

/// Tries the links that were asked for, or all.
///
/// # Errors
///
/// Settings that contradict each other; the server's words, if no link works or the one that was asked for does not.
pub(super) fn find(args: &Args, own: Option<&OwnServer>) -> Result<Ways, LinkError> {
    let asked: Vec<Preference> = match args.link.as_slice() {
        [] => ALL.to_vec(),
        named => named.to_vec(),
    };
    let named = !args.link.is_empty();
    let mut found = Ways {
        ways: Vec::new(),
        others: Vec::new(),
    };
    let mut last = None;
    for preference in asked {
        match try_one(args, own, preference) {
            Ok(way) => found.ways.push(way),
            Err(error) if named => return Err(error),
            Err(error) => {
                found.others.push(NotMeasured {
                    link: preference.to_string(),
                    reason: error.to_string(),
                });
                last = Some(match (last, error) {
                    // Of several reasons, one of the network says more than one of the settings.
                    (Some(first), LinkError::Usage(_)) => first,
                    (_, error) => error,
                });
            }
        }
    }
    match (found.ways.is_empty(), last) {
        (true, Some(error)) => Err(error),
        _ => Ok(found),
    }
}

fn try_one(args: &Args, own: Option<&OwnServer>, preference: Preference) -> Result<Way, LinkError> {
    let address = match (own, &args.remote, preference) {
        (Some(own), _, Preference::Tcp | Preference::Rdma) => own.tcp.clone(),
        (Some(own), ..) => own.unix.clone(),
        (None, Some(remote), _) => remote.clone(),
        (None, None, _) => return Err(LinkError::Usage("there is no server".into())),
    };
    let mut environment = args.connection.variables();
    environment.push(("GTRACE_REMOTE", OsString::from(&address)));
    environment.push(("GTRACE_LINK", preference.to_string().into()));
    if args.strict {
        environment.push(("GTRACE_STRICT", "1".into()));
    }
    let target = Target::from_variables(|name| {
        let found = environment.iter().find(|(n, _)| *n == name);
        found.map(|(_, value)| value.clone())
    })?;
    probe(&target, args.strict)?;
    Ok(Way {
        preference,
        address,
        target,
        environment,
    })
}
