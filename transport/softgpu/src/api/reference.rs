//! Texture and surface references.

use std::ffi::{c_int, c_uint};

use crate::abi::{Answer, In, Name, Out, api};
use crate::array::{self, ready};
use crate::context::current;
use crate::error::{INVALID_VALUE, fail_if};
use crate::module::Module;
use crate::reference::{SurfaceReference, TEXTURE_REFERENCES, TextureReference};
use crate::types::{DevicePtr, FlatDescriptor, Handle, ResourceDesc};

/// `CU_TRSA_OVERRIDE_FORMAT`: the format is that of the array. It has to be given.
const OVERRIDE_FORMAT: u32 = 1;

fn axis(dimension: c_int) -> Answer<usize> {
    usize::try_from(dimension)
        .ok()
        .filter(|axis| *axis < 3)
        .ok_or(INVALID_VALUE)
}

/// A resource of plain memory: `size` is its bytes, or width, height and pitch.
fn plain(kind: u32, address: DevicePtr, format: (u32, u32), size: [u64; 3]) -> ResourceDesc {
    let mut union = [0; 16];
    union[0] = address;
    union[1] = u64::from(format.0) | u64::from(format.1) << 32;
    union[2..5].copy_from_slice(&size);
    ResourceDesc {
        kind,
        union,
        flags: 0,
    }
}

