//! tex, tld4, suld and sust: PTX ISA 9.0, sections 9.7.10 and 9.7.11. How a texture is filtered: CUDA C++
//! Programming Guide, "Texture Fetching".

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::alu::half::Half;
use super::super::alu::{Regs, lanes_of};
use super::super::program::{Beyond, Inst, NONE, Query, Reading, Sampling, SurfaceAccess};
use super::super::texture::{AddressMode, Channel, Image, Plane, Texture};
use super::super::types::Class;
use super::Trouble;
use super::host::{self, Checked, Reach};

/// What a kernel reads: the bits of four channels.
type Texel = [u32; 4];

/// Reads elements of one texture.
struct Sampler<'s, 'm> {
    reach: &'s mut Reach<'m>,
    texture: &'s Texture,
}

/// Reads a channel of the element at `address`, which was checked to be there: its bits, sign-extended.
fn channel(kind: Channel, at: Checked, offset: usize) -> u32 {
    let bits = host::load(at, offset, kind.size(), Ordering::Relaxed);
    match kind {
        Channel::S8 => bits as i8 as u32,
        Channel::S16 => bits as i16 as u32,
        _ => bits as u32,
    }
}

/// The element that index `at` of `size` means; none for the border.
fn within(at: i64, size: u32, mode: AddressMode) -> Option<u32> {
    let size = i64::from(size);
    let found = match mode {
        AddressMode::Border => (0..size).contains(&at).then_some(at)?,
        AddressMode::Clamp => at.clamp(0, size - 1),
        AddressMode::Wrap => at.rem_euclid(size),
        AddressMode::Mirror => {
            let at = at.rem_euclid(2 * size);
            at.min(2 * size - 1 - at)
        }
    };
    Some(found as u32)
}

impl Sampler<'_, '_> {
    /// Whether what is read are fractions or floating-point numbers.
    fn is_float(&self) -> bool {
        let kind = self.texture.image.channel;
        match kind {
            Channel::F16 | Channel::F32 => true,
            Channel::U32 | Channel::S32 => false,
            _ => !self.texture.raw,
        }
    }

    /// The colour of the border, within what the image's elements can be.
    fn border(&self) -> Texel {
        let cut = |part: f32| match self.texture.image.channel {
            Channel::U8 | Channel::U16 => part.clamp(0.0, 1.0),
            Channel::S8 | Channel::S16 => part.clamp(-1.0, 1.0),
            _ => part,
        };
        match self.is_float() {
            true => self.texture.border.map(|part| cut(part).to_bits()),
            false => self.texture.border.map(|value| value as i32 as u32),
        }
    }

    /// How coordinates beyond the image are taken: some ways are for normalised ones alone.
    fn mode(&self, axis: usize) -> AddressMode {
        match self.texture.modes[axis] {
            AddressMode::Wrap | AddressMode::Mirror if !self.texture.normalised => {
                AddressMode::Clamp
            }
            mode => mode,
        }
    }

    /// The element at these indices, of which those beyond `axes` are exact.
    fn element(&mut self, plane: &Plane, at: [i64; 3], axes: usize) -> Result<Texel, Trouble> {
        let mut place = [0_u32; 3];
        for axis in 0..3 {
            let mode = match axis < axes {
                true => self.mode(axis),
                // A layer.
                false => AddressMode::Clamp,
            };
            let linear = self.texture.image.linear && axis == 0;
            let mode = if linear { AddressMode::Border } else { mode };
            match within(at[axis], plane.size[axis], mode) {
                Some(found) => place[axis] = found,
                None if linear => return Ok([0; 4]),
                None => return Ok(self.border()),
            }
        }
        let image = &self.texture.image;
        let [x, y, z] = place.map(u64::from);
        let len = image.element();
        let address = plane.address + z * plane.slice + y * plane.pitch + x * u64::from(len);
        let bytes = self
            .reach
            .check(address, len.into(), false)
            .ok_or(Trouble::illegal(address, len, false))?;
        let mut texel = [0; 4];
        let size = image.channel.size() as usize;
        for (number, value) in texel.iter_mut().take(image.channels as usize).enumerate() {
            let bits = channel(image.channel, bytes, number * size);
            let whole = bits as i32;
            let fraction = |most: f32| (whole as f32 / most).max(-1.0).to_bits();
            *value = match image.channel {
                Channel::F16 => Half::F16.read(bits as u16).to_bits(),
                Channel::U8 if !self.texture.raw => fraction(255.0),
                Channel::S8 if !self.texture.raw => fraction(127.0),
                Channel::U16 if !self.texture.raw => fraction(65_535.0),
                Channel::S16 if !self.texture.raw => fraction(32_767.0),
                _ => bits,
            };
        }
        Ok(texel)
    }

