#!/bin/sh
# Builds NVIDIA's kernel driver for an unpacked Debian kernel: nvidia.ko, nvidia-modeset.ko and nvidia-uvm.ko.
#
#   build.sh KERNEL_TREE OUT_DIR SOURCES
#
# KERNEL_TREE: folder in which linux-headers-*, linux-headers-*-common and linux-kbuild-* of one kernel
#   were unpacked with dpkg -x. It is only read.
# OUT_DIR: receives the modules, without debug information.
# SOURCES: the archive of nvidia-open-kernel-source, or of nvidia-kernel-source, which is proprietary.
# Environment:
#   MODULE_CC=gcc compiles with that instead of the compiler that the headers name.
set -eu

. "$(dirname "$0")/../headers.sh"
[ $# -eq 3 ] || die "usage: build.sh KERNEL_TREE OUT_DIR SOURCES"
tree=$(cd "$1" && pwd) || die "$1 is not a folder"
mkdir -p "$2"
out=$(cd "$2" && pwd)
sources=$3
[ -f "$sources" ] || die "$sources is missing: unpack the package there"

# Some 300 MB: beside what is built, as /tmp may be memory.
scratch=$(mktemp -d "$out/build.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

kernel_headers "$tree" "$scratch/headers"
tar -xf "$sources" -C "$scratch" --strip-components=1
driver=$(echo "$scratch"/nvidia-*kernel)
[ -d "$driver/nvidia-uvm" ] || die "$sources has no modules/nvidia-*kernel/nvidia-uvm: another layout"
# The console and peer memory are not tested, and take the longest.
rm -rf "$driver/nvidia-drm" "$driver/nvidia-peermem"
# Linux 6.12.117 gave it a fourth argument, which this driver does not know.
if grep -A 2 'pci_resize_resource(' "$common/include/linux/pci.h" | grep -q exclude_bars; then
    sed -i 's/\(pci_resize_resource([^()]*, requested_size\))/\1, 0)/' "$driver/nvidia/nv-pci.c"
fi
# The compiler need not be exactly the kernel's: Debian's headers let it pass, and this check would not.
nice make -C "$driver" -j"$(nproc)" "SYSSRC=$common" "SYSOUT=$scratch/headers" IGNORE_CC_MISMATCH=1 \
    ${MODULE_CC:+"CC=$MODULE_CC"} modules >"$scratch/log" 2>&1 || {
    tail -n 60 "$scratch/log" >&2
    die "building the driver for $tree failed"
}
for module in nvidia nvidia-modeset nvidia-uvm; do
    strip --strip-debug -o "$out/$module.ko" "$driver/$module.ko"
done
