/* A FAKE of libnvidia-ml.so.1 for tests: no GPU, no driver, fake readings.
 *
 * It exports the functions that gtrace-devices calls, with NVML's signatures. Environment:
 *   FAKE_NVML_GPUS=N         number of GPUs (default 1), at 0000:3b:00.0, 0000:3c:00.0, ...
 *   FAKE_NVML_HOLD=PATH      nvmlInit_v2 opens PATH and keeps it open, as NVML does /dev/nvidiactl
 *   FAKE_NVML_INIT=CODE      nvmlInit_v2 returns CODE
 *   FAKE_NVML_HANG=FUNCTION  that function never returns
 *   FAKE_NVML_ABORT=FUNCTION that function aborts the process
 *   FAKE_NVML_ONCE=FILE      hang or abort only while FILE does not exist, and make it
 *   FAKE_NVML_LOST=INDEX     that GPU answers NVML_ERROR_GPU_IS_LOST to all but its address
 *   FAKE_NVML_SILENT=FILE    the GPU whose index is in FILE never answers
 *   FAKE_NVML_CLOSED=INDEX   that GPU cannot be opened: NVML_ERROR_GPU_IS_LOST
 *   FAKE_NVML_BARE=1         every reading is NVML_ERROR_NOT_SUPPORTED
 *   FAKE_NVML_CHATTER=1      writes to standard output at every call, as a library should not
 *   FAKE_NVML_READINGS=FILE  a line "NAME NUMBER" each sets a reading from then on: bus (of the first GPU),
 *                            temperature, margin and beyond (which is taken from it), reasons, violation, remap_pending, crc (of NVLink 0),
 *                            pid and memory (of the process that computes), fabric (state), fabric_status, fabric_health,
 *                            mig (layout of the first GPU: 1 has two GPU instances, one with two compute instances; 2 one),
 *                            mig_error (what its last place answers instead), mig_plain (place whose name lacks the profile),
 *                            default_limit (of power, milliwatts), recovery_action, repair_tpc, sram_threshold, ber (of NVLink 5, encoded),
 *                            link_errors (0: NVLink 5 has no errors and ratios), c2c (number of links to the CPU),
 *                            inforom (what its check answers),
 *                            license (of vGPUs: 0 none, 1 until 2027-03-31, 2 permanent)
 *   FAKE_NVML_ALONE=1        processes of all instances together are not listed, as for who is not privileged
 *   FAKE_NVML_NVLINK5=1      traffic, errors and recoveries of NVLinks are fields of each link
 *   FAKE_NVML_OLD=1          no GPM, and the fabric by the first version of its call only
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned int u32;
typedef unsigned long long u64;
typedef void *device_t;

enum { OK = 0, INVALID = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6, SMALL = 7, LOST = 15 };

static int number(const char *name, int otherwise) {
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static int misbehaves(const char *variable, const char *function) {
    const char *wanted = getenv(variable);
    if (!wanted || strcmp(wanted, function) != 0)
        return 0;
    const char *once = getenv("FAKE_NVML_ONCE");
    if (!once)
        return 1;
    int fd = open(once, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (fd < 0)
        return 0;
    close(fd);
    return 1;
}

static void enter(const char *function) {
    if (getenv("FAKE_NVML_CHATTER")) {
        printf("fake NVML: %s\n", function);
        fflush(stdout);
    }
    if (misbehaves("FAKE_NVML_ABORT", function))
        abort();
    while (misbehaves("FAKE_NVML_HANG", function))
        for (;;)
            pause();
}

/* A handle is the index plus one. */
static int at(device_t d) { return (int)(size_t)d - 1; }

/* A reading that the file sets, or the usual one. */
static u64 reading(const char *name, u64 otherwise) {
    const char *path = getenv("FAKE_NVML_READINGS");
    FILE *file = path ? fopen(path, "r") : NULL;
    char found[32];
    u64 value;
    if (!file)
        return otherwise;
    while (fscanf(file, "%31s %llu", found, &value) == 2)
        if (strcmp(found, name) == 0)
            otherwise = value;
    fclose(file);
    return otherwise;
}

static int is_silent(device_t d) {
    const char *path = getenv("FAKE_NVML_SILENT");
    FILE *file = path ? fopen(path, "r") : NULL;
    int index = -1;
    if (!file)
        return 0;
    int found = fscanf(file, "%d", &index) == 1 && index == at(d);
    fclose(file);
    return found;
}

