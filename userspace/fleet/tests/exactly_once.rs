//! Agents and a head in memory, over a network that loses, repeats and reorders, with kills at any point.
#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use gtrace_event::{Epoch, RecordId};
use gtrace_fleet::{
    Action, Batch, Carried, Fault, History, Limits, Outcome, Position, Shipper, Verdict, decode,
    encode, judge,
};
use gtrace_store::Hash;
use proptest::prelude::*;

/// A store with epochs, as power cuts, backups and replaced files make it.
#[derive(Clone, Default)]
struct Store {
    records: Vec<Carried>,
    epochs: Vec<(Epoch, u64)>,
    made: u8,
    begun: bool,
    durable: usize,
}

impl Store {
    /// A new writer, whose epoch begins with its first record.
    fn writer(&mut self) {
        self.made += 1;
        self.begun = false;
    }

    fn append(&mut self) {
        let before = self.records.last().map_or(Hash::GENESIS, |r| r.hash);
        let seq = self.records.last().map_or(1, |r| r.seq + 1);
        let epoch = Epoch::from_bytes([self.made; 16]);
        let body = format!("{{\"n\":{seq},\"w\":{}}}", self.made);
        self.records.push(Carried::new(epoch, seq, before, body));
        if !std::mem::replace(&mut self.begun, true) {
            // The first append of a writer is synced, with all before it.
            self.epochs.push((epoch, seq));
            self.durable = self.records.len();
        }
    }

    /// A power cut takes the newest records; whoever writes next is another writer.
    fn lose(&mut self, count: usize) {
        let left = self.records.len().saturating_sub(count);
        self.records.truncate(left.max(self.durable));
        self.writer();
    }

    fn knows(&self, position: &Position) -> bool {
        self.epochs
            .iter()
            .any(|(epoch, _)| *epoch == position.id.epoch)
    }

    /// A backup is put back.
    fn put_back(&mut self, backup: Store) {
        *self = Store {
            made: self.made,
            ..backup
        };
        self.writer();
    }

    /// As `gtrace_store::Epochs::resume_after` does it. `earlier`: what else the head knows, the newest first.
    fn after(&self, cursor: Option<Position>, earlier: &[Position], limit: usize) -> Batch {
        let cursor = cursor.filter(|cursor| self.knows(cursor));
        let cursor = cursor.or_else(|| earlier.iter().find(|known| self.knows(known)).copied());
        let after = cursor.and_then(|cursor| {
            let at = self
                .epochs
                .iter()
                .position(|(epoch, _)| *epoch == cursor.id.epoch)?;
            let last = self.records.last().map_or(0, |r| r.seq);
            let end = self.epochs.get(at + 1).map_or(last, |(_, first)| first - 1);
            let seq = cursor.id.seq.min(end);
            let found = self.records.iter().find(|r| r.seq == seq);
            found.map(Carried::position)
        });
        let seq = after.map_or(0, |after| after.id.seq);
        let records = self.records.iter().filter(|r| r.seq > seq).take(limit);
        Batch {
            after,
            tip: self.records.len() as u64,
            records: records.cloned().collect(),
        }
    }
}

/// What a database keeps.
#[derive(Default)]
struct Head {
    taken: Vec<Carried>,
    cursor: Option<Position>,
    last: HashMap<Epoch, Position>,
    /// Epochs in the order in which they came.
    order: Vec<Epoch>,
    faults: Vec<Fault>,
}

impl History for Head {
    fn cursor(&self) -> Option<Position> {
        self.cursor
    }
    fn last_of(&self, epoch: Epoch) -> Option<Position> {
        self.last.get(&epoch).copied()
    }
}

impl Head {
    fn earlier(&self) -> Vec<Position> {
        self.order
            .iter()
            .rev()
            .map(|epoch| self.last[epoch])
            .collect()
    }

    fn take(&mut self, batch: &Batch) -> Option<Position> {
        let verdict = judge(self, batch);
        if let Verdict::Known(Some(known)) = verdict {
            return Some(known);
        }
        if let Verdict::Take(new) = verdict {
            for record in &batch.records[new.from..] {
                self.taken.push(record.clone());
                if self.last.insert(record.epoch, record.position()).is_none() {
                    self.order.push(record.epoch);
                }
            }
            self.cursor = Some(new.cursor);
            self.faults.extend(new.faults);
        }
        self.cursor
    }
}

#[derive(Clone, Debug)]
enum Step {
    Append(u8),
    /// The agent does what is next; the network does this with it.
    Send(Fate),
    /// A packet that was held back arrives.
    Late(prop::sample::Index),
    KillAgent,
    Restart,
    PowerCut(u8),
    Backup,
    PutBack,
}

