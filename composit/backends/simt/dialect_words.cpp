#include "composit/backends/simt/dialect_words.h"

#include "composit/base/text.h"

#include <sstream>

namespace composit::simt {
namespace {

constexpr const char* keywords = R"(
    kernel global local constant private generic half quad complex imaginary restrict inline
    read_only write_only read_write image1d_t image2d_t image3d_t sampler_t event_t pipe
    uchar ushort uint ulong size_t ptrdiff_t intptr_t uintptr_t
    dim3 gridDim blockDim blockIdx threadIdx warpSize
    true false bool void NULL nullptr asm typeof vec_step)";

constexpr const char* functions = R"(
    acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi atan2pi cbrt ceil copysign cos cosh
    cospi erfc erf exp exp2 exp10 expm1 fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb
    ldexp lgamma lgamma_r log log2 log10 log1p logb mad maxmag minmag modf nan nextafter pow pown
    powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma
    trunc abs abs_diff add_sat hadd rhadd clamp clz ctz mad_hi mad_sat max min mul_hi rotate sub_sat
    upsample popcount mad24 mul24 degrees radians sign mix step smoothstep cross dot distance length
    normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater isgreaterequal
    isless islessequal islessgreater isfinite isinf isnan isnormal isordered isunordered signbit any
    all bitselect select shuffle shuffle2 printf barrier mem_fence prefetch wait_group_events
    get_work_dim get_global_size get_global_id get_local_size get_local_id get_num_groups
    get_group_id get_global_offset as_float as_int as_uint as_double as_long as_ulong
    absolute_int32_t absolute_int64_t next_after_float next_after_double fmod_float fmod_double
    floor_float ceil_float rint_float trunc_float floor_double ceil_double rint_double trunc_double
    lane_below
    atomic_add atomic_sub atomic_xchg atomic_inc atomic_dec atomic_cmpxchg atomic_min atomic_max
    atomic_and atomic_or atomic_xor atomicAdd atomicExch atomicCAS atomicMin atomicMax
    j0 j1 jn y0 y1 yn norm norm3d norm4d rnorm rhypot rcbrt erfinv erfcinv erfcx normcdf normcdfinv
    cyl_bessel_i0 cyl_bessel_i1 nearbyint lrint llrint lround llround llabs labs llmax llmin ullmax
    ullmin umax umin umul24 saturate clock clock64 IndexFault
    report_fault set_counter COMPOSIT_DEVICE memcpy memset malloc free assert)";

}  // namespace

const std::set<std::string>& dialect_words() {
    static const std::set<std::string>& words = *new std::set<std::string>([] {
        std::set<std::string> all;
        for (const char* list : {keywords, functions}) {
            std::istringstream in{list};
            for (std::string word; in >> word;) all.insert(word);
        }
        for (const char* type : {"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
                                 "longlong", "ulonglong", "float", "double", "half"})
            for (const char* width : {"1", "2", "3", "4", "8", "16"}) all.insert(text(type, width));
        for (const char* type : {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t",
                                 "int64_t", "uint64_t"})
            all.insert(type);
        return all;
    }());
    return words;
}

}  // namespace composit::simt
