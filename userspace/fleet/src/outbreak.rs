//! Outbreaks: incidents of one class on many hosts at nearly the same time, which chance does not explain. A switch, a power feed, a
//! rack or a rollout of a driver does.
//!
//! This is a scan over time and labels, as spatial epidemiology makes them (Kulldorff, "A spatial scan statistic", Communications in
//! Statistics 26, 1997). Without a common cause each host has incidents of a class by a Poisson process at a rate of its own, which is taken
//! from its history and, where that is short, from the fleet ([`crate::lemon`]). A window begins with each incident, for each set of
//! hosts that share a label, and for each length of [`WINDOWS_S`]. That so many other hosts of the set follow within it has a probability
//! of at most the upper tail of the Poisson distribution whose mean is the sum of the hosts' probabilities (Hoeffding, Annals of
//! Mathematical Statistics 27, 1956; Anderson and Samuels, 1967). This probability times the number of all windows that were looked at is
//! how many such windows chance is expected to give: [`Outbreak::expected`].
//!
//! Incidents of an outbreak are part of the history, so that rates are rather too high than too low.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_event::{FailureClass, IncidentId, Timestamp, nanos};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use crate::lemon::{self, Exposed};

/// Lengths of windows in seconds: power and links, cooling, restarts one after another.
pub const WINDOWS_S: [i64; 3] = [120, 900, 7200];
/// Of what chance gives at most so often in all that was looked at, it is taken for no chance.
pub const EXPECTED_MAX: f64 = 0.01;
/// Fewer hosts than this are no outbreak: two may share much that no label says.
const HOSTS_MIN: usize = 3;
/// Outbreaks of one class that are looked for.
const OUTBREAKS_MAX: usize = 200;

/// An incident of a host, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The host.
    pub host: String,
    /// The incident.
    pub id: IncidentId,
    /// Its class.
    pub class: FailureClass,
    /// When it began, by one clock for all hosts.
    pub opened: Timestamp,
    /// Whether it is an exercise.
    pub drill: bool,
}

/// A host of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// What it may share with others.
    pub labels: BTreeMap<String, String>,
    /// Since when its incidents are known.
    pub since: Timestamp,
}

/// An incident by its host and its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The host.
    pub host: String,
    /// The incident.
    pub incident: IncidentId,
}

/// Incidents of several hosts that are taken for one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outbreak {
    /// Their class.
    pub class: FailureClass,
    /// When the first began.
    pub first: Timestamp,
    /// When the last began.
    pub last: Timestamp,
    /// Whether they are exercises.
    pub drill: bool,
    /// The hosts, by name.
    pub hosts: Vec<String>,
    /// The incidents, by time.
    pub members: Vec<Place>,
    /// Labels that just these hosts share, as `rack=r7`: more than one where they mean the same hosts, none where no label explains
    /// it better than the fleet as a whole.
    pub labels: Vec<String>,
    /// How many hosts have that label; where there is none, how many are in the fleet.
    pub of: usize,
    /// Jobs that each of the incidents affects, where they were looked up.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub jobs: Vec<String>,
    /// How many such windows, or more surprising ones, chance is expected to give in all that was looked at.
    pub expected: f64,
}

impl Outbreak {
    /// Whether it is the end of one job on all of its hosts: a program's own fault, or what its work waits for.
    pub fn is_of_one_job(&self) -> bool {
        let of_programs = matches!(
            self.class,
            FailureClass::Application
                | FailureClass::GpuOom
                | FailureClass::MemoryLeak
                | FailureClass::LibraryMismatch
                | FailureClass::NoisyNeighbour
                | FailureClass::Starvation
        );
        of_programs && !self.jobs.is_empty()
    }
}

/// What is older says nothing of how often incidents come now.
const OLDEST_NS: i64 = 2 * 365 * 86_400_000_000_000;
/// Clocks of hosts are ahead by so much at most.
const AHEAD_NS: i64 = 2 * 3_600_000_000_000;

/// Hosts that share labels.
struct Set {
    labels: Vec<String>,
    hosts: Vec<usize>,
}

/// When an incident began, in nanoseconds, its host, and the incident.
type At<'a> = (i64, usize, &'a Member);

/// Incidents of one class, by time.
struct Stratum<'a> {
    incidents: Vec<At<'a>>,
    /// For each host the probability that it has one within each window.
    odds: Vec<[f64; WINDOWS_S.len()]>,
    /// What was found in each set, by its number, while its incidents are the same.
    known: BTreeMap<usize, Option<Found>>,
}

