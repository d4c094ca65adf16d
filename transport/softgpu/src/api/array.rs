//! Arrays and mipmapped arrays.

use std::ffi::c_uint;

use crate::abi::{In, Out, api};
use crate::array::{Array, Mipmapped, ready};
use crate::context::current;
use crate::error::{INVALID_VALUE, fail_if};
use crate::types::{ArrayDescriptor, FlatDescriptor, Handle};

api! { TABLE:
    /// Makes an array of one or two dimensions.
    fn cuArrayCreate_v2(array: Out<Handle>, descriptor: In<FlatDescriptor>) {
        let context = current()?;
        let given = descriptor.get()?;
        fail_if(array.is_null(), INVALID_VALUE)?;
        array.put(Array::create(&context, given.into())?)
    }

    /// The description of an array of one or two dimensions.
    fn cuArrayGetDescriptor_v2(descriptor: Out<FlatDescriptor>, array: Handle) {
        let found = Array::of(array)?.descriptor;
        descriptor.put(FlatDescriptor {
            width: found.width,
            height: found.height,
            format: found.format,
            channels: found.channels,
        })
    }

    /// Makes an array of up to three dimensions, or of layers.
    fn cuArray3DCreate_v2(array: Out<Handle>, descriptor: In<ArrayDescriptor>) {
        let context = current()?;
        let given = descriptor.get()?;
        fail_if(array.is_null(), INVALID_VALUE)?;
        array.put(Array::create(&context, given)?)
    }

    /// The description of an array.
    fn cuArray3DGetDescriptor_v2(descriptor: Out<ArrayDescriptor>, array: Handle) {
        descriptor.put(Array::of(array)?.descriptor)
    }

    /// Ends an array.
    fn cuArrayDestroy(array: Handle) {
        ready()?;
        Array::destroy(array)
    }

    /// Makes an array of levels, each half as large as the one before.
    fn cuMipmappedArrayCreate(
        array: Out<Handle>, descriptor: In<ArrayDescriptor>, levels: c_uint,
    ) {
        let context = current()?;
        let given = descriptor.get()?;
        fail_if(array.is_null(), INVALID_VALUE)?;
        array.put(Mipmapped::create(&context, given, levels)?)
    }

    /// The array that is a level.
    fn cuMipmappedArrayGetLevel(level: Out<Handle>, array: Handle, number: c_uint) {
        let found = Mipmapped::of(array)?;
        level.put(*found.levels.get(number as usize).ok_or(INVALID_VALUE)?)
    }

    /// Ends an array of levels.
    fn cuMipmappedArrayDestroy(array: Handle) {
        ready()?;
        Mipmapped::destroy(array)
    }
}
