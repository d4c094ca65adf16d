//! Graphs that can be launched: what their nodes did when they were instantiated, in an order in
//! which they may run.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::conditional::{self, Conditional};
use super::memory::GraphMemory;
use super::user::Held;
use super::work::Work;
use super::{Graph, next_id};
use crate::abi::Answer;
use crate::command::Command;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED};
use crate::event::Record;
use crate::health::Health;
use crate::progress::Progress;
use crate::registry::{Registry, mint};
use crate::stream::{Stream, resolve};
use crate::sync::lock;

const KIND: u8 = 12;
/// `CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`, `_UPLOAD`, `_DEVICE_LAUNCH` and
/// `_USE_NODE_PRIORITY`.
const AUTO_FREE: u64 = 1;
const DEVICE_LAUNCH: u64 = 4;
const FLAGS: u64 = 15;

static EXECS: Registry<Exec> = Registry::new();

/// A node of what can be launched.
#[derive(Clone)]
pub(crate) struct Step {
    /// The node that it was made from.
    pub(crate) node: u64,
    pub(crate) work: Work,
    pub(crate) enabled: bool,
    /// Places of the steps that it waits for.
    pub(crate) after: Vec<usize>,
    /// Steps of its inner graphs.
    pub(crate) inner: Vec<Vec<Step>>,
}

impl Step {
    /// Has the inner graph do what `graph` does.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if that has another structure.
    pub(crate) fn take_child(&mut self, graph: &Graph) -> Answer {
        let new = steps_of(graph, false).map_err(|(_, error)| error)?;
        let own = self.inner.first_mut().ok_or(INVALID_VALUE)?;
        super::update::compare(own, &new).map_err(|_| INVALID_VALUE)?;
        super::update::take_over(own, new);
        Ok(())
    }
}

/// See the module.
pub(crate) struct Exec {
    pub(crate) handle: u64,
    pub(crate) id: u32,
    pub(crate) flags: u64,
    steps: Mutex<Arc<Vec<Step>>>,
    /// Launches asked for, and those that are done: two at a time do not run.
    asked: AtomicU64,
    done: Arc<Progress>,
    pub(crate) held: Held,
}

/// The steps of a graph, in order.
///
/// # Errors
/// The node at which the graph cannot be instantiated, 0 for none in particular, and why.
pub(super) fn steps_of(
    graph: &Graph,
    within: bool,
) -> Result<Vec<Step>, (u64, crate::error::CuError)> {
    let order = graph.order().map_err(|error| (0, error))?;
    let mut steps = Vec::with_capacity(order.len());
    for (node, after) in order {
        let work = node.work();
        let fits = match &work {
            // What the bodies of conditional nodes may have is documented with them.
            Work::Host(_)
            | Work::WaitEvent(..)
            | Work::RecordEvent(..)
            | Work::MemAlloc(_)
            | Work::MemFree(_)
            | Work::MemOp(_) => !within,
            _ => true,
        };
        if !fits {
            return Err((node.handle, NOT_SUPPORTED));
        }
        let within = within || matches!(work, Work::Conditional(_));
        let inner = work.inner();
        let inner = inner.iter().map(|graph| steps_of(graph, within));
        steps.push(Step {
            node: node.handle,
            inner: inner.collect::<Result<_, _>>()?,
            work,
            enabled: true,
            after,
        });
    }
    Ok(steps)
}

/// Everything in `steps`, inner graphs included.
pub(crate) fn visit(steps: &[Step], see: &mut impl FnMut(&Step)) {
    for step in steps {
        see(step);
        for inner in &step.inner {
            visit(inner, see);
        }
    }
}

fn find(steps: &mut [Step], node: u64) -> Option<&mut Step> {
    for step in steps {
        if step.node == node {
            return Some(step);
        }
        for inner in &mut step.inner {
            if let Some(found) = find(inner, node) {
                return Some(found);
            }
        }
    }
    None
}

