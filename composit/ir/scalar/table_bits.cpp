// The table's operations on the bits of integers.
#include "composit/base/error.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

// Counts that no shift of the dtype has (negative ones are large as unsigned) are replaced by 0.
Expr fits(const Expr& count) {
    return Expr::cast(count, unsigned_like(count)) < 8 * size_of(count.dtype());
}

Expr shift_left(const Expr& x, const Expr& count) {
    const Expr in_range = fits(count);
    const Expr shifted = Expr::make(Op::shift_left, {x, select(in_range, count, 0.0)});
    return select(in_range, shifted, 0.0);
}

// Shifting everything out leaves the sign: 0 or -1.
Expr shift_right(const Expr& x, const Expr& count) {
    return Expr::make(Op::shift_right, {x, select(fits(count), count, 8 * size_of(x.dtype()) - 1)});
}

Expr shift_right_unsigned(const Expr& x, const Expr& count) {
    const Expr in_range = fits(count);
    const Expr shifted = Expr::make(Op::shift_right, {x, select(in_range, count, 0.0)});
    return select(in_range, shifted, 0.0);
}

// Sums of neighbouring fields of 1, 2 and 4 bits in parallel, then all bytes by one multiplication.
Expr bit_count(const Expr& x) {
    const Expr magnitude = is_signed_integer(x.dtype()) ? absolute(x) : x;
    const DType wide = size_of(x.dtype()) == 8 ? DType::uint64 : DType::uint32;
    const auto pattern = [wide](uint64_t byte) {
        return Expr::constant_bits(
            wide, {byte * 0x0101010101010101u & (wide == DType::uint64 ? ~0ull : ~0u), 0});
    };
    const Expr bits = Expr::cast(Expr::cast(magnitude, unsigned_like(x)), wide);
    const Expr pairs = bits - ((bits >> 1) & pattern(0x55));
    const Expr fours = (pairs & pattern(0x33)) + ((pairs >> 2) & pattern(0x33));
    const Expr bytes = (fours + (fours >> 4)) & pattern(0x0f);
    return Expr::cast((bytes * pattern(0x01)) >> (8 * size_of(wide) - 8), DType::uint8);
}

}  // namespace

std::vector<Row> bit_rows() {
    using namespace types;
    return {
        {"bitwise_and",
         {},
         2,
         integral_or_bool,
         {},
         "the bits set in both",
         [](X x) { return x[0] & x[1]; },
         {},
         true},
        {"bitwise_count",
         {},
         1,
         types::bit_count,
         {},
         "the number of bits set in |x|",
         [](X x) { return scalar::bit_count(x[0]); },
         {},
         true},
        {"bitwise_or",
         {},
         2,
         integral_or_bool,
         {},
         "the bits set in either",
         [](X x) { return x[0] | x[1]; },
         {},
         true},
        {"bitwise_xor",
         {},
         2,
         integral_or_bool,
         {},
         "the bits set in one only",
         [](X x) { return x[0] ^ x[1]; },
         {},
         true},
        {"invert",
         {"bitwise_not", "bitwise_invert"},
         1,
         integral_or_bool,
         {},
         "all bits flipped",
         [](X x) { return ~x[0]; },
         {},
         true},
        {"left_shift",
         {"bitwise_left_shift"},
         2,
         integral,
         {},
         "x1 2^x2, wrapping; 0 for counts out of range",
         [](X x) { return shift_left(x[0], x[1]); },
         {},
         true},
        {"right_shift",
         {"bitwise_right_shift"},
         2,
         integral,
         {},
         "x1 / 2^x2 rounded down; 0 or -1 for counts out of range",
         [](X x) {
             return is_signed_integer(x[0].dtype()) ? shift_right(x[0], x[1])
                                                    : shift_right_unsigned(x[0], x[1]);
         },
         {},
         true},
    };
}

}  // namespace composit::ir::scalar
