//! Copies to page-locked memory of the client that it takes when it has waited for something.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{DeferredCopy, Payload as _, Piece, Taken};
use gtrace_link::LinkError;
use gtrace_protocol::{HEADER_LEN, Reader, Writer};

use super::{INVALID_VALUE, SUCCESS, code_of};
use crate::exec::{Called, Exec};
use crate::worker::deferred_copies::{Bytes, Copy, CopyPoll, Place};
use crate::worker::session::Session;

/// Between polls of a copy that is waited for: at first, and at most.
const POLL_FIRST: Duration = Duration::from_micros(20);
const POLL_LATER: Duration = Duration::from_millis(1);

/// What a poll of copies needs.
fn poll<'a>(exec: &Exec, session: &'a Session) -> CopyPoll<'a> {
    CopyPoll {
        driver: exec.driver,
        event_lifetime: &session.event_lifetime,
        handles: &session.handles,
    }
}

/// Puts a copy into its stream.
pub(crate) fn defer_copy(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let DeferredCopy {
        ticket,
        from,
        len,
        stream,
    } = DeferredCopy::whole(r)?;
    let (Ok(real), Ok(len)) = (
        exec.handles.real(Kind::Stream, stream),
        usize::try_from(len),
    ) else {
        return Ok(INVALID_VALUE);
    };
    let session = Arc::clone(&exec.session);
    let order = Place {
        lane: exec.number,
        context: exec.request.context,
        stream,
    };
    let copy = Copy {
        ticket,
        from,
        len,
        stream: real.cast(),
        order,
    };
    let poll = poll(exec, &session);
    Ok(code_of(session.deferred_copies.start(poll, copy)))
}

/// Sends what is complete, once the copy that is waited for is. It does not wait for ever: it checks for
/// frames that the client sends behind this.
pub(crate) fn take(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let ticket = u64::whole(r)?;
    let session = Arc::clone(&exec.session);
    let poll = poll(exec, &session);
    if exec.request.context == 0 {
        // It may be given one to ask in.
        exec.context_changed();
    }
    let mut pause = POLL_FIRST;
    while ticket != 0 && session.deferred_copies.is_under_way(poll, ticket) {
        // A client that has gone is noticed by the link.
        if !matches!(exec.link.rx.ready(HEADER_LEN), Ok(false)) {
            break;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(POLL_LATER);
    }
    let ready = session.deferred_copies.take(poll, exec.number);
    let mut answered = Ok(());
    let mut lent = VecDeque::new();
    for (ticket, bytes) in ready.bytes {
        answered = answered.and_then(|()| send(exec, ticket, &bytes, &mut lent));
        lent.push_back(bytes);
    }
    // All of it at once: the client has it before what it has not read by then is copied, so that the memory becomes free.
    let answered = answered.and_then(|()| finish(exec, &ready.rest));
    for bytes in lent.into_iter().rev() {
        bytes.take_back(&mut *exec.link.tx);
        session.deferred_copies.sent(bytes);
    }
    answered?;
    Ok(SUCCESS)
}

/// Waits for the copies that are under way now, of all contexts. What they wait for may need what other lanes do.
pub(crate) fn settle_copies(exec: &Exec) {
    let session = Arc::clone(&exec.session);
    let poll = poll(exec, &session);
    for ticket in session.deferred_copies.tickets() {
        let mut pause = POLL_FIRST;
        while session.deferred_copies.is_under_way(poll, ticket) {
            std::thread::sleep(pause);
            pause = (pause * 2).min(POLL_LATER);
        }
    }
}

/// Sends a copy. Those in `lent`, which were sent before, are given back as soon as the client has read them: it may use their
/// room while the rest travels.
fn send(
    exec: &mut Exec,
    ticket: u64,
    bytes: &Bytes,
    lent: &mut VecDeque<Bytes>,
) -> Result<(), LinkError> {
    for piece in bytes.pieces() {
        let mut small = Writer::default();
        let at = piece.at as u64;
        Piece { ticket, at }.write(&mut small);
        let mut header = exec.reply_header();
        exec.fill_header(&mut header, Ok(()), false, (small.len(), piece.len()));
        exec.sending(true, |exec| {
            exec.put_bytes(&header, small.as_slice())?;
            piece.send(&mut *exec.link.tx)
        })?;
        exec.count_out(piece.len());
        exec.moved += piece.len();
        while let Some(read) = lent.pop_front_if(|first| !first.is_lent(&mut *exec.link.tx)) {
            exec.session.deferred_copies.sent(read);
        }
    }
    Ok(())
}

fn finish(exec: &mut Exec, rest: &Taken) -> Result<(), LinkError> {
    let mut small = Writer::default();
    rest.write(&mut small);
    let mut header = exec.reply_header();
    exec.fill_header(&mut header, Ok(()), true, (small.len(), 0));
    exec.put_bytes(&header, small.as_slice())?;
    exec.replied = true;
    exec.sending(true, |exec| exec.link.tx.flush())
}
