//! The file that gswarm-profiler writes: one JSON object with frames, each of which has an array for each value.
//!
//! Its README (early 2025, the version with `POST /start`) names the fields and units; what it leaves open is in
//! docs/fleet.md.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gtrace_event::Timestamp;
use serde::Serialize;

use crate::{HostFrame, Metric, slot_begin};

const GIB: f64 = 1_073_741_824.0;

#[serde_with::skip_serializing_none]
#[derive(Default, Serialize)]
struct Frame {
    frame_id: u64,
    time: String,
    gpu_id: Vec<String>,
    gpu_util: Vec<f64>,
    gpu_memory: Vec<f64>,
    dram_bandwidth: Option<Vec<f64>>,
    dram_bandwidth_rx: Option<Vec<f64>>,
    dram_bandwidth_tx: Option<Vec<f64>>,
    gpu_bandwidth: Option<Vec<f64>>,
    /// Whether a GPU of the frame measured NVLink.
    #[serde(skip)]
    nvlink: bool,
}

#[derive(Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1;
        }
    }

    fn get(&self) -> Option<f64> {
        (self.count > 0).then(|| rounded(self.sum / self.count as f64))
    }
}

/// Writes the file, frame by frame.
pub struct GswarmWriter<W: Write> {
    out: W,
    interval_ms: u32,
    pcie: bool,
    nvlink: bool,
    frames: u64,
    open: Option<(i64, Frame)>,
    means: BTreeMap<String, (Mean, Mean)>,
}

impl<W: Write> GswarmWriter<W> {
    /// Begins the file of the session `name`, which measured `metrics`.
    ///
    /// # Errors
    /// Those of `out`, here and in what follows.
    pub fn new(mut out: W, name: &str, interval_ms: u32, metrics: &[Metric]) -> io::Result<Self> {
        let name = serde_json::Value::from(name);
        write!(out, "{{\n\"session_name\": {name},\n\"frames\": [")?;
        Ok(Self {
            out,
            interval_ms,
            pcie: metrics.contains(&Metric::Pcie),
            nvlink: metrics.contains(&Metric::Nvlink),
            frames: 0,
            open: None,
            means: BTreeMap::new(),
        })
    }

    /// Takes what a host measured. Frames come by time, those of an interval together.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn host(&mut self, host: &str, frame: &HostFrame) -> io::Result<()> {
        if self
            .open
            .as_ref()
            .is_some_and(|(slot, _)| *slot != frame.slot)
        {
            self.close()?;
        }
        let (_, open) = self.open.get_or_insert_with(|| {
            self.frames += 1;
            let array = || self.pcie.then(Vec::new);
            let new = Frame {
                frame_id: self.frames,
                time: time(slot_begin(frame.slot, self.interval_ms)),
                dram_bandwidth: array(),
                dram_bandwidth_rx: array(),
                dram_bandwidth_tx: array(),
                gpu_bandwidth: (self.pcie || self.nvlink).then(Vec::new),
                ..Frame::default()
            };
            (frame.slot, new)
        });
        for gpu in &frame.gpus {
            let id = format!("{host}:{}:{}", gpu.index, gpu.name);
            let (rx, tx) = (gpu.pcie_rx.map(|b| b / GIB), gpu.pcie_tx.map(|b| b / GIB));
            let both = sum(rx, tx);
            let nvlink = sum(gpu.nvlink_rx, gpu.nvlink_tx).map(|b| b / GIB);
            // What a GPU does not support is 0, as gswarm-profiler has it.
            let known = |value: Option<f64>| rounded(value.unwrap_or_default());
            let put = |array: &mut Option<Vec<f64>>, value: Option<f64>| {
                if let Some(array) = array {
                    array.push(known(value));
                }
            };
            open.gpu_util.push(known(gpu.utilization));
            open.gpu_memory.push(known(gpu.memory));
            put(&mut open.dram_bandwidth, both);
            put(&mut open.dram_bandwidth_rx, rx);
            put(&mut open.dram_bandwidth_tx, tx);
            put(&mut open.gpu_bandwidth, nvlink);
            open.nvlink |= nvlink.is_some();
            let (util, memory) = self.means.entry(id.clone()).or_default();
            util.add(gpu.utilization);
            memory.add(gpu.memory);
            open.gpu_id.push(id);
        }
        Ok(())
    }

    fn close(&mut self) -> io::Result<()> {
        let Some((_, mut frame)) = self.open.take() else {
            return Ok(());
        };
        // As gswarm-profiler has it where no GPU has NVLink.
        if let Some(array) = frame.gpu_bandwidth.as_mut().filter(|_| !frame.nvlink) {
            array.clear();
        }
        let separator = if frame.frame_id == 1 { "\n" } else { ",\n" };
        write!(self.out, "{separator}")?;
        serde_json::to_writer(&mut self.out, &frame)?;
        Ok(())
    }

    /// Ends the file. Times are nanoseconds since 1970-01-01.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn finish(mut self, start_ns: i64, end_ns: i64) -> io::Result<W> {
        self.close()?;
        let summary: BTreeMap<&String, serde_json::Value> = self
            .means
            .iter()
            .map(|(id, (util, memory))| {
                let of = serde_json::json!({ "avg_gpu_util": util.get(), "avg_gpu_memory": memory.get() });
                (id, of)
            })
            .collect();
        let (start, end) = (time(start_ns), time(end_ns));
        write!(
            self.out,
            "\n],\n\"start_time\": \"{start}\",\n\"end_time\": \"{end}\",\n\"summary_by_device\": "
        )?;
        serde_json::to_writer(&mut self.out, &summary)?;
        writeln!(self.out, "\n}}")?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// As `datetime.fromisoformat` of every Python 3 reads it: with `+00:00` instead of `Z`, and microseconds.
