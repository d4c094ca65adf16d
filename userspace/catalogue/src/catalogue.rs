use gtrace_event::{Action, Advice, Event, Kind, Occurrence, Severity};

use crate::entry::{Category, KindEntry, SxidEntry, XidEntry};
use crate::policy::{Policy, PolicyError, Ruling};
use crate::{refine, table};

/// The tables of this version, with a site's policy on top where one is loaded.
///
/// Cheap to make and to clone: the tables are constants, only a site's rules live on the heap.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    site: Option<Policy>,
}

impl Catalogue {
    /// The catalogue with the built-in default policy.
    pub fn builtin() -> Self {
        Self::default()
    }

    /// Puts the site's policy (TOML, see `packaging/site-policy.example.toml`) in force, in place
    /// of one loaded before.
    ///
    /// What the site's rules leave open, the built-in default policy decides.
    ///
    /// # Errors
    /// The first mistake in the text, with its line, cause and remedy. The policy in force stays.
    pub fn load_site_policy(&mut self, toml: &str) -> Result<(), PolicyError> {
        self.site = Some(Policy::parse(toml)?);
        Ok(())
    }

    /// How many rules the site's policy has; `None` without one.
    pub fn site_rules(&self) -> Option<usize> {
        self.site.as_ref().map(Policy::len)
    }

    /// Decides what `occ` means: sets its severity and returns the advice.
    ///
    /// [`Advice::site`] has the site's steps and its note. An occurrence that `gtrace inject` made is always a
    /// drill, and a line that a process wrote into the kernel log pages only where a rule names
    /// `provenance = "userspace"`.
    pub fn assess(&self, occ: &mut Occurrence) -> Advice {
        let (severity, _, advice) = self.judge(occ);
        occ.severity = severity;
        advice
    }

    /// The action of [`Self::assess`].
    pub fn action(&self, occ: &Occurrence) -> Action {
        self.judge(occ).1
    }

    fn judge(&self, occ: &Occurrence) -> (Severity, Action, Advice) {
        let verdict = refine::verdict(occ);
        let ruling = Ruling::of(self.site.as_ref(), occ, verdict.severity);
        let mut site = ruling.steps.to_vec();
        site.extend(ruling.note.map(|note| format!("Note: {note}")));
        let advice = Advice {
            meaning: Some(verdict.meaning),
            vendor: verdict.vendor,
            action: Some(ruling.action),
            site,
            rule: Some(ruling.rule.unwrap_or(verdict.rule)),
        };
        (ruling.severity, ruling.action, advice)
    }

    /// The driver's name for the code of an Xid or SXid; `None` for codes not in this version's
    /// catalogue and for other kinds.
    pub fn name(&self, occ: &Occurrence) -> Option<&'static str> {
        match occ.kind {
            Kind::Xid => self.xid(occ.detail.xid.xid?).map(|e| e.name),
            Kind::Sxid => self.sxid(occ.detail.fabric.sxid?).map(|e| e.name),
            _ => None,
        }
    }

    /// Where the cause of `event` is looked for first: by its code where the catalogue has that, else by its kind.
    pub fn category(&self, event: &Event) -> Category {
        let of_code = match event.kind {
            Kind::Xid => event.code().and_then(table::xid).map(|e| e.category),
            Kind::Sxid => event.code().and_then(table::sxid).map(|e| e.category),
            _ => None,
        };
        of_code.unwrap_or_else(|| table::kind(event.kind).category)
    }

    /// The entry of an Xid code.
    pub fn xid(&self, code: u32) -> Option<&'static XidEntry> {
        table::xid(code)
    }

    /// The entry of an SXid code.
    pub fn sxid(&self, code: u32) -> Option<&'static SxidEntry> {
        table::sxid(code)
    }

    /// The entry of a kind.
    pub fn kind(&self, kind: Kind) -> &'static KindEntry {
        table::kind(kind)
    }

    /// All Xid codes, in rising order.
    pub fn xids(&self) -> impl Iterator<Item = &'static XidEntry> {
        table::XIDS.iter()
    }

    /// All SXid codes, in rising order.
    pub fn sxids(&self) -> impl Iterator<Item = &'static SxidEntry> {
        table::SXIDS.iter()
    }
}
