//! The CPU emulator of a GPU that stands in for one in tests: how quick its PTX executor is on one thread,
//! beside the same computation as plain Rust on one core.
#![allow(unsafe_code)] // Hands buffers to the executor.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, ensure};
use gtrace_softgpu::ptx::{Cancel, Launch, Loaded, Memory, Module, Region, launch};

use super::Context;
use crate::report::{Figure, Report};
use crate::stats::Samples;

macro_rules! kernels {
    ($name:literal) => {
        include_str!(concat!(
            "../../../transport/softgpu/kernels/",
            $name,
            ".ptx"
        ))
    };
}

/// What a kernel reads and writes: each buffer in words, at the address that it has in this process.
struct Buffers(Vec<Vec<u128>>);

// SAFETY: the buffers are borrowed while a launch runs, writable, aligned to 16 bytes, and touched by
// nothing else.
unsafe impl Memory for Buffers {
    fn region(&self, address: u64) -> Option<Region> {
        let regions = self.0.iter().map(|words| Region {
            start: words.as_ptr() as u64,
            len: size_of_val(words.as_slice()) as u64,
            host: words.as_ptr().cast_mut().cast(),
            writable: true,
        });
        let mut found = regions.filter(|region| address.wrapping_sub(region.start) < region.len);
        found.next()
    }
}

impl Buffers {
    fn add(&mut self, bytes: &[u8]) -> u64 {
        let words = bytes.chunks(16).map(|part| {
            let mut word = [0; 16];
            word[..part.len()].copy_from_slice(part);
            u128::from_le_bytes(word)
        });
        self.0.push(words.collect());
        self.0.last().map_or(0, |words| words.as_ptr() as u64)
    }

    /// The first `count` words of 32 bits of a buffer.
    fn words(&self, number: usize, count: usize) -> Vec<u32> {
        let bytes = self.0[number].iter().flat_map(|word| word.to_le_bytes());
        let bytes: Vec<u8> = bytes.take(4 * count).collect();
        let words = bytes.as_chunks().0.iter();
        words.map(|word| u32::from_le_bytes(*word)).collect()
    }
}

/// A kernel, what it works on, and the same in Rust.
struct Case {
    name: &'static str,
    text: &'static str,
    kernel: &'static str,
    grid: [u32; 3],
    block: [u32; 3],
    buffers: Buffers,
    params: Vec<u8>,
    /// Number of the buffer with the result, and its words.
    output: (usize, usize),
    /// The result in Rust. Sums in another order may differ in the last bits.
    plain: Box<dyn Fn() -> Vec<u32>>,
    exact: bool,
}

fn bytes_of(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn bits_of(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn numbers(count: usize) -> Vec<f32> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..count).map(|_| random.f32() + 0.5).collect()
}

/// Pointers, then a count.
fn params(pointers: &[u64], count: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = pointers.iter().flat_map(|at| at.to_le_bytes()).collect();
    bytes.extend(count.to_le_bytes());
    bytes
}

fn cases(scale: usize) -> Vec<Case> {
    vec![
        vector_add(scale << 17),
        matmul(),
        reduction(scale << 18),
        histogram(scale << 17),
        functions(scale << 14),
        collatz(scale << 11),
        arithmetic(scale as u32 * 250),
    ]
}

fn vector_add(n: usize) -> Case {
    let (a, b) = (numbers(n), numbers(n + 1)[1..].to_vec());
    let mut buffers = Buffers(Vec::new());
    let at = [bytes_of(&a), bytes_of(&b), vec![0; 4 * n]].map(|bytes| buffers.add(&bytes));
    Case {
        name: "vector add",
        text: kernels!("vector_add"),
        kernel: "vector_add",
        grid: [n as u32 / 256, 1, 1],
        block: [256, 1, 1],
        buffers,
        params: params(&at, n as u32),
        output: (2, n),
        plain: Box::new(move || {
            let sums = black_box(&a).iter().zip(&b).map(|(a, b)| (a + b).to_bits());
            sums.collect()
        }),
        exact: true,
    }
}