api! { TABLE:
    /// The texture reference of a name.
    fn cuModuleGetTexRef(reference: Out<Handle>, module: Handle, name: Name) {
        current()?;
        let found = Module::of(module)?.texture_reference(&name.text()?)?;
        reference.put(found)
    }

    /// The surface reference of a name.
    fn cuModuleGetSurfRef(reference: Out<Handle>, module: Handle, name: Name) {
        current()?;
        let found = Module::of(module)?.surface_reference(&name.text()?)?;
        reference.put(found)
    }

    /// Makes a texture reference that no kernel reads.
    fn cuTexRefCreate(reference: Out<Handle>) {
        let context = current()?;
        reference.put(TextureReference::create(context.handle, 0, 0))
    }

    /// Ends a texture reference that [`cuTexRefCreate`] has made.
    fn cuTexRefDestroy(reference: Handle) {
        fail_if(TextureReference::of(reference)?.module != 0, INVALID_VALUE)?;
        TEXTURE_REFERENCES.remove(reference);
        Ok(())
    }

    /// Binds an array.
    fn cuTexRefSetArray(reference: Handle, array: Handle, flags: c_uint) {
        current()?;
        fail_if(flags != OVERRIDE_FORMAT, INVALID_VALUE)?;
        TextureReference::of(reference)?.set(|bound| bound.array(array))
    }

    /// Binds a mipmapped array.
    fn cuTexRefSetMipmappedArray(reference: Handle, array: Handle, flags: c_uint) {
        current()?;
        fail_if(flags != OVERRIDE_FORMAT, INVALID_VALUE)?;
        TextureReference::of(reference)?.set(|bound| bound.mipmapped(array))
    }

    /// Binds plain memory; it has to be aligned, so that the offset is 0.
    fn cuTexRefSetAddress_v2(
        offset: Out<usize>, reference: Handle, address: DevicePtr, bytes: usize,
    ) {
        current()?;
        TextureReference::of(reference)?.set(|bound| {
            let size = [bytes as u64, 0, 0];
            bound.resource = Some(plain(2, address, bound.format, size));
            Ok(())
        })?;
        offset.offer(0);
        Ok(())
    }

    /// Binds plain memory of two dimensions.
    fn cuTexRefSetAddress2D_v3(
        reference: Handle, descriptor: In<FlatDescriptor>, address: DevicePtr, pitch: usize,
    ) {
        current()?;
        let given = descriptor.get()?;
        TextureReference::of(reference)?.set(|bound| {
            bound.format = (given.format, given.channels);
            let size = [given.width as u64, given.height as u64, pitch as u64];
            bound.resource = Some(plain(3, address, bound.format, size));
            Ok(())
        })
    }

    /// Sets the format of plain memory.
    fn cuTexRefSetFormat(reference: Handle, format: c_uint, channels: c_int) {
        ready()?;
        array::channel(format)?;
        let channels = u32::try_from(channels).map_err(|_| INVALID_VALUE)?;
        fail_if(!matches!(channels, 1 | 2 | 4), INVALID_VALUE)?;
        // What is bound already keeps its own.
        TextureReference::of(reference)?.state().format = (format, channels);
        Ok(())
    }

    /// Sets what is read beyond the image.
    fn cuTexRefSetAddressMode(reference: Handle, dimension: c_int, mode: c_uint) {
        ready()?;
        let axis = axis(dimension)?;
        fail_if(mode > 3, INVALID_VALUE)?;
        TextureReference::of(reference)?.describe(|it| it.modes[axis] = mode)
    }

    /// Sets whether elements are interpolated.
    fn cuTexRefSetFilterMode(reference: Handle, mode: c_uint) {
        ready()?;
        fail_if(mode > 1, INVALID_VALUE)?;
        TextureReference::of(reference)?.describe(|it| it.filter = mode)
    }

    /// Sets whether levels are interpolated.
    fn cuTexRefSetMipmapFilterMode(reference: Handle, mode: c_uint) {
        ready()?;
        fail_if(mode > 1, INVALID_VALUE)?;
        TextureReference::of(reference)?.describe(|it| it.mipmap_filter = mode)
    }

    /// Sets what is added to levels.
    fn cuTexRefSetMipmapLevelBias(reference: Handle, bias: f32) {
        TextureReference::of(reference)?.describe(|it| it.bias = bias)
    }

    /// Sets the least and the greatest level.
    fn cuTexRefSetMipmapLevelClamp(reference: Handle, least: f32, greatest: f32) {
        TextureReference::of(reference)?.describe(|it| {
            (it.least_level, it.greatest_level) = (least, greatest);
        })
    }

    /// Sets how much is filtered at an angle: without effect.
    fn cuTexRefSetMaxAnisotropy(reference: Handle, most: c_uint) {
        TextureReference::of(reference)?.state().description.max_anisotropy = most;
        Ok(())
    }

    /// Sets the colour of the border.
    fn cuTexRefSetBorderColor(reference: Handle, colour: In<f32>) {
        ready()?;
        let colour = [colour.at(0)?, colour.at(1)?, colour.at(2)?, colour.at(3)?];
        TextureReference::of(reference)?.describe(|it| it.border = colour)
    }

    /// Sets how integers and coordinates are taken.
    fn cuTexRefSetFlags(reference: Handle, flags: c_uint) {
        TextureReference::of(reference)?.describe(|it| it.flags = flags)
    }

    /// The address that is bound.
    fn cuTexRefGetAddress_v2(address: Out<DevicePtr>, reference: Handle) {
        let reference = TextureReference::of(reference)?;
        let resource = reference.state().resource;
        let memory = resource.filter(|resource| resource.kind > 1);
        address.put(memory.ok_or(INVALID_VALUE)?.memory().address)
    }

    /// The array that is bound.
    fn cuTexRefGetArray(array: Out<Handle>, reference: Handle) {
        let reference = TextureReference::of(reference)?;
        let resource = reference.state().resource;
        let found = resource.filter(|resource| resource.kind == 0);
        array.put(found.ok_or(INVALID_VALUE)?.handle())
    }

    /// The mipmapped array that is bound.
    fn cuTexRefGetMipmappedArray(array: Out<Handle>, reference: Handle) {
        let reference = TextureReference::of(reference)?;
        let resource = reference.state().resource;
        let found = resource.filter(|resource| resource.kind == 1);
        array.put(found.ok_or(INVALID_VALUE)?.handle())
    }

    /// What is read beyond the image.
    fn cuTexRefGetAddressMode(mode: Out<c_uint>, reference: Handle, dimension: c_int) {
        ready()?;
        let axis = axis(dimension)?;
        mode.put(TextureReference::of(reference)?.state().description.modes[axis])
    }

    /// Whether elements are interpolated.
    fn cuTexRefGetFilterMode(mode: Out<c_uint>, reference: Handle) {
        mode.put(TextureReference::of(reference)?.state().description.filter)
    }

    /// The format.
    fn cuTexRefGetFormat(format: Out<c_uint>, channels: Out<c_int>, reference: Handle) {
        let (found, count) = TextureReference::of(reference)?.state().format;
        format.put(found)?;
        channels.put(count as c_int)
    }

    /// Whether levels are interpolated.
    fn cuTexRefGetMipmapFilterMode(mode: Out<c_uint>, reference: Handle) {
        mode.put(TextureReference::of(reference)?.state().description.mipmap_filter)
    }

    /// What is added to levels.
    fn cuTexRefGetMipmapLevelBias(bias: Out<f32>, reference: Handle) {
        bias.put(TextureReference::of(reference)?.state().description.bias)
    }

    /// The least and the greatest level.
    fn cuTexRefGetMipmapLevelClamp(least: Out<f32>, greatest: Out<f32>, reference: Handle) {
        let description = TextureReference::of(reference)?.state().description;
        least.put(description.least_level)?;
        greatest.put(description.greatest_level)
    }

    /// How much is filtered at an angle.
    fn cuTexRefGetMaxAnisotropy(most: Out<c_int>, reference: Handle) {
        most.put(TextureReference::of(reference)?.state().description.max_anisotropy as c_int)
    }

    /// The colour of the border.
    fn cuTexRefGetBorderColor(colour: Out<f32>, reference: Handle) {
        let border = TextureReference::of(reference)?.state().description.border;
        for (at, part) in border.into_iter().enumerate() {
            colour.put_at(at, part)?;
        }
        Ok(())
    }

    /// How integers and coordinates are taken.
    fn cuTexRefGetFlags(flags: Out<c_uint>, reference: Handle) {
        flags.put(TextureReference::of(reference)?.state().description.flags)
    }

    /// Binds an array to a surface.
    fn cuSurfRefSetArray(reference: Handle, array: Handle, flags: c_uint) {
        current()?;
        fail_if(flags != 0, INVALID_VALUE)?;
        SurfaceReference::of(reference)?.set(array)
    }

    /// The array of a surface.
    fn cuSurfRefGetArray(array: Out<Handle>, reference: Handle) {
        array.put(SurfaceReference::of(reference)?.array()?)
    }
}
