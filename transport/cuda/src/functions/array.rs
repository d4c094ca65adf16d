//! Arrays, textures and surfaces.

use crate::signatures::DRIVER as SIGNATURES;

crate::describe! {
    /// Arrays and mipmapped arrays.
    pub const ARRAY: SIGNATURES;
    waiting(creates_array) cuArrayCreate_v2(pHandle: mint(Array), pAllocateArray: in);
    waiting cuArrayGetDescriptor_v2(pArrayDescriptor: out, hArray: handle(Array));
    waiting(creates_array_3d) cuArray3DCreate_v2(pHandle: mint(Array), pAllocateArray: in);
    waiting cuArray3DGetDescriptor_v2(pArrayDescriptor: out, hArray: handle(Array));
    waiting(sync, frees) cuArrayDestroy(hArray: destroy(Array));
    waiting cuArrayGetMemoryRequirements(
        memoryRequirements: out, array: handle(Array), device: value,
    );
    waiting cuArrayGetPlane(pPlaneArray: known(Array), hArray: handle(Array), planeIdx: value);
    waiting(creates_mipmapped_array) cuMipmappedArrayCreate(
        pHandle: mint(MipmappedArray), pMipmappedArrayDesc: in, numMipmapLevels: value,
    );
    waiting cuMipmappedArrayGetLevel(
        pLevelArray: known(Array), hMipmappedArray: handle(MipmappedArray), level: value,
    );
    waiting cuArrayGetSparseProperties(sparseProperties: out, array: handle(Array));
    waiting cuMipmappedArrayGetSparseProperties(
        sparseProperties: out, mipmap: handle(MipmappedArray),
    );
    waiting cuMipmappedArrayGetMemoryRequirements(
        memoryRequirements: out, mipmap: handle(MipmappedArray), device: value,
    );
    waiting(sync, frees) cuMipmappedArrayDestroy(hMipmappedArray: destroy(MipmappedArray));

    // They are copies of one row, and travel as cuMemcpy2D_v2 and cuMemcpy2DAsync_v2.
    local cuMemcpyHtoA_v2;
    local cuMemcpyHtoAAsync_v2;
    local cuMemcpyAtoH_v2;
    local cuMemcpyAtoHAsync_v2;
    local cuMemcpyDtoA_v2;
    local cuMemcpyAtoD_v2;
    local cuMemcpyAtoA_v2;
}

crate::describe! {
    /// Texture and surface objects. Kernels take their numbers, so that those are the driver's; the client keeps
    /// what they were made of, and the server which there are.
    pub const TEXTURE: SIGNATURES;
    waiting(by_hand, creates) cuTexObjectCreate;
    one_way(by_hand, ends) cuTexObjectDestroy(texObject: value);
    local cuTexObjectGetResourceDesc;
    local cuTexObjectGetTextureDesc;
    local cuTexObjectGetResourceViewDesc;
    waiting(by_hand, creates) cuSurfObjectCreate;
    one_way(by_hand, ends) cuSurfObjectDestroy(surfObject: value);
    local cuSurfObjectGetResourceDesc;
}

crate::describe! {
    /// Texture and surface references, which belong to modules.
    pub const REFERENCE: SIGNATURES;
    waiting cuModuleGetTexRef(pTexRef: known(TexRef), hmod: handle(Module), name: in_string);
    waiting cuModuleGetSurfRef(pSurfRef: known(SurfRef), hmod: handle(Module), name: in_string);
    waiting cuTexRefCreate(pTexRef: mint(TexRef));
    one_way cuTexRefDestroy(hTexRef: destroy(TexRef));
    waiting cuTexRefSetArray(hTexRef: handle(TexRef), hArray: handle(Array), Flags: value);
    waiting cuTexRefSetMipmappedArray(
        hTexRef: handle(TexRef), hMipmappedArray: handle(MipmappedArray), Flags: value,
    );
    waiting cuTexRefSetAddress_v2(
        ByteOffset: out?, hTexRef: handle(TexRef), dptr: address, bytes: value,
    );
    waiting cuTexRefSetAddress2D_v3(
        hTexRef: handle(TexRef), desc: in, dptr: address, Pitch: value,
    );
    waiting cuTexRefSetFormat(hTexRef: handle(TexRef), fmt: value, NumPackedComponents: value);
    waiting cuTexRefSetAddressMode(hTexRef: handle(TexRef), dim: value, am: value);
    waiting cuTexRefSetFilterMode(hTexRef: handle(TexRef), fm: value);
    waiting cuTexRefSetMipmapFilterMode(hTexRef: handle(TexRef), fm: value);
    waiting cuTexRefSetMipmapLevelBias(hTexRef: handle(TexRef), bias: value);
    waiting cuTexRefSetMipmapLevelClamp(
        hTexRef: handle(TexRef), minMipmapLevelClamp: value, maxMipmapLevelClamp: value,
    );
    waiting cuTexRefSetMaxAnisotropy(hTexRef: handle(TexRef), maxAniso: value);
    waiting cuTexRefSetBorderColor(hTexRef: handle(TexRef), pBorderColor: in[4]);
    waiting cuTexRefSetFlags(hTexRef: handle(TexRef), Flags: value);
    waiting cuTexRefGetAddress_v2(pdptr: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetArray(phArray: known(Array), hTexRef: handle(TexRef));
    waiting cuTexRefGetMipmappedArray(
        phMipmappedArray: known(MipmappedArray), hTexRef: handle(TexRef),
    );
    waiting cuTexRefGetAddressMode(pam: out, hTexRef: handle(TexRef), dim: value);
    waiting cuTexRefGetFilterMode(pfm: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetFormat(pFormat: out, pNumChannels: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetMipmapFilterMode(pfm: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetMipmapLevelBias(pbias: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetMipmapLevelClamp(
        pminMipmapLevelClamp: out, pmaxMipmapLevelClamp: out, hTexRef: handle(TexRef),
    );
    waiting cuTexRefGetMaxAnisotropy(pmaxAniso: out, hTexRef: handle(TexRef));
    waiting cuTexRefGetBorderColor(pBorderColor: out[4], hTexRef: handle(TexRef));
    waiting cuTexRefGetFlags(pFlags: out, hTexRef: handle(TexRef));
    waiting cuSurfRefSetArray(hSurfRef: handle(SurfRef), hArray: handle(Array), Flags: value);
    waiting cuSurfRefGetArray(phArray: known(Array), hSurfRef: handle(SurfRef));
}
