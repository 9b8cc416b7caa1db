// Bits of bytes, there and back.
#include "composit/numpy/bits.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(bits, eight_in_a_byte) {
    const Tensor x = array<int32_t>({1, 0, 7, 0, 0, 0, 0, 1, 1});
    expect_values<uint8_t>(packbits(x), {2}, {0xa1, 0x80});
    expect_values<uint8_t>(packbits(x, 0, "little"), {2}, {0x85, 0x01});
    const Tensor bytes = array<uint8_t>({0xa0, 0x01}, {2, 1});
    expect_values<uint8_t>(unpackbits(bytes, 1, 3), {2, 3}, {1, 0, 1, 0, 0, 0});
    expect_values<uint8_t>(unpackbits(array<uint8_t>({3}), {}, -5, "little"), {3}, {1, 1, 0});
    EXPECT_THROW((void)packbits(array<double>({1})), TypeError);
    EXPECT_THROW((void)unpackbits(bytes, {}, -17), ValueError);
    EXPECT_THROW((void)unpackbits(bytes, 2), AxisError);
}

}  // namespace
}  // namespace composit::numpy