static int refuses(device_t d) {
    while (is_silent(d))
        pause();
    if (at(d) == number("FAKE_NVML_LOST", -1))
        return LOST;
    return getenv("FAKE_NVML_BARE") ? NOT_SUPPORTED : OK;
}

#define ENTER() enter(__func__)
#define READING(d)                                                                                 \
    ENTER();                                                                                       \
    int refused = refuses(d);                                                                      \
    if (refused)                                                                                   \
    return refused
#define VALUE(name, type, expression)                                                              \
    int name(device_t d, type *out) {                                                              \
        READING(d);                                                                                \
        *out = (expression);                                                                       \
        return OK;                                                                                 \
    }

/* Of one of several sensors, clocks, links, ... */
#define VALUE_OF(name, index, type, expression)                                                    \
    int name(device_t d, u32 index, type *out) {                                                   \
        READING(d);                                                                                \
        *out = (expression);                                                                       \
        return OK;                                                                                 \
    }
#define PAIR(name, type, first, second)                                                            \
    int name(device_t d, type *a, type *b) {                                                       \
        READING(d);                                                                                \
        *a = (first);                                                                              \
        *b = (second);                                                                             \
        return OK;                                                                                 \
    }

int nvmlInit_v2(void) {
    ENTER();
    const char *held = getenv("FAKE_NVML_HOLD");
    if (held)
        open(held, O_RDWR | O_CLOEXEC);
    return number("FAKE_NVML_INIT", OK);
}
int nvmlShutdown(void) {
    ENTER();
    return OK;
}
int nvmlSystemGetDriverVersion(char *out, u32 n) {
    ENTER();
    snprintf(out, n, "535.129.03");
    return OK;
}
int nvmlSystemGetNVMLVersion(char *out, u32 n) {
    ENTER();
    snprintf(out, n, "12.535.129.03");
    return OK;
}
int nvmlSystemGetCudaDriverVersion_v2(int *out) {
    ENTER();
    *out = 12020;
    return OK;
}
int nvmlSystemGetCudaDriverVersion(int *out) { return nvmlSystemGetCudaDriverVersion_v2(out); }
int nvmlDeviceGetCount_v2(u32 *out) {
    ENTER();
    *out = (u32)number("FAKE_NVML_GPUS", 1);
    return OK;
}
int nvmlDeviceGetHandleByIndex_v2(u32 index, device_t *out) {
    ENTER();
    if ((int)index == number("FAKE_NVML_CLOSED", -1))
        return LOST;
    *out = (device_t)(size_t)(index + 1);
    return OK;
}

struct pci_info {
    char legacy[16];
    u32 domain, bus, device, id, subsystem;
    char text[32];
};
int nvmlDeviceGetPciInfo_v3(device_t d, struct pci_info *out) {
    ENTER();
    memset(out, 0, sizeof *out);
    out->bus = (u32)reading("bus", 0x3b) + (u32)at(d);
    out->id = 0x233010de;
    snprintf(out->legacy, sizeof out->legacy, "0000:%02X:00.0", out->bus);
    snprintf(out->text, sizeof out->text, "00000000:%02X:00.0", out->bus);
    return OK;
}
/* MIG devices: handles from MIG on are places of the first GPU. Place 1 has none, and they come in no order. */
enum { MIG = 100, MIG_PLACES = 4 };
struct instance {
    u32 gi, ci, slices, computing;
    u64 mib;
    const char *profile;
};
static const struct instance layouts[][MIG_PLACES] = {
    {{0}},
    {{2, 0, 3, 1, 40448, "1c.3g.40gb"}, {0}, {2, 1, 3, 2, 40448, "2c.3g.40gb"}, {1, 0, 1, 1, 9856, "1g.10gb"}},
    {{0, 0, 7, 7, 81920, "7g.80gb"}},
};
static const struct instance *instance_of(device_t d) {
    int place = at(d) - MIG;
    u64 layout = reading("mig", 0);
    if (place < 0 || place >= MIG_PLACES || layout > 2)
        return NULL;
    const struct instance *found = &layouts[layout][place];
    return found->profile ? found : NULL;
}
static int in_mig_mode(device_t d) { return at(d) == 0 && reading("mig", 0) != 0; }

