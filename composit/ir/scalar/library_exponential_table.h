// exp(j / 32) - 1 and the series of exp as sums of two numbers.
//
// Computed by tools/coefficients/exponential_table.py; not to be edited by hand.
#pragma once

namespace composit::ir::scalar::coefficients {

// exp(j / 32) - 1 for j = -46, ..., 12.
inline constexpr int expm1_table_first = -46;
inline constexpr double expm1_table[59][2] = {{-0x1.8663abd3bb540p-1, 0x1.dda32dd9a180ap-55},
                                              {-0x1.82876cccccf99p-1, -0x1.bcbf76d3f0b4bp-55},
                                              {-0x1.7e8bcef9c4feap-1, 0x1.f53d2facef0a3p-57},
                                              {-0x1.7a6fd36ddf18ap-1, -0x1.678833c2bdfc6p-57},
                                              {-0x1.76327324bd9dcp-1, 0x1.acb7530b5b6abp-56},
                                              {-0x1.71d29ec0a70e7p-1, -0x1.625f49a920e17p-55},
                                              {-0x1.6d4f3e46ad3d8p-1, -0x1.b1c9913c92fa4p-55},
                                              {-0x1.68a730d8ad1f0p-1, -0x1.8581766edbb93p-56},
                                              {-0x1.63d94c6d15be6p-1, -0x1.a5599d773e0c9p-55},
                                              {-0x1.5ee45d84644cfp-1, -0x1.2d0c860e69193p-55},
                                              {-0x1.59c726dc42a70p-1, -0x1.4fe790ebf9bd8p-57},
                                              {-0x1.5480612035176p-1, -0x1.5cad49745a7b6p-57},
                                              {-0x1.4f0eba97c3841p-1, 0x1.ae1f3193c4e36p-55},
                                              {-0x1.4970d6d2098dbp-1, -0x1.d9faf66915650p-55},
                                              {-0x1.43a54e4e98864p-1, -0x1.ca8a4270fadf5p-57},
                                              {-0x1.3daaae2395759p-1, -0x1.7e46d4e1d1416p-58},
                                              {-0x1.377f77a0fcb45p-1, 0x1.c14c2e7d1c9a4p-59},
                                              {-0x1.31221ff0f3eccp-1, 0x1.9a4cddcf699b7p-57},
                                              {-0x1.2a910fb51295ap-1, -0x1.7fb56248af1d0p-55},
                                              {-0x1.23caa2a088391p-1, 0x1.eccb4dac0c150p-55},
                                              {-0x1.1ccd270f070f9p-1, -0x1.f7cca01c669f0p-55},
                                              {-0x1.1596dd9858ab1p-1, -0x1.ad6ddc4792f50p-58},
                                              {-0x1.0e25f8a081941p-1, 0x1.4bbf0f4cffc58p-56},
                                              {-0x1.06789be457e3bp-1, 0x1.f0422c59b7d45p-55},
                                              {-0x1.fd19b804dffbfp-2, -0x1.3dcfaabcf5d2cp-57},
                                              {-0x1.ecc17c0083500p-2, 0x1.be9229f8beebep-56},
                                              {-0x1.dbe46d96cd831p-2, 0x1.5958a5d1795c7p-56},
                                              {-0x1.ca7e556da7e48p-2, -0x1.229736e5c8d3ap-56},
                                              {-0x1.b88ad9e7d52eap-2, -0x1.b61343fc21a3bp-64},
                                              {-0x1.a6057e0e846a4p-2, -0x1.55b1912202da3p-57},
                                              {-0x1.92e9a0720d3ecp-2, -0x1.85314b9559e64p-61},
                                              {-0x1.7f327a018ddb2p-2, -0x1.1a901b1ee2bd6p-57},
                                              {-0x1.6adb1cd9205eep-2, -0x1.4edd8a92eb584p-56},
                                              {-0x1.55de73065b4dfp-2, 0x1.572ec15fec83dp-57},
                                              {-0x1.40373d42ce2e3p-2, 0x1.53d8db804c224p-56},
                                              {-0x1.29e011a428ec6p-2, -0x1.dabf5975c0c02p-57},
                                              {-0x1.12d35a41ba104p-2, 0x1.3445f7544e0efp-57},
                                              {-0x1.f616a79dda3a8p-3, -0x1.6b2eab63020c1p-57},
                                              {-0x1.c5041854df7d4p-3, -0x1.797d4686c5393p-57},
                                              {-0x1.9262c1c3430a1p-3, -0x1.46ff6ec4a4251p-57},
                                              {-0x1.5e25fb4fde211p-3, 0x1.64eec82915df3p-63},
                                              {-0x1.2840b5836cf67p-3, -0x1.85405051eb425p-57},
                                              {-0x1.e14aed893eef4p-4, 0x1.e1f58934f97afp-59},
                                              {-0x1.6e8caff341feap-4, -0x1.9573ded7888b2p-58},
                                              {-0x1.f0540438fd5c3p-5, -0x1.a1ce01f9f6ca7p-61},
                                              {-0x1.f8152aee9450ep-6, 0x1.4b00abf977627p-61},
                                              {0x0.0p+0, 0x0.0p+0},
                                              {0x1.040ac0224fd93p-5, 0x1.c17a107575019p-61},
                                              {0x1.082b577d34ed8p-4, -0x1.5272ff30eed1bp-59},
                                              {0x1.92937074e0cd7p-4, -0x1.db0b9cc915fc5p-58},
                                              {0x1.10b022db7ae68p-3, -0x1.8c4a5df1ec7e5p-58},
                                              {0x1.5a5ac59b963cbp-3, -0x1.fd91307e74c50p-57},
                                              {0x1.a65c0b85ac1a9p-3, 0x1.a9c189196f8cdp-57},
                                              {0x1.f4c6f5508ee5dp-3, 0x1.46ef7b808180ap-57},
                                              {0x1.22d78f0fa061ap-2, -0x1.89843c4964554p-56},
                                              {0x1.4c946033eb3dep-2, -0x1.35d267d66dc96p-56},
                                              {0x1.77a45d8117fd5p-2, -0x1.2bb36e6b3a2afp-58},
                                              {0x1.a4124b2fe50cbp-2, 0x1.fb5f3020a46f5p-57},
                                              {0x1.d1e944f6fbdaap-2, -0x1.dcb8749a64f6ep-56}};

// 1 / n! for n = 2, 3, ...
inline constexpr double exp_series[13][2] = {{0x1.0000000000000p-1, 0x0.0p+0},
                                             {0x1.5555555555555p-3, 0x1.5555555555555p-57},
                                             {0x1.5555555555555p-5, 0x1.5555555555555p-59},
                                             {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                             {0x1.6c16c16c16c17p-10, -0x1.f49f49f49f49fp-65},
                                             {0x1.a01a01a01a01ap-13, 0x1.a01a01a01a01ap-73},
                                             {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                             {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
                                             {0x1.27e4fb7789f5cp-22, 0x1.cbbc05b4fa99ap-76},
                                             {0x1.ae64567f544e4p-26, -0x1.c062e06d1f209p-80},
                                             {0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
                                             {0x1.6124613a86d09p-33, 0x1.f28e0cc748ebep-87},
                                             {0x1.93974a8c07c9dp-37, 0x1.05d6f8a2efd1fp-92}};

// ln(2); multiples of the first two parts up to 2^11 are exact.
inline constexpr double ln2_parts[3] = {0x1.62e42fefa3800p-1, 0x1.ef35793c76800p-45,
                                        -0x1.9ff0342542fc3p-90};

}  // namespace composit::ir::scalar::coefficients
