//! Failures and GPU-hours of hosts by what ran there at that time: driver, kernel, VBIOS, firmware, or a label.

use std::collections::BTreeMap;

use gtrace_fleet::lemon::Exposed;
use serde::{Deserialize, Serialize};

use super::Database;
use super::sql::DbError;
use super::tallies::Tallies;

/// Longest version that is kept.
const VERSION_MAX: usize = 128;

/// What a GPU ran with at a time, as far as it is known.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// GPU driver.
    pub driver: Option<String>,
    /// Kernel.
    pub kernel: Option<String>,
    /// VBIOS of the GPU.
    pub vbios: Option<String>,
    /// GSP firmware of the GPU.
    pub firmware: Option<String>,
}

impl Versions {
    /// As it is kept: empty where nothing is known, and without what is no version.
    pub(crate) fn text(mut self) -> String {
        let fits = |version: &String| {
            !version.is_empty()
                && version.len() <= VERSION_MAX
                && version
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "._+~:-".contains(c))
                // It becomes an argument of commands that people copy.
                && !version.starts_with('-')
        };
        for version in [
            &mut self.driver,
            &mut self.kernel,
            &mut self.vbios,
            &mut self.firmware,
        ] {
            *version = version.take().filter(fits);
        }
        match self == Self::default() {
            true => String::new(),
            false => serde_json::to_string(&self).unwrap_or_default(),
        }
    }
}

/// By what hosts are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Factor {
    /// Version of the GPU driver.
    Driver,
    /// The kernel's release.
    Kernel,
    /// Version of the VBIOS.
    Vbios,
    /// Version of the GSP firmware.
    Firmware,
    /// Values that a label has now.
    Label(String),
}

impl From<&str> for Factor {
    fn from(text: &str) -> Self {
        match text {
            "driver" => Self::Driver,
            "kernel" => Self::Kernel,
            "vbios" => Self::Vbios,
            "firmware" => Self::Firmware,
            label => Self::Label(label.to_owned()),
        }
    }
}

impl Database {
    /// For each version its hosts, with their failures and GPU-hours while they had it: a host that was upgraded is in two. Failures are those of
    /// [`Self::exposed`]. From what was kept of the last question, as of `today` (days since 1970-01-01).
    pub fn cohorts(
        &mut self,
        tallies: &mut Tallies,
        by: &Factor,
        today: i64,
    ) -> Result<BTreeMap<String, Vec<Exposed>>, DbError> {
        let mut labels: BTreeMap<i64, String> = BTreeMap::new();
        let mut names: BTreeMap<i64, String> = BTreeMap::new();
        for row in self.hosts()? {
            if let Factor::Label(name) = by
                && let Some(value) = row.state.as_ref().and_then(|s| s.labels.get(name))
            {
                labels.insert(row.id, value.clone());
            }
            names.insert(row.id, row.name);
        }
        // What names no GPU may be of the driver or the kernel; no one GPU's VBIOS or firmware is known to be at fault.
        let whole_host = !matches!(by, Factor::Vbios | Factor::Firmware);
        let units = tallies.tally(self.sql.as_mut(), today, whole_host, |host, place| {
            let versions = || serde_json::from_str::<Versions>(&place.versions).ok();
            let version = match by {
                Factor::Driver => versions()?.driver,
                Factor::Kernel => versions()?.kernel,
                Factor::Vbios => versions()?.vbios,
                Factor::Firmware => versions()?.firmware,
                Factor::Label(_) => labels.get(&host).cloned(),
            };
            Some((version?, host))
        })?;
        let mut cohorts: BTreeMap<String, Vec<Exposed>> = BTreeMap::new();
        for ((version, host), of) in units {
            cohorts.entry(version).or_default().push(Exposed {
                name: names.get(&host).cloned().unwrap_or_default(),
                failures: of.failures,
                hours: of.hours,
                ..Exposed::default()
            });
        }
        Ok(cohorts)
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{FailureClass, Record, Timestamp};

    use super::*;
    use crate::db::testing::{bare_state, enrolled, incident, placed, put_first, with_hosts};
    use crate::db::{NewState, Placed};

    const PCI: &str = "0000:3b:00.0";

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(1_780_000_000 + minute * 60).unwrap()
    }

    #[test]
    fn failures_and_hours_are_those_of_the_version_that_a_host_had_then() {
        let (_dir, mut db) = with_hosts(&[]);
        let hosts = ["a", "b"].map(|name| enrolled(&mut db, name, at(0)));
        // The driver of `a` is changed after an hour; that of `b` stays. Both keep their VBIOS.
        let mut say = |host: i64, minutes: std::ops::RangeInclusive<i64>, driver: &str| {
            for minute in minutes {
                let versions = Versions {
                    driver: Some(driver.to_owned()),
                    vbios: Some("96.00".to_owned()),
                    ..Versions::default()
                };
                let state = NewState {
                    state:
                        r#"{"time":"2026-01-01T00:00:00Z","version":"x","labels":{"image":"i1"}}"#
                            .to_owned(),
                    gpus: vec![Placed {
                        versions: versions.text(),
                        ..placed(PCI, "")
                    }],
                    ..bare_state(host, at(minute))
                };
                db.put_states(&[state], at(minute)).unwrap();
            }
        };
        say(hosts[0], 0..=60, "570");
        say(hosts[0], 70..=190, "580");
        say(hosts[1], 0..=30, "570");
        // The last one is of no GPU.
        let of_gpus: [(i64, &[&str]); 4] = [(30, &[PCI]), (65, &[PCI]), (100, &[PCI]), (101, &[])];
        let records = of_gpus.map(|(minute, gpus)| {
            let failed = incident(at(minute), FailureClass::Pcie, gpus);
            Record::Incident(Box::new(failed))
        });
        put_first(&mut db, hosts[0], &records, at(200));
        let mut of = |by: &str| -> Vec<(String, String, u64, f64)> {
            let mut found = Vec::new();
            for (version, hosts) in db.cohorts_anew(&Factor::from(by)) {
                for host in hosts {
                    found.push((version.clone(), host.name, host.failures, host.hours));
                }
            }
            found
        };
        let host = |version: &str, name: &str, failures, hours| {
            (version.to_owned(), name.to_owned(), failures, hours)
        };
        // What happened while it was down for the change is of the version before.
        let drivers = [
            host("570", "a", 2, 1.0),
            host("570", "b", 0, 0.5),
            host("580", "a", 2, 2.0),
        ];
        assert_eq!(of("driver"), drivers);
        // What names no GPU is of no VBIOS.
        let vbios = [host("96.00", "a", 3, 3.0), host("96.00", "b", 0, 0.5)];
        assert_eq!(of("vbios"), vbios);
        assert_eq!(
            of("image"),
            [host("i1", "a", 4, 3.0), host("i1", "b", 0, 0.5)]
        );
        assert_eq!(of("kernel"), []);
    }

    #[test]
    fn what_is_no_version_is_not_kept() {
        let text = |driver: &str| {
            let versions = Versions {
                driver: Some(driver.to_owned()),
                ..Versions::default()
            };
            versions.text()
        };
        assert_eq!(text("580.82.07"), r#"{"driver":"580.82.07"}"#);
        for wrong in ["", "a\nb", "\u{7f}", &"9".repeat(129)] {
            assert_eq!(text(wrong), "");
        }
    }
}
