// Coefficients of the library's polynomials, lowest power first.
//
// Computed by tools/coefficients/compute.py, which states each approximation;
// not to be edited by hand. `error` is that of the polynomial alone, relative to its
// function.
#pragma once

namespace composit::ir::scalar::coefficients {

// (exp(r) - 1 - r) / r^2, |r| <= ln(2) / 2; error 2^-28.18
inline constexpr double exp_float32[] = {
    0x1.fffffc0000000p-2, 0x1.5554940000000p-3,  0x1.5558860000000p-5,
    0x1.1238c40000000p-7, 0x1.6a89340000000p-10,
};

// the same; error 2^-57.87
inline constexpr double exp_float64[] = {
    0x1.000000000000ap-1,  0x1.555555555550dp-3,  0x1.55555555507cep-5,  0x1.11111111247cfp-7,
    0x1.6c16c1842dffap-10, 0x1.a01a01372b9d3p-13, 0x1.a0199a27e54fdp-16, 0x1.71df0f7a0b4bfp-19,
    0x1.28ad497f301bbp-22, 0x1.ad9aabb6ed6d5p-26,
};

// the same, relative to exp(r) - 1; error 2^-30.95
inline constexpr double expm1_float32[] = {
    0x1.0000000000000p-1, 0x1.5555540000000p-3,  0x1.5554fa0000000p-5,
    0x1.1112bc0000000p-7, 0x1.6d38200000000p-10, 0x1.9eae180000000p-13,
};

// the same; error 2^-61.44
inline constexpr double expm1_float64[] = {
    0x1.0000000000000p-1,  0x1.5555555555559p-3,  0x1.5555555555559p-5,  0x1.111111110f71bp-7,
    0x1.6c16c16c16a3cp-10, 0x1.a01a01af905f2p-13, 0x1.a01a019cd4078p-16, 0x1.71ddf95d5b3f3p-19,
    0x1.27e4fd4f4bd5dp-22, 0x1.af5cc2ab5c834p-26, 0x1.1f3056aeac9f7p-29,
};

// (tanh(x) / x - 1) / z in z = x^2, |x| <= 0.625; error 2^-27.72
inline constexpr double tanh_float32[] = {
    -0x1.5555320000000p-2, 0x1.1106f60000000p-3,  -0x1.b835ac0000000p-5,
    0x1.51f95a0000000p-6,  -0x1.7511480000000p-8,
};

// (log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f <= sqrt(2); error 2^-27.29
inline constexpr double log_float32[] = {
    0x1.5555540000000p-2, -0x1.0002260000000p-2, 0x1.99a0060000000p-3, -0x1.54724c0000000p-3,
    0x1.22da500000000p-3, -0x1.0d853e0000000p-3, 0x1.055a560000000p-3, -0x1.38b32a0000000p-4,
};

// (log((1 + s) / (1 - s)) / s - 2) / z, z = s^2 <= (3 - sqrt(8))^2; error 2^-59.48
inline constexpr double log_float64[] = {
    0x1.5555555555592p-1, 0x1.999999997fec8p-2, 0x1.24924941e8e18p-2, 0x1.c71c520c3b733p-3,
    0x1.74663eeccc714p-3, 0x1.39a1ad7bf0dd5p-3, 0x1.2f06572192629p-3,
};

// (atanh(s) - s - s^3 / 3) / s^5 in z = s^2, the same range; error 2^-73.47
inline constexpr double log_pair[] = {
    0x1.9999999999996p-3, 0x1.2492492492f53p-3, 0x1.c71c71c5962bfp-4, 0x1.745d182992fb8p-4,
    0x1.3b1364b6b4f48p-4, 0x1.112072418c94bp-4, 0x1.de3cea85739b0p-5, 0x1.eaca594977ed7p-5,
};

// (sin(r) / r - 1) / z, z = r^2, |r| <= pi / 4; error 2^-27.91
inline constexpr double sin_float32[] = {
    -0x1.5555460000000p-3,
    0x1.1107780000000p-7,
    -0x1.9954180000000p-13,
};

// the same; error 2^-57.89
inline constexpr double sin_float64[] = {
    -0x1.5555555555548p-3, 0x1.111111110f730p-7,   -0x1.a01a019be923fp-13,
    0x1.71de35552f8edp-19, -0x1.ae5e4b8879c22p-26, 0x1.5d8b5730ecc23p-33,
};

// (cos(r) - 1 + z / 2) / z^2; error 2^-32.98
inline constexpr double cos_float32[] = {
    0x1.55554a0000000p-5,
    -0x1.6c0c280000000p-10,
    0x1.99e80a0000000p-16,
};

// the same; error 2^-63.93
inline constexpr double cos_float64[] = {
    0x1.555555555554bp-5,   -0x1.6c16c16c15013p-10, 0x1.a01a019c8ecdfp-16,
    -0x1.27e4f7f13cd71p-22, 0x1.1ee9db8989e7fp-29,  -0x1.8fa65b3a2802ep-37,
};

// (arctan(t) / t - 1) / z, z = t^2, |t| <= sqrt(2) - 1; error 2^-59.47
inline constexpr double arctan_float64[] = {
    -0x1.555555555553dp-2, 0x1.9999999995896p-3, -0x1.24924922aed65p-3, 0x1.c71c70e6ad570p-4,
    -0x1.745cf8ee1630bp-4, 0x1.3b111a496c93cp-4, -0x1.10ebc4c9c52e1p-4, 0x1.df0ff29607af7p-5,
    -0x1.9cd5677f87f4bp-5, 0x1.37dbae2b86582p-5, -0x1.2575f0371339fp-6,
};

// (arcsin(x) / x - 1) / z, z = x^2, |x| <= 1/2; error 2^-59.81
inline constexpr double arcsin_float64[] = {
    0x1.5555555555578p-3, 0x1.333333332df15p-4, 0x1.6db6db722b81cp-5, 0x1.f1c71a8b8aca5p-6,
    0x1.6e8bdfe949ec9p-6, 0x1.1c49ddc53a148p-6, 0x1.ca214af0a8be2p-7, 0x1.75774f829552fp-7,
    0x1.618c38247be48p-7, 0x1.e142d431385e1p-9, 0x1.6509f5bc14eb6p-6, -0x1.5a02725ebe754p-6,
    0x1.0be8534ad34bep-5,
};

// cbrt(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2): only a first approximation; error 2^-22.48
inline constexpr double cbrt_float64[] = {
    0x1.fffffbdc0e572p-1,  0x1.5555f2af97e93p-2, -0x1.c7023ffb36023p-4, 0x1.f851a33bf19bfp-5,
    -0x1.568fc370633a2p-5, 0x1.121a1b1baebfap-5, -0x1.4de9ad5180f9ap-6,
};

// lgamma(2 + e) / e, |e| <= 1/2; error 2^-56.08
inline constexpr double lgamma_near_2[] = {
    0x1.b0ee6072093cep-2,   0x1.4a34cc4a60fa6p-2,  -0x1.13e001a557538p-4,  0x1.51322ac7d88f6p-6,
    -0x1.e404fc21dc5cdp-8,  0x1.7add6ead2aa34p-9,  -0x1.38ac5bffad04fp-10, 0x1.0b36afbc3bb8bp-11,
    -0x1.d3fd65fdd66dbp-13, 0x1.a1279e9f93ce9p-14, -0x1.78da3d08cbbf4p-15, 0x1.580ed2c2244c1p-16,
    -0x1.3d1fd4e88b227p-17, 0x1.25ae31a3ab173p-18, -0x1.0c5bee7a2f31ep-19, 0x1.f8f8b69e41964p-21,
    -0x1.16bde66c66edcp-21, 0x1.159cca16cb072p-22, -0x1.091ab55f861adp-24,
};

// a (lgamma(a) - (a - 1/2) log(a) + a - log(2 pi) / 2) in 1 / a^2, a >= 8; error 2^-57.59
inline constexpr double stirling[] = {
    0x1.5555555555555p-4,  -0x1.6c16c16c09d19p-9,  0x1.a01a00fc6f94ap-11, -0x1.3812c084e82a1p-11,
    0x1.b8e73d4cb7bbcp-11, -0x1.e7ca934748fc6p-10, 0x1.222ab40d2400ep-8,
};

// erf(x) / x - 1 in z = x^2, |x| <= 0.9; error 2^-26.05
inline constexpr double erf_float32[] = {
    0x1.06eba60000000p-3,  -0x1.8126ec0000000p-2, 0x1.ce1b860000000p-4,
    -0x1.b69b960000000p-6, 0x1.479c9c0000000p-8,  -0x1.3ba9ba0000000p-11,
};

// log2(1 - erf(x)), 0.9 <= x <= 3.95, relative to erf; error 2^-29.13
inline constexpr double erf_tail_float32[] = {
    -0x1.f7d6460000000p-13, -0x1.a087760000000p+0, -0x1.d682580000000p-1, -0x1.339dd20000000p-3,
    0x1.07bac40000000p-5,   -0x1.21d3fa0000000p-8, 0x1.2bd8020000000p-12,
};

// (2^r - 1) / r, |r| <= 1/2; error 2^-28.15
inline constexpr double exp2_float32[] = {
    0x1.62e4300000000p-1, 0x1.ebfbde0000000p-3,  0x1.c6af880000000p-5,
    0x1.3b2cf20000000p-7, 0x1.5f01780000000p-10, 0x1.41d8920000000p-13,
};

// erf(x) / x - 1 in z = x^2, |x| <= 0.9; error 2^-56.32
inline constexpr double erf_float64[] = {
    0x1.06eba8214db69p-3,  -0x1.812746b037a27p-2,  0x1.ce2f21a045b7dp-4,  -0x1.b82ce31364e34p-6,
    0x1.565bcd2efd6f9p-8,  -0x1.c02db9983da07p-11, 0x1.f9a3beb49cb43p-14, -0x1.f4dc7b5b21adep-17,
    0x1.ba5147b53a8d8p-20, -0x1.61e4a8f7d47c7p-23, 0x1.035c09d0dc2a4p-26, -0x1.297202a970bd9p-30,
};

// ((2 Phi(-a))^(-1/4) - 1) / a, Phi normal, a <= 6, so that a Phi(-a) is close beside min(a, 1);
// error 2^-27.97
inline constexpr double gelu_root_float32[] = {
    0x1.9884400000000p-3,   0x1.97737c0000000p-4,  0x1.ae185c0000000p-6,   0x1.6ba3720000000p-8,
    0x1.2831c20000000p-10,  0x1.56bf000000000p-11, -0x1.37a9a80000000p-12, 0x1.b6888c0000000p-13,
    -0x1.3d89de0000000p-14, 0x1.4066b00000000p-16, -0x1.65b7500000000p-19, 0x1.8661280000000p-23,
};

// 4 m(a) - 1, m(a) = exp(t / 2) Phi(-a), Phi normal, t = a^2 ln(2) / float32(ln(2)), in (a - 0.5) /
// (a + 2.25), a <= 1.375, relative to 4 m(a); error 2^-26.83
inline constexpr double gelu_near_float32[] = {
    0x1.9809ec0000000p-2,  -0x1.3b943e0000000p+1, 0x1.20a4d80000000p+0, 0x1.37d8ce0000000p-3,
    -0x1.58f4400000000p-3, -0x1.602f7c0000000p-4, 0x1.40b5c00000000p-8, 0x1.1511260000000p-5,
};

// 4 a m(a) - 1 in (a - 2) / (a + 2.25), 1.375 <= a <= 14.6, relative to 4 a m(a); error 2^-25.64
inline constexpr double gelu_far_float32[] = {
    0x1.6117720000000p-2, 0x1.7303180000000p-1,  -0x1.75009e0000000p-1, 0x1.f67fc80000000p-3,
    0x1.c18bf60000000p-5, -0x1.33a4ee0000000p-5, -0x1.4673c60000000p-6, 0x1.8d2b000000000p-7,
};

// (exp(-t / 2) - 1) / r, t = r ln(2) / float32(ln(2)), |r| <= ln(2), relative to exp(-t / 2); error
// 2^-28.12
inline constexpr double gelu_exp_float32[] = {
    -0x1.0000000000000p-1, 0x1.fffffe0000000p-4,   -0x1.5554920000000p-6,
    0x1.55579a0000000p-9,  -0x1.1237940000000p-12, 0x1.6ad41e0000000p-16,
};

// (x + 5.5) exp(x^2 / 2) Phi(-x) in w = 2 x / (x + 5.5) - 0.875, x <= 39; error 2^-55.62
inline constexpr double normal_tail_float64[] = {
    0x1.bcb3e10676d33p-1,  -0x1.ad1fb8ffaf042p-1,  0x1.6457ce0fc31d1p-1,   -0x1.fae42dcd41ac6p-2,
    0x1.31269ca058767p-2,  -0x1.2fd2c3cb20579p-3,  0x1.dd7e0ec11ecb9p-5,   -0x1.0854cf170537ap-6,
    0x1.efb250e51a973p-10, 0x1.7d6be511495b0p-11,  -0x1.a28a80d5ce0b2p-12, 0x1.0f87aa71f19c9p-15,
    0x1.27ab4a51de2adp-15, -0x1.592a226d0c5d3p-17, -0x1.5952c8dea9c16p-19, 0x1.a9cde509f19dfp-20,
    0x1.834ae955b7811p-23, -0x1.dab1f3f9ace9ap-23, -0x1.cc30a0cdcea2cp-27, 0x1.f091c38b970fdp-26,
    0x1.48635d86a2485p-31, -0x1.6d16788762c12p-29, 0x1.17f45da9fd7ccp-33,
};

// (x + 4) exp(x^2) erfc(x) in w = 2 x / (x + 4) - 1, x <= 27.7; error 2^-53.13
inline constexpr double erfc_float64[] = {
    0x1.18932bf08e154p+0,   -0x1.f3fe31ecb49c0p-1,  0x1.8be202d26c702p-1,   -0x1.14eacb1ad02e1p-1,
    0x1.52cac237102c8p-2,   -0x1.645fd8a4bf375p-3,  0x1.38dbd2c8dac44p-4,   -0x1.b00c052a9d2c1p-6,
    0x1.908f47292cf9ap-8,   -0x1.269b55ae7af11p-12, -0x1.dd28470ce3362p-12, 0x1.72cdcd534964cp-13,
    -0x1.e7e606ac339dap-19, -0x1.3c72affc34b3cp-16, 0x1.3b0714b2c434ap-18,  0x1.7eccf83773aadp-20,
    -0x1.c6287572b7bd3p-21, -0x1.4e83e8b0ac7f2p-24, 0x1.0a0f98a4f94e7p-23,  0x1.5a38debb3e81dp-29,
    -0x1.087d87e5c9260p-26, -0x1.7cca1d1ea92e1p-32, 0x1.1b2bbf64d7a6fp-30,
};

// (z / q - sqrt(2 pi)) / q^2 where q + 1/2 of a normal distribution lies below z, in r = 0.425^2 -
// q^2, relative to z; error 2^-60.28
inline constexpr double normal_quantile_near_above[] = {
    0x1.37fc2a497deaap+2,  0x1.94811ef373a38p+7,  0x1.90d5c0efb7a34p+11,
    0x1.7cdbefc1e2784p+14, 0x1.64711430e1885p+16, 0x1.2d3cfd196b33ep+17,
    0x1.5cdf93ec9b436p+16, 0x1.96e46b6724399p+11, -0x1.8c8f7e904c6bfp+8,
};

inline constexpr double normal_quantile_near_below[] = {
    0x1.0000000000000p+0,  0x1.7c1c8bbb04883p+5,  0x1.be46835764c2ep+9,  0x1.07f347ef8a616p+13,
    0x1.4c23c9e73d7eep+15, 0x1.af4327a5f8cfcp+16, 0x1.006c98cc8a8ddp+17, 0x1.94fbaf7bbf6c8p+15,
};

// sqrt(2) s - z where exp(-s^2) of a normal distribution lies above z, in s - 1.6, s <= 5, relative
// to z; error 2^-59.81
inline constexpr double normal_quantile_tail_above[] = {
    0x1.adb954c2ae755p-1,  0x1.6a45921dcff64p+0,  0x1.d8b3ea80d906ep-1,
    0x1.32ff602d75de8p-2,  0x1.a59a0963a08a1p-5,  0x1.1afd068c88275p-8,
    0x1.11d2d9e7550a8p-13, 0x1.3d7117aa6f01fp-22, -0x1.d043fca8287b0p-30,
};

inline constexpr double normal_quantile_tail_below[] = {
    0x1.0000000000000p+0, 0x1.04953540d8670p+1, 0x1.aa5656b447a28p+0,  0x1.6a542e6db8858p-1,
    0x1.58b5a19188074p-3, 0x1.6aede762755e1p-6, 0x1.7610f969f8b24p-10, 0x1.0834902422c3bp-15,
};

// the same in s - 5, s <= 27.4; error 2^-56.71
inline constexpr double normal_quantile_far_above[] = {
    0x1.a7143ee0259a0p-2,  0x1.948cef2d86645p-3,  0x1.182676cd4ed16p-5,
    0x1.5c2c0396f9463p-9,  0x1.88e2f3934a9dep-14, 0x1.6949a6ace5fb4p-20,
    0x1.8c0451db2e149p-28, 0x1.4d2b66063516dp-40, -0x1.31f3a627dc343p-51,
};

inline constexpr double normal_quantile_far_below[] = {
    0x1.0000000000000p+0,  0x1.3a1e1d5920f99p-1,  0x1.2895a21b289b5p-3,  0x1.0fbc17af9201cp-6,
    0x1.f7574aa9e86fep-11, 0x1.c0e0e88dab91fp-16, 0x1.4d22f0f175a1ep-22, 0x1.1d20b74842f69p-30,
};

}  // namespace composit::ir::scalar::coefficients