#[derive(Clone, Debug)]
enum Fate {
    Arrives,
    Lost,
    AnswerLost,
    Twice,
    /// It is held back, and the agent gets no answer.
    Late,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fate = prop_oneof![
        4 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        1 => Just(Fate::AnswerLost),
        1 => Just(Fate::Twice),
        1 => Just(Fate::Late),
    ];
    let step = prop_oneof![
        4 => (1..6_u8).prop_map(Step::Append),
        8 => fate.prop_map(Step::Send),
        2 => any::<prop::sample::Index>().prop_map(Step::Late),
        1 => Just(Step::KillAgent),
        1 => Just(Step::Restart),
        1 => (1..4_u8).prop_map(Step::PowerCut),
        1 => Just(Step::Backup),
        1 => Just(Step::PutBack),
    ];
    prop::collection::vec(step, 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn each_record_is_taken_once_and_in_order(steps in steps()) {
        let mut store = Store::default();
        store.writer();
        let (mut head, mut late) = (Head::default(), Vec::<Vec<u8>>::new());
        let mut agent = Shipper::new(Limits::default());
        let mut backup = store.clone();
        let mut now = Duration::ZERO;
        let mut send = |agent: &mut Shipper, head: &mut Head, store: &Store, fate: &Fate, late: &mut Vec<Vec<u8>>| {
            now += Duration::from_millis(10);
            let action = loop {
                match agent.next(now) {
                    Action::WaitUntil(until) if agent.is_caught_up() => return until > now,
                    Action::WaitUntil(until) => now = until,
                    action => break action,
                }
            };
            let answer = match action {
                Action::SendBatch { cursor } => {
                    let batch = store.after(cursor, &head.earlier(), 3);
                    if batch.records.is_empty() {
                        agent.caught_up();
                        return true;
                    }
                    let packet = encode(&batch).unwrap();
                    match fate {
                        Fate::Lost => None,
                        Fate::Late => { late.push(packet); None }
                        Fate::Arrives => Some(head.take(&decode(&packet).unwrap())),
                        Fate::Twice => { head.take(&batch); Some(head.take(&batch)) }
                        Fate::AnswerLost => { head.take(&batch); None }
                    }
                }
                _ => Some(head.cursor),
            };
            let outcome = answer.map_or(Outcome::Failed, |cursor| Outcome::Answered { cursor, sent: 9 });
            agent.ended(now, outcome, 0.5);
            false
        };
        for step in &steps {
            match step {
                Step::Append(n) => { (0..*n).for_each(|_| store.append()); agent.grew(); }
                Step::Send(fate) => { send(&mut agent, &mut head, &store, fate, &mut late); }
                Step::Late(which) if !late.is_empty() => {
                    let packet = late.remove(which.index(late.len()));
                    head.take(&decode(&packet).unwrap());
                }
                Step::Late(_) => {}
                Step::KillAgent => agent = Shipper::new(Limits::default()),
                Step::Restart => store.writer(),
                Step::Backup => backup = store.clone(),
                Step::PutBack => { store.put_back(backup.clone()); store.append(); agent.grew(); }
                Step::PowerCut(n) => { store.lose(usize::from(*n)); store.append(); agent.grew(); }
            }
        }
        agent.grew();
        for _ in 0..1000 {
            if send(&mut agent, &mut head, &store, &Fate::Arrives, &mut late) && agent.is_caught_up() {
                break;
            }
        }
        // What was held back for longest comes when all is done.
        for packet in late {
            head.take(&decode(&packet).unwrap());
        }
        let mut seen = HashSet::<RecordId>::new();
        for record in &head.taken {
            prop_assert!(seen.insert(record.position().id), "twice: {record:?}");
        }
        let mut newest = BTreeMap::new();
        for record in &head.taken {
            let before = newest.insert(record.epoch, record.seq);
            prop_assert!(before.is_none_or(|before| before < record.seq), "out of order: {record:?}");
        }
        // All that the host still has is there, in its order and with its hashes.
        let kept: Vec<_> = head.taken.iter().filter(|r| store.records.contains(r)).cloned().collect();
        prop_assert_eq!(&kept, &store.records);
        prop_assert!(head.faults.is_empty(), "{:?}", head.faults);
        // A packet that came late may have moved the cursor to records that the host lost.
        let newest = store.records.last().map(Carried::position);
        prop_assert_eq!(newest.and_then(|newest| head.last_of(newest.id.epoch)), newest);
    }
}

#[test]
fn a_changed_record_is_a_fault_and_is_kept_all_the_same() {
    let mut store = Store::default();
    store.writer();
    (0..4).for_each(|_| store.append());
    let mut head = Head::default();
    head.take(&store.after(None, &[], 2));
    // The third record is changed in the file; the fourth still follows the old one.
    let old = store.records[2].clone();
    store.records[2] = Carried::new(old.epoch, old.seq, old.before, "{}".to_owned());
    head.take(&store.after(head.cursor, &[], 9));
    assert_eq!(head.faults, [Fault::Broken { seq: 4 }]);
    // One that the head has: the host's own hash of it is another.
    let old = store.records[3].clone();
    store.records[3] = Carried::new(old.epoch, old.seq, old.before, "{\"x\":1}".to_owned());
    store.append();
    head.take(&store.after(head.cursor, &[], 9));
    assert_eq!(head.faults[1..], [Fault::Rewritten { seq: 4 }]);
    assert_eq!(head.taken.len(), 5);
}
