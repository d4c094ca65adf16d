//! Contexts. Each thread's stack of current contexts is kept by the client; a frame names the
//! current context.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Contexts.
    pub const CONTEXT: SIGNATURES;
    waiting(client, no_context, retains_primary) cuDevicePrimaryCtxRetain(
        pctx: mint(Context), dev: value,
    );
    waiting(sync, client, no_context, releases_primary) cuDevicePrimaryCtxRelease_v2(dev: value);
    waiting(sync, client, no_context, resets_primary) cuDevicePrimaryCtxReset_v2(dev: value);
    local cuDevicePrimaryCtxGetState(dev: value, flags: out, active: out);
    waiting(client, no_context, creates) cuDevicePrimaryCtxSetFlags_v2(dev: value, flags: value);

    waiting(client, no_context) cuCtxCreate_v2(pctx: mint(Context), flags: value, dev: value);
    // Their parameters lead to further pointers; without any they are cuCtxCreate_v2.
    local cuCtxCreate_v3;
    local cuCtxCreate_v4;
    waiting(sync, client, no_context, destroys_context) cuCtxDestroy_v2(ctx: destroy(Context));

    // The client counts how often a context is attached to; at the last it is destroyed.
    local cuCtxAttach;
    local cuCtxDetach;
    local cuCtxGetCurrent;
    local cuCtxSetCurrent;
    local cuCtxPushCurrent_v2;
    local cuCtxPopCurrent_v2;
    local cuCtxGetDevice;
    local cuCtxGetDevice_v2;
    local cuCtxGetApiVersion(ctx: handle(Context)?, version: out);
    local cuCtxGetFlags(flags: out);
    waiting(client, creates) cuCtxSetFlags(flags: value);
    local cuCtxGetId(ctx: handle(Context)?, ctxId: out);
    local cuCtxGetStreamPriorityRange(leastPriority: out?, greatestPriority: out?);

    waiting(sync) cuCtxSynchronize();
    waiting(sync) cuCtxSynchronize_v2(ctx: handle(Context)?);
    waiting cuCtxGetLimit(pvalue: out, limit: value);
    waiting cuCtxSetLimit(limit: value, value: value);
    waiting cuCtxGetCacheConfig(pconfig: out);
    waiting cuCtxSetCacheConfig(config: value);
    waiting cuCtxGetSharedMemConfig(pConfig: out);
    waiting cuCtxSetSharedMemConfig(config: value);
    waiting cuCtxGetExecAffinity(pExecAffinity: out, type_: value);
    one_way cuCtxResetPersistingL2Cache();
    waiting cuCtxEnablePeerAccess(peerContext: handle(Context), Flags: value);
    waiting cuCtxDisablePeerAccess(peerContext: handle(Context));
    one_way(client) cuCtxRecordEvent(hCtx: handle(Context), hEvent: handle(Event));
    one_way cuCtxWaitEvent(hCtx: handle(Context), hEvent: handle(Event));
}
