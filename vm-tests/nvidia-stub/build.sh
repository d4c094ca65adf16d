#!/bin/sh
# Builds the stub of the NVIDIA kernel driver, in both generations, for an unpacked Debian kernel.
#
#   build.sh KERNEL_TREE OUT_DIR
#
# KERNEL_TREE: folder in which linux-headers-*, linux-headers-*-common and linux-kbuild-* of one kernel
#   were unpacked with dpkg -x. It is only read.
# OUT_DIR: receives current/ and frontend/, each with nvidia.ko and nvidia-uvm.ko, without debug
#   information.
# Environment:
#   MODULE_CC=gcc compiles with that instead of the compiler that the headers name.
set -eu

stub=$(cd "$(dirname "$0")" && pwd)
. "$stub/../headers.sh"
[ $# -eq 2 ] || die "usage: build.sh KERNEL_TREE OUT_DIR"
tree=$(cd "$1" && pwd) || die "$1 is not a folder"
mkdir -p "$2"
out=$(cd "$2" && pwd)

scratch=$(mktemp -d "${TMPDIR:-/tmp}/nvidia-stub.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

kernel_headers "$tree" "$scratch/headers"

for generation in current frontend; do
    mkdir "$scratch/$generation"
    cp -R "$stub/Kbuild" "$stub/include" "$stub/nvidia" "$stub/nvidia-uvm" "$scratch/$generation/"
    make -C "$scratch/headers" "M=$scratch/$generation" "NVIDIA_STUB_GENERATION=$generation" \
        ${MODULE_CC:+"CC=$MODULE_CC"} modules >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        die "building $generation for $headers failed"
    }
    grep -E 'warning|WARNING' "$scratch/log" >&2 || true
    mkdir -p "$out/$generation"
    for module in nvidia nvidia-uvm; do
        strip --strip-debug -o "$out/$generation/$module.ko" "$scratch/$generation/$module.ko"
    done
done