/// A window that has more hosts than chance gives.
#[derive(Clone, Copy)]
struct Found {
    ln_odds: f64,
    set: usize,
    from: i64,
    until: i64,
}

/// Finds outbreaks among incidents until `now` of which chance gives at most `expected` in all.
pub fn find(
    members: &[Member],
    hosts: &BTreeMap<String, Host>,
    now: Timestamp,
    expected: f64,
) -> Vec<Outbreak> {
    let index: BTreeMap<&str, usize> = hosts.keys().map(String::as_str).zip(0..).collect();
    let sets = sets(hosts);
    let of_host = of_hosts(&sets, hosts.len());
    let mut classes: BTreeMap<(FailureClass, bool), Vec<At<'_>>> = BTreeMap::new();
    let mut windows = 0_usize;
    let latest = nanos(now);
    let times = latest.saturating_sub(OLDEST_NS)..=latest.saturating_add(AHEAD_NS);
    for member in members {
        if let Some(&host) = index.get(member.host.as_str())
            && times.contains(&nanos(member.opened))
        {
            windows += of_host[host].len() * WINDOWS_S.len();
            let incident = (nanos(member.opened), host, member);
            let class = (member.class, member.drill);
            classes.entry(class).or_default().push(incident);
        }
    }
    let mut outbreaks = Vec::new();
    for mut incidents in classes.into_values() {
        incidents.sort_by_key(|(time, host, member)| (*time, *host, member.id));
        let odds = odds(&incidents, hosts, now);
        let mut stratum = Stratum {
            incidents,
            odds,
            known: BTreeMap::new(),
        };
        for _ in 0..OUTBREAKS_MAX {
            let Some(best) = stratum.best(&sets, &of_host) else {
                break;
            };
            let by_chance = windows as f64 * best.ln_odds.exp();
            if by_chance > expected {
                break;
            }
            let set = &sets[best.set];
            let taken = stratum.take(&best, set, &of_host);
            outbreaks.push(outbreak(&taken, set, by_chance));
        }
    }
    outbreaks.sort_by_key(|outbreak| outbreak.first);
    outbreaks
}

/// Sets of hosts with labels, each once; the whole fleet has none.
fn sets(hosts: &BTreeMap<String, Host>) -> Vec<Set> {
    let mut by_label: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (n, host) in hosts.values().enumerate() {
        for (name, value) in &host.labels {
            by_label.entry((name, value)).or_default().push(n);
        }
    }
    let mut by_hosts: BTreeMap<Vec<usize>, Vec<String>> = BTreeMap::new();
    for ((name, value), of) in by_label {
        if of.len() >= HOSTS_MIN && of.len() < hosts.len() {
            let label = format!("{name}={value}");
            by_hosts.entry(of).or_default().push(label);
        }
    }
    by_hosts.insert((0..hosts.len()).collect(), Vec::new());
    let set = |(hosts, labels)| Set { labels, hosts };
    by_hosts.into_iter().map(set).collect()
}

/// The numbers of the sets of each host.
fn of_hosts(sets: &[Set], hosts: usize) -> Vec<Vec<usize>> {
    let mut of_host: Vec<Vec<usize>> = vec![Vec::new(); hosts];
    for (n, set) in sets.iter().enumerate() {
        for host in &set.hosts {
            of_host[*host].push(n);
        }
    }
    of_host
}