    /// Coordinates in elements.
    fn scaled(&self, plane: &Plane, at: [f32; 3], axes: usize) -> [f32; 3] {
        let mut scaled = at;
        if self.texture.normalised {
            for (value, size) in scaled.iter_mut().zip(plane.size).take(axes) {
                *value *= size as f32;
            }
        }
        scaled
    }

    /// Reads a level at these coordinates, of which `axes` are not layers.
    fn level(&mut self, plane: &Plane, at: [f32; 3], axes: usize) -> Result<Texel, Trouble> {
        let at = self.scaled(plane, at, axes);
        if !(self.texture.linear && self.is_float()) {
            return self.element(plane, at.map(|value| value.floor() as i64), axes);
        }
        let mut base = at.map(|value| value as i64);
        let mut weights = [0.0_f32; 3];
        for axis in 0..axes {
            let shifted = at[axis] - 0.5;
            base[axis] = shifted.floor() as i64;
            // Fixed point with 8 bits behind the point.
            weights[axis] = ((shifted - shifted.floor()) * 256.0).round() / 256.0;
        }
        let mut sum = [0.0_f32; 4];
        for corner in 0..1_usize << axes {
            let (mut place, mut weight) = (base, 1.0);
            for axis in 0..axes {
                let upper = corner >> axis & 1 == 1;
                place[axis] = place[axis].saturating_add(upper.into());
                weight *= match upper {
                    true => weights[axis],
                    false => 1.0 - weights[axis],
                };
            }
            // What has no weight need not be a number.
            if weight == 0.0 {
                continue;
            }
            let texel = self.element(plane, place, axes)?;
            for (sum, bits) in sum.iter_mut().zip(texel) {
                *sum += weight * f32::from_bits(bits);
            }
        }
        Ok(sum.map(f32::to_bits))
    }

    /// Reads at a level of detail.
    fn at_level(&mut self, lod: f32, at: [f32; 3], axes: usize) -> Result<Texel, Trouble> {
        let texture = self.texture;
        let last = texture.image.levels.len() - 1;
        let [least, most] = texture.levels;
        let lod = (lod + texture.bias).min(most).max(least);
        let lod = lod.clamp(0.0, last as f32);
        if !texture.between_levels {
            let nearest = ((lod + 0.5).floor() as usize).min(last);
            return self.level(&texture.image.levels[nearest], at, axes);
        }
        let lower = lod.floor() as usize;
        let weight = ((lod - lod.floor()) * 256.0).round() / 256.0;
        let first = self.level(&texture.image.levels[lower], at, axes)?;
        if weight == 0.0 || lower == last || !self.is_float() {
            return Ok(first);
        }
        let second = self.level(&texture.image.levels[lower + 1], at, axes)?;
        let mut texel = [0; 4];
        for (at, value) in texel.iter_mut().enumerate() {
            let (a, b) = (f32::from_bits(first[at]), f32::from_bits(second[at]));
            *value = (a * (1.0 - weight) + b * weight).to_bits();
        }
        Ok(texel)
    }

    /// One channel of the four elements that a linear filter would take.
    fn gather(&mut self, component: usize, at: [f32; 3], axes: usize) -> Result<Texel, Trouble> {
        let plane = self.texture.image.levels[0];
        let at = self.scaled(&plane, at, 2);
        let [x, y] = [at[0] - 0.5, at[1] - 0.5].map(|value| value.floor() as i64);
        let [right, below] = [x, y].map(|index| index.saturating_add(1));
        let z = at[2] as i64;
        let mut texel = [0; 4];
        let places = [(x, below), (right, below), (right, y), (x, y)];
        for (value, (x, y)) in texel.iter_mut().zip(places) {
            *value = self.element(&plane, [x, y, z], axes)?[component];
        }
        Ok(texel)
    }
}

