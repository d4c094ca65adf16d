//! Random programs on several streams give what the same steps one after the other give, as long
//! as the program orders them by events or by the default stream.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]

#[macro_use]
mod common;

use common::{Fixture, alloc, new_stream, out};
use gtrace_softgpu::api::{copy, event, fill, stream};
use proptest::prelude::*;

const WORDS: usize = 16 << 10;
const BUFFERS: usize = 5;
const STREAMS: usize = 4;

#[derive(Debug, Clone, Copy)]
enum Step {
    Fill { to: usize, value: u32 },
    Copy { to: usize, from: usize },
}

impl Step {
    fn touches(self) -> [usize; 2] {
        match self {
            Self::Fill { to, .. } => [to, to],
            Self::Copy { to, from } => [to, from],
        }
    }

    fn issue(self, buffers: &[u64], handle: u64) {
        match self {
            Self::Fill { to, value } => {
                ok!(fill::cuMemsetD32Async(buffers[to], value, WORDS, handle));
            }
            Self::Copy { to, from } => {
                let (to, from) = (buffers[to], buffers[from]);
                ok!(copy::cuMemcpyDtoDAsync_v2(to, from, WORDS * 4, handle));
            }
        }
    }

    fn apply(self, model: &mut [u32]) {
        match self {
            Self::Fill { to, value } => model[to] = value,
            Self::Copy { to, from } => model[to] = model[from],
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0..BUFFERS, any::<u32>()).prop_map(|(to, value)| Step::Fill { to, value }),
        (0..BUFFERS, 0..BUFFERS)
            .prop_filter("two buffers", |(to, from)| to != from)
            .prop_map(|(to, from)| Step::Copy { to, from }),
    ]
}

/// Buffers whose words have the value of their number.
fn begin() -> (Vec<u64>, Vec<u32>) {
    let buffers: Vec<u64> = (0..BUFFERS).map(|_| alloc(WORDS * 4)).collect();
    for (number, buffer) in buffers.iter().enumerate() {
        ok!(fill::cuMemsetD32_v2(*buffer, number as u32, WORDS));
    }
    ok!(stream::cuStreamSynchronize(0));
    (buffers, (0..BUFFERS as u32).collect())
}

fn compare(buffers: &[u64], model: &[u32]) -> Result<(), TestCaseError> {
    for (buffer, value) in buffers.iter().zip(model) {
        let mut words = vec![0u32; WORDS];
        ok!(copy::cuMemcpyDtoH_v2(
            words.as_mut_ptr().cast(),
            *buffer,
            WORDS * 4
        ));
        prop_assert!(
            words.iter().all(|word| word == value),
            "{value}, not {}",
            words[0]
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn events_order_what_touches_the_same_buffer(
        steps in prop::collection::vec((step(), 0..STREAMS), 1..60),
    ) {
        let _fixture = Fixture::new();
        let (buffers, mut model) = begin();
        let streams: Vec<u64> = (0..STREAMS).map(|_| new_stream(1)).collect();
        // Events of the steps that touched a buffer so far.
        let mut touched = vec![Vec::new(); BUFFERS];
        for (step, number) in steps {
            for buffer in step.touches() {
                for earlier in &touched[buffer] {
                    ok!(stream::cuStreamWaitEvent(streams[number], *earlier, 0));
                }
            }
            step.issue(&buffers, streams[number]);
            let done = made!(|to| event::cuEventCreate(to, 2));
            ok!(event::cuEventRecord(done, streams[number]));
            for buffer in step.touches() {
                touched[buffer].push(done);
            }
            step.apply(&mut model);
        }
        for handle in &streams {
            ok!(stream::cuStreamSynchronize(*handle));
        }
        compare(&buffers, &model)?;
    }

    #[test]
    fn the_default_stream_orders_blocking_streams(
        steps in prop::collection::vec((step(), any::<bool>()), 1..60),
    ) {
        let _fixture = Fixture::new();
        let (buffers, mut model) = begin();
        let streams: Vec<u64> = (0..BUFFERS).map(|_| new_stream(0)).collect();
        for (step, by_default) in steps {
            // A stream of its own touches its own buffer only; the default stream any.
            let handle = match step {
                Step::Fill { to, .. } if !by_default => streams[to],
                _ => 0,
            };
            step.issue(&buffers, handle);
            step.apply(&mut model);
        }
        compare(&buffers, &model)?;
    }
}