impl Exec {
    /// Instantiates a graph.
    ///
    /// # Errors
    /// As [`steps_of`]; `CUDA_ERROR_INVALID_VALUE` for flags that do not exist, and
    /// `CUDA_ERROR_NOT_SUPPORTED` for launches from the device.
    pub(crate) fn create(
        graph: &Graph,
        flags: u64,
    ) -> Result<Arc<Self>, (u64, crate::error::CuError)> {
        if flags & !FLAGS != 0 {
            return Err((0, INVALID_VALUE));
        }
        if flags & DEVICE_LAUNCH != 0 {
            return Err((0, NOT_SUPPORTED));
        }
        if graph.is_moved() {
            return Err((0, INVALID_VALUE));
        }
        let exec = Arc::new(Self {
            handle: mint(KIND),
            id: next_id(),
            flags,
            steps: Mutex::new(Arc::new(steps_of(graph, false)?)),
            asked: AtomicU64::new(0),
            done: Arc::default(),
            held: Held::default(),
        });
        graph.held.share(&exec.held);
        EXECS.insert(exec.handle, Arc::clone(&exec));
        Ok(exec)
    }

    /// The live one of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        EXECS.find(handle)
    }

    /// Ends the handle; launches under way end by themselves.
    pub(crate) fn destroy(handle: u64) -> Answer {
        EXECS.remove(handle).map(|_| ()).ok_or(INVALID_HANDLE)
    }

    /// Its steps as of now.
    pub(crate) fn steps(&self) -> Arc<Vec<Step>> {
        Arc::clone(&lock(&self.steps))
    }

    /// Replaces all steps; launches under way keep theirs.
    pub(super) fn set_steps(&self, steps: Vec<Step>) {
        *lock(&self.steps) = Arc::new(steps);
    }

    /// Changes the step of a node.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if there is none, and what `change` says.
    pub(crate) fn change(&self, node: u64, change: impl FnOnce(&mut Step) -> Answer) -> Answer {
        let mut own = lock(&self.steps);
        let mut steps = Vec::clone(&own);
        change(find(&mut steps, node).ok_or(INVALID_VALUE)?)?;
        *own = Arc::new(steps);
        Ok(())
    }

    /// Launches it in a stream.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if what an earlier launch allocated is not free.
    pub(crate) fn launch(self: &Arc<Self>, stream: u64) -> Answer {
        let (context, stream) = resolve(stream)?;
        if let Some(capture) = super::capture::of(&stream) {
            return self.capture(&stream, &capture);
        }
        super::capture::refuse_implicit(&stream)?;
        context.printed.flush();
        let steps = self.steps();
        self.check_memory(&steps)?;
        let mut records = Vec::new();
        visit(&steps, &mut |step| match &step.work {
            Work::RecordEvent(_, event) if step.enabled => {
                event.uncapture();
                records.push(event.issue());
            }
            Work::WaitEvent(_, event) if step.enabled => records.push(event.latest()),
            _ => {}
        });
        let turn = self.asked.fetch_add(1, Ordering::SeqCst) + 1;
        let run = Run {
            exec: Arc::clone(self),
            steps,
            records,
            turn,
        };
        let submitted = stream.submit(&context, Command::Graph(Box::new(run)));
        if submitted.is_err() {
            self.done.wait(turn - 1);
            self.done.advance(turn);
        }
        submitted
    }

    /// Notes what a launch allocates and frees.
    fn check_memory(&self, steps: &[Step]) -> Answer {
        let mut live = Vec::new();
        visit(steps, &mut |step| {
            if let Work::MemAlloc(memory) = &step.work {
                live.push(Arc::clone(memory));
            }
        });
        // What the graph frees itself is free by the time of the next launch.
        visit(steps, &mut |step| {
            if let Work::MemFree(address) = &step.work {
                live.retain(|memory| memory.address != *address);
            }
        });
        if self.flags & AUTO_FREE == 0 && live.iter().any(|memory| memory.is_owed()) {
            return Err(INVALID_VALUE);
        }
        visit(steps, &mut |step| {
            if let Work::MemFree(address) = &step.work
                && let Some(memory) = GraphMemory::of(*address)
            {
                memory.set_owed(false);
            }
        });
        for memory in &live {
            memory.set_owed(true);
        }
        Ok(())
    }

    /// A launch into a capture becomes a child graph of it.
    fn capture(&self, stream: &Stream, capture: &Arc<super::capture::Capture>) -> Answer {
        capture.check()?;
        super::capture::record(stream, capture, Work::Child(graph_of(&self.steps())?))
    }
}

