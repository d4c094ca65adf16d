//! The kernels of `kernels/`, compiled by clang, against references computed here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::precedence)] // A test ends there.

#[path = "ptx/gpu.rs"]
#[macro_use]
mod gpu;

use gpu::{Gpu, shape};
use gtrace_softgpu::ptx::{Launch, Loaded, Sink, Stats};
use std::sync::Mutex;

/// A device with a module.
struct Kernels {
    gpu: Gpu,
    module: Loaded,
}

impl Kernels {
    fn of(text: &str) -> Self {
        let gpu = Gpu::default();
        let module = gpu.load(text).unwrap();
        Self { gpu, module }
    }

    fn run(&self, kernel: &str, launch: Launch<'_>, args: &[Vec<u8>]) -> Stats {
        self.gpu.run(&self.module, kernel, launch, args).unwrap()
    }
}

impl std::ops::Deref for Kernels {
    type Target = Gpu;

    fn deref(&self) -> &Gpu {
        &self.gpu
    }
}

/// A device with the kernels of a file.
macro_rules! kernels {
    ($file:literal) => {
        Kernels::of(include_str!(concat!("../kernels/", $file, ".ptx")))
    };
}

fn floats(count: usize, step: f32) -> Vec<f32> {
    (0..count)
        .map(|i| ((i * 7919) % 1009) as f32 * step - 3.0)
        .collect()
}

fn words(count: usize) -> Vec<u32> {
    let mut x = 12345_u32;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    };
    (0..count).map(next).collect()
}

#[test]
fn vector_add() {
    let gpu = kernels!("vector_add");
    let n = 10_007;
    let (a, b) = (floats(n, 0.37), floats(n, -1.25));
    let (pa, pb, pc) = (gpu.upload(&a), gpu.upload(&b), gpu.upload(&vec![0_f32; n]));
    let stats = gpu.run("vector_add", shape(40, 256), args!(pa, pb, pc, n as u32));
    let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(gpu.download::<f32>(pc, n), expected);
    assert_eq!(stats.blocks, 40);
    assert!(stats.lane_instructions > 20 * n as u64);
}

#[test]
fn saxpy() {
    let gpu = kernels!("vector_add");
    let n = 5000;
    let (x, y) = (floats(n, 0.1), floats(n, 0.7));
    let (px, py) = (gpu.upload(&x), gpu.upload(&y));
    gpu.run("saxpy", shape(3, 96), args!(2.5_f32, px, py, n as u32));
    // The compiler contracts to one rounding.
    let expected: Vec<f32> = x
        .iter()
        .zip(&y)
        .map(|(x, y)| 2.5_f32.mul_add(*x, *y))
        .collect();
    assert_eq!(gpu.download::<f32>(py, n), expected);
}

#[test]
fn reductions() {
    let gpu = kernels!("reduction");
    let n = 4000;
    // Small integers: the sum does not depend on the order.
    let input: Vec<f32> = (0..n).map(|i| (i % 17) as f32).collect();
    for (blocks, threads) in [(1, 32), (2, 64), (3, 100), (4, 1024)] {
        let (pi, po) = (
            gpu.upload(&input),
            gpu.upload(&vec![0_f32; blocks as usize]),
        );
        gpu.run(
            "reduce_sum",
            shape(blocks, threads),
            args!(pi, po, n as u32),
        );
        let sum: f32 = gpu.download::<f32>(po, blocks as usize).iter().sum();
        // A warp that is not full shuffles in values of lanes that do not exist.
        if threads % 32 == 0 {
            assert_eq!(sum, input.iter().sum::<f32>(), "{blocks} x {threads}");
        }
    }
    let input = words(n);
    let (pi, po) = (gpu.upload(&input), gpu.upload(&[0_u32]));
    let launch = Launch {
        shared_bytes: 128 * 4,
        ..shape(5, 128)
    };
    gpu.run("reduce_max", launch, args!(pi, po, n as u32));
    assert_eq!(gpu.download::<u32>(po, 1)[0], *input.iter().max().unwrap());
}

