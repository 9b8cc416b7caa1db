// The two tables of spellings, and the texts that programs begin with.
#include "composit/backends/simt/dialect.h"

#include "composit/backends/simt/dialect_words.h"
#include "composit/base/text.h"

namespace composit::simt {
namespace {

constexpr std::string_view opencl_prelude = R"(#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

typedef char int8_t;
typedef uchar uint8_t;
typedef short int16_t;
typedef ushort uint16_t;
typedef int int32_t;
typedef uint uint32_t;
typedef long int64_t;
typedef ulong uint64_t;

// The least signed integer is its own absolute value.
static inline int32_t absolute_int32_t(int32_t x) {
    return x < 0 ? (int32_t)(0u - (uint32_t)(x)) : x;
}
static inline int64_t absolute_int64_t(int64_t x) {
    return x < 0 ? (int64_t)(0ul - (uint64_t)(x)) : x;
}

// Of these PoCL's compiler takes it for granted that they meet no NaN, no infinity and no number
// beyond an integer: known operands like that make it drop stores.
static inline float floor_float(float x) { return fabs(x) < 8388608.0f ? floor(x) : x; }
static inline float ceil_float(float x) { return fabs(x) < 8388608.0f ? ceil(x) : x; }
static inline float rint_float(float x) { return fabs(x) < 8388608.0f ? rint(x) : x; }
static inline float trunc_float(float x) { return fabs(x) < 8388608.0f ? trunc(x) : x; }
static inline double floor_double(double x) { return fabs(x) < 4503599627370496.0 ? floor(x) : x; }
static inline double ceil_double(double x) { return fabs(x) < 4503599627370496.0 ? ceil(x) : x; }
static inline double rint_double(double x) { return fabs(x) < 4503599627370496.0 ? rint(x) : x; }
static inline double trunc_double(double x) { return fabs(x) < 4503599627370496.0 ? trunc(x) : x; }
// The remainder of a / b, rounded to 0.
static inline float fmod_float(float a, float b) {
    if (isfinite(a) && isfinite(b) && b != 0.0f) return fmod(a, b);
    return isfinite(a) && isinf(b) ? a : (a * b) / (a * b);
}
static inline double fmod_double(double a, double b) {
    if (isfinite(a) && isfinite(b) && b != 0.0) return fmod(a, b);
    return isfinite(a) && isinf(b) ? a : (a * b) / (a * b);
}

// The next float after x on the way to y. Floats count as integers of sign and magnitude do; both
// zeros are 0.
static inline float next_after_float(float x, float y) {
    const uint32_t sign = 0x80000000u, bits = as_uint(x);
    const uint32_t count = (bits & sign) != 0 ? sign - bits : bits;
    const uint32_t next = y > x ? count + 1u : count - 1u;
    const uint32_t zero_sign = next == 0 ? bits & sign : 0u;
    const uint32_t moved = (next & sign) != 0 ? sign - next : (next | zero_sign);
    return x == y ? y : (x != x || y != y) ? x + y : as_float(moved);
}
static inline double next_after_double(double x, double y) {
    const uint64_t sign = 0x8000000000000000ul, bits = as_ulong(x);
    const uint64_t count = (bits & sign) != 0 ? sign - bits : bits;
    const uint64_t next = y > x ? count + 1ul : count - 1ul;
    const uint64_t zero_sign = next == 0 ? bits & sign : 0ul;
    const uint64_t moved = (next & sign) != 0 ? sign - next : (next | zero_sign);
    return x == y ? y : (x != x || y != y) ? x + y : as_double(moved);
}
)";

constexpr std::string_view cuda_prelude = R"(typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;

#define COMPOSIT_DEVICE static __device__ __forceinline__

// The same bits as another type.
COMPOSIT_DEVICE float as_float(uint32_t x) { return __uint_as_float(x); }
COMPOSIT_DEVICE float as_float(int32_t x) { return __int_as_float(x); }
COMPOSIT_DEVICE int32_t as_int(float x) { return __float_as_int(x); }
COMPOSIT_DEVICE uint32_t as_uint(float x) { return __float_as_uint(x); }
COMPOSIT_DEVICE double as_double(uint64_t x) { return __longlong_as_double((int64_t)(x)); }
COMPOSIT_DEVICE double as_double(int64_t x) { return __longlong_as_double(x); }
COMPOSIT_DEVICE int64_t as_long(double x) { return __double_as_longlong(x); }
COMPOSIT_DEVICE uint64_t as_ulong(double x) { return (uint64_t)(__double_as_longlong(x)); }

// The least signed integer is its own absolute value.
COMPOSIT_DEVICE int32_t absolute_int32_t(int32_t x) {
    return x < 0 ? (int32_t)(0u - (uint32_t)(x)) : x;
}
COMPOSIT_DEVICE int64_t absolute_int64_t(int64_t x) {
    return x < 0 ? (int64_t)(0ull - (uint64_t)(x)) : x;
}

// x of the thread `places` further in the warp. Of a type of 1 to 8 bytes.
template <class T>
COMPOSIT_DEVICE T lane_below(T x, int places) {
    return __shfl_down_sync(0xffffffffu, x, places);
}
COMPOSIT_DEVICE uint8_t lane_below(uint8_t x, int places) {
    return (uint8_t)(__shfl_down_sync(0xffffffffu, (uint32_t)(x), places));
}
COMPOSIT_DEVICE int8_t lane_below(int8_t x, int places) {
    return (int8_t)(__shfl_down_sync(0xffffffffu, (int32_t)(x), places));
}
COMPOSIT_DEVICE uint16_t lane_below(uint16_t x, int places) {
    return (uint16_t)(__shfl_down_sync(0xffffffffu, (uint32_t)(x), places));
}
COMPOSIT_DEVICE int16_t lane_below(int16_t x, int places) {
    return (int16_t)(__shfl_down_sync(0xffffffffu, (int32_t)(x), places));
}

// As OpenCL's texts call them.
COMPOSIT_DEVICE float floor_float(float x) { return floorf(x); }
COMPOSIT_DEVICE float ceil_float(float x) { return ceilf(x); }
COMPOSIT_DEVICE float rint_float(float x) { return rintf(x); }
COMPOSIT_DEVICE float trunc_float(float x) { return truncf(x); }
COMPOSIT_DEVICE float fmod_float(float a, float b) { return fmodf(a, b); }
COMPOSIT_DEVICE double floor_double(double x) { return floor(x); }
COMPOSIT_DEVICE double ceil_double(double x) { return ceil(x); }
COMPOSIT_DEVICE double rint_double(double x) { return rint(x); }
COMPOSIT_DEVICE double trunc_double(double x) { return trunc(x); }
COMPOSIT_DEVICE double fmod_double(double a, double b) { return fmod(a, b); }

// The next float after x on the way to y. Floats count as integers of sign and magnitude do; both
// zeros are 0.
COMPOSIT_DEVICE float next_after_float(float x, float y) {
    const uint32_t sign = 0x80000000u, bits = as_uint(x);
    const uint32_t count = (bits & sign) != 0 ? sign - bits : bits;
    const uint32_t next = y > x ? count + 1u : count - 1u;
    const uint32_t zero_sign = next == 0 ? bits & sign : 0u;
    const uint32_t moved = (next & sign) != 0 ? sign - next : (next | zero_sign);
    return x == y ? y : (x != x || y != y) ? x + y : as_float(moved);
}
COMPOSIT_DEVICE double next_after_double(double x, double y) {
    const uint64_t sign = 0x8000000000000000ull, bits = as_ulong(x);
    const uint64_t count = (bits & sign) != 0 ? sign - bits : bits;
    const uint64_t next = y > x ? count + 1ull : count - 1ull;
    const uint64_t zero_sign = next == 0 ? bits & sign : 0ull;
    const uint64_t moved = (next & sign) != 0 ? sign - next : (next | zero_sign);
    return x == y ? y : (x != x || y != y) ? x + y : as_double(moved);
}
)";