/// A graph that does what `steps` do, whatever has become of the one that they were made from.
///
/// # Errors
/// As [`Work::duplicate`].
fn graph_of(steps: &[Step]) -> Answer<Arc<Graph>> {
    let graph = Graph::create(true);
    let filled = fill(&graph, steps);
    if filled.is_err() {
        graph.destroy();
    }
    filled.map(|()| graph)
}

fn fill(graph: &Graph, steps: &[Step]) -> Answer {
    let mut nodes = Vec::new();
    for step in steps {
        let after: Vec<_> = step
            .after
            .iter()
            .filter_map(|at| Some((*nodes.get(*at)?, Default::default())))
            .collect();
        let work = match (&step.work, step.inner.first()) {
            _ if !step.enabled => Work::Empty,
            (Work::Child(_), Some(inner)) => Work::Child(graph_of(inner)?),
            (work, _) => work.duplicate()?,
        };
        nodes.push(graph.add(&after, work)?.handle);
    }
    Ok(())
}

/// A launch in a stream.
pub(crate) struct Run {
    exec: Arc<Exec>,
    steps: Arc<Vec<Step>>,
    /// Of records of events and waits for them, in the order of the steps.
    records: Vec<Record>,
    turn: u64,
}

impl Run {
    /// Runs it in the calling thread. After an error of the context only what others wait for is
    /// done.
    pub(crate) fn run(&self, health: &Health) -> Answer {
        self.exec.done.wait(self.turn - 1);
        visit(&self.steps, &mut |step| {
            if let Work::Conditional(conditional) = &step.work {
                conditional.value.begin();
            }
        });
        let mut records = self.records.iter().cloned();
        let outcome = run_all(&self.steps, &mut records, health);
        self.exec.done.advance(self.turn);
        outcome
    }
}

fn run_all(steps: &[Step], records: &mut impl Iterator<Item = Record>, health: &Health) -> Answer {
    let mut outcome = health.check();
    let failed = outcome.is_err();
    for step in steps.iter().filter(|step| step.enabled) {
        match &step.work {
            Work::RecordEvent(_, event) => {
                if let Some(record) = records.next() {
                    event.complete(&record);
                }
            }
            Work::WaitEvent(..) => {
                if let Some(record) = records.next() {
                    record.wait();
                }
            }
            Work::Child(_) => {
                for inner in &step.inner {
                    let ran = run_all(inner, records, health);
                    outcome = outcome.and(ran);
                }
            }
            _ if outcome.is_err() => {}
            Work::Conditional(node) => outcome = run_conditional(node, step, health),
            work => outcome = work.run(health),
        }
        if let (Err(error), false) = (&outcome, failed) {
            // Seen by what runs beside it, and by the rest of this launch.
            health.fail(*error);
        }
    }
    // An error from before the launch is not this launch's.
    if failed { Ok(()) } else { outcome }
}

fn run_conditional(node: &Conditional, step: &Step, health: &Health) -> Answer {
    while let Some(at) = node.choice() {
        if let Some(body) = step.inner.get(at) {
            run_all(body, &mut std::iter::empty(), health)?;
        }
        health.check()?;
        if node.kind != conditional::WHILE {
            break;
        }
    }
    Ok(())
}