#[test]
fn matrix_product() {
    let gpu = kernels!("matmul");
    let n = 48;
    let (a, b) = (floats(n * n, 0.01), floats(n * n, 0.02));
    let (pa, pb, pc) = (
        gpu.upload(&a),
        gpu.upload(&b),
        gpu.upload(&vec![0_f32; n * n]),
    );
    let launch = Launch {
        grid: [3, 3, 1],
        block: [16, 16, 1],
        workers: 2,
        ..Launch::default()
    };
    gpu.run("matmul", launch, args!(pa, pb, pc, n as u32));
    let mut expected = vec![0_f32; n * n];
    for row in 0..n {
        for column in 0..n {
            let products = (0..n).map(|k| (a[row * n + k], b[k * n + column]));
            expected[row * n + column] = products.fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
        }
    }
    assert_eq!(gpu.download::<f32>(pc, n * n), expected);
}

#[test]
fn histogram() {
    let gpu = kernels!("histogram");
    let input: Vec<u8> = words(20_000)
        .into_iter()
        .map(|word| (word % 300) as u8)
        .collect();
    let (pi, po) = (gpu.upload(&input), gpu.upload(&[0_u32; 256]));
    gpu.run(
        "histogram",
        shape(7, 160),
        args!(pi, po, input.len() as u32),
    );
    let mut expected = vec![0_u32; 256];
    input
        .iter()
        .for_each(|&byte| expected[usize::from(byte)] += 1);
    assert_eq!(gpu.download::<u32>(po, 256), expected);
}

#[test]
fn atomics_of_64_bits() {
    let gpu = kernels!("histogram");
    let input: Vec<u64> = words(3000).into_iter().map(u64::from).collect();
    let pi = gpu.upload(&input);
    let po = gpu.upload(&[0_u64, 0, u64::MAX, 0, 0, 0, 0]);
    gpu.run("atomics64", shape(24, 128), args!(pi, po, 3000_u32));
    let output = gpu.download::<u64>(po, 7);
    let fold = |f: fn(u64, u64) -> u64, start| input.iter().copied().fold(start, f);
    assert_eq!(output[0], fold(u64::wrapping_add, 0));
    assert_eq!(output[1], fold(u64::max, 0));
    assert_eq!(output[2], fold(u64::min, u64::MAX));
    assert_eq!(output[3], fold(|a, b| a ^ b, 0));
    assert_eq!(output[4], fold(|a, b| a | b, 0));
    assert_eq!(output[5], fold(|a, b| a.max(b * b), 0));
    assert_eq!(f32::from_bits(output[6] as u32), 3000.0);
}

#[test]
fn math_in_single_precision() {
    let gpu = kernels!("math");
    let input: Vec<f32> = (1..200).map(|i| i as f32 * 0.173).collect();
    let n = input.len();
    let (pi, po) = (gpu.upload(&input), gpu.upload(&vec![0_f32; 12 * n]));
    gpu.run("math_f32", shape(2, 128), args!(pi, po, n as u32));
    let output = gpu.download::<f32>(po, 12 * n);
    for (i, &x) in input.iter().enumerate() {
        let got = |k: usize| output[k * n + i];
        assert_eq!(got(0), x.sqrt());
        assert_eq!(got(6), 1.0 / x);
        assert_eq!(got(7), x.floor());
        assert_eq!(got(8), x.ceil());
        assert_eq!(got(9), x.trunc());
        assert_eq!(got(10), x.abs() + x.mul_add(x, -1.0));
        let integers = (x * 100.0) as i32 as f32 + f32::from(x as i32 as u8);
        assert_eq!(got(11), integers);
        let near = |k: usize, exact: f64| {
            let error = (f64::from(got(k)) - exact).abs();
            assert!(
                error <= 1e-6 * exact.abs().max(1.0),
                "function {k} of {x}: {}",
                got(k)
            );
        };
        let x = f64::from(x);
        near(1, 1.0 / x.sqrt());
        near(2, x.sin());
        near(3, x.cos());
        near(4, x.exp2());
        near(5, x.log2());
    }
}

