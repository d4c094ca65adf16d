//! GPUs and the host as bars with a short past.

use std::collections::{BTreeMap, VecDeque};

use gtrace_devices::{GpuInfo, GpuSample};
use gtrace_event::{PciAddress, Timestamp};
use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use super::host::HostReading;
use super::process_lines::spark;
use super::processes::HISTORY;
use super::update::Readings;
use gtrace_render::{bytes, clean};

/// Columns of a past.
const SPARK: usize = 12;
/// Columns between bar and past: ` 100 %  `.
const FIGURE: usize = 8;
/// Fewest columns of a bar.
const LEAST_BAR: usize = 5;

/// Shares from 0 to 1 that were read, oldest first.
type Past = VecDeque<f64>;

fn push(past: &mut Past, share: Option<f64>) {
    let Some(share) = share else { return };
    if past.len() == HISTORY {
        past.pop_front();
    }
    past.push_back(share);
}

#[derive(Clone, Debug, Default)]
struct GpuPast {
    sampled: Option<Timestamp>,
    busy: Past,
    memory: Past,
}

/// What GPUs and host did between readings.
#[derive(Clone, Debug, Default)]
pub(super) struct Meters {
    gpus: BTreeMap<PciAddress, GpuPast>,
    /// CPU time when it was last read.
    ticks: Option<(u64, u64)>,
    cpu: Past,
    memory: Past,
}

impl Meters {
    /// Takes the next reading; GPUs that are gone are forgotten.
    pub(super) fn take(&mut self, readings: &Readings) {
        let mut gpus = BTreeMap::new();
        for gpu in &readings.gpus {
            let mut past = self.gpus.remove(&gpu.pci).unwrap_or_default();
            // The daemon samples at its own pace: each of its samples once.
            if let Some(sample) = gpu.sample.as_ref().filter(|s| past.sampled != Some(s.time)) {
                past.sampled = Some(sample.time);
                push(&mut past.busy, busy(sample));
                push(&mut past.memory, memory(sample).map(|(_, _, share)| share));
            }
            gpus.insert(gpu.pci, past);
        }
        self.gpus = gpus;
        let host = &readings.host;
        if let (Some((busy, all)), Some((busy_before, before))) = (host.cpu, self.ticks) {
            let passed = all.saturating_sub(before);
            let worked = busy.saturating_sub(busy_before);
            push(
                &mut self.cpu,
                (passed > 0).then(|| (worked as f64 / passed as f64).min(1.0)),
            );
        }
        self.ticks = host.cpu;
        push(&mut self.memory, host.memory.map(share));
    }