fn matmul() -> Case {
    let n = 128_usize;
    let (a, b) = (numbers(n * n), numbers(n * n + 1)[1..].to_vec());
    let mut buffers = Buffers(Vec::new());
    let at = [bytes_of(&a), bytes_of(&b), vec![0; 4 * n * n]].map(|bytes| buffers.add(&bytes));
    Case {
        name: "matrix product, tiles in shared memory and barriers",
        text: kernels!("matmul"),
        kernel: "matmul",
        grid: [n as u32 / 16, n as u32 / 16, 1],
        block: [16, 16, 1],
        buffers,
        params: params(&at, n as u32),
        output: (2, n * n),
        plain: Box::new(move || {
            let (a, b) = (black_box(&a), black_box(&b));
            let mut c = vec![0_f32; n * n];
            for row in 0..n {
                for k in 0..n {
                    let left = a[row * n + k];
                    for column in 0..n {
                        c[row * n + column] += left * b[k * n + column];
                    }
                }
            }
            bits_of(&c)
        }),
        exact: false,
    }
}

fn reduction(n: usize) -> Case {
    let blocks = 64_usize;
    let input = numbers(n);
    let mut buffers = Buffers(Vec::new());
    let at = [bytes_of(&input), vec![0; 4 * blocks]].map(|bytes| buffers.add(&bytes));
    Case {
        name: "sum, shuffles of the warp",
        text: kernels!("reduction"),
        kernel: "reduce_sum",
        grid: [blocks as u32, 1, 1],
        block: [256, 1, 1],
        buffers,
        params: params(&at, n as u32),
        output: (1, blocks),
        plain: Box::new(move || {
            let threads = blocks * 256;
            let mut sums = vec![0_f32; threads];
            for (at, value) in black_box(&input).iter().enumerate() {
                sums[at % threads] += value;
            }
            let sums: Vec<f32> = sums.chunks(256).map(|part| part.iter().sum()).collect();
            bits_of(&sums)
        }),
        exact: false,
    }
}

fn histogram(n: usize) -> Case {
    let mut input = vec![0; n];
    fastrand::Rng::with_seed(3).fill(&mut input);
    let mut buffers = Buffers(Vec::new());
    let at = [input.clone(), vec![0; 1024]].map(|bytes| buffers.add(&bytes));
    Case {
        name: "histogram, atomics",
        text: kernels!("histogram"),
        kernel: "histogram",
        grid: [32, 1, 1],
        block: [256, 1, 1],
        buffers,
        params: params(&at, n as u32),
        output: (1, 256),
        plain: Box::new(move || {
            let mut bins = vec![0; 256];
            for byte in black_box(&input) {
                bins[usize::from(*byte)] += 1;
            }
            bins
        }),
        exact: true,
    }
}

/// What `math_f32` computes for a thread.
fn twelve(x: f32) -> [f32; 12] {
    [
        x.sqrt(),
        1.0 / x.sqrt(),
        x.sin(),
        x.cos(),
        x.exp2(),
        x.log2(),
        1.0 / x,
        x.floor(),
        x.ceil(),
        x.trunc(),
        x.abs() + x.mul_add(x, -1.0),
        (x * 100.0) as i32 as f32 + f32::from(x as i32 as u8),
    ]
}

fn functions(n: usize) -> Case {
    let input = numbers(n);
    let mut buffers = Buffers(Vec::new());
    let at = [bytes_of(&input), vec![0; 4 * 12 * n]].map(|bytes| buffers.add(&bytes));
    Case {
        name: "roots, exponentials, sines",
        text: kernels!("math"),
        kernel: "math_f32",
        grid: [n as u32 / 128, 1, 1],
        block: [128, 1, 1],
        buffers,
        params: params(&at, n as u32),
        output: (1, 12 * n),
        plain: Box::new(move || {
            let mut out = vec![0; 12 * n];
            for (at, x) in black_box(&input).iter().enumerate() {
                for (row, value) in twelve(*x).into_iter().enumerate() {
                    out[row * n + at] = value.to_bits();
                }
            }
            out
        }),
        exact: false,
    }
}

