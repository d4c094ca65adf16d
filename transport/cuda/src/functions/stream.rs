//! Streams and events. The client mints their handles, so creating one is one-way.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Streams.
    pub const STREAM: SIGNATURES;
    one_way cuStreamCreate(phStream: mint(Stream), Flags: value);
    one_way cuStreamCreateWithPriority(phStream: mint(Stream), flags: value, priority: value);
    one_way(client) cuStreamDestroy_v2(hStream: destroy(Stream));
    waiting(sync) cuStreamSynchronize(hStream: handle(Stream));
    waiting cuStreamQuery(hStream: handle(Stream));
    // A stream that waits for a captured event takes part in the capture.
    one_way(client) cuStreamWaitEvent(hStream: handle(Stream), hEvent: handle(Event), Flags: value);
    waiting cuStreamGetFlags(hStream: handle(Stream), flags: out);
    waiting cuStreamGetPriority(hStream: handle(Stream), priority: out);
    waiting cuStreamGetId(hStream: handle(Stream), streamId: out);
    waiting cuStreamGetDevice(hStream: handle(Stream), device: out);
    waiting cuStreamGetCtx(hStream: handle(Stream), pctx: known(Context));
    // There are no green contexts: the client answers null for them, never a number.
    local cuStreamGetCtx_v2;
    local cuStreamGetGreenCtx;
    one_way(client) cuStreamAttachMemAsync(
        hStream: handle(Stream), dptr: address, length: value, flags: value,
    );
    one_way cuStreamCopyAttributes(dst: handle(Stream), src: handle(Stream));
    waiting cuStreamGetAttribute(hStream: handle(Stream), attr: value, value_out: out);
    waiting cuStreamSetAttribute(hStream: handle(Stream), attr: value, value: in);
    one_way(uses_memory) cuStreamWaitValue32(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWaitValue32_v2(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWaitValue64(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWaitValue64_v2(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWriteValue32(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWriteValue32_v2(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWriteValue64(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamWriteValue64_v2(
        stream: handle(Stream), addr: address, value: value, flags: value,
    );
    one_way(uses_memory) cuStreamBatchMemOp(
        stream: handle(Stream), count: value, paramArray: in[count], flags: value,
    );
    one_way(uses_memory) cuStreamBatchMemOp_v2(
        stream: handle(Stream), count: value, paramArray: in[count], flags: value,
    );
    // The functions that the device calls are the client's.
    one_way(by_hand) cuStreamAddCallback(
        hStream: handle(Stream), callback: special, userData: special, flags: value,
    );
    one_way(by_hand) cuLaunchHostFunc(hStream: handle(Stream), fn_: special, userData: special);
    // Travels as cuLaunchHostFunc.
    local cuLaunchHostFunc_v2;

    // The client knows which streams are being captured, and asks by an operation of its own.
    local cuStreamIsCapturing;
    local cuStreamGetCaptureInfo;
    local cuStreamGetCaptureInfo_v2;
    local cuStreamGetCaptureInfo_v3;
    waiting(client, creates) cuStreamBeginCapture_v2(hStream: handle(Stream), mode: value);
    waiting(client, creates) cuStreamBeginCaptureToGraph(
        hStream: handle(Stream), hGraph: handle(Graph),
        dependencies: handles(GraphNode)[numDependencies],
        dependencyData: in[numDependencies]?, numDependencies: value, mode: value,
    );
    // The graph may have been reported during the capture.
    waiting(client, creates) cuStreamEndCapture(hStream: handle(Stream), phGraph: known(Graph));
    waiting cuStreamUpdateCaptureDependencies(
        hStream: handle(Stream), dependencies: handles(GraphNode)[numDependencies],
        numDependencies: value, flags: value,
    );
    waiting cuStreamUpdateCaptureDependencies_v2(
        hStream: handle(Stream), dependencies: handles(GraphNode)[numDependencies],
        dependencyData: in[numDependencies]?, numDependencies: value, flags: value,
    );
    waiting(client, creates) cuThreadExchangeStreamCaptureMode(mode: inout);
}

crate::describe! {
    /// Events.
    pub const EVENT: SIGNATURES;
    one_way(client, idle) cuEventCreate(phEvent: mint(Event), Flags: value);
    // The client keeps what was recorded, and what is known to have happened.
    one_way(client, idle) cuEventDestroy_v2(hEvent: destroy(Event));
    one_way(client) cuEventRecord(hEvent: handle(Event), hStream: handle(Stream));
    one_way(client) cuEventRecordWithFlags(
        hEvent: handle(Event), hStream: handle(Stream), flags: value,
    );
    waiting(client) cuEventQuery(hEvent: handle(Event));
    waiting(sync, client) cuEventSynchronize(hEvent: handle(Event));
    waiting cuEventElapsedTime(
        pMilliseconds: out, hStart: handle(Event), hEnd: handle(Event),
    );
    waiting cuEventElapsedTime_v2(
        pMilliseconds: out, hStart: handle(Event), hEnd: handle(Event),
    );
}