    /// Each GPU, in two lines where `height` has room for them, else in one.
    pub(super) fn gpu_lines(
        &self,
        gpus: &[GpuInfo],
        width: usize,
        height: usize,
    ) -> Vec<Line<'static>> {
        if gpus.is_empty() {
            return vec![Line::raw("no GPU seen")];
        }
        let instances = gpus.iter().flat_map(|gpu| &gpu.sample);
        let instances: usize = instances.map(|s| s.mig_instances.len()).sum();
        // Headings where there is room for all of them, and then instances in MIG mode.
        let roomy = height >= gpus.len() * 2;
        let with_instances = height >= gpus.len() * 2 + instances;
        let mut lines = Vec::new();
        for gpu in gpus {
            let past = self.gpus.get(&gpu.pci).cloned().unwrap_or_default();
            let index = gpu
                .index
                .map_or_else(|| "-".to_owned(), |index| index.to_string());
            let Some(sample) = gpu.sample.as_ref().filter(|_| !gpu.suspended) else {
                let why = match (&gpu.nvml_error, gpu.suspended) {
                    (_, true) => "asleep".to_owned(),
                    (Some(error), _) => clean(error),
                    (None, _) => "no sample".to_owned(),
                };
                let name = gpu.name.as_deref().map(clean).unwrap_or_default();
                lines.push(Line::raw(format!("{index} {} {name}  {why}", gpu.pci)));
                continue;
            };
            let mut bars = match roomy {
                true => {
                    lines.push(Line::raw(heading(&index, gpu, sample)));
                    vec![Span::raw("  ")]
                }
                false => vec![Span::raw(format!("{index:<2}"))],
            };
            let room = width.saturating_sub(3) / 2;
            let busy = busy(sample);
            let figure = busy.map_or_else(|| "-".to_owned(), percent);
            bars.extend(meter("GPU", busy, &figure, &past.busy, room));
            bars.push(Span::raw(" "));
            let memory = memory(sample);
            let figure = memory.map_or_else(|| "-".to_owned(), |(used, ..)| bytes(used));
            let share = memory.map(|(_, _, share)| share);
            bars.extend(meter("MEM", share, &figure, &past.memory, room));
            lines.push(Line::from(bars));
            if with_instances {
                let instances = instance_lines(sample).into_iter();
                lines.extend(instances.map(|text| Line::raw(format!("  {text}"))));
            }
        }
        lines
    }

    /// The host that the daemon runs on.
    pub(super) fn host_lines(&self, readings: &Readings, width: usize) -> Vec<Line<'static>> {
        let HostReading {
            boot_id,
            cpus,
            load,
            memory,
            swap,
            waiting,
            memory_full,
            ..
        } = &readings.host;
        let of_daemon = &readings.status.boot_id;
        if !of_daemon.is_empty() && of_daemon != boot_id {
            return vec![Line::raw(format!(
                "the daemon runs on another host, {}",
                clean(&readings.status.host)
            ))];
        }
        let cpu = self.cpu.back().copied();
        let figure = cpu.map_or_else(|| "-".to_owned(), percent);
        let mut lines = vec![Line::from(meter("CPU", cpu, &figure, &self.cpu, width))];
        let figure = memory.map_or_else(|| "-".to_owned(), |(used, _)| bytes(used));
        let used = memory.map(share);
        lines.push(Line::from(meter("MEM", used, &figure, &self.memory, width)));
        let named = ["CPU", "mem", "I/O"].into_iter().zip(waiting);
        let named =
            named.filter_map(|(name, share)| Some(format!("{name} {}", percent((*share)?))));
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            lines.push(Line::raw(format!("PSI {}", named.join(" "))));
        }
        let mut text = String::new();
        if let Some([one, five, fifteen]) = load {
            text = format!("load {one:.2} {five:.2} {fifteen:.2}  ");
        }
        lines.push(Line::raw(format!("{text}{cpus} CPUs")));
        if let Some((_, total)) = memory {
            let mut text = format!("memory {}", bytes(*total));
            if let Some((used, total)) = swap {
                text.push_str(&format!("  swap {} of {}", bytes(*used), bytes(*total)));
            }
            lines.push(Line::raw(text));
        }
        if let Some(share) = memory_full {
            let style = match *share > 0.0 {
                true => Style::new().fg(Color::Red),
                false => Style::new(),
            };
            let text = format!("all work waits for memory {}", percent(*share));
            lines.push(Line::styled(text, style));
        }
        let health = &readings.status.host_health;
        lines.push(Line::raw(format!("health {}", health.state.name())));
        lines.extend(
            health
                .reasons
                .iter()
                .map(|reason| Line::raw(format!("  {}", clean(reason)))),
        );
        lines
    }
}

/// `0 0000:3b:00.0 NVIDIA H100  54/87 °C  312/700 W  80.0 GiB  1980 MHz`
fn heading(index: &str, gpu: &GpuInfo, sample: &GpuSample) -> String {
    let name = gpu.name.as_deref().map(clean).unwrap_or_default();
    let mut text = format!("{index} {} {name}", gpu.pci);
    let limit = |limit: Option<String>| limit.map(|l| format!("/{l}")).unwrap_or_default();
    let temperature = &sample.temperature;
    if let Some(now) = temperature.gpu {
        let limit = limit(temperature.slowdown_limit.map(|l| l.to_string()));
        text.push_str(&format!("  {now}{limit} °C"));
    }
    if let Some(now) = sample.power.draw_w {
        let limit = limit(sample.power.limit_w.map(|l| format!("{l:.0}")));
        text.push_str(&format!("  {now:.0}{limit} W"));
    }
    if let Some(total) = sample.memory.total {
        text.push_str(&format!("  {}", bytes(total)));
    }
    if let Some(mhz) = sample.clocks.sm {
        text.push_str(&format!("  {mhz} MHz"));
    }
    text.extend(division(sample).map(|division| format!("  {division}")));
    text.extend(license(sample).map(|license| format!("  {license}")));
    if gpu.stale {
        text.push_str("  OLD");
    }
    text
}

/// `MIG 3 instances`, where it is on or will be.
pub(super) fn division(sample: &GpuSample) -> Option<String> {
    let mode = sample.mig?;
    let count = sample.mig_instances.len();
    match (mode.enabled, mode.pending) {
        (true, true) if sample.mig_instances_unread => Some("MIG, instances unread".to_owned()),
        (true, true) => Some(format!("MIG {}", plural(count, "instance"))),
        (true, false) => Some("MIG off after a reset".to_owned()),
        (false, true) => Some("MIG on after a reset".to_owned()),
        (false, false) => None,
    }
}

/// What is wrong with the licence of a vGPU.
pub(super) fn license(sample: &GpuSample) -> Option<&'static str> {
    let license = sample.vgpu_license.as_ref()?;
    license.fault(sample.time).map(|_| "NO LICENCE")
}