fn collatz(n: usize) -> Case {
    let mut buffers = Buffers(Vec::new());
    let at = buffers.add(&vec![0; 4 * n]);
    Case {
        name: "divergent loops",
        text: kernels!("divergence"),
        kernel: "collatz",
        grid: [n as u32 / 128, 1, 1],
        block: [128, 1, 1],
        buffers,
        params: params(&[at], n as u32),
        output: (0, n),
        plain: Box::new(move || {
            let steps = |start: u64| {
                let (mut x, mut steps) = (start, 0);
                while x != 1 {
                    x = if x & 1 == 1 { 3 * x + 1 } else { x / 2 };
                    steps += 1;
                }
                steps
            };
            (1..=black_box(n) as u64).map(steps).collect()
        }),
        exact: true,
    }
}

fn arithmetic(rounds: u32) -> Case {
    let n = 4096;
    let mut buffers = Buffers(Vec::new());
    let at = buffers.add(&vec![0; 4 * n as usize]);
    Case {
        name: "integer arithmetic",
        text: kernels!("delay"),
        kernel: "work",
        grid: [n / 256, 1, 1],
        block: [256, 1, 1],
        buffers,
        params: params(&[at], rounds),
        output: (0, n as usize),
        plain: Box::new(move || {
            let work = |mut x: u32| {
                for _ in 0..black_box(rounds) {
                    x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    x ^= x >> 13;
                }
                x
            };
            (0..n).map(work).collect()
        }),
        exact: true,
    }
}

impl Case {
    fn load(&self) -> anyhow::Result<Loaded> {
        let module = Module::parse(self.text).with_context(|| self.name)?;
        // The variables of these modules are not used by the kernels that run here.
        let addresses = vec![0; module.globals().len()];
        Ok(Loaded::new(&module, &addresses)?)
    }

    /// Runs the kernel once: its time and the instructions of its threads.
    fn run(&mut self, loaded: &Loaded) -> anyhow::Result<(Duration, u64)> {
        let (output, _) = self.output;
        self.buffers.0[output].fill(0);
        let shape = Launch {
            grid: self.grid,
            block: self.block,
            params: &self.params,
            workers: 1,
            ..Launch::default()
        };
        let start = Instant::now();
        let stats = launch(loaded, self.kernel, &shape, &self.buffers, &Cancel::new())
            .map_err(|fault| anyhow!("{}: {fault}", self.name))?;
        Ok((start.elapsed(), stats.lane_instructions))
    }

    /// Whether the kernel has computed what Rust does.
    fn check(&self, expected: &[u32]) -> anyhow::Result<()> {
        let (output, count) = self.output;
        let got = self.buffers.words(output, count);
        for (at, (got, expected)) in got.iter().zip(expected).enumerate() {
            let [x, y] = [*got, *expected].map(f32::from_bits);
            let near = !self.exact && (x - y).abs() <= 1e-4 * y.abs().max(1.0);
            ensure!(
                got == expected || near,
                "{}: word {at} is {got:#x}, not {expected:#x}",
                self.name
            );
        }
        Ok(())
    }
}

pub(crate) fn run(context: &Context) -> anyhow::Result<Report> {
    let scale = context.pick(1, 8, 16);
    let runs = context.pick(1, 7, 15);
    let mut report = Report::new(
        "emulator",
        format!(
            "instructions of threads a second (million) that the CPU emulator executes on one thread, and its \
             time beside that of plain Rust on one core; median of {runs} runs, in turn"
        ),
    );
    for mut case in cases(scale) {
        context.say(case.name);
        let loaded = case.load()?;
        let expected = (case.plain)();
        case.run(&loaded)?;
        case.check(&expected)?;
        let (mut rates, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..runs {
            let (took, instructions) = case.run(&loaded)?;
            let start = Instant::now();
            black_box((case.plain)());
            let plain = start.elapsed();
            rates.push(instructions as f64 / 1e6 / took.as_secs_f64());
            ratios.push(took.as_secs_f64() / plain.as_secs_f64());
        }
        report.push(
            Figure::median(case.name, &Samples::new(rates), "M/s")
                .ratio("the time of plain Rust", Samples::new(ratios).median()),
        );
    }
    Ok(report)
}