// ----- the first index out of bounds: fault.h

constexpr std::string_view opencl_fault = R"(
// The first index out of bounds: of the first launch that met one, that of the lowest outer index.
typedef struct {
    int64_t launch, outer, axis, index;
    int32_t is_locked, unused;
} IndexFault;

static void report_fault(volatile __global IndexFault* fault, int64_t launch, int64_t outer,
                         int64_t axis, int64_t index) {
    bool is_done = false;
    while (!is_done) {
        if (atomic_cmpxchg(&fault->is_locked, 0, 1) != 0) continue;
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        if (fault->launch == 0 || (fault->launch == launch && outer < fault->outer)) {
            fault->launch = launch;
            fault->outer = outer;
            fault->axis = axis;
            fault->index = index;
        }
        mem_fence(CLK_GLOBAL_MEM_FENCE);
        atomic_xchg(&fault->is_locked, 0);
        is_done = true;
    }
}
)";

constexpr std::string_view cuda_fault = R"(
// The first index out of bounds: of the first launch that met one, that of the lowest outer index.
struct IndexFault {
    int64_t launch, outer, axis, index;
    int32_t is_locked, unused;
};

static __device__ __noinline__ void report_fault(volatile IndexFault* fault, int64_t launch,
                                                 int64_t outer, int64_t axis, int64_t index) {
    bool is_done = false;
    while (!is_done) {
        if (atomicCAS((int32_t*)&fault->is_locked, 0, 1) != 0) continue;
        __threadfence();
        if (fault->launch == 0 || (fault->launch == launch && outer < fault->outer)) {
            fault->launch = launch;
            fault->outer = outer;
            fault->axis = axis;
            fault->index = index;
        }
        __threadfence();
        atomicExch((int32_t*)&fault->is_locked, 0);
        is_done = true;
    }
}
)";

