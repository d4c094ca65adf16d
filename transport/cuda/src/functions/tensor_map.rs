//! Tensor maps: descriptors that the driver encodes from plain numbers and a device address.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Tensor maps.
    pub const TENSOR_MAP: SIGNATURES;
    waiting cuTensorMapEncodeTiled(
        tensorMap: out, tensorDataType: value, tensorRank: value, globalAddress: address,
        globalDim: in[tensorRank], globalStrides: in[tensorRank - 1], boxDim: in[tensorRank],
        elementStrides: in[tensorRank], interleave: value, swizzle: value, l2Promotion: value,
        oobFill: value,
    );
    waiting cuTensorMapEncodeIm2col(
        tensorMap: out, tensorDataType: value, tensorRank: value, globalAddress: address,
        globalDim: in[tensorRank], globalStrides: in[tensorRank - 1],
        pixelBoxLowerCorner: in[tensorRank - 2], pixelBoxUpperCorner: in[tensorRank - 2],
        channelsPerPixel: value, pixelsPerColumn: value, elementStrides: in[tensorRank],
        interleave: value, swizzle: value, l2Promotion: value, oobFill: value,
    );
    waiting cuTensorMapReplaceAddress(tensorMap: inout, globalAddress: address);
}