/// For each host the probability that it has an incident of this class within each window.
fn odds(
    incidents: &[At<'_>],
    hosts: &BTreeMap<String, Host>,
    now: Timestamp,
) -> Vec<[f64; WINDOWS_S.len()]> {
    let mut first: Vec<i64> = hosts.values().map(|host| nanos(host.since)).collect();
    let mut counts = vec![0; hosts.len()];
    for (time, host, _) in incidents {
        first[*host] = first[*host].min(*time);
        counts[*host] += 1;
    }
    let longest = WINDOWS_S.iter().max().copied().unwrap_or_default() as f64 / 3600.0;
    let units: Vec<Exposed> = first
        .iter()
        .zip(&counts)
        .map(|(first, failures)| Exposed {
            name: String::new(),
            failures: *failures,
            hours: (nanos(now).saturating_sub(*first) as f64 / 3.6e12).max(longest),
            ..Exposed::default()
        })
        .collect();
    let units: Vec<&Exposed> = units.iter().collect();
    let hours: f64 = units.iter().map(|unit| unit.hours).sum();
    let fleet = incidents.len() as f64 / hours;
    let (shape, rate) = lemon::moments(&units, fleet);
    let of = |unit: &&Exposed| {
        let per_hour = (shape + unit.failures as f64) / (rate + unit.hours);
        WINDOWS_S.map(|length| -(-per_hour * length as f64 / 3600.0).exp_m1())
    };
    units.iter().map(of).collect()
}

impl<'a> Stratum<'a> {
    /// The window that chance explains least.
    fn best(&mut self, sets: &[Set], of_host: &[Vec<usize>]) -> Option<Found> {
        let mut of_set: BTreeMap<usize, Vec<(i64, usize)>> = BTreeMap::new();
        for (time, host, _) in &self.incidents {
            for set in of_host[*host]
                .iter()
                .filter(|n| !self.known.contains_key(*n))
            {
                of_set.entry(*set).or_default().push((*time, *host));
            }
        }
        for (n, incidents) in of_set {
            let found = self.best_of((n, &sets[n]), &incidents);
            self.known.insert(n, found);
        }
        let mut best: Option<Found> = None;
        for found in self.known.values().flatten() {
            // Of what is as probable, the smaller set says more.
            let better = best.as_ref().is_none_or(|best| {
                let smaller = sets[found.set].hosts.len() < sets[best.set].hosts.len();
                found.ln_odds < best.ln_odds || found.ln_odds == best.ln_odds && smaller
            });
            if better {
                best = Some(*found);
            }
        }
        best
    }

    /// The window of one set that chance explains least, of those with enough hosts.
    fn best_of(&self, (n, set): (usize, &Set), incidents: &[(i64, usize)]) -> Option<Found> {
        let mut best: Option<Found> = None;
        for (w, length) in WINDOWS_S.iter().enumerate() {
            let mut mean = None;
            for (from, until, first, count) in crowded(incidents, length * 1_000_000_000) {
                let odds = |host: &usize| self.odds[*host][w];
                let all = *mean.get_or_insert_with(|| set.hosts.iter().map(odds).sum::<f64>());
                let ln_odds = ln_tail(count - 1, all - odds(&first));
                if best.as_ref().is_none_or(|best| ln_odds < best.ln_odds) {
                    best = Some(Found {
                        ln_odds,
                        set: n,
                        from,
                        until,
                    });
                }
            }
        }
        best
    }

    /// Takes the incidents of a window out. Sets without their hosts are as they were.
    fn take(&mut self, found: &Found, set: &Set, of_host: &[Vec<usize>]) -> Vec<&'a Member> {
        let is_of_it = |(time, host, _): &At<'a>| {
            (found.from..=found.until).contains(time) && set.hosts.binary_search(host).is_ok()
        };
        let all = std::mem::take(&mut self.incidents);
        let (taken, left): (Vec<At<'a>>, Vec<At<'a>>) = all.into_iter().partition(is_of_it);
        self.incidents = left;
        for n in taken.iter().flat_map(|(_, host, _)| &of_host[*host]) {
            self.known.remove(n);
        }
        taken.into_iter().map(|(_, _, member)| member).collect()
    }
}

/// Windows with enough hosts: when the first and the last incident began, the first host, and the number of hosts.
fn crowded(incidents: &[(i64, usize)], length: i64) -> Vec<(i64, i64, usize, usize)> {
    let mut found = Vec::new();
    let mut inside: BTreeMap<usize, usize> = BTreeMap::new();
    let mut end = 0;
    for &(from, first) in incidents {
        while let Some(&(time, host)) = incidents
            .get(end)
            .filter(|(t, _)| t.saturating_sub(from) <= length)
        {
            debug_assert!(time >= from, "sorted by time");
            *inside.entry(host).or_default() += 1;
            end += 1;
        }
        if inside.len() >= HOSTS_MIN {
            let until = incidents[end - 1].0;
            found.push((from, until, first, inside.len()));
        }
        if let Some(count) = inside.get_mut(&first) {
            *count -= 1;
            if *count == 0 {
                inside.remove(&first);
            }
        }
    }
    found
}

/// Logarithm of the probability that a Poisson variate of this mean is `least` or more; 0 where that is about as many as expected.
fn ln_tail(least: usize, mean: f64) -> f64 {
    let k = least as f64;
    if least == 0 || k <= mean {
        return 0.0;
    }
    if mean <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1.. {
        term *= mean / (k + f64::from(n));
        sum += term;
        if term < 1e-12 * sum {
            break;
        }
    }
    (k * mean.ln() - mean - ln_gamma(k + 1.0) + sum.ln()).min(0.0)
}

