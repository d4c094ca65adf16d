//! A thread with its streams and buffers, and which of its steps comes next.

use std::sync::PoisonError;

use anyhow::{Context as _, Result};
use fastrand::Rng;

use super::{Done, Gift, Kernels, Shared, compare};
use crate::driver::{Address, Driver, Stream};

/// Most bytes of one buffer.
const LARGEST: usize = 96 << 10;
/// Most buffers of a thread.
const BUFFERS: usize = 12;
/// Streams of a thread.
pub(super) const STREAMS: usize = 3;

pub(super) struct Buffer {
    pub(super) address: Address,
    pub(super) stream: usize,
    pub(super) expected: Vec<u8>,
}

pub(super) struct Worker<'a> {
    pub(super) shared: &'a Shared<'a>,
    pub(super) driver: &'a Driver,
    pub(super) random: Rng,
    pub(super) streams: Vec<Stream>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) kernels: Option<Kernels>,
    pub(super) done: Done,
}

impl<'a> Worker<'a> {
    pub(super) fn new(shared: &'a Shared<'a>, seed: u64) -> Result<Self> {
        let driver = shared.driver;
        let streams = (0..STREAMS)
            .map(|_| driver.create_stream())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            shared,
            driver,
            random: Rng::with_seed(seed),
            streams,
            buffers: Vec::new(),
            kernels: None,
            done: Done::default(),
        })
    }

    pub(super) fn step(&mut self) -> Result<()> {
        self.done.steps += 1;
        if self.buffers.len() < 3 {
            return self.allocate();
        }
        match self.random.usize(..100) {
            0..8 => self.allocate(),
            8..14 => self.free(),
            14..29 => self.upload(),
            29..44 => self.fill(),
            44..56 => self.on_device(),
            56..66 => self.sort(),
            66..72 => self.line(),
            72..84 => self.compare_some(),
            84..88 => self.ask(),
            88..91 => self.new_stream(),
            91..93 => self.reload(),
            93..96 => self.give(),
            _ => self.take(),
        }
    }

    /// A buffer and a range of it whose ends are multiples of `unit`, at least one unit long.
    pub(super) fn range(&mut self, unit: usize) -> (usize, usize, usize) {
        let index = self.random.usize(..self.buffers.len());
        let units = self.buffers[index].expected.len() / unit;
        let at = self.random.usize(..units);
        let most = units - at;
        // Mostly short.
        let most = if self.random.usize(..4) == 0 {
            most
        } else {
            most.min(600)
        };
        let count = 1 + self.random.usize(..most);
        (index, at * unit, count * unit)
    }

    pub(super) fn stream_of(&self, index: usize) -> Stream {
        self.streams[self.buffers[index].stream]
    }

    pub(super) fn allocate(&mut self) -> Result<()> {
        if self.buffers.len() == BUFFERS {
            return self.free();
        }
        // A few are too small for a row that is sorted; 4 bytes is the least that all steps can use.
        let bytes = 4 * (1 + self.random.usize(..LARGEST / 4));
        let stream = self.random.usize(..STREAMS);
        let address = if self.random.usize(..2) == 0 {
            self.driver.allocate(bytes)?
        } else {
            self.driver.allocate_async(bytes, self.streams[stream])?
        };
        let mut expected = vec![0; bytes];
        self.random.fill(&mut expected);
        self.driver
            .to_device_async(address, &expected, self.streams[stream])?;
        self.buffers.push(Buffer {
            address,
            stream,
            expected,
        });
        Ok(())
    }

    pub(super) fn free(&mut self) -> Result<()> {
        let index = self.random.usize(..self.buffers.len());
        let stream = self.stream_of(index);
        let buffer = self.buffers.swap_remove(index);
        if self.random.usize(..2) == 0 {
            self.driver.free_async(buffer.address, stream)?;
        } else {
            self.driver.stream_synchronize(stream)?;
            self.driver.free(buffer.address)?;
        }
        Ok(())
    }

    pub(super) fn kernels(&mut self) -> Result<&Kernels> {
        if self.kernels.is_none() {
            self.kernels = Some(Kernels::load(self.driver, &self.shared.sources)?);
        }
        self.kernels.as_ref().context("kernels were just loaded")
    }

    pub(super) fn new_stream(&mut self) -> Result<()> {
        let at = self.random.usize(..STREAMS);
        if self.random.usize(..2) == 0 {
            self.driver.stream_synchronize(self.streams[at])?;
            self.driver.destroy_stream(self.streams[at])?;
            self.streams[at] = self.driver.create_stream()?;
        } else {
            // Destroying a busy stream lets its work be done; here the new one waits for it.
            let (old, new) = (self.streams[at], self.driver.create_stream()?);
            let event = self.driver.create_event()?;
            self.driver.record(event, old)?;
            self.driver.stream_wait(new, event)?;
            self.driver.destroy_stream(old)?;
            self.driver.destroy_event(event)?;
            self.streams[at] = new;
        }
        Ok(())
    }

    pub(super) fn reload(&mut self) -> Result<()> {
        if let Some(kernels) = self.kernels.take() {
            for stream in &self.streams {
                self.driver.stream_synchronize(*stream)?;
            }
            kernels.unload(self.driver)?;
        }
        Ok(())
    }

    pub(super) fn give(&mut self) -> Result<()> {
        let index = self.random.usize(..self.buffers.len());
        let stream = self.stream_of(index);
        let buffer = self.buffers.swap_remove(index);
        let ready = self.driver.create_event()?;
        self.driver.record(ready, stream)?;
        let gift = Gift {
            address: buffer.address,
            expected: buffer.expected,
            ready,
        };
        self.shared
            .gifts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(gift);
        Ok(())
    }

    pub(super) fn take(&mut self) -> Result<()> {
        if self.buffers.len() == BUFFERS {
            return Ok(());
        }
        let gift = self
            .shared
            .gifts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        if let Some(Gift {
            address,
            expected,
            ready,
        }) = gift
        {
            let stream = self.random.usize(..STREAMS);
            self.driver.stream_wait(self.streams[stream], ready)?;
            self.driver.destroy_event(ready)?;
            self.buffers.push(Buffer {
                address,
                stream,
                expected,
            });
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Done> {
        for index in 0..self.buffers.len() {
            let (stream, buffer) = (self.stream_of(index), &self.buffers[index]);
            self.done.compared += buffer.expected.len() as u64;
            compare(
                self.driver,
                buffer.address,
                0,
                &buffer.expected,
                Some(stream),
            )?;
            self.driver.free(buffer.address)?;
        }
        self.reload()?;
        for stream in &self.streams {
            self.driver.stream_synchronize(*stream)?;
            self.driver.destroy_stream(*stream)?;
        }
        Ok(self.done)
    }
}
