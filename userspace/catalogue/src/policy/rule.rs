use std::fmt;
use std::marker::PhantomData;

use gtrace_event::{Action, Kind, Occurrence, PciAddress, Provenance, Severity};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{Error, IntoDeserializer, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// One rule: all that it names has to fit. An empty list names nothing.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) xid: Vec<u32>,
    pub(super) sxid: Vec<u32>,
    pub(super) kind: Vec<Kind>,
    pub(super) sub_code: Vec<u32>,
    pub(super) provenance: Option<Provenance>,
    pub(super) gpu: Option<WhichGpu>,
    pub(super) severity: Option<Severity>,
    pub(super) action: Option<Action>,
    pub(super) steps: Vec<String>,
    pub(super) note: Option<String>,
}

/// How a rule names a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WhichGpu {
    Pci(PciAddress),
    Uuid(String),
}

impl Rule {
    pub(super) fn matches(&self, occ: &Occurrence) -> bool {
        let detail = &occ.detail;
        let xid = (occ.kind == Kind::Xid).then_some(detail.xid.xid).flatten();
        let sxid = (occ.kind == Kind::Sxid)
            .then_some(detail.fabric.sxid)
            .flatten();
        fits(&self.xid, xid)
            && fits(&self.sxid, sxid)
            && fits(&self.kind, Some(occ.kind))
            && fits(&self.sub_code, detail.xid.sub_code)
            && self.provenance.is_none_or(|p| p == occ.provenance)
            && self.gpu.as_ref().is_none_or(|g| g.is(occ))
    }

    /// Whether the rule was written for lines that a process wrote into the kernel log.
    pub(super) fn names_userspace(&self) -> bool {
        self.provenance == Some(Provenance::Userspace)
    }

    /// How a reader finds the rule in the site's file: by what it matched in `occ`.
    pub(super) fn label(&self, occ: &Occurrence) -> String {
        let xid = occ.detail.xid.xid.unwrap_or_default();
        if let (false, Some(sub)) = (self.sub_code.is_empty(), occ.detail.xid.sub_code) {
            format!("xid:{xid}:sub_code:{sub}")
        } else if !self.xid.is_empty() {
            format!("xid:{xid}")
        } else if !self.sxid.is_empty() {
            format!("sxid:{}", occ.detail.fabric.sxid.unwrap_or_default())
        } else if !self.kind.is_empty() {
            format!("kind:{}", occ.kind)
        } else if let Some(provenance) = self.provenance {
            format!("provenance:{provenance}")
        } else {
            match &self.gpu {
                Some(WhichGpu::Pci(pci)) => format!("gpu:{pci}"),
                Some(WhichGpu::Uuid(uuid)) => format!("gpu:{uuid}"),
                None => "all".to_owned(),
            }
        }
    }
}

impl WhichGpu {
    fn is(&self, occ: &Occurrence) -> bool {
        let gpu = occ.gpu.as_ref();
        match self {
            Self::Pci(pci) => gpu.and_then(|g| g.pci) == Some(*pci),
            Self::Uuid(uuid) => gpu.and_then(|g| g.uuid.as_ref()) == Some(uuid),
        }
    }
}

fn fits<T: PartialEq>(wanted: &[T], found: Option<T>) -> bool {
    wanted.is_empty() || found.is_some_and(|f| wanted.contains(&f))
}

/// `79` or `[13, 31]`. Not serde's `untagged`, whose errors name neither value nor type.
#[derive(Clone, Debug)]
pub(super) struct OneOrMany<T>(pub(super) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(OneOrManyVisitor(PhantomData)).map(Self)
    }
}

struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of values")
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(v.into_deserializer())?])
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(v.into_deserializer())?])
    }

    fn visit_str<E: Error>(self, v: &str) -> Result<Vec<T>, E> {
        Ok(vec![T::deserialize(v.to_owned().into_deserializer())?])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Vec<T>, A::Error> {
        let list = Vec::<T>::deserialize(SeqAccessDeserializer::new(seq))?;
        if list.is_empty() {
            return Err(A::Error::custom("invalid empty list: leave the key out"));
        }
        Ok(list)
    }
}