VALUE(nvmlDeviceGetMaxMigDeviceCount, u32, at(d) == 0 ? 7 : 0)
int nvmlDeviceGetMigDeviceHandleByIndex(device_t d, u32 place, device_t *out) {
    READING(d);
    device_t handle = (device_t)(size_t)(MIG + place + 1);
    if (place == MIG_PLACES - 1 && reading("mig_error", 0))
        return (int)reading("mig_error", 0);
    if (place >= MIG_PLACES)
        return INVALID;
    if (!in_mig_mode(d) || !instance_of(handle))
        return NOT_FOUND;
    *out = handle;
    return OK;
}
#define INSTANCE_ID(name, field)                                                                   \
    int name(device_t d, u32 *out) {                                                               \
        READING(d);                                                                                \
        if (!instance_of(d))                                                                       \
            return NOT_SUPPORTED;                                                                  \
        *out = instance_of(d)->field;                                                              \
        return OK;                                                                                 \
    }
INSTANCE_ID(nvmlDeviceGetGpuInstanceId, gi)
INSTANCE_ID(nvmlDeviceGetComputeInstanceId, ci)
struct attributes {
    u32 multiprocessors, copy, decoder, encoder, jpeg, ofa, slices, computing;
    u64 mib;
};
int nvmlDeviceGetAttributes_v2(device_t d, struct attributes *out) {
    READING(d);
    const struct instance *one = instance_of(d);
    if (!one)
        return NOT_SUPPORTED;
    *out = (struct attributes){16 * one->computing, 1, 0, 0, 0, 0, one->slices, one->computing, one->mib};
    return OK;
}

struct licensable_features {
    int supported;
    u32 count;
    struct {
        u32 code, state;
        char info[128], product[128];
        u32 enabled;
        struct {
            u32 year;
            unsigned short month, day, hour, min, sec;
            unsigned char status;
        } expiry;
    } features[3];
};
int nvmlDeviceGetGridLicensableFeatures_v4(device_t d, struct licensable_features *out) {
    READING(d);
    u64 license = reading("license", 99);
    memset(out, 0, sizeof *out);
    out->supported = 1;
    out->count = 2;
    /* One that is not enabled needs no licence. */
    strcpy(out->features[0].product, "NVIDIA RTX Virtual Workstation");
    strcpy(out->features[1].product, "NVIDIA Virtual Compute Server");
    out->features[1].enabled = license <= 2;
    out->features[1].state = license != 0;
    out->features[1].expiry.status = license == 1 ? 2 : 4;
    if (license == 1) {
        out->features[1].expiry.year = 2027;
        out->features[1].expiry.month = 3;
        out->features[1].expiry.day = 31;
    }
    return OK;
}

int nvmlDeviceGetUUID(device_t d, char *out, u32 n) {
    READING(d);
    if (instance_of(d)) {
        snprintf(out, n, "MIG-fa4e0000-0000-0000-0000-%012d", at(d) - MIG);
        return OK;
    }
    snprintf(out, n, "GPU-fa4e0000-0000-0000-0000-%012d", at(d));
    return OK;
}
int nvmlDeviceGetName(device_t d, char *out, u32 n) {
    READING(d);
    /* That of the second layout lacks the profile: it follows from the attributes. */
    u64 plain = reading("mig_plain", 99);
    if (instance_of(d) && reading("mig", 0) == 1 && (u64)(at(d) - MIG) != plain)
        snprintf(out, n, "Fake GPU (no hardware) MIG %s", instance_of(d)->profile);
    else
        snprintf(out, n, "Fake GPU (no hardware)");
    return OK;
}

struct utilization {
    u32 gpu, memory;
};
VALUE(nvmlDeviceGetUtilizationRates, struct utilization, ((struct utilization){87, 41}))