constexpr std::string_view opencl_counter = R"(
__kernel void set_counter(__global char* counter_memory, const int64_t counter_start,
                          const int64_t number) {
    *(__global int64_t*)(counter_memory + counter_start) = number;
}
)";

constexpr std::string_view cuda_counter = R"(
extern "C" __global__ void set_counter(int64_t* counter, const int64_t number) {
    *counter = number;
}
)";

}  // namespace

const std::set<std::string>& Dialect::words() { return dialect_words(); }

const Dialect& opencl() {
    static const Dialect& dialect = *new Dialect{
        .name = "OpenCL C 1.2",
        .prelude = opencl_prelude,
        .fault_text = opencl_fault,
        .counter_text = opencl_counter,
        .kernel_start = "__kernel void ",
        .global = "__global ",
        .local = "__local ",
        .local_pointer = "__local ",
        .restricted = " restrict",
        .group = {"(int)get_group_id(0)", "(int)get_group_id(1)"},
        .thread = "(int)get_local_id(0)",
        .global_thread = "(int64_t)get_global_id(0)",
        .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
        .barrier_of_all = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
        .bounds =
            [](int64_t threads, int64_t) {
                return text("__attribute__((reqd_work_group_size(", threads, ", 1, 1)))");
            },
        .has_starts = true,
        .has_warps = false,
        .scalars = {.is_c = true,
                    .function_start = "static inline ",
                    .table_start = "__constant ",
                    .long_suffix = "l",
                    .words = &dialect_words()}};
    return dialect;
}

const Dialect& opencl_of_cpus() {
    static const Dialect& dialect = *[] {
        auto* const changed = new Dialect(opencl());
        changed->threads_are_loops = true;
        return changed;
    }();
    return dialect;
}

// Tables lie in device memory, whose cache serves threads that look up different places at once.
const Dialect& cuda() {
    static const Dialect& dialect =
        *new Dialect{.name = "CUDA C++",
                     .prelude = cuda_prelude,
                     .fault_text = cuda_fault,
                     .counter_text = cuda_counter,
                     .kernel_start = "extern \"C\" __global__ void ",
                     .global = "",
                     .local = "__shared__ ",
                     .local_pointer = "",
                     .restricted = " __restrict__",
                     .group = {"(int)blockIdx.x", "(int)blockIdx.y"},
                     .thread = "(int)threadIdx.x",
                     .global_thread = "(int64_t)blockIdx.x * blockDim.x + threadIdx.x",
                     .barrier = "__syncthreads();",
                     .barrier_of_all = "__syncthreads();",
                     .bounds =
                         [](int64_t threads, int64_t groups) {
                             return text("__launch_bounds__(", threads, ", ", groups, ")");
                         },
                     .has_starts = false,
                     .has_warps = true,
                     .scalars = {.is_c = true,
                                 .function_start = "COMPOSIT_DEVICE ",
                                 .table_start = "static __device__ const ",
                                 .long_suffix = "ll",
                                 .words = &dialect_words()}};
    return dialect;
}

}  // namespace composit::simt
