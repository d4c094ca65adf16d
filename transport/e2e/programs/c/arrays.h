// Arrays, textures and surfaces of the CUDA driver API; a part of driver.h.

typedef struct array *CUarray;
typedef struct mipmapped *CUmipmappedArray;
typedef struct texref *CUtexref;
typedef struct surfref *CUsurfref;

typedef struct {
    size_t width, height;
    int format;
    unsigned channels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} CUDA_ARRAY3D_DESCRIPTOR;

// CUDA_RESOURCE_DESC. Kinds: 0 array, 1 mipmapped array, 2 plain memory, 3 plain memory of two dimensions.
typedef struct {
    int kind;
    union {
        CUarray array;
        CUmipmappedArray mipmapped;
        struct {
            CUdeviceptr address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        int reserved[32];
    } of;
    unsigned flags;
} CUDA_RESOURCE_DESC;

typedef struct {
    int address_modes[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float bias, least_level, greatest_level, border[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;

enum { CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_UNSIGNED_INT32 = 3, CU_AD_FORMAT_FLOAT = 0x20 };
enum { CUDA_ARRAY3D_LAYERED = 1, CUDA_ARRAY3D_SURFACE_LDST = 2 };
enum { CU_TRSA_OVERRIDE_FORMAT = 1, CU_TRSF_READ_AS_INTEGER = 1, CU_TRSF_NORMALIZED_COORDINATES = 2 };

#define cuArrayCreate cuArrayCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyHtoA cuMemcpyHtoA_v2
#define cuMemcpyHtoAAsync cuMemcpyHtoAAsync_v2
#define cuMemcpyAtoH cuMemcpyAtoH_v2
#define cuMemcpyAtoHAsync cuMemcpyAtoHAsync_v2
#define cuMemcpyDtoA cuMemcpyDtoA_v2
#define cuMemcpyAtoD cuMemcpyAtoD_v2
#define cuMemcpyAtoA cuMemcpyAtoA_v2
#define cuMemcpy3D cuMemcpy3D_v2
#define cuTexRefSetAddress cuTexRefSetAddress_v2
#define cuTexRefGetAddress cuTexRefGetAddress_v2

FUNCTION(cuArrayCreate, CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
FUNCTION(cuArrayGetDescriptor, CUDA_ARRAY_DESCRIPTOR *descriptor, CUarray array)
FUNCTION(cuArray3DCreate, CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
FUNCTION(cuArray3DGetDescriptor, CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray array)
FUNCTION(cuArrayDestroy, CUarray array)
FUNCTION(cuMipmappedArrayCreate, CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels)
FUNCTION(cuMipmappedArrayGetLevel, CUarray *level, CUmipmappedArray array, unsigned number)
FUNCTION(cuMipmappedArrayDestroy, CUmipmappedArray array)
FUNCTION(cuMemcpyHtoA, CUarray target, size_t offset, const void *source, size_t bytes)
FUNCTION(cuMemcpyHtoAAsync, CUarray target, size_t offset, const void *source, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyAtoH, void *target, CUarray source, size_t offset, size_t bytes)
FUNCTION(cuMemcpyAtoHAsync, void *target, CUarray source, size_t offset, size_t bytes, CUstream stream)
FUNCTION(cuMemcpyDtoA, CUarray target, size_t offset, CUdeviceptr source, size_t bytes)
FUNCTION(cuMemcpyAtoD, CUdeviceptr target, CUarray source, size_t offset, size_t bytes)
FUNCTION(cuMemcpyAtoA, CUarray target, size_t offset, CUarray source, size_t source_offset, size_t bytes)
FUNCTION(cuMemcpy3D, const CUDA_MEMCPY3D *copy)
FUNCTION(cuTexObjectCreate, uint64_t *texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture_desc,
         const void *view)
FUNCTION(cuTexObjectDestroy, uint64_t texture)
FUNCTION(cuTexObjectGetResourceDesc, CUDA_RESOURCE_DESC *resource, uint64_t texture)
FUNCTION(cuTexObjectGetTextureDesc, CUDA_TEXTURE_DESC *description, uint64_t texture)
FUNCTION(cuTexObjectGetResourceViewDesc, void *view, uint64_t texture)
FUNCTION(cuSurfObjectCreate, uint64_t *surface, const CUDA_RESOURCE_DESC *resource)
FUNCTION(cuSurfObjectDestroy, uint64_t surface)
FUNCTION(cuSurfObjectGetResourceDesc, CUDA_RESOURCE_DESC *resource, uint64_t surface)
FUNCTION(cuModuleGetTexRef, CUtexref *reference, CUmodule module, const char *name)
FUNCTION(cuModuleGetSurfRef, CUsurfref *reference, CUmodule module, const char *name)
FUNCTION(cuTexRefSetArray, CUtexref reference, CUarray array, unsigned flags)
FUNCTION(cuTexRefSetAddress, size_t *offset, CUtexref reference, CUdeviceptr address, size_t bytes)
FUNCTION(cuTexRefSetFormat, CUtexref reference, int format, int channels)
FUNCTION(cuTexRefSetAddressMode, CUtexref reference, int dimension, int mode)
FUNCTION(cuTexRefSetFilterMode, CUtexref reference, int mode)
FUNCTION(cuTexRefSetFlags, CUtexref reference, unsigned flags)
FUNCTION(cuTexRefSetBorderColor, CUtexref reference, float *colour)
FUNCTION(cuTexRefGetArray, CUarray *array, CUtexref reference)
FUNCTION(cuTexRefGetAddress, CUdeviceptr *address, CUtexref reference)
FUNCTION(cuTexRefGetAddressMode, int *mode, CUtexref reference, int dimension)
FUNCTION(cuTexRefGetFilterMode, int *mode, CUtexref reference)
FUNCTION(cuTexRefGetFormat, int *format, int *channels, CUtexref reference)
FUNCTION(cuTexRefGetFlags, unsigned *flags, CUtexref reference)
FUNCTION(cuTexRefGetBorderColor, float *colour, CUtexref reference)
FUNCTION(cuSurfRefSetArray, CUsurfref reference, CUarray array, unsigned flags)
FUNCTION(cuSurfRefGetArray, CUarray *array, CUsurfref reference)