#[test]
fn math_in_double_precision() {
    let gpu = kernels!("math");
    let input: Vec<f64> = (1..150).map(|i| f64::from(i) * 0.0917).collect();
    let n = input.len();
    let (pi, po) = (gpu.upload(&input), gpu.upload(&vec![0_f64; 8 * n]));
    gpu.run("math_f64", shape(3, 64), args!(pi, po, n as u32));
    let output = gpu.download::<f64>(po, 8 * n);
    for (i, &x) in input.iter().enumerate() {
        let expected = [
            x.sqrt(),
            1.0 / x,
            x.mul_add(x, -1.0),
            x.floor() - x.ceil(),
            (x * 1e6) as i64 as f64,
            f64::from(x as f32),
            x.min(3.0) + x.max(5.0),
            if x > 2.0 { x - 7.0 } else { -x },
        ];
        for (k, expected) in expected.into_iter().enumerate() {
            assert_eq!(output[k * n + i], expected, "function {k} of {x}");
        }
    }
}

#[test]
fn calls() {
    let gpu = kernels!("calls");
    let input: Vec<i32> = (0..300).map(|i| i * 37 - 4000).collect();
    let (pi, po) = (gpu.upload(&input), gpu.upload(&[0_i32; 300]));
    let line = [(-3_i32).to_le_bytes(), 11_i32.to_le_bytes()].concat();
    let line = [line, 5000_i64.to_le_bytes().to_vec()].concat();
    let args = [vec![line], args!(pi, po, 300_u32).to_vec()].concat();
    gpu.run("call_line", shape(3, 128), &args);
    let expected: Vec<i32> = input.iter().map(|x| (x * -3 + 11).min(5000)).collect();
    assert_eq!(gpu.download::<i32>(po, 300), expected);

    gpu.run("call_indirect", shape(3, 128), args!(pi, po, 300_u32));
    let call = |(i, x): (usize, &i32)| [2 * x, x * x, -x][i % 3];
    let expected: Vec<i32> = input.iter().enumerate().map(call).collect();
    assert_eq!(gpu.download::<i32>(po, 300), expected);
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[test]
fn recursion_of_different_depth() {
    let gpu = kernels!("calls");
    let po = gpu.upload(&[0_u32; 100]);
    gpu.run("call_recursive", shape(1, 128), args!(po, 100_u32));
    let expected: Vec<u32> = (0..100).map(|i| ackermann(i % 3, i % 5)).collect();
    assert_eq!(gpu.download::<u32>(po, 100), expected);
}

#[test]
fn loops_of_different_length() {
    let gpu = kernels!("divergence");
    let po = gpu.upload(&[0_u32; 1000]);
    gpu.run("collatz", shape(8, 128), args!(po, 1000_u32));
    let steps = |i: u64| {
        let (mut x, mut steps) = (i + 1, 0);
        while x != 1 {
            x = if x & 1 != 0 { 3 * x + 1 } else { x / 2 };
            steps += 1;
        }
        steps
    };
    assert_eq!(
        gpu.download::<u32>(po, 1000),
        (0..1000).map(steps).collect::<Vec<u32>>()
    );
}

fn switches(x: u32) -> u32 {
    let mut result = 1_u32;
    for round in 0..x & 7 {
        match (x >> round) & 7 {
            0 => result = result.wrapping_add(3),
            1 => result = result.wrapping_mul(5),
            2 => result ^= x,
            3 => result = result.rotate_left(3),
            4 => result = result.wrapping_sub(round),
            5 if result & 1 != 0 => return result,
            5 => result |= 64,
            6 => {
                for k in 0..x & 15 {
                    result = result.wrapping_add(k.wrapping_mul(result));
                }
            }
            _ => result = !result,
        }
    }
    result
}

#[test]
fn jump_tables() {
    let gpu = kernels!("divergence");
    let input = words(2000);
    let (pi, po) = (gpu.upload(&input), gpu.upload(&[0_u32; 2000]));
    gpu.run("switches", shape(16, 128), args!(pi, po, 2000_u32));
    let expected: Vec<u32> = input.iter().map(|x| switches(*x)).collect();
    assert_eq!(gpu.download::<u32>(po, 2000), expected);
}

#[test]
fn constant_memory_and_globals() {
    let gpu = kernels!("memory");
    let input = floats(500, 0.01);
    let (pi, po) = (gpu.upload(&input), gpu.upload(&[0_f32; 500]));
    gpu.run("polynomial", shape(4, 128), args!(pi, po, 500_u32));
    let value = |x: &f32| 3.0_f32.mul_add(*x, 0.25).mul_add(*x, -0.5).mul_add(*x, 1.0);
    let expected: Vec<f32> = input.iter().map(value).collect();
    assert_eq!(gpu.download::<f32>(po, 500), expected);

    let po = gpu.upload(&[0_u32; 64]);
    gpu.run("globals", shape(2, 32), args!(po));
    let expected: Vec<u32> = (0..64).map(|i| [2, 3, 5, 7][i % 4] + 3).collect();
    assert_eq!(gpu.download::<u32>(po, 64), expected);
}

#[test]
fn arrays_of_a_thread() {
    let gpu = kernels!("memory");
    let input = words(64 * 16);
    let data = gpu.upload(&input);
    gpu.run("local_sort", shape(2, 32), args!(data));
    let mut expected = input;
    expected.chunks_mut(16).for_each(<[u32]>::sort_unstable);
    assert_eq!(gpu.download::<u32>(data, 64 * 16), expected);
}

#[test]
fn vectors_of_four() {
    let gpu = kernels!("memory");
    let input = floats(128, 1.5);
    let data = gpu.upload(&input);
    gpu.run("scale4", shape(1, 32), args!(data, 0.5_f32));
    let expected: Vec<f32> = input.iter().map(|x| x * 0.5).collect();
    assert_eq!(gpu.download::<f32>(data, 128), expected);
}

#[test]
fn delay_lasts_as_long_as_asked_for() {
    let gpu = kernels!("delay");
    let before = std::time::Instant::now();
    gpu.run("delay", shape(1, 32), args!(20_000_000_u64));
    let took = before.elapsed().as_millis();
    assert!((20..2000).contains(&took), "{took} ms");
}

#[derive(Default)]
struct Lines(Mutex<Vec<String>>);

impl Sink for Lines {
    fn print(&self, text: &[u8]) {
        self.0
            .lock()
            .unwrap()
            .push(String::from_utf8_lossy(text).into_owned());
    }
}

#[test]
fn printing() {
    let gpu = kernels!("printf");
    let lines = Lines::default();
    let launch = Launch {
        sink: Some(&lines),
        ..shape(1, 3)
    };
    gpu.run("greet", launch, args!(-7_i32, 2.7251_f64));
    let lines = lines.0.into_inner().unwrap();
    let expected: Vec<String> = (0..3)
        .map(|thread| format!("thread {thread}: -7  2.73 word%\n"))
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn flags_and_sizes_of_integers() {
    // Flags of the sign are for signed ones.
    let format = b"%+u %+d % x %hu %hhd %hx\0";
    let format: Vec<String> = format.iter().map(u8::to_string).collect();
    let gpu = Kernels::of(&format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
             .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 v);\n\
             .global .b8 text[] = {{{}}};\n\
             .visible .entry k() {{ .local .align 8 .b8 values[24]; .reg .b64 %d<3>;\n\
             st.local.u32 [values], 5; st.local.u32 [values+4], 5; st.local.u32 [values+8], 5;\n\
             st.local.u32 [values+12], 65541; st.local.u32 [values+16], 511; st.local.u32 [values+20], -1;\n\
             cvta.global.u64 %d1, text; cvta.local.u64 %d2, values;\n\
             {{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %d1; st.param.b64 [v], %d2;\n\
             call (r), vprintf, (f, v); }} ret; }}",
        format.join(", ")
    ));
    let lines = Lines::default();
    let launch = Launch {
        sink: Some(&lines),
        ..shape(1, 1)
    };
    gpu.run("k", launch, &[]);
    assert_eq!(lines.0.into_inner().unwrap(), ["5 +5 5 5 -1 ffff"]);
}
