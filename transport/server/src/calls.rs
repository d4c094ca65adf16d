//! From an operation's id to what makes its call.

use gtrace_cuda::payload;
use gtrace_protocol::{Flags, OpId, Reader, Writer, op_id};

use crate::exec::{Bad, Code, Exec};
use crate::generated::driver;
use crate::special;

const CONTEXT_CREATE: OpId = op_id("cuCtxCreate_v2");
const CONTEXT_DESTROY: OpId = op_id("cuCtxDestroy_v2");
const PRIMARY_RESET: OpId = op_id("cuDevicePrimaryCtxReset_v2");
const PRIMARY_RELEASE: OpId = op_id("cuDevicePrimaryCtxRelease_v2");

/// Makes the call of `op` with the arguments of `r`, and puts what comes back into `w`.
///
/// An operation that does not exist answers NOT_SUPPORTED.
///
/// # Errors
///
/// [`Bad`].
pub(crate) fn call(
    exec: &mut Exec,
    op: OpId,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    match op {
        payload::SNAPSHOT => return special::snapshot(exec, r, w),
        payload::IMAGE => return special::image(exec, r),
        payload::HOST_NEXT => return special::host_next(exec, r, w),
        payload::HOST_DONE => return special::host_done(exec, r),
        _ => {}
    }
    if exec.request.flags.has(Flags::NVML) {
        return special::nvml_call(exec, op, r, w);
    }
    let code = driver::dispatch(op, exec, r, w)?;
    if matches!(
        op,
        CONTEXT_CREATE | CONTEXT_DESTROY | PRIMARY_RESET | PRIMARY_RELEASE
    ) {
        // They change this thread's stack of contexts behind the cache.
        exec.context_changed();
    }
    Ok(code)
}
