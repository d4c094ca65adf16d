//! That the stub of the NVIDIA driver and the calls made here agree on layouts and effects:
//! written down twice and independently, in C there and in `guest/nvrm.rs` here.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::process::Signal;

use crate::guest::nvrm::{
    AllocForm, GET_INFO, NV_ERR_NO_MEMORY, NV_OK, NV01_MEMORY_LOCAL_USER, NvDevice, Uvm,
    memory_params,
};
use crate::guest::process::Helper;
use crate::guest::stub::{GPUS, Generation};
use crate::guest::{Guest, within};

cases! {
    Driver "stub_memory" => memory;
    Driver "stub_status" => status, core;
    Driver "stub_uvm" => uvm;
    Driver "stub_log" => log;
    Driver "stub_hang" => hang, patience(90);
}

/// A status that the stub does not give by itself: NV_ERR_TIMEOUT.
const NV_ERR_TIMEOUT: u32 = 0x65;

const MIB: u64 = 1 << 20;

/// Holds a device open, and makes a call a line; for cases that end it or watch it hang.
pub(super) fn caller(args: &[String]) -> Result<()> {
    let [path] = args else {
        anyhow::bail!("this helper wants a device node");
    };
    let device = NvDevice::open(path)?;
    loop {
        // The line comes first, so that who waits for it finds the call under way.
        println!("calling");
        device.control(GET_INFO)?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn memory(guest: &mut Guest) -> Result<()> {
    use AllocForm::{Long515, Long525, Long535, Short515, Short535};
    for (version, generation, forms) in [
        ("515.105.01", Generation::Frontend, [Short515, Long515]),
        ("525.147.05", Generation::Frontend, [Short515, Long525]),
        ("535.183.01", Generation::Frontend, [Short535, Long535]),
        ("580.95.05", Generation::Current, [Short535, Long535]),
    ] {
        guest.load_stub(generation, &format!("version={version} vram_mb=64"))?;
        for form in forms {
            for wrapped in [false, true] {
                allocate(guest, form, wrapped)
                    .with_context(|| format!("driver {version}, {form:?}, wrapped: {wrapped}"))?;
            }
        }
        guest.unload_stub()?;
    }
    Ok(())
}

/// Takes memory until there is none, and gives it back in both ways.
fn allocate(guest: &Guest, form: AllocForm, wrapped: bool) -> Result<()> {
    let mut device = NvDevice::open("/dev/nvidia0")?;
    if wrapped {
        device = device.wrapped();
    }
    let take = |handle: u32, bytes: u64| {
        let mut params = memory_params(bytes);
        device.alloc(form, NV01_MEMORY_LOCAL_USER, handle, Some(&mut params))
    };
    let used = || guest.stub_memory(0).map(|memory| memory.used);
    let results = [take(1, 40 * MIB)?, take(2, 40 * MIB)?, take(3, 24 * MIB)?];
    ensure!(results == [NV_OK, NV_ERR_NO_MEMORY, NV_OK], "{results:x?}");
    ensure!(used()? == 64 * MIB, "{} bytes are used", used()?);
    let freed = device.free(1)?;
    ensure!(
        freed == NV_OK && used()? == 24 * MIB,
        "{freed:#x}, {}",
        used()?
    );
    drop(device);
    ensure!(used()? == 0, "{} bytes are lost", used()?);
    Ok(())
}

fn status(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "")?;
    let device = NvDevice::open("/dev/nvidiactl")?.wrapped();
    guest.stub(&format!("status {GET_INFO:#x} {NV_ERR_TIMEOUT:#x} 2"))?;
    let got = [
        device.control(GET_INFO)?,
        device.control(GET_INFO)?,
        device.control(GET_INFO)?,
    ];
    ensure!(got == [NV_ERR_TIMEOUT, NV_ERR_TIMEOUT, NV_OK], "{got:x?}");
    let counters = guest.stub_counters()?;
    let count = |status: u32| {
        let ours = |c: &&_| -> bool {
            let c: &crate::guest::stub::Counter = c;
            c.device == "nvidiactl"
                && c.call == "RM_CONTROL"
                && c.code == GET_INFO
                && c.status == status
        };
        counters.iter().find(ours).map_or(0, |c| c.count)
    };
    ensure!(
        count(NV_ERR_TIMEOUT) == 2 && count(NV_OK) == 1,
        "{counters:?}"
    );
    ensure!(
        guest.stub("frobnicate 1").is_err(),
        "the stub takes anything"
    );
    Ok(())
}

fn uvm(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "")?;
    let device = NvDevice::open("/dev/nvidia-uvm")?;
    let early = device.uvm(Uvm::Migrate)?;
    ensure!(early != NV_OK, "a call before UVM_INITIALIZE succeeded");
    for call in [
        Uvm::Initialize,
        Uvm::RegisterGpu,
        Uvm::RegisterGpuVaSpace,
        Uvm::Migrate,
        Uvm::Free,
    ] {
        let status = device.uvm(call)?;
        ensure!(status == NV_OK, "{call:?}: {status:#x}");
    }
    // A second descriptor of the same process, as CUDA opens it.
    let status = NvDevice::open("/dev/nvidia-uvm")?.uvm(Uvm::MmInitialize)?;
    ensure!(status == NV_OK, "MmInitialize: {status:#x}");
    guest.stub(&format!("status 51 {NV_ERR_TIMEOUT:#x} 1"))?;
    let status = device.uvm(Uvm::Migrate)?;
    ensure!(
        status == NV_ERR_TIMEOUT,
        "the chosen status is not given: {status:#x}"
    );
    Ok(())
}

fn log(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, GPUS)?;
    guest.stub("xid 0 79 pid=self GPU has fallen off the bus.")?;
    let wanted = format!(
        "NVRM: Xid (PCI:0000:01:00): 79, pid={}, name=",
        std::process::id()
    );
    within(Duration::from_secs(5), "the line of an Xid", || {
        let lines = guest.dmesg()?;
        Ok(lines
            .iter()
            .any(|line| line.contains(&wanted))
            .then_some(()))
    })
}

/// A process that hangs in the driver does not end, and lets nobody unload the driver.
fn hang(guest: &mut Guest) -> Result<()> {
    guest.load_stub(Generation::Current, "")?;
    let mut helper = Helper::start("caller", &["/dev/nvidia0"])?;
    for _ in 0..3 {
        helper.line()?;
    }
    guest.stub("hang 600 1")?;
    let state = format!("/proc/{}/stat", helper.pid());
    within(Duration::from_secs(20), "the helper hangs", || {
        let stat = std::fs::read_to_string(&state)?;
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        Ok(state.starts_with('D').then_some(()))
    })?;
    helper.signal(Signal::KILL)?;
    std::thread::sleep(Duration::from_millis(500));
    ensure!(helper.ended()?.is_none(), "it ended although it hangs");
    ensure!(guest.unload_stub().is_err(), "the stub was unloaded");
    guest.stub("hang clear")?;
    let status = helper.wait()?;
    ensure!(!status.success(), "SIGKILL ended it, and yet: {status}");
    Ok(())
}
