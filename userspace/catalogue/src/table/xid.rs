//! Every Xid code: driver identifier, category, severity, meaning, vendor steps.
//!
//! Sources of the facts, said in our own words: identifiers from the error-number header of
//! NVIDIA's open kernel modules (an older name stands where the current header has none);
//! meanings and steps from NVIDIA's public Xid catalogue and its action buckets. Severities are
//! our judgement for an on-call engineer.

use super::xids;
use crate::entry::XidEntry;
use crate::steps::*;

const RESERVED: &str =
    "The driver's headers name this code, but NVIDIA's public catalogue gives it no meaning.";
const NOTICE: &str =
    "A notice of the driver rather than a fault, by its name; nothing public says what it means.";
const DISPLAY: &str = "A display-side condition, by its name, without public meaning; compute servers drive no display.";

/// Sorted by code.
pub(crate) const XIDS: &[XidEntry] = xids! {
    1 ROBUST_CHANNEL_FIFO_ERROR_FIFO_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    2 ROBUST_CHANNEL_FIFO_ERROR_SW_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    3 ROBUST_CHANNEL_FIFO_ERROR_UNK_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    4 ROBUST_CHANNEL_FIFO_ERROR_CHANNEL_BUSY: Unknown, Warning, [SUPPORT], RESERVED;
    5 ROBUST_CHANNEL_FIFO_ERROR_RUNOUT_OVERFLOW: Unknown, Warning, [SUPPORT], RESERVED;
    6 ROBUST_CHANNEL_FIFO_ERROR_PARSE_ERR: Unknown, Warning, [SUPPORT], RESERVED;
    7 ROBUST_CHANNEL_FIFO_ERROR_PTE_ERR: Unknown, Warning, [SUPPORT], RESERVED;
    8 ROBUST_CHANNEL_FIFO_ERROR_IDLE_TIMEOUT: Driver, Warning, [RESTART_APP, SUPPORT],
        "A channel made no progress within its time limit. Its program hangs or has been ended.";
    9 ROBUST_CHANNEL_GR_ERROR_INSTANCE: Unknown, Warning, [SUPPORT], RESERVED;
    10 ROBUST_CHANNEL_GR_ERROR_SINGLE_STEP: Unknown, Warning, [SUPPORT], RESERVED;
    11 ROBUST_CHANNEL_GR_ERROR_MISSING_HW: Driver, Warning, [RESTART_APP, CHECK_APP],
        "The graphics front end was sent a malformed command stream. The channel's program is ended.";
    12 ROBUST_CHANNEL_GR_ERROR_SW_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    13 ROBUST_CHANNEL_GR_EXCEPTION: Application, Warning, [RESTART_APP, CHECK_APP, DIAG_IF_REPEAT],
        "A kernel broke a rule of the compute or graphics engine: an illegal instruction, an out-of-range or misaligned address. Its program is ended; others go on.";
    14 ROBUST_CHANNEL_FAKE_ERROR: Driver, Info, [IGNORE, SUPPORT],
        "A fault raised on purpose by a test of the driver. No work is affected.";
    15 ROBUST_CHANNEL_SCANLINE_TIMEOUT: Unknown, Warning, [SUPPORT], RESERVED;
    16 ROBUST_CHANNEL_VBLANK_CALLBACK_TIMEOUT: Driver, Warning, [SUPPORT],
        "A display callback for the vertical blank came too late. Compute work is not affected.";
    17 ROBUST_CHANNEL_PARAMETER_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    18 ROBUST_CHANNEL_BUS_MASTER_TIMEOUT_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    19 ROBUST_CHANNEL_DISP_MISSED_NOTIFIER: Unknown, Warning, [SUPPORT], RESERVED;
    20 ROBUST_CHANNEL_MPEG_ERROR_SW_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    21 ROBUST_CHANNEL_ME_ERROR_SW_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    22 ROBUST_CHANNEL_VP_ERROR_SW_METHOD: Unknown, Warning, [SUPPORT], RESERVED;
    23 ROBUST_CHANNEL_RC_LOGGING_ENABLED: Unknown, Info, [SUPPORT], NOTICE;
    24 ROBUST_CHANNEL_GR_SEMAPHORE_TIMEOUT: Unknown, Warning, [SUPPORT], RESERVED;
    25 ROBUST_CHANNEL_GR_ILLEGAL_NOTIFY: Driver, Warning, [RESTART_APP, CHECK_APP],
        "The command stream named an illegal notifier. The channel's program is ended.";
    26 ROBUST_CHANNEL_FIFO_ERROR_FBISTATE_TIMEOUT: Unknown, Warning, [SUPPORT], RESERVED;
    27 ROBUST_CHANNEL_VP_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    28 ROBUST_CHANNEL_VP2_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    29 ROBUST_CHANNEL_BSP_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    30 ROBUST_CHANNEL_BAD_ADDR_ACCESS: Unknown, Warning, [SUPPORT], RESERVED;
    31 ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT: Application, Warning, [RESTART_APP, CHECK_APP, DIAG_IF_REPEAT],
        "The GPU's memory management unit refused an address: unmapped, freed, or without the right for that access. Its program is ended; others go on.";
    32 ROBUST_CHANNEL_PBDMA_ERROR: Driver, Warning, [RESTART_APP, CHECK_APP, LINK_SIGNAL],
        "The unit that fetches commands read a corrupt push buffer: bad software, or data damaged on the PCIe path.";
    33 ROBUST_CHANNEL_SEC_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    34 ROBUST_CHANNEL_MSVLD_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    35 ROBUST_CHANNEL_MSPDEC_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    36 ROBUST_CHANNEL_MSPPP_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    37 ROBUST_CHANNEL_FECS_ERR_UNIMP_FIRMWARE_METHOD: Driver, Warning, [IGNORE, CHECK_APP],
        "The front-end microcode was asked for a method that it does not have.";
    38 ROBUST_CHANNEL_FECS_ERR_WATCHDOG_TIMEOUT: Driver, Critical, [IGNORE, SUPPORT],
        "The watchdog of the front-end microcode expired: the graphics engine hung in a context switch.";
    39 ROBUST_CHANNEL_CE0_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 0 reported an exception. The program that had queued the copy is ended.";
    40 ROBUST_CHANNEL_CE1_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 1 reported an exception. The program that had queued the copy is ended.";
    41 ROBUST_CHANNEL_CE2_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 2 reported an exception. The program that had queued the copy is ended.";
    42 ROBUST_CHANNEL_VIC_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    43 ROBUST_CHANNEL_RESETCHANNEL_VERIF_ERROR: Application, Warning, [IGNORE, CHECK_APP, SUPPORT],
        "The driver stopped a channel because of a fault of its own work. Its program is ended; the GPU and other programs go on.";
    44 ROBUST_CHANNEL_GR_FAULT_DURING_CTXSW: Driver, Critical, [IGNORE, SUPPORT],
        "The graphics engine faulted while it switched contexts. Work of more than one program may be lost.";
    45 ROBUST_CHANNEL_PREEMPTIVE_REMOVAL: Application, Warning, [FOLLOW_OTHER, "Where it stands alone, restart the fabric manager (NVSwitch hosts) and then the application."],
        "A channel was taken down early: its program ended or was killed, or an earlier error on the GPU took it along.";
    46 ROBUST_CHANNEL_GPU_TIMEOUT_ERROR: Driver, Fatal, [EVIDENCE, RESET_GPU, SUPPORT],
        "The GPU as a whole stopped answering the driver. All its work is lost.";
    47 ROBUST_CHANNEL_NVENC0_ERROR: Driver, Warning, [SUPPORT, RESTART_APP],
        "Video encoder 0 reported an exception. The encoding program is ended.";
    48 ROBUST_CHANNEL_GPU_ECC_DBE: HardwareMemory, Critical, [EVIDENCE, "Read the Xid beside it: with 63 or 64, drain the GPU and then reset it; alone, reset it now.", RESET_GPU, CHECK_REMAP, SRAM_THRESHOLD, FIELD_DIAG],
        "ECC found an error that it cannot correct (a double-bit error). Programs that used the data are ended, and the memory must not be trusted before a reset.";
    49 SILENT_RUNNING_CONSTANT_LEVEL_SET_BY_REGISTRY: Unknown, Info, [SUPPORT], NOTICE;
    50 SILENT_RUNNING_LEVEL_TRANSITION_DUE_TO_RC_ERROR: Unknown, Info, [SUPPORT], NOTICE;
    51 SILENT_RUNNING_STRESS_TEST_FAILURE: Unknown, Warning, [SUPPORT], RESERVED;
    52 SILENT_RUNNING_LEVEL_TRANS_DUE_TO_TEMP_RISE: Unknown, Info, [SUPPORT], NOTICE;
    53 SILENT_RUNNING_TEMP_REDUCED_CLOCKING: Unknown, Info, [SUPPORT], NOTICE;
    54 SILENT_RUNNING_PWR_REDUCED_CLOCKING: ThermalPower, Fatal, [MECHANICALS, SUPPORT],
        "The auxiliary power connector is not seated. The GPU cannot work at full power, or at all.";
    55 SILENT_RUNNING_TEMPERATURE_READ_ERROR: Unknown, Warning, [SUPPORT], RESERVED;
    56 DISPLAY_CHANNEL_EXCEPTION: Driver, Warning, [SUPPORT],
        "A display channel raised an exception. Compute work is not affected.";
    57 FB_LINK_TRAINING_FAILURE_ERROR: HardwareMemory, Fatal, [SUPPORT_NOW],
        "Training of the GPU's memory interface failed. The GPU cannot be used.";
    58 FB_MEMORY_ERROR: HardwareMemory, Fatal, [SUPPORT_NOW],
        "The GPU's memory reported an error that it could not keep from its clients.";
    59 PMU_ERROR: Driver, Critical, [SUPPORT_NOW, RESET_GPU],
        "The power-management microcontroller of an older driver reported an error. Clocks and power are no longer managed.";
    60 ROBUST_CHANNEL_SEC2_ERROR: Driver, Warning, [RESTART_APP, INVESTIGATE_SW],
        "The security or video processor raised an exception. Its program is ended.";
    61 PMU_BREAKPOINT: Driver, Critical, [SUPPORT_NOW, RESET_GPU],
        "The power-management microcontroller ran into a breakpoint (older drivers). Clocks and power are no longer managed.";
    62 PMU_HALT_ERROR: Driver, Fatal, [EVIDENCE, RESET_GPU, SUPPORT],
        "The power-management microcontroller halted. The GPU is out of service until it is reset.";
    63 INFOROM_PAGE_RETIREMENT_EVENT: HardwareMemory, Warning, [IGNORE, CHECK_REMAP, EVIDENCE, "Reset the GPU at the next convenient time, so that the remap takes effect."],
        "A faulty memory row was recorded for remapping, or a page for retirement. The GPU works; the repair takes effect at the next reset.";
    64 INFOROM_PAGE_RETIREMENT_FAILURE: HardwareMemory, Fatal, [SUPPORT_NOW, RESET_GPU],
        "A faulty row or page could not be recorded for repair: no spare is left, or the record could not be written. The same address will fail again.";
    65 ROBUST_CHANNEL_NVENC1_ERROR: Driver, Warning, [SUPPORT, RESTART_APP],
        "Video encoder 1 reported an exception. The encoding program is ended.";
    66 ROBUST_CHANNEL_FECS_ERR_REG_ACCESS_VIOLATION: Driver, Warning, [IGNORE, INVESTIGATE_SW],
        "The front-end microcode saw a register access that is not allowed.";
    67 ROBUST_CHANNEL_FECS_ERR_VERIF_VIOLATION: Driver, Warning, [IGNORE, SUPPORT],
        "A check inside the front-end microcode failed.";
    68 ROBUST_CHANNEL_NVDEC0_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 0 reported an exception, often on a damaged stream. The decoding program is ended.";
    69 ROBUST_CHANNEL_GR_CLASS_ERROR: Driver, Warning, [RESTART_APP, CHECK_APP],
        "The graphics engine was sent a class or method that it refuses. The channel's program is ended.";
    70 ROBUST_CHANNEL_CE3_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 3 reported an exception. The program that had queued the copy is ended.";
    71 ROBUST_CHANNEL_CE4_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 4 reported an exception. The program that had queued the copy is ended.";
    72 ROBUST_CHANNEL_CE5_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 5 reported an exception. The program that had queued the copy is ended.";
    73 ROBUST_CHANNEL_NVENC2_ERROR: Driver, Warning, [SUPPORT, RESTART_APP],
        "Video encoder 2 reported an exception. The encoding program is ended.";
    74 NVLINK_ERROR: Nvlink, Fatal, ["Note the link number and the status words of the line; other errors of the same link come first.", "Check both ends of the link: seating, bridge, cable, NVSwitch log (SXid).", EVIDENCE, RESET_GPU, FIELD_DIAG],
        "NVLink, generation 4 or older, reported an error. Programs that use peer-to-peer traffic over the link are ended, and the link may stay down until a reset.";
    75 ROBUST_CHANNEL_CE6_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 6 reported an exception. The program that had queued the copy is ended.";
    76 ROBUST_CHANNEL_CE7_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 7 reported an exception. The program that had queued the copy is ended.";
    77 ROBUST_CHANNEL_CE8_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 8 reported an exception. The program that had queued the copy is ended.";
    78 VGPU_START_ERROR: Driver, Warning, [UPDATE],
        "A vGPU could not start: guest and host driver do not fit, or the guest does not support this vGPU type.";
    79 ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS: Pcie, Fatal, [SUPPORT_NOW, REBOOT, MECHANICALS, FIELD_DIAG],
        "The GPU no longer answers on PCIe. It and all its work are lost until the host restarts; power, heat, seating or the PCIe path is the usual cause.";
    80 PBDMA_PUSHBUFFER_CRC_MISMATCH: Pcie, Critical, [RESTART_APP, CHECK_APP, LINK_SIGNAL],
        "A checksum of the command stream did not match: data was damaged between host memory and GPU, or overwritten by the program.";
    81 ROBUST_CHANNEL_VGA_SUBSYSTEM_ERROR: Driver, Critical, [SUPPORT_NOW],
        "The VGA part of the GPU reported an error.";
    82 ROBUST_CHANNEL_NVJPG0_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 0 reported an exception, often on a damaged image. The program is ended.";
    83 ROBUST_CHANNEL_NVDEC1_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 1 reported an exception, often on a damaged stream. The decoding program is ended.";
    84 ROBUST_CHANNEL_NVDEC2_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 2 reported an exception, often on a damaged stream. The decoding program is ended.";
    85 ROBUST_CHANNEL_CE9_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 9 reported an exception. The program that had queued the copy is ended.";
    86 ROBUST_CHANNEL_OFA0_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Optical flow engine 0 reported an exception. The program is ended.";
    87 NVTELEMETRY_DRIVER_REPORT: Driver, Info, [SUPPORT],
        "The driver recorded a telemetry report of its own. No work is affected.";
    88 ROBUST_CHANNEL_NVDEC3_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 3 reported an exception, often on a damaged stream. The decoding program is ended.";
    89 ROBUST_CHANNEL_NVDEC4_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 4 reported an exception, often on a damaged stream. The decoding program is ended.";
    90 LTC_ERROR: HardwareMemory, Critical, [SUPPORT_NOW],
        "The L2 cache reported an error. Data in it may be lost.";
    91 RESERVED_XID: Unknown, Info, [SUPPORT],
        "Reserved by the driver's headers and given no meaning.";
    92 EXCESSIVE_SBE_INTERRUPTS: HardwareMemory, Warning, [IGNORE, "Watch the rate of corrected errors: nvidia-smi -q -d ECC.", SUPPORT],
        "Corrected ECC errors arrive faster than the driver accepts. No data is lost, but the memory is likely to get worse.";
    93 INFOROM_ERASE_LIMIT_EXCEEDED: HardwareMemory, Warning, [IGNORE, SUPPORT],
        "The flash that holds the InfoROM was erased more often than it is made for. The GPU works; error records may no longer be kept.";
    94 ROBUST_CHANNEL_CONTAINED_ERROR: HardwareMemory, Warning, [RESTART_APP, CHECK_REMAP, SYMPATHETIC],
        "An uncorrectable memory error was contained: only the programs that used the data are ended, the others go on.";
    95 ROBUST_CHANNEL_UNCONTAINED_ERROR: HardwareMemory, Fatal, [DRAIN, EVIDENCE, RESET_GPU, CHECK_REMAP, SYMPATHETIC],
        "An uncorrectable memory error was not contained: every program on the GPU is affected and none of its results can be trusted.";
    96 ROBUST_CHANNEL_NVDEC5_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 5 reported an exception, often on a damaged stream. The decoding program is ended.";
    97 ROBUST_CHANNEL_NVDEC6_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 6 reported an exception, often on a damaged stream. The decoding program is ended.";
    98 ROBUST_CHANNEL_NVDEC7_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Video decoder 7 reported an exception, often on a damaged stream. The decoding program is ended.";
    99 ROBUST_CHANNEL_NVJPG1_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 1 reported an exception, often on a damaged image. The program is ended.";
    100 ROBUST_CHANNEL_NVJPG2_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 2 reported an exception, often on a damaged image. The program is ended.";
    101 ROBUST_CHANNEL_NVJPG3_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 3 reported an exception, often on a damaged image. The program is ended.";
    102 ROBUST_CHANNEL_NVJPG4_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 4 reported an exception, often on a damaged image. The program is ended.";
    103 ROBUST_CHANNEL_NVJPG5_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 5 reported an exception, often on a damaged image. The program is ended.";
    104 ROBUST_CHANNEL_NVJPG6_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 6 reported an exception, often on a damaged image. The program is ended.";
    105 ROBUST_CHANNEL_NVJPG7_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "JPEG engine 7 reported an exception, often on a damaged image. The program is ended.";
    106 SMBPBI_TEST_MESSAGE: System, Info, [IGNORE],
        "A test message of the management bus. No work is affected.";
    107 SMBPBI_TEST_MESSAGE_SILENT: System, Info, [IGNORE],
        "A silent test message of the management bus. No work is affected.";
    108 NVLINK_REMOTE_TRANSLATION_ERROR: Nvlink, Warning, [IGNORE, PEER_FLOW, SUPPORT],
        "A GPU at the far end of NVLink could not translate an address: usually an invalid peer mapping.";
    109 ROBUST_CHANNEL_CTXSW_TIMEOUT_ERROR: Driver, Critical, [EVIDENCE, RESET_GPU, SUPPORT],
        "The GPU did not switch contexts in time. Programs on it hang until it is reset.";
    110 SEC_FAULT_ERROR: Driver, Fatal, [EVIDENCE, RESET_GPU, INVESTIGATE_SW],
        "The GPU reported a security fault and no longer trusts itself. It is out of service until it is reset.";
    111 BUNDLE_ERROR_EVENT: Unknown, Warning, [SUPPORT], RESERVED;
    112 DISP_SUPERVISOR_ERROR: Unknown, Info, [SUPPORT], DISPLAY;
    113 DP_LT_FAILURE: Unknown, Info, [SUPPORT], DISPLAY;
    114 HEAD_RG_UNDERFLOW: Unknown, Info, [SUPPORT], DISPLAY;
    115 CORE_CHANNEL_REGS: Unknown, Info, [SUPPORT], DISPLAY;
    116 WINDOW_CHANNEL_REGS: Unknown, Info, [SUPPORT], DISPLAY;
    117 CURSOR_CHANNEL_REGS: Unknown, Info, [SUPPORT], DISPLAY;
    118 HEAD_REGS: Unknown, Info, [SUPPORT], DISPLAY;
    119 GSP_RPC_TIMEOUT: Driver, Fatal, [SUPPORT_NOW, RESET_GPU, REBOOT, INVESTIGATE_SW],
        "The GPU's system processor (GSP) did not answer the driver in time. Calls into the driver hang or fail until the GPU is reset; the driver logs only one in 30 such timeouts.";
    120 GSP_ERROR: Driver, Fatal, [SUPPORT_NOW, RESET_GPU, REBOOT, INVESTIGATE_SW],
        "The firmware of the GPU's system processor (GSP) failed. The GPU is out of service until it is reset.";
    121 C2C_ERROR: Nvlink, Warning, [IGNORE, SUPPORT],
        "The chip-to-chip link between CPU and GPU corrected an error.";
    122 SPI_PMU_RPC_READ_FAIL: Driver, Warning, [SUPPORT],
        "The GPU's flash memory could not be read through the power-management microcontroller.";
    123 SPI_PMU_RPC_WRITE_FAIL: Driver, Critical, [SUPPORT_NOW],
        "The GPU's flash memory could not be written through the power-management microcontroller; a record or a firmware update may be incomplete.";
    124 SPI_PMU_RPC_ERASE_FAIL: Driver, Warning, [SUPPORT],
        "The GPU's flash memory could not be erased through the power-management microcontroller.";
    125 INFOROM_FS_ERROR: HardwareMemory, Warning, [SUPPORT],
        "The file system of the InfoROM is damaged. The GPU works; error records may be wrong or missing.";
    126 ROBUST_CHANNEL_CE10_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 10 reported an exception. The program that had queued the copy is ended.";
    127 ROBUST_CHANNEL_CE11_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 11 reported an exception. The program that had queued the copy is ended.";
    128 ROBUST_CHANNEL_CE12_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 12 reported an exception. The program that had queued the copy is ended.";
    129 ROBUST_CHANNEL_CE13_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 13 reported an exception. The program that had queued the copy is ended.";
    130 ROBUST_CHANNEL_CE14_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 14 reported an exception. The program that had queued the copy is ended.";
    131 ROBUST_CHANNEL_CE15_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 15 reported an exception. The program that had queued the copy is ended.";
    132 ROBUST_CHANNEL_CE16_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 16 reported an exception. The program that had queued the copy is ended.";
    133 ROBUST_CHANNEL_CE17_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 17 reported an exception. The program that had queued the copy is ended.";
    134 ROBUST_CHANNEL_CE18_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 18 reported an exception. The program that had queued the copy is ended.";
    135 ROBUST_CHANNEL_CE19_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Copy engine 19 reported an exception. The program that had queued the copy is ended.";
    136 ALI_TRAINING_FAIL: Nvlink, Critical, [EVIDENCE, RESET_GPU, LINK_SIGNAL],
        "Training of an NVLink failed. The GPU works without that link, and jobs that need all links fail.";
    137 NVLINK_PRIV_ERR: Nvlink, Warning, [IGNORE, PEER_FLOW],
        "A remote GPU refused an NVLink access: usually an invalid peer-to-peer mapping of the program.";
    138 ROBUST_CHANNEL_DLA_ERROR: Driver, Warning, [SUPPORT, RESTART_APP],
        "The deep-learning accelerator reported an error. Its program is ended.";
    139 ROBUST_CHANNEL_OFA1_ERROR: Driver, Warning, [RESTART_APP, SUPPORT],
        "Optical flow engine 1 reported an exception. The program is ended.";
    140 UNRECOVERABLE_ECC_ERROR_ESCAPE: HardwareMemory, Fatal, [EVIDENCE, RESET_GPU, SUPPORT, FIELD_DIAG],
        "An ECC error got past the driver's repair. Results of the GPU cannot be trusted until it is reset.";
    141 ROBUST_CHANNEL_FAST_PATH_ERROR: Driver, Warning, [IGNORE, SUPPORT],
        "The CUDA fast path of the driver reported an error; the driver has a slower path.";
    142 ROBUST_CHANNEL_NVENC3_ERROR: Driver, Warning, [SUPPORT, RESTART_APP],
        "Video encoder 3 reported an exception. The encoding program is ended.";
    143 GPU_INIT_ERROR: Driver, Fatal, [SUPPORT_NOW, RESET_GPU],
        "The GPU could not be initialised. It is out of service.";
    144 NVLINK_SAW_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The SAW unit of NVLink 5 reported an error; the line says whether it is fatal.";
    145 NVLINK_RLW_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The RLW unit of NVLink 5 reported an error; the line says whether it is fatal.";
    146 NVLINK_TLW_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The TLW unit of NVLink 5 reported an error; the line says whether it is fatal.";
    147 NVLINK_TREX_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The TREX unit of NVLink 5 reported an error; the line says whether it is fatal.";
    148 NVLINK_NVLPW_CTRL_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The link power control unit of NVLink 5 reported an error; the line says whether it is fatal.";
    149 NVLINK_NETIR_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The network interface (NETIR) unit of NVLink 5 reported an error; the line says whether it is fatal. Link-down and bit-error-rate events come from here.";
    150 NVLINK_MSE_ERROR: Nvlink, Critical, ["Read unit, severity and status words of the line: they decide what to do.", "Without Xid 154 beside it, restart the application; with it, follow its advice.", LINK_SIGNAL],
        "The management (MSE) unit of NVLink 5 reported an error; the line says whether it is fatal.";
    151 ROBUST_CHANNEL_KEY_ROTATION_ERROR: Driver, Critical, [EVIDENCE, RESTART_VM, SUPPORT],
        "Rotating the keys of confidential computing failed. Encrypted work on the GPU is ended.";
    152 ROBUST_CHANNEL_DLA_SMMU_ERROR: Driver, Info, [IGNORE, SUPPORT],
        "The memory management unit of the deep-learning accelerator reported an error.";
    153 ROBUST_CHANNEL_DLA_TIMEOUT: Driver, Info, [IGNORE, SUPPORT],
        "The deep-learning accelerator did not finish in time.";
    154 GPU_RECOVERY_ACTION_CHANGED: Driver, Warning, ["Follow the recovery action that the line names; the cause is another Xid of the same GPU."],
        "The driver changed its own advice on how to get the GPU back; the line names the advice before and now.";
    155 NVLINK_SW_DEFINED_ERROR: Nvlink, Critical, [EVIDENCE, RESET_GPU, "If nobody took the link down on purpose, look for the software or person that did."],
        "Software took an NVLink down or flagged it as failed; links that go to sleep on purpose show here too.";
    156 RESOURCE_RETIREMENT_EVENT: HardwareMemory, Warning, [EVIDENCE, RESET_GPU],
        "The driver recorded a faulty part of the GPU for retirement. It takes effect at the next reset.";
    157 RESOURCE_RETIREMENT_FAILURE: HardwareMemory, Warning, [IGNORE, SUPPORT],
        "A faulty part of the GPU could not be retired because no spare is left. Work may go on but can hit the same fault again.";
    158 GPU_FATAL_TIMEOUT: Driver, Fatal, [EVIDENCE, RESET_GPU, SUPPORT],
        "The GPU did not answer within the driver's last time limit. It is out of service until it is reset.";
    159 ROBUST_CHANNEL_CHI_NON_DATA_ERROR: Nvlink, Warning, [EVIDENCE, CHECK_UVM, SYMPATHETIC],
        "The coherent link between CPU and GPU reported an error that carries no data.";
    160 CHANNEL_RETIREMENT_EVENT: HardwareMemory, Warning, [IGNORE, INVESTIGATE_SW],
        "A memory channel was retired. The GPU works with less bandwidth or capacity.";
    161 CHANNEL_RETIREMENT_FAILURE: HardwareMemory, Warning, [IGNORE, INVESTIGATE_SW],
        "A memory channel could not be retired. The fault can return.";
    162 PSHC_REENGAGED: ThermalPower, Info, [IGNORE],
        "The power-smoothing circuit works again.";
    163 PSHC_DISENGAGED: ThermalPower, Warning, [EVIDENCE, "Resolve the thermal events that switched it off; after a timeout, reload the driver or reset the GPU."],
        "The power-smoothing circuit switched off. The GPU works, but its power draw swings more.";
    164 PSHC_LOW_LIFETIME: ThermalPower, Warning, ["Watch power swings and plan a replacement if power smoothing is needed."],
        "The power-smoothing circuit is near the end of its life.";
    165 PSHC_ZERO_LIFETIME: ThermalPower, Warning, ["Check that the data centre can bear the swings; replace the GPU if it cannot."],
        "The power-smoothing circuit is worn out and is being switched off. The GPU works, with larger swings of power.";
    166 NVLINK_SECURE_CRYPTO_ERR: Nvlink, Critical, [NO_PUBLIC_ACTION],
        "In confidential computing, traffic reached an NVLink before its encryption was set up.";
    167 PCIE_FATAL_TIMEOUT: Pcie, Fatal, [NO_PUBLIC_ACTION],
        "A PCIe transaction of the GPU timed out for good. The GPU is likely lost to the host.";
    168 REDUCED_GPU_MEMORY_CAPACITY: HardwareMemory, Warning, [EVIDENCE, "Switch ECC on, so that faulty rows can be remapped, or boot again.", SUPPORT],
        "Protected GPU memory had errors, so less of it is usable. It shows only while ECC is off.";
    169 SEC2_HALT_ERROR: Driver, Fatal, [NO_PUBLIC_ACTION],
        "The security microcontroller halted. The GPU is out of service until it is reset.";
    170 NVLINK_SECURE_OTHER: Nvlink, Warning, [NO_PUBLIC_ACTION],
        "In confidential computing, a secured NVLink raised an interrupt of another kind.";
    171 UNCORRECTABLE_DRAM_ERROR: HardwareMemory, Warning, [FOLLOW_48],
        "Comes with an Xid 48 and says that the uncorrectable error was in DRAM.";
    172 UNCORRECTABLE_SRAM_ERROR: HardwareMemory, Warning, [FOLLOW_48, SRAM_THRESHOLD],
        "Comes with an Xid 48 and says that the uncorrectable error was in SRAM.";
    173 C2C_FATAL_LINK_FAILURE: Nvlink, Fatal, [NO_PUBLIC_ACTION],
        "The chip-to-chip link between CPU and GPU failed for good. The GPU is out of service.";
    174 ROBUST_CHANNEL_RESETCHANNEL_KILL_PROCESS_SILENT: Driver, Info, [NO_PUBLIC_ACTION, FOLLOW_OTHER],
        "The driver ended a process silently while it reset the process's channel.";
    175 MEMORY_SUBSYSTEM_ERROR: HardwareMemory, Critical, [NO_PUBLIC_ACTION],
        "The memory subsystem of the GPU reported an error.";
    176 PCIE_CORRECTABLE_ERROR_FAULT: Pcie, Warning, [NO_PUBLIC_ACTION],
        "Corrected PCIe errors of the GPU crossed the limit at which the driver calls it a fault.";
};
