#!/usr/bin/env bash
# Builds composit without tests in build/gpu, and tries it on a GPU: conformance, tests, benchmarks.
#
#     tools/gpu.sh [STAGE…]     build devices conformance tests bench page; tiles, when asked for
#
# Needs no network and no environment of its own: PYTHON is an interpreter with numpy, nanobind, and
# the libraries to compare with (torch, cupy, jax). DEVICE: "cuda". OUT: where logs and results go.
# A stage that fails, or takes longer than its limit, does not keep the next ones from running.
set -u
cd "$(dirname "$0")/.."
PYTHON=$(command -v "${PYTHON:-python3}")
DEVICE=${DEVICE:-cuda}
PATH="$(dirname "$PYTHON"):$PATH" # its cmake and ninja
OUT=${OUT:-build/gpu/results}
JOBS=${JOBS:-$(nproc)}
mkdir -p "$OUT"
failed=0

# Python's packages of NVRTC, for interpreters outside of which composit lies.
if [ -z "${COMPOSIT_NVRTC:-}" ]; then
    COMPOSIT_NVRTC=$("$PYTHON" - << 'EOF'
import glob, sys
print(":".join(f for p in sys.path for f in sorted(glob.glob(p + "/nvidia/*/lib"), reverse=True)))
EOF
)
    export COMPOSIT_NVRTC
fi
PYTHONPATH="$PWD/build/gpu/python${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH
export COMPOSIT_CACHE="${COMPOSIT_CACHE:-$PWD/build/gpu/cache}"

# stage NAME SECONDS command…
stage() {
    local name=$1 limit=$2 start=$SECONDS status=0
    shift 2
    case " ${STAGES:-} " in *" $name "*) ;; *) return ;; esac
    echo "--- $name"
    timeout -k 10 "$limit" "$@" > "$OUT/$name.log" 2>&1 || status=$?
    tail -n "${LINES_OF_LOG:-25}" "$OUT/$name.log"
    echo "--- $name: status $status after $((SECONDS - start)) s" | tee -a "$OUT/stages.txt"
    [ $status -eq 0 ] || failed=1
}

build() {
    local generator=()
    command -v ninja > /dev/null && generator=(-G Ninja)
    cmake -S . -B build/gpu "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DCOMPOSIT_TESTS=OFF \
        -DCOMPOSIT_BENCHMARKS=OFF -DPython_EXECUTABLE="$PYTHON" &&
        cmake --build build/gpu -j "$JOBS" --target composit_package
}

# In several processes, as most of the time goes into compiling.
conformance() {
    local shares=$((JOBS < 8 ? JOBS : 8)) share status=0 processes=()
    for ((share = 0; share < shares; ++share)); do
        "$PYTHON" -W ignore -m composit.conformance "$DEVICE" --share $share/$shares \
            > "$OUT/conformance-$share.log" 2>&1 &
        processes+=($!)
    done
    for share in "${!processes[@]}"; do
        wait "${processes[$share]}" || status=1
        cat "$OUT/conformance-$share.log"
    done
    return $status
}
export -f build conformance
export PYTHON JOBS DEVICE OUT

STAGES=${*:-build devices conformance tests bench page}
stage build 400 bash -c build
stage devices 60 "$PYTHON" -m composit.devices
LINES_OF_LOG=100 stage conformance 240 bash -c conformance
stage tests 240 "$PYTHON" -m pytest -q --maxfail 20 -p no:cacheprovider \
    --device "$DEVICE" tests/python/devices
stage bench 400 "$PYTHON" benchmarks/python/gpu.py --device "$DEVICE" --out "$OUT/gpu.json"
[ ! -e "$OUT/gpu.json" ] || stage page 30 "$PYTHON" benchmarks/python/gpu_page.py "$OUT/gpu.json"
stage tiles 60 "$PYTHON" benchmarks/python/gpu_tiles.py
exit $failed