fn time(ns: i64) -> String {
    let time = Timestamp::from_nanosecond(i128::from(ns)).unwrap_or(Timestamp::MAX);
    let micros = ns.rem_euclid(1_000_000_000) / 1000;
    format!("{}.{micros:06}+00:00", time.strftime("%Y-%m-%dT%H:%M:%S"))
}

/// Both ways, or the one that is known.
fn sum(rx: Option<f64>, tx: Option<f64>) -> Option<f64> {
    rx.zip(tx).map(|(rx, tx)| rx + tx).or(rx).or(tx)
}

fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GpuFrame;

    #[test]
    fn a_file_has_the_fields_of_the_readme_with_one_entry_for_each_gpu() {
        let frame = |slot, utilization, nvlink_tx| HostFrame {
            slot,
            gpus: vec![GpuFrame {
                index: 0,
                name: "H100".to_owned(),
                samples: 2,
                utilization: Some(utilization),
                memory: Some(0.25),
                pcie_rx: Some(GIB),
                pcie_tx: Some(GIB / 2.0),
                nvlink_tx,
                ..GpuFrame::default()
            }],
            ..HostFrame::default()
        };
        let mut writer = GswarmWriter::new(Vec::new(), "run", 200, &Metric::ALL).unwrap();
        writer.host("a", &frame(5, 0.5, None)).unwrap();
        writer.host("b", &frame(5, 1.0, None)).unwrap();
        writer.host("a", &frame(7, 0.25, Some(2.0 * GIB))).unwrap();
        writer.host("b", &frame(7, 0.25, None)).unwrap();
        let text = writer.finish(1_000_000_000, 1_600_000_000).unwrap();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let frames = json["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 2);
        let expected = serde_json::json!({
            "frame_id": 1, "time": "1970-01-01T00:00:01.000000+00:00", "gpu_id": ["a:0:H100", "b:0:H100"],
            "gpu_util": [0.5, 1.0], "gpu_memory": [0.25, 0.25], "dram_bandwidth": [1.5, 1.5],
            "dram_bandwidth_rx": [1.0, 1.0], "dram_bandwidth_tx": [0.5, 0.5], "gpu_bandwidth": [],
        });
        assert_eq!(frames[0], expected);
        assert_eq!(frames[1]["frame_id"], 2);
        assert_eq!(frames[1]["gpu_bandwidth"], serde_json::json!([2.0, 0.0]));
        assert_eq!(frames[1]["time"], "1970-01-01T00:00:01.400000+00:00");
        assert_eq!(json["summary_by_device"]["a:0:H100"]["avg_gpu_util"], 0.375);
        assert_eq!(json["end_time"], "1970-01-01T00:00:01.600000+00:00");
    }
}
