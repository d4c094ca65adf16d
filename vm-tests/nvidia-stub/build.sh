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
#   NVIDIA_STUB_CC=gcc compiles with that instead of the compiler that the headers name.
#   NVIDIA_STUB_RM_TRACED=y builds rm_ioctl with the kernel's function tracing (README.md).
set -eu

die() {
    echo "build.sh: $*" >&2
    exit 1
}

[ $# -eq 2 ] || die "usage: build.sh KERNEL_TREE OUT_DIR"
stub=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd) || die "$1 is not a folder"
mkdir -p "$2"
out=$(cd "$2" && pwd)

headers=
for dir in "$tree"/usr/src/linux-headers-*; do
    [ -f "$dir/Module.symvers" ] || continue
    [ -z "$headers" ] || die "$tree has more than one linux-headers-*: $headers and $dir; leave one"
    headers=$dir
done
[ -n "$headers" ] || die "$tree has no usr/src/linux-headers-*/Module.symvers: unpack linux-headers-* there"

# Debian's Makefile includes the common headers by the absolute path of an installed package.
common=$(sed -n 's,^include \(/usr/src/[^ ]*\)/Makefile$,\1,p' "$headers/Makefile")
[ -n "$common" ] || die "$headers/Makefile does not include /usr/src/.../Makefile: not Debian's headers"
[ -f "$tree$common/Makefile" ] || die "$tree$common/Makefile is missing: unpack $(basename "$common") there"
[ -e "$headers/scripts/mod/modpost" ] || die "$headers/scripts is not complete: unpack linux-kbuild-* there"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/nvidia-stub.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# A headers folder of links, with a Makefile of its own.
mkdir "$scratch/headers"
for entry in "$headers"/* "$headers"/.config "$headers"/.kernelvariables; do
    [ -e "$entry" ] || continue
    case ${entry##*/} in
    Makefile) ;;
    # It is there for BTF only, and to make BTF needs pahole.
    vmlinux) command -v pahole >/dev/null && ln -s "$entry" "$scratch/headers/" ;;
    *) ln -s "$entry" "$scratch/headers/" ;;
    esac
done
echo "include $tree$common/Makefile" >"$scratch/headers/Makefile"

for generation in current frontend; do
    mkdir "$scratch/$generation"
    cp -R "$stub/Kbuild" "$stub/include" "$stub/nvidia" "$stub/nvidia-uvm" "$scratch/$generation/"
    make -C "$scratch/headers" "M=$scratch/$generation" "NVIDIA_STUB_GENERATION=$generation" \
        "NVIDIA_STUB_RM_TRACED=${NVIDIA_STUB_RM_TRACED:-n}" ${NVIDIA_STUB_CC:+"CC=$NVIDIA_STUB_CC"} \
        modules >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        die "building $generation for $headers failed"
    }
    grep -E 'warning|WARNING' "$scratch/log" >&2 || true
    mkdir -p "$out/$generation"
    for module in nvidia nvidia-uvm; do
        strip --strip-debug -o "$out/$generation/$module.ko" "$scratch/$generation/$module.ko"
    done
done
