//! The same incident on many hosts, found as one: by time, class and the labels that hosts share.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{FailureClass, IncidentId, Timestamp};
use serde::{Deserialize, Serialize};

/// Incidents that begin within this of each other may have one cause, in seconds.
pub const WINDOW_S: i64 = 120;
/// Fewer hosts than this are no common cause.
const HOSTS_MIN: usize = 3;
/// What a label has to explain: the harmonic mean of the share of the hosts with that label that are affected, and of the
/// share of the affected hosts that have it.
const FIT_MIN: f64 = 0.7;

/// An incident of a host, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The host.
    pub host: String,
    /// The incident.
    pub id: IncidentId,
    /// Its class.
    pub class: FailureClass,
    /// When it began.
    pub opened: Timestamp,
    /// Whether it is an exercise.
    pub drill: bool,
}

/// Incidents of several hosts that are taken for one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// Their class.
    pub class: FailureClass,
    /// When the first began.
    pub first: Timestamp,
    /// When the last began.
    pub last: Timestamp,
    /// Whether all are exercises.
    pub drill: bool,
    /// The hosts, by name.
    pub hosts: Vec<String>,
    /// Their incidents.
    pub incidents: Vec<IncidentId>,
    /// The label that they share, as `rack=r7`; absent where it is most of the fleet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub label: Option<String>,
    /// How many hosts have that label; where there is none, how many are in the fleet.
    pub of: usize,
}

type Fit<'a> = (f64, Option<(&'a (String, String), &'a BTreeSet<&'a str>)>);

/// Finds groups. `labels`: those of each host of the fleet, also of hosts without an incident.
pub fn groups(
    members: &[Member],
    labels: &BTreeMap<String, BTreeMap<String, String>>,
) -> Vec<Group> {
    let mut sets: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for (host, labels) in labels {
        for (name, value) in labels {
            let set = sets.entry((name.clone(), value.clone())).or_default();
            set.insert(host);
        }
    }
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by_key(|m| (m.class, m.drill, m.opened, m.id));
    let mut groups = Vec::new();
    let apart = |a: &&Member, b: &&Member| {
        a.class == b.class
            && a.drill == b.drill
            && b.opened.duration_since(a.opened).as_secs() <= WINDOW_S
    };
    for cluster in sorted.chunk_by(apart) {
        let mut left: Vec<&Member> = cluster.to_vec();
        loop {
            let hosts: BTreeSet<&str> = left.iter().map(|m| m.host.as_str()).collect();
            if hosts.len() < HOSTS_MIN {
                break;
            }
            // The whole fleet, where no part of it fits better.
            let whole: Fit<'_> = (
                2.0 * hosts.len() as f64 / (hosts.len() + labels.len()) as f64,
                None,
            );
            let parts = sets.iter().filter_map(|(label, set)| {
                let both = set.intersection(&hosts).count();
                let fit = 2.0 * both as f64 / (set.len() + hosts.len()) as f64;
                (both >= HOSTS_MIN).then_some((fit, Some((label, set))))
            });
            let mut best = whole;
            for part in parts {
                // Of labels that fit alike, that of fewer hosts says more.
                let smaller = match (part.1, best.1) {
                    (Some((_, new)), Some((_, old))) => new.len() < old.len(),
                    _ => true,
                };
                if part.0 > best.0 || part.0 == best.0 && smaller {
                    best = part;
                }
            }
            if best.0 < FIT_MIN {
                break;
            }
            let is_in = |m: &&Member| best.1.is_none_or(|(_, set)| set.contains(m.host.as_str()));
            let (taken, rest): (Vec<&Member>, Vec<&Member>) = left.into_iter().partition(is_in);
            left = rest;
            groups.push(group(
                &taken,
                best.1
                    .map(|((name, value), set)| (format!("{name}={value}"), set.len())),
                labels.len(),
            ));
        }
    }
    groups.sort_by_key(|group| group.first);
    groups
}

fn group(members: &[&Member], label: Option<(String, usize)>, fleet: usize) -> Group {
    let hosts: BTreeSet<String> = members.iter().map(|m| m.host.clone()).collect();
    let times = || members.iter().map(|m| m.opened);
    Group {
        class: members.first().map_or(FailureClass::Unknown, |m| m.class),
        first: times().min().unwrap_or_default(),
        last: times().max().unwrap_or_default(),
        drill: members.iter().all(|m| m.drill),
        hosts: hosts.into_iter().collect(),
        incidents: members.iter().map(|m| m.id).collect(),
        of: label.as_ref().map_or(fleet, |(_, of)| *of),
        label: label.map(|(label, _)| label),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fleet() -> BTreeMap<String, BTreeMap<String, String>> {
        let host = |n: usize| {
            let labels = [("rack", n / 8), ("switch", n / 16), ("feed", n % 2)];
            let labels = labels.map(|(name, value)| (name.to_owned(), format!("{name}{value}")));
            (format!("h{n:02}"), labels.into())
        };
        (0..64).map(host).collect()
    }

    fn member(host: usize, class: FailureClass, second: i64) -> Member {
        let opened = Timestamp::from_second(1_700_000_000 + second).unwrap();
        Member {
            host: format!("h{host:02}"),
            id: IncidentId::new(opened.as_millisecond().unsigned_abs()),
            class,
            opened,
            drill: false,
        }
    }

    fn found(members: &[Member]) -> Vec<(FailureClass, Option<String>, usize)> {
        let groups = groups(members, &fleet());
        groups
            .into_iter()
            .map(|g| (g.class, g.label, g.hosts.len()))
            .collect()
    }

    #[test]
    fn what_hosts_share_is_named_and_what_is_apart_is_not_joined() {
        use FailureClass::{Network, Nvlink, Pcie};
        // A rack but for one host, a feed but for one, and what is alone.
        let mut members: Vec<Member> = (8..15).map(|n| member(n, Pcie, n as i64)).collect();
        let rack = (Pcie, Some("rack=rack1".to_owned()), 7);
        assert_eq!(found(&members), std::slice::from_ref(&rack));
        members.extend((16..32).map(|n| member(n, Network, 500)));
        let switch = (Network, Some("switch=switch1".to_owned()), 16);
        assert_eq!(found(&members), [rack.clone(), switch.clone()]);
        members.extend([member(3, Nvlink, 10), member(40, Nvlink, 20)]);
        // The same class an hour later is something else.
        members.push(member(40, Pcie, 3600));
        assert_eq!(found(&members), [rack, switch]);
    }

    #[test]
    fn a_whole_fleet_has_no_label_and_scattered_hosts_are_no_group() {
        let all: Vec<Member> = (0..64)
            .map(|n| member(n, FailureClass::DriverCrash, 0))
            .collect();
        assert_eq!(found(&all), [(FailureClass::DriverCrash, None, 64)]);
        let scattered = [1, 12, 23, 34, 45, 56].map(|n| member(n, FailureClass::Pcie, 0));
        assert_eq!(found(&scattered), []);
        let feed: Vec<Member> = (0..32)
            .map(|n| member(n * 2, FailureClass::Host, 5))
            .collect();
        assert_eq!(
            found(&feed),
            [(FailureClass::Host, Some("feed=feed0".to_owned()), 32)]
        );
    }
}