/// The level of detail at which neighbouring threads read neighbouring elements.
fn detail(size: [u32; 3], gradients: [[f32; 3]; 2], axes: usize) -> f32 {
    let length = |gradient: [f32; 3]| {
        let parts = (0..axes).map(|axis| gradient[axis] * size[axis] as f32);
        parts.map(|part| part * part).sum::<f32>().sqrt()
    };
    length(gradients[0]).max(length(gradients[1])).log2()
}

fn float(regs: &Regs, slot: u32, lane: usize) -> f32 {
    f32::from_bits(regs.narrow(slot)[lane])
}

/// Reads through a texture.
pub(super) fn sample(
    reach: &mut Reach<'_>,
    regs: &mut Regs,
    inst: &Inst,
    sampling: &Sampling,
    mask: u32,
) -> Result<(), Trouble> {
    let axes = sampling.axes as usize;
    for lane in lanes_of(mask) {
        reach.lane = lane;
        let handle = regs.wide(inst.o.a)[lane];
        let texture = reach
            .texture(handle)
            .ok_or(Trouble::illegal(handle, 8, false))?;
        let mut sampler = Sampler {
            reach: &mut *reach,
            texture: &texture,
        };
        let mut exact = [0_i64; 3];
        let mut at = [0.0_f32; 3];
        for axis in 0..axes {
            let slot = sampling.coordinates[axis];
            match sampling.whole {
                true => exact[axis] = i64::from(regs.narrow(slot)[lane] as i32),
                false => at[axis] = float(regs, slot, lane),
            }
        }
        if sampling.layer != NONE {
            // Behind the axes: rows of an image of one dimension are not its layers.
            let layer = regs.narrow(sampling.layer)[lane];
            (exact[2], at[2]) = (layer.into(), layer as f32);
        }
        let size = texture.image.levels[0].size;
        let three = |slots: &[u32; 3]| {
            let mut out = [0.0; 3];
            for axis in 0..axes {
                out[axis] = float(regs, slots[axis], lane);
            }
            out
        };
        let texel = match &sampling.reading {
            Reading::Base if sampling.whole => {
                let plane = texture.image.levels[0];
                sampler.element(&plane, exact, axes)?
            }
            Reading::Level(slot) if sampling.whole => {
                let level = regs.narrow(*slot)[lane] as usize;
                let levels = &texture.image.levels;
                let plane = levels[level.min(levels.len() - 1)];
                sampler.element(&plane, exact, axes)?
            }
            Reading::Base => sampler.at_level(0.0, at, axes)?,
            Reading::Level(slot) => {
                let lod = float(regs, *slot, lane);
                sampler.at_level(lod, at, axes)?
            }
            Reading::Gradient(slots) => {
                let lod = detail(size, [three(&slots[0]), three(&slots[1])], axes);
                sampler.at_level(lod, at, axes)?
            }
            Reading::Gather(component) => sampler.gather(*component, at, axes)?,
        };
        for (slot, bits) in sampling.out.iter().zip(texel) {
            if *slot != NONE {
                regs.narrow_mut(*slot)[lane] = bits;
            }
        }
    }
    Ok(())
}

/// Answers txq and suq.
pub(super) fn query(
    reach: &mut Reach<'_>,
    regs: &mut Regs,
    inst: &Inst,
    query: Query,
    mask: u32,
) -> Result<(), Trouble> {
    for lane in lanes_of(mask) {
        reach.lane = lane;
        let handle = regs.wide(inst.o.a)[lane];
        let image = match reach.texture(handle) {
            Some(texture) => Arc::new(texture.image.clone()),
            None => reach
                .surface(handle)
                .ok_or(Trouble::illegal(handle, 8, false))?,
        };
        let [width, height, depth] = image.levels[0].size;
        regs.narrow_mut(inst.o.d)[lane] = match query {
            Query::Width => width,
            Query::Height => height,
            Query::Depth => depth,
            Query::Levels => image.levels.len() as u32,
        };
    }
    Ok(())
}

