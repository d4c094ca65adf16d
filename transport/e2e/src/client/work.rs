//! The steps that work on buffers, each on the device and on what is expected of it.

use anyhow::{Result, ensure};

use super::compare;
use super::worker::{STREAMS, Worker};
use crate::driver::Stream;

/// Elements that one launch works on: the CPU emulator executes PTX instruction by instruction.
const ELEMENTS: usize = 64;

impl Worker<'_> {
    pub(super) fn upload(&mut self) -> Result<()> {
        let (index, at, bytes) = self.range(1);
        let mut source = vec![0; bytes];
        self.random.fill(&mut source);
        let stream = self.stream_of(index);
        let buffer = &mut self.buffers[index];
        let to = buffer.address + at as u64;
        buffer.expected[at..at + bytes].copy_from_slice(&source);
        if self.random.usize(..3) > 0 {
            self.driver.to_device_async(to, &source, stream)?;
        } else {
            // The default stream does not wait for non-blocking ones, nor they for it.
            self.driver.stream_synchronize(stream)?;
            self.driver.to_device(to, &source)?;
            self.driver.stream_synchronize(Stream::DEFAULT)?;
        }
        source.fill(0xdd);
        Ok(())
    }

    pub(super) fn fill(&mut self) -> Result<()> {
        let unit = [1, 2, 4][self.random.usize(..3)];
        let (index, at, bytes) = self.range(unit);
        let stream = self.stream_of(index);
        let value = self.random.u64(..) as u32;
        let buffer = &mut self.buffers[index];
        let to = buffer.address + at as u64;
        for chunk in buffer.expected[at..at + bytes].chunks_mut(unit) {
            chunk.copy_from_slice(&value.to_le_bytes()[..unit]);
        }
        match unit {
            1 => self.driver.fill_u8(to, value as u8, bytes, stream)?,
            2 => self.driver.fill_u16(to, value as u16, bytes / 2, stream)?,
            _ => self.driver.fill_u32(to, value, bytes / 4, stream)?,
        }
        Ok(())
    }

    /// Makes `stream` wait for all that was asked of buffer `index` so far.
    pub(super) fn follow(&self, stream: Stream, index: usize) -> Result<()> {
        let own = self.stream_of(index);
        if own != stream {
            let event = self.driver.create_event()?;
            self.driver.record(event, own)?;
            self.driver.stream_wait(stream, event)?;
            // CUDA keeps an event that is waited for until the wait is over.
            self.driver.destroy_event(event)?;
        }
        Ok(())
    }

    pub(super) fn on_device(&mut self) -> Result<()> {
        let (from, at, bytes) = self.range(1);
        let to = self.random.usize(..self.buffers.len());
        let room = self.buffers[to].expected.len();
        if from == to || room < bytes {
            return Ok(());
        }
        let target = self.random.usize(..room - bytes + 1);
        let stream = self.stream_of(to);
        self.follow(stream, from)?;
        let piece = self.buffers[from].expected[at..at + bytes].to_vec();
        self.buffers[to].expected[target..target + bytes].copy_from_slice(&piece);
        let (source, target) = (
            self.buffers[from].address + at as u64,
            self.buffers[to].address + target as u64,
        );
        self.driver.on_device_async(target, source, bytes, stream)?;
        // What is next asked of the source must not overtake the copy.
        self.follow_back(from, to)
    }

    pub(super) fn follow_back(&self, from: usize, to: usize) -> Result<()> {
        self.follow(self.stream_of(from), to)
    }

    pub(super) fn sort(&mut self) -> Result<()> {
        const ROW: usize = 64;
        let index = self.random.usize(..self.buffers.len());
        let rows = (self.buffers[index].expected.len() / ROW).min(ELEMENTS);
        if rows == 0 {
            return Ok(());
        }
        let stream = self.stream_of(index);
        let function = self.kernels()?.sort;
        let buffer = &mut self.buffers[index];
        for row in buffer.expected[..rows * ROW].chunks_mut(ROW) {
            let mut words: Vec<u32> = words(row).collect();
            words.sort_unstable();
            row.iter_mut()
                .zip(words.iter().flat_map(|w| w.to_le_bytes()))
                .for_each(|(b, v)| *b = v);
        }
        let mut address = buffer.address.to_le_bytes();
        self.driver
            .launch(function, (rows as u32, 1), stream, &mut [&mut address])?;
        Ok(())
    }

    pub(super) fn line(&mut self) -> Result<()> {
        let (from, to) = (
            self.random.usize(..self.buffers.len()),
            self.random.usize(..self.buffers.len()),
        );
        let least = self.buffers[from]
            .expected
            .len()
            .min(self.buffers[to].expected.len());
        let count = (least / 4).min(ELEMENTS);
        let (scale, offset) = (
            self.random.u64(..) as i32 % 1000,
            self.random.u64(..) as i32,
        );
        let limit = i64::from(i32::MAX / 2);
        let stream = self.stream_of(to);
        self.follow(stream, from)?;
        let function = self.kernels()?.line;
        let results: Vec<i32> = words(&self.buffers[from].expected[..count * 4])
            .map(|x| {
                let y = i64::from(scale) * i64::from(x as i32) + i64::from(offset);
                // As the kernel has it: the lower half of what is not above the limit.
                if y > limit { limit as i32 } else { y as i32 }
            })
            .collect();
        let bytes = results.iter().flat_map(|value| value.to_le_bytes());
        self.buffers[to]
            .expected
            .iter_mut()
            .zip(bytes)
            .for_each(|(b, v)| *b = v);
        let mut line = [0; 16];
        line[..4].copy_from_slice(&scale.to_le_bytes());
        line[4..8].copy_from_slice(&offset.to_le_bytes());
        line[8..].copy_from_slice(&limit.to_le_bytes());
        let mut addresses = [from, to].map(|index| self.buffers[index].address.to_le_bytes());
        let [input, output] = &mut addresses;
        let mut n = (count as u32).to_le_bytes();
        self.driver.launch(
            function,
            (2, 32),
            stream,
            &mut [&mut line, input, output, &mut n],
        )?;
        self.follow_back(from, to)
    }

    pub(super) fn compare_some(&mut self) -> Result<()> {
        let (index, at, bytes) = self.range(1);
        let (stream, buffer) = (self.stream_of(index), &self.buffers[index]);
        self.done.compared += bytes as u64;
        let in_stream = (self.random.usize(..2) == 0).then_some(stream);
        if in_stream.is_none() {
            self.driver.stream_synchronize(stream)?;
        }
        compare(
            self.driver,
            buffer.address,
            at,
            &buffer.expected[at..at + bytes],
            in_stream,
        )
    }

    pub(super) fn ask(&mut self) -> Result<()> {
        let stream = self.streams[self.random.usize(..STREAMS)];
        match self.random.usize(..4) {
            0 => {
                let (free, total) = self.driver.memory_info()?;
                ensure!(free <= total, "{free} of {total} bytes are free");
            }
            1 => {
                let event = self.driver.create_event()?;
                self.driver.record(event, stream)?;
                self.driver.event_synchronize(event)?;
                ensure!(
                    self.driver.event_query(event)?,
                    "an event that was waited for has not happened"
                );
                self.driver.destroy_event(event)?;
            }
            2 => {
                self.driver.stream_query(stream)?;
            }
            _ => {
                self.driver.stream_synchronize(stream)?;
                ensure!(
                    self.driver.stream_query(stream)?,
                    "a stream that was waited for is not done"
                );
            }
        }
        Ok(())
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|word| {
        word.iter()
            .rev()
            .fold(0, |value, byte| value << 8 | u32::from(*byte))
    })
}