struct memory_v2 {
    u32 version;
    u64 total, reserved, free, used;
};
int nvmlDeviceGetMemoryInfo_v2(device_t d, struct memory_v2 *out) {
    READING(d);
    if (out->version != (sizeof *out | 2u << 24))
        return INVALID;
    if (instance_of(d)) {
        out->total = instance_of(d)->mib << 20;
        out->reserved = 0;
        out->used = 3ull << 30;
        out->free = out->total - out->used;
        return OK;
    }
    out->total = 80ull << 30;
    out->reserved = 1ull << 30;
    out->used = 30ull << 30;
    out->free = 49ull << 30;
    return OK;
}
VALUE_OF(nvmlDeviceGetTemperature, sensor, u32, (u32)reading("temperature", 64) + sensor)
int nvmlDeviceGetTemperatureThreshold(device_t d, u32 which, u32 *out) {
    READING(d);
    static const u32 limits[] = {92, 89, 95, 87};
    if (which >= 4)
        return NOT_SUPPORTED;
    *out = limits[which];
    return OK;
}
VALUE(nvmlDeviceGetPowerUsage, u32, 312500)
VALUE(nvmlDeviceGetEnforcedPowerLimit, u32, 700000)
VALUE(nvmlDeviceGetPowerManagementLimit, u32, 710000)
VALUE(nvmlDeviceGetPowerManagementDefaultLimit, u32, (u32)reading("default_limit", 720000))
PAIR(nvmlDeviceGetPowerManagementLimitConstraints, u32, 200000, 730000)
/* Structures with a version: the first of each. */
#define FIRST(out) (sizeof *(out) | 1u << 24)
enum { VERSION_MISMATCH = 25 };
struct margin {
    u32 version;
    int degrees;
};
int nvmlDeviceGetMarginTemperature(device_t d, struct margin *out) {
    READING(d);
    if (out->version != FIRST(out))
        return VERSION_MISMATCH;
    out->degrees = (int)reading("margin", 23) - (int)reading("beyond", 0);
    return OK;
}
struct repair {
    u32 version, channel, tpc;
};
int nvmlDeviceGetRepairStatus(device_t d, struct repair *out) {
    READING(d);
    if (out->version != FIRST(out))
        return VERSION_MISMATCH;
    out->channel = 0;
    out->tpc = (u32)reading("repair_tpc", 0);
    return OK;
}
/* Uncorrected by parity and by SEC-DED, and corrected: ever, then since the start. Then places: L2, SM, PCIe, MCU, other. */
struct sram {
    u32 version;
    u64 errors[6], places[5];
    u32 threshold;
};
int nvmlDeviceGetSramEccErrorStatus(device_t d, struct sram *out) {
    READING(d);
    if (out->version != FIRST(out))
        return VERSION_MISMATCH;
    for (u32 i = 0; i < 6; i++)
        out->errors[i] = 100 + i;
    for (u32 i = 0; i < 5; i++)
        out->places[i] = 200 + i;
    out->threshold = (u32)reading("sram_threshold", 0);
    return OK;
}
struct banks {
    u32 max, high, partial, low, none;
};
VALUE(nvmlDeviceGetRowRemapperHistogram, struct banks, ((struct banks){638, 2, 1, 0, 0}))
struct bar1 {
    u64 total, free, used;
};
VALUE(nvmlDeviceGetBAR1MemoryInfo, struct bar1, ((struct bar1){128ull << 30, 127ull << 30, 1ull << 30}))
VALUE(nvmlDeviceGetTotalEnergyConsumption, u64, 123456789ull)

static const u32 clocks[] = {1410, 1411, 2619, 1000}, max_clocks[] = {1980, 1980, 2619, 1545};
VALUE_OF(nvmlDeviceGetClockInfo, clock, u32, clocks[clock & 3])
VALUE_OF(nvmlDeviceGetMaxClockInfo, clock, u32, max_clocks[clock & 3])
VALUE(nvmlDeviceGetCurrentClocksThrottleReasons, u64, reading("reasons", 0x4 | 0x20))

struct violation {
    u64 reference, time;
};
int nvmlDeviceGetViolationStatus(device_t d, u32 policy, struct violation *out) {
    READING(d);
    if (policy > 1)
        return NOT_SUPPORTED;
    out->reference = 1;
    out->time = reading("violation", policy == 0 ? 5000000000ull : 250000000ull);
    return OK;
}
PAIR(nvmlDeviceGetEccMode, u32, 1, 1)
int nvmlDeviceGetTotalEccErrors(device_t d, u32 kind, u32 counter, u64 *out) {
    READING(d);
    *out = kind * 10 + counter;
    return OK;
}

