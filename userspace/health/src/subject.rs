//! Which part of the host an event is about.

use gtrace_event::{Event, HealthSubject, SubjectKind};

/// Parts that one event can be about: the GPUs below a port.
const MOST: usize = 16;

/// The parts of kind `part` that `event` is about; the host where it names none.
pub(crate) fn of(event: &Event, part: SubjectKind) -> Vec<HealthSubject> {
    let device = event.gpu.as_ref();
    let address = device.and_then(|gpu| gpu.pci).map(|pci| pci.to_string());
    let name = match part {
        SubjectKind::Host | SubjectKind::Component => None,
        SubjectKind::Gpu => address.or_else(|| device.and_then(|gpu| gpu.uuid.clone())),
        SubjectKind::Nvswitch => address.or_else(|| {
            let number = event.detail.fabric.nvswitch?;
            Some(format!("nvidia-nvswitch{number}"))
        }),
        SubjectKind::Port => port(event).or(address),
    };
    if let Some(name) = name {
        return vec![HealthSubject::new(part, name)];
    }
    let below = event.detail.pcie.gpus_below.iter().take(MOST);
    let below: Vec<_> = below
        .map(|pci| HealthSubject::new(part, pci.to_string()))
        .collect();
    match part == SubjectKind::Gpu && !below.is_empty() {
        true => below,
        false => vec![HealthSubject::host()],
    }
}

/// `mlx5_0/1`, or `mlx5_0` where it is about the whole device.
fn port(event: &Event) -> Option<String> {
    let rdma = &event.detail.rdma;
    let device = rdma.rdma_device.as_ref()?;
    Some(match rdma.rdma_port {
        Some(port) => format!("{device}/{port}"),
        None => device.clone(),
    })
}