fn outbreak(members: &[&Member], set: &Set, expected: f64) -> Outbreak {
    let hosts: BTreeSet<String> = members.iter().map(|m| m.host.clone()).collect();
    let times = || members.iter().map(|m| m.opened);
    let place = |m: &&Member| Place {
        host: m.host.clone(),
        incident: m.id,
    };
    Outbreak {
        class: members.first().map_or(FailureClass::Unknown, |m| m.class),
        first: times().min().unwrap_or_default(),
        last: times().max().unwrap_or_default(),
        drill: members.iter().all(|m| m.drill),
        hosts: hosts.into_iter().collect(),
        members: members.iter().map(place).collect(),
        labels: set.labels.clone(),
        of: set.hosts.len(),
        jobs: Vec::new(),
        expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{gamma, poisson};

    const BEGIN: i64 = 1_700_000_000;
    const DAY_S: i64 = 86_400;

    /// Racks of 8, switches of 16, two feeds.
    fn fleet(hosts: usize) -> BTreeMap<String, Host> {
        let host = |n: usize| {
            let labels = [("rack", n / 8), ("switch", n / 16), ("feed", n % 2)];
            let labels = labels.map(|(name, value)| (name.to_owned(), format!("{name}{value}")));
            let host = Host {
                labels: labels.into(),
                since: Timestamp::from_second(BEGIN).unwrap(),
            };
            (name(n), host)
        };
        (0..hosts).map(host).collect()
    }

    fn name(host: usize) -> String {
        format!("h{host:03}")
    }

    fn member(host: usize, class: FailureClass, second: i64) -> Member {
        let opened = Timestamp::from_second(BEGIN + second).unwrap();
        Member {
            host: name(host),
            id: IncidentId::new(opened.as_millisecond().unsigned_abs()),
            class,
            opened,
            drill: false,
        }
    }

    fn scan(members: &[Member], hosts: usize, days: i64, expected: f64) -> Vec<Outbreak> {
        let now = Timestamp::from_second(BEGIN + days * DAY_S).unwrap();
        find(members, &fleet(hosts), now, expected)
    }

    fn found(members: &[Member]) -> Vec<(FailureClass, Vec<String>, usize)> {
        let outbreaks = scan(members, 64, 7, EXPECTED_MAX);
        let short = |o: Outbreak| (o.class, o.labels, o.hosts.len());
        outbreaks.into_iter().map(short).collect()
    }

    #[test]
    fn times_of_other_centuries_join_nothing() {
        use FailureClass::Pcie;
        let mut members: Vec<Member> = (8..15).map(|n| member(n, Pcie, 3 * DAY_S)).collect();
        for (host, opened) in [
            (1, Timestamp::MIN),
            (2, Timestamp::UNIX_EPOCH),
            (3, Timestamp::MAX),
        ] {
            members.push(Member {
                opened,
                ..member(host, Pcie, 0)
            });
        }
        assert_eq!(found(&members), [(Pcie, vec!["rack=rack1".to_owned()], 7)]);
    }

    #[test]
    fn what_hosts_share_is_named_and_what_is_apart_is_not_joined() {
        use FailureClass::{Network, Nvlink, Pcie};
        let label = |label: &str| vec![label.to_owned()];
        // A rack but for one host, a switch, and what is alone.
        let at = 3 * DAY_S;
        let mut members: Vec<Member> = (8..15).map(|n| member(n, Pcie, at + n as i64)).collect();
        let rack = (Pcie, label("rack=rack1"), 7);
        assert_eq!(found(&members), std::slice::from_ref(&rack));
        members.extend((16..32).map(|n| member(n, Network, at + 500)));
        let switch = (Network, label("switch=switch1"), 16);
        assert_eq!(found(&members), [rack.clone(), switch.clone()]);
        members.extend([member(3, Nvlink, 10), member(40, Nvlink, 20)]);
        // The same class, hours later, is something else, and so is a host that fails again and again.
        members.push(member(40, Pcie, at + 9000));
        members.extend((0..20).map(|n| member(50, Pcie, at + 40_000 + n * 10)));
        assert_eq!(found(&members), [rack, switch]);
    }

    #[test]
    fn a_whole_fleet_and_hosts_that_share_no_label_are_named_as_such() {
        use FailureClass::{DriverCrash, Host, Pcie};
        let all: Vec<Member> = (0..64).map(|n| member(n, DriverCrash, DAY_S)).collect();
        assert_eq!(found(&all), [(DriverCrash, Vec::new(), 64)]);
        // Six at one time are no chance, though no label says why.
        let scattered = [1, 12, 23, 34, 45, 56].map(|n| member(n, Pcie, DAY_S));
        assert_eq!(found(&scattered), [(Pcie, Vec::new(), 6)]);
        let feed: Vec<Member> = (0..32).map(|n| member(n * 2, Host, DAY_S + 5)).collect();
        assert_eq!(found(&feed), [(Host, vec!["feed=feed0".to_owned()], 32)]);
        assert_eq!(found(&[]), []);
    }

    #[test]
    fn sets_without_a_host_of_an_outbreak_are_not_weighed_again_after_it() {
        let class = FailureClass::Pcie;
        let of_rack = |first: usize, day: i64| {
            (first..first + 7).map(move |host| member(host, class, day * DAY_S))
        };
        let members: Vec<Member> = of_rack(8, 3).chain(of_rack(40, 5)).collect();
        let hosts = fleet(64);
        let sets = sets(&hosts);
        let of_host = of_hosts(&sets, hosts.len());
        let at = |member: &Member| member.host[1..].parse::<usize>().unwrap();
        let incidents = members.iter();
        let incidents = incidents.map(|member| (nanos(member.opened), at(member), member));
        let incidents: Vec<At<'_>> = incidents.collect();
        let now = Timestamp::from_second(BEGIN + 7 * DAY_S).unwrap();
        let mut stratum = Stratum {
            odds: odds(&incidents, &hosts, now),
            incidents,
            known: BTreeMap::new(),
        };
        let best = stratum.best(&sets, &of_host).unwrap();
        // Two racks, their switches, both feeds and the fleet.
        assert_eq!(stratum.known.len(), 7);
        assert_eq!(stratum.take(&best, &sets[best.set], &of_host).len(), 7);
        // The other rack and its switch.
        assert_eq!(stratum.known.len(), 2);
        let other = stratum.best(&sets, &of_host).unwrap();
        assert_eq!(sets[other.set].hosts.len(), 8);
        assert_ne!(other.set, best.set);
    }

    /// A month of 128 hosts, whose rates differ as an exponential distribution around one incident in 500 h.
    fn month(rng: &mut fastrand::Rng) -> Vec<Member> {
        let mut members = Vec::new();
        for host in 0..128 {
            let mean = gamma(rng, 1.0) * 720.0 / 500.0;
            for _ in 0..poisson(rng, mean) {
                members.push(member(host, FailureClass::Pcie, rng.i64(0..30 * DAY_S)));
            }
        }
        members
    }

    #[test]
    fn chance_gives_no_more_than_is_expected_of_it() {
        let mut rng = fastrand::Rng::with_seed(5);
        let rounds = 100;
        let (mut loose, mut strict) = (0, 0);
        for _ in 0..rounds {
            let members = month(&mut rng);
            loose += scan(&members, 128, 30, 1.0).len();
            strict += scan(&members, 128, 30, EXPECTED_MAX).len();
        }
        // At most one in each fleet, and one in a hundred fleets, on average.
        assert!(loose <= rounds, "{loose}");
        assert!(strict <= 3, "{strict}");
    }

    #[test]
    fn a_rack_of_which_most_hosts_fail_within_a_minute_is_found_in_a_fleet_with_other_incidents() {
        let mut rng = fastrand::Rng::with_seed(6);
        let (mut there, mut named) = (0, 0);
        for _ in 0..60 {
            let mut members = month(&mut rng);
            let (rack, at) = (rng.usize(0..16), rng.i64(0..29 * DAY_S));
            let hit: Vec<usize> = (0..8).filter(|_| rng.f64() < 0.75).collect();
            if hit.len() < 4 {
                continue;
            }
            for n in &hit {
                let second = at + rng.i64(0..60);
                members.push(member(rack * 8 + n, FailureClass::Pcie, second));
            }
            there += 1;
            let outbreaks = scan(&members, 128, 30, EXPECTED_MAX);
            let label = format!("rack=rack{rack}");
            let is_it = |o: &&Outbreak| o.labels.contains(&label) && o.hosts.len() >= hit.len();
            named += usize::from(outbreaks.iter().filter(is_it).count() == 1);
        }
        assert!(
            there > 40 && named * 100 >= there * 95,
            "{named} of {there}"
        );
    }

    #[test]
    fn tails_are_those_of_the_poisson_distribution() {
        for (least, mean, tail) in [(1, 0.5, 0.393_469_340_287), (3, 1.0, 0.080_301_397_071)] {
            let found = ln_tail(least, mean).exp();
            assert!((found - tail).abs() < 1e-9, "{least} {mean}: {found}");
        }
        assert_eq!(ln_tail(2, 3.0), 0.0);
        assert!(ln_tail(100, 1e-6) < -1000.0);
    }
}