/// Where an access to a surface leads: its address, or `None` for one that is left out.
fn place(
    image: &Image,
    access: &SurfaceAccess,
    (x, y, z): (i64, i64, i64),
) -> Result<Option<u64>, Trouble> {
    let plane = &image.levels[0];
    let len = i64::from(access.size * access.count);
    let row = i64::from(plane.size[0]) * i64::from(image.element());
    let [_, height, depth] = plane.size.map(i64::from);
    let is_within = x >= 0 && x + len <= row && (0..height).contains(&y) && (0..depth).contains(&z);
    let (x, y, z) = match access.beyond {
        _ if is_within => (x, y, z),
        Beyond::Trap => return Err(Trouble::Trap),
        Beyond::Zero => return Ok(None),
        Beyond::Clamp => (
            x.clamp(0, (row - len).max(0)),
            y.clamp(0, height - 1),
            z.clamp(0, depth - 1),
        ),
    };
    let offset = z as u64 * plane.slice + y as u64 * plane.pitch + x as u64;
    let address = plane.address + offset;
    match x % len {
        0 => Ok(Some(address)),
        _ => Err(Trouble::Misaligned {
            address,
            len: len as u32,
        }),
    }
}

/// Reads from or writes to a surface.
pub(super) fn surface(
    reach: &mut Reach<'_>,
    regs: &mut Regs,
    inst: &Inst,
    access: &SurfaceAccess,
    mask: u32,
) -> Result<(), Trouble> {
    let (order, size, write) = (Ordering::Relaxed, access.size, access.write);
    for lane in lanes_of(mask) {
        reach.lane = lane;
        let handle = regs.wide(inst.o.a)[lane];
        let image = reach
            .surface(handle)
            .ok_or(Trouble::illegal(handle, 8, write))?;
        let at = |slot: u32| match slot {
            NONE => 0,
            slot => i64::from(regs.narrow(slot)[lane] as i32),
        };
        let [x, y, z] = access.coordinates.map(at);
        let found = place(&image, access, (x, y, z))?;
        let len = size * access.count;
        let bytes = match found {
            None => None,
            Some(address) => Some(
                reach
                    .check(address, len.into(), write)
                    .ok_or(Trouble::illegal(address, len, write))?,
            ),
        };
        for (part, slot) in access.slots.iter().take(access.count as usize).enumerate() {
            if *slot == NONE {
                continue;
            }
            let offset = part * size as usize;
            let class = if size == 8 {
                Class::Wide
            } else {
                Class::Narrow
            };
            let value = regs.get(*slot, class, lane);
            match (write, bytes) {
                (true, None) => {}
                (false, None) => regs.put(*slot, class, lane, 0),
                (true, Some(at)) => host::store(at, offset, size, value, order),
                (false, Some(at)) => {
                    regs.put(*slot, class, lane, host::load(at, offset, size, order));
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(unsafe_code)] // Says that memory may be read.

    use super::super::heap::Heap;
    use super::super::host::{Memory, Region};
    use super::*;

    #[repr(align(16))]
    struct Elements([f32; 4]);

    // SAFETY: the elements outlive the reads of a test, and nobody writes them.
    unsafe impl Memory for Elements {
        fn region(&self, address: u64) -> Option<Region> {
            let start = self.0.as_ptr() as u64;
            let len = size_of_val(&self.0) as u64;
            (address.wrapping_sub(start) < len).then_some(Region {
                start,
                len,
                host: start as *mut u8,
                writable: false,
            })
        }
    }

    #[test]
    fn coordinates_beyond_every_image_are_clamped() {
        let (elements, heap) = (Elements([1.0, 2.0, 3.0, 4.0]), Heap::default());
        let plane = Plane {
            address: elements.0.as_ptr() as u64,
            size: [2, 2, 1],
            pitch: 8,
            slice: 16,
        };
        let texture = Texture {
            image: Image {
                channel: Channel::F32,
                channels: 1,
                levels: vec![plane],
                linear: false,
            },
            modes: [AddressMode::Clamp; 3],
            linear: true,
            raw: false,
            normalised: false,
            between_levels: false,
            bias: 0.0,
            levels: [0.0; 2],
            border: [0.0; 4],
        };
        let mut reach = Reach::new(&elements, &heap);
        let mut sampler = Sampler {
            reach: &mut reach,
            texture: &texture,
        };
        let far = [1e30, 1e30, 0.0];
        let read = sampler.level(&plane, far, 2).expect("an element");
        assert_eq!(read[0], 4.0_f32.to_bits());
        let near = [-1e30, -1e30, 0.0];
        let read = sampler.level(&plane, near, 2).expect("an element");
        assert_eq!(read[0], 1.0_f32.to_bits());
        let gathered = sampler.gather(0, far, 2).expect("four elements");
        assert_eq!(gathered, [4.0_f32.to_bits(); 4]);
    }
}