struct field_value {
    u32 field, scope;
    long long timestamp, latency;
    u32 type, result;
    union {
        double d;
        u32 u;
        unsigned long ul;
        u64 ull;
    } value;
};
int nvmlDeviceGetFieldValues(device_t d, int n, struct field_value *values) {
    READING(d);
    for (int i = 0; i < n; i++) {
        struct field_value *v = &values[i];
        v->result = OK;
        v->type = 1;
        switch (v->field) {
        case 82: v->value.u = 71; break;  /* memory temperature */
        case 91: v->value.u = 2; break;   /* NVLinks */
        case 138: /* KiB over all NVLinks, sent and received */
        case 139:
            v->type = 3;
            v->value.ull = v->field == 138 ? reading("nvlink_tx", 5000) : 7000;
            if (v->scope != ~0u || getenv("FAKE_NVML_NVLINK5") != NULL)
                v->result = NOT_SUPPORTED;
            break;
        case 202: /* bytes by link, NVLink 5 */
        case 204:
            v->type = 3;
            v->value.ull = 1000 * v->field + v->scope;
            if (v->scope > 1 || getenv("FAKE_NVML_NVLINK5") == NULL)
                v->result = NOT_SUPPORTED;
            break;
        case 206: case 207: case 208: case 209: case 210: case 211: case 212: case 214: case 219: case 220: case 221: case 222:
        case 215: /* errors of a link, its recoveries, effective and symbol BER (220, 222), NVLink 5 */
            v->type = 3;
            v->value.ull = v->field == 215 ? 5 : v->field == 220 ? reading("ber", 4095) : v->field == 222 ? 4095 : v->field;
            if (v->scope > 1 || getenv("FAKE_NVML_NVLINK5") == NULL || (v->field != 215 && !reading("link_errors", 1)))
                v->result = NOT_SUPPORTED;
            break;
        case 170: /* C2C links: number, state, MB/s, CRC errors, replays */
        case 171: case 172: case 231: case 232:
            v->value.u = v->field == 170 ? (u32)reading("c2c", 0) : v->field == 171 ? v->scope == 0 : v->field + v->scope;
            v->result = reading("c2c", 0) > v->scope ? OK : NOT_SUPPORTED;
            break;
        case 142: v->value.u = 3; break;  /* rows remapped, correctable */
        case 143: v->value.u = 1; break;  /* uncorrectable */
        case 144: v->value.u = (u32)reading("remap_pending", 1); break;
        case 145: v->value.u = 0; break;  /* failure */
        case 185: /* power, mean of a second, mW: the memory has it, the module does not */
            v->value.u = 47750;
            if (v->scope != 2)
                v->result = NOT_SUPPORTED;
            break;
        case 186: v->value.u = v->scope == 1 ? 640500 : 1; break;
        case 230: v->value.u = (u32)reading("recovery_action", 0); break;
        case 251: v->type = 3; v->value.ull = 700000000ull; break;
        case 252: v->type = 3; v->value.ull = 0; break;
        case 253: v->type = 99; v->value.ull = 1; break; /* a type newer than any reader */
        default: v->result = NOT_SUPPORTED;
        }
    }
    return OK;
}
int nvmlDeviceGetRetiredPages(device_t d, u32 cause, u32 *n, u64 *addresses) {
    (void)cause, (void)n, (void)addresses;
    READING(d);
    return NOT_SUPPORTED; /* as every GPU since Ampere */
}
VALUE(nvmlDeviceGetPcieReplayCounter, u32, 2)
VALUE_OF(nvmlDeviceGetPcieThroughput, counter, u32, counter == 0 ? 1000 : 2000) /* KiB/s */
VALUE_OF(nvmlDeviceGetNvLinkState, link, u32, link == 0)
VALUE_OF(nvmlDeviceGetNvLinkVersion, link, u32, 4 + 0 * link)
int nvmlDeviceGetNvLinkErrorCounter(device_t d, u32 link, u32 counter, u64 *out) {
    READING(d);
    *out = 100 * link + counter + (link == 0 ? reading("crc", 0) : 0);
    return getenv("FAKE_NVML_NVLINK5") == NULL ? OK : NOT_SUPPORTED;
}

/* GPM: a sample is a count, so that two of them have a distance. */
struct gpm_support {
    u32 version, supported;
};
int nvmlGpmQueryDeviceSupport(device_t d, struct gpm_support *out) {
    READING(d);
    out->supported = getenv("FAKE_NVML_OLD") == NULL;
    return OK;
}
int nvmlGpmSampleAlloc(u64 **sample) {
    ENTER();
    *sample = calloc(1, sizeof **sample);
    return OK;
}
int nvmlGpmSampleFree(u64 *sample) {
    free(sample);
    return OK;
}
static u64 taken;
int nvmlGpmSampleGet(device_t d, u64 *sample) {
    READING(d);
    if (in_mig_mode(d))
        return NOT_SUPPORTED;
    *sample = ++taken;
    return OK;
}
int nvmlGpmMigSampleGet(device_t d, u32 gi, u64 *sample) {
    READING(d);
    if (!in_mig_mode(d) || gi > 6)
        return INVALID;
    *sample = ++taken;
    return OK;
}
struct gpm_metric {
    u32 id, result;
    double value;
    char *names[3];
};
struct gpm_metrics {
    u32 version, count;
    u64 *first, *second;
    struct gpm_metric metrics[];
};
int nvmlGpmMetricsGet(struct gpm_metrics *get) {
    ENTER();
    if (*get->second <= *get->first)
        return INVALID;
    for (u32 i = 0; i < get->count; i++) {
        struct gpm_metric *m = &get->metrics[i];
        m->result = m->id == 11 ? NOT_SUPPORTED : OK; /* no FP64 pipe */
        m->value = m->id >= 60 ? 100.0 + m->id : 10.0 + m->id;
    }
    return OK;
}