/// Each instance in MIG mode: `MIG 2/1 2c.3g.40gb  3.0 GiB of 39.5 GiB  1 process  busy 45 %`; numbers of GPU and compute instance.
pub(super) fn instance_lines(sample: &GpuSample) -> Vec<String> {
    let instances = sample.mig_instances.iter();
    instances
        .map(|instance| {
            let profile = instance.profile.as_deref().map(clean).unwrap_or_default();
            let mut text = format!("MIG {}/{} {profile:<11}", instance.gi, instance.ci);
            let memory = &instance.memory;
            if let (Some(used), Some(total)) = (memory.used, memory.total) {
                text.push_str(&format!("  {} of {}", bytes(used), bytes(total)));
            }
            let processes = sample.processes_of(instance).count();
            text.push_str(&format!("  {}", plural(processes, "process")));
            if let Some(busy) = instance.activity.graphics {
                text.push_str(&format!("  busy {}", percent(busy)));
            }
            text
        })
        .collect()
}

fn plural(count: usize, word: &str) -> String {
    let many = if word.ends_with('s') { "es" } else { "s" };
    format!("{count} {word}{}", if count == 1 { "" } else { many })
}

fn busy(sample: &GpuSample) -> Option<f64> {
    let percent = sample.utilization.gpu?;
    Some((f64::from(percent) / 100.0).min(1.0))
}

/// Used, all of it, and which share that is.
fn memory(sample: &GpuSample) -> Option<(u64, u64, f64)> {
    let memory = (sample.memory.used?, sample.memory.total?);
    Some((memory.0, memory.1, share(memory)))
}

fn share((used, total): (u64, u64)) -> f64 {
    match total {
        0 => 0.0,
        total => (used as f64 / total as f64).min(1.0),
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// `GPU ███████▌      47 %  ▁▂▄▆█`, in `width` columns.
fn meter(
    name: &str,
    share: Option<f64>,
    figure: &str,
    past: &Past,
    width: usize,
) -> Vec<Span<'static>> {
    let room = width.saturating_sub(name.len() + 1 + FIGURE + 2);
    // Half each; the past gives way first.
    let spark_room = room.saturating_sub(LEAST_BAR).min(room / 2).min(SPARK);
    let bar_room = room.saturating_sub(spark_room).max(LEAST_BAR);
    let share = share.unwrap_or(0.0);
    let color = match share {
        ..0.5 => Color::Green,
        0.5..0.85 => Color::Yellow,
        _ => Color::Red,
    };
    let (full, rest) = bar(share, bar_room);
    let dim = Style::new().fg(Color::DarkGray);
    let mut spans = vec![
        Span::raw(format!("{name} ")),
        Span::styled(full, Style::new().fg(color)),
        Span::styled(rest, dim),
        Span::raw(format!(" {figure:>FIGURE$} ")),
    ];
    // Against the whole, not against its own highest value as rates are.
    let past = past.iter().copied().chain([1.0]);
    let drawn: String = spark(past, spark_room + 1).chars().collect();
    let drawn: String = drawn.chars().take(drawn.chars().count() - 1).collect();
    let blank = spark_room.saturating_sub(drawn.chars().count());
    spans.push(Span::raw(" ".repeat(blank)));
    spans.push(Span::styled(drawn, Style::new().fg(Color::Cyan)));
    spans
}

/// The full and the empty part of a bar, to an eighth of a column.
fn bar(share: f64, width: usize) -> (String, String) {
    const PARTS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * (width * 8) as f64).round() as usize;
    let (whole, part) = (eighths / 8, eighths % 8);
    let mut full = "█".repeat(whole);
    if part > 0 {
        full.push(PARTS[part]);
    }
    let used = whole + usize::from(part > 0);
    (full, "·".repeat(width.saturating_sub(used)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_fill_with_the_share_and_keep_their_width() {
        for share in [0.0, 0.01, 0.5, 0.999, 1.0, 7.0] {
            let (full, rest) = bar(share, 10);
            assert_eq!(full.chars().count() + rest.chars().count(), 10, "{share}");
        }
        assert_eq!(bar(0.5, 4), ("██".to_owned(), "··".to_owned()));
        assert_eq!(bar(1.0, 2).1, "");
    }

    #[test]
    fn instances_give_way_before_headings_do() {
        let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.mig_instances = vec![gtrace_devices::MigInstance::default(); 3];
        gpu.sample = Some(sample);
        let gpus = [gpu.clone(), gpu];
        for (height, lines) in [(3, 2), (4, 4), (9, 4), (10, 10)] {
            let drawn = Meters::default().gpu_lines(&gpus, 80, height);
            assert_eq!(drawn.len(), lines, "in {height} lines");
        }
    }

    #[test]
    fn a_meter_fits_its_room_and_its_past_is_drawn_against_the_whole() {
        let past: Past = [0.0, 0.5, 1.0].into();
        for width in [30, 40, 80] {
            let spans = meter("GPU", Some(0.47), "47 %", &past, width);
            let text: String = spans.iter().map(|span| span.content.as_ref()).collect();
            assert_eq!(text.chars().count(), width, "{text}");
            assert!(text.contains("47 %") && text.ends_with("▁▅█"), "{text}");
        }
    }
}
