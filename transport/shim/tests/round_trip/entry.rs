//! Replaces the shim's entry and the link: a request goes straight to the dispatch.

use std::cell::{Cell, RefCell};

use gtrace_cuda::{Kind, Operation};
use gtrace_protocol::{DecodeError, Reader, Writer};

use crate::exec::{CallError, Code, Exec};
use crate::server;

thread_local! {
    static EXEC: RefCell<Exec> = RefCell::new(Exec::without_functions());
    static COUNTER: Cell<u64> = const { Cell::new(0) };
    static TRIPS: Cell<u32> = const { Cell::new(0) };
}

/// Changes this thread's server.
pub(crate) fn with_server<T>(action: impl FnOnce(&mut Exec) -> T) -> T {
    EXEC.with_borrow_mut(action)
}

/// Requests that this thread has sent.
pub(crate) fn trips() -> u32 {
    TRIPS.get()
}

type Dispatch = fn(u32, &mut Exec, &mut Reader<'_>, &mut Writer) -> Result<Code, CallError>;
type Write<'a> = &'a mut dyn FnMut(&mut Writer) -> Result<(), u32>;
type Read<'a> = &'a mut dyn FnMut(&mut Reader<'_>) -> Result<(), DecodeError>;

fn call(dispatch: Dispatch, op: u32, write: Write<'_>, read: Read<'_>) -> u32 {
    let mut request = Writer::default();
    if let Err(status) = write(&mut request) {
        return status;
    }
    TRIPS.set(TRIPS.get() + 1);
    let mut reply = Writer::default();
    let mut arguments = Reader::new(request.as_slice());
    let status = with_server(|exec| dispatch(op, exec, &mut arguments, &mut reply))
        .expect("a request of the client is one that the server can read");
    if !reply.is_empty() {
        let mut results = Reader::new(reply.as_slice());
        read(&mut results).expect("a reply of the server is one that the client can read");
        results.end().expect("the client reads all of a reply");
    }
    status.cast_unsigned()
}

pub(crate) fn waiting(op: u32, write: Write<'_>, read: Read<'_>) -> u32 {
    call(server::driver::dispatch, op, write, read)
}

pub(crate) fn nvml(op: u32, write: Write<'_>, read: Read<'_>) -> u32 {
    call(server::nvml::dispatch, op, write, read)
}

pub(crate) fn one_way(op: Operation, write: Write<'_>) -> u32 {
    call(server::driver::dispatch, op.id, write, &mut |_| {
        panic!("a one-way call has an answer")
    })
}

pub(crate) fn mint(kind: Kind) -> u64 {
    COUNTER.set(COUNTER.get() + 1);
    kind.handle(COUNTER.get())
}