struct fabric_info {
    unsigned char cluster[16];
    u32 status, clique, state;
};
static struct fabric_info fabric(void) {
    struct fabric_info info = {{1, 2, 3}, (u32)reading("fabric_status", 0), 7, (u32)reading("fabric", 3)};
    return info;
}
int nvmlDeviceGetGpuFabricInfo(device_t d, struct fabric_info *out) {
    READING(d);
    *out = fabric();
    return OK;
}
struct fabric_info_v2 {
    u32 version;
    struct fabric_info info;
    u32 health;
};
int nvmlDeviceGetGpuFabricInfoV(device_t d, struct fabric_info_v2 *out) {
    READING(d);
    if (getenv("FAKE_NVML_OLD") || out->version != (sizeof *out | 2u << 24))
        return 25; /* NVML_ERROR_ARGUMENT_VERSION_MISMATCH */
    out->info = fabric();
    out->health = (u32)reading("fabric_health", 0xaa);
    return OK;
}

struct process {
    u32 pid;
    u64 memory;
    u32 gi, ci;
};
static int processes(u32 *n, struct process *out, struct process one) {
    if (*n < 1) {
        *n = 1;
        return SMALL;
    }
    *n = 1;
    out[0] = one;
    return OK;
}
int nvmlDeviceGetComputeRunningProcesses_v3(device_t d, u32 *n, struct process *out) {
    READING(d);
    u32 pid = (u32)reading("pid", (u64)getpid());
    u64 memory = reading("memory", 2ull << 30);
    if (instance_of(d)) /* what each says of its own */
        return processes(n, out, (struct process){pid + (u32)(at(d) - MIG), memory, ~0u, ~0u});
    if (in_mig_mode(d) && getenv("FAKE_NVML_ALONE"))
        return NO_PERMISSION;
    if (in_mig_mode(d))
        return processes(n, out, (struct process){pid, memory, 2, 1});
    return processes(n, out, (struct process){pid, memory, ~0u, ~0u});
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(device_t d, u32 *n, struct process *out) {
    READING(d);
    if (in_mig_mode(d)) {
        *n = 0;
        return OK;
    }
    return processes(n, out, (struct process){(u32)getpid(), ~0ull, ~0u, ~0u});
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(device_t d, u32 *n, struct process *out) {
    (void)out;
    READING(d);
    *n = 0;
    return OK;
}
VALUE(nvmlDeviceGetPerformanceState, u32, 0)
PAIR(nvmlDeviceGetMigMode, u32, (u32)in_mig_mode(d), 1)
VALUE(nvmlDeviceGetPersistenceMode, u32, 1)
static int text(device_t d, char *out, u32 n, const char *what) {
    READING(d);
    snprintf(out, n, "%s", what);
    return OK;
}
int nvmlDeviceValidateInforom(device_t d) {
    READING(d);
    return (int)reading("inforom", OK);
}
int nvmlDeviceGetSerial(device_t d, char *out, u32 n) { return text(d, out, n, "1650522003820"); }
int nvmlDeviceGetVbiosVersion(device_t d, char *out, u32 n) { return text(d, out, n, "96.00.74.00.01"); }
int nvmlDeviceGetGspFirmwareVersion(device_t d, char *out) { return text(d, out, 80, "535.129.03"); }
/* Percent, and the period in microseconds. */
PAIR(nvmlDeviceGetEncoderUtilization, u32, 12, 1000)
PAIR(nvmlDeviceGetJpgUtilization, u32, 5, 1000)
PAIR(nvmlDeviceGetOfaUtilization, u32, 3, 1000)
PAIR(nvmlDeviceGetDecoderUtilization, u32, 7, 1000)
VALUE(nvmlDeviceGetNumFans, u32, 2)
VALUE_OF(nvmlDeviceGetFanSpeed_v2, fan, u32, 30 + fan)
