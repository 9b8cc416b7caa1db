// The table's random bits: a counter and a key in, a block of bits out.
#include "composit/base/error.h"
#include "composit/ir/scalar/table.h"

#include <algorithm>
#include <array>

namespace composit::ir::scalar {
namespace {

Expr rotated(const Expr& word, int count) { return (word << count) | (word >> (32 - count)); }

Expr low_word(const Expr& block) { return Expr::cast(block, DType::uint32); }
Expr high_word(const Expr& block) { return Expr::cast(block >> 32, DType::uint32); }

// Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, SC 2011). The first of the two
// 32-bit words of counter, key and result is the high half.
Expr threefry(const Expr& counter, const Expr& key) {
    constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const auto word = [](int64_t value) { return Expr::constant_integer(DType::uint32, value); };
    const Expr first = high_word(key).named("key_high"), second = low_word(key).named("key_low");
    const std::array<Expr, 3> keys{first, second,
                                   (first ^ second ^ word(0x1BD11BDA)).named("key_parity")};
    Expr x = high_word(counter) + keys[0], y = low_word(counter) + keys[1];
    for (int group = 0; group < 5; ++group) {
        for (int rotation : rotations[group % 2]) {
            x = x + y;
            y = rotated(y, rotation) ^ x;
        }
        x = x + keys[static_cast<size_t>(group + 1) % 3];
        y = y + keys[static_cast<size_t>(group + 2) % 3] + word(group + 1);
    }
    return (Expr::cast(x, DType::uint64) << 32) | Expr::cast(y, DType::uint64);
}

// uint64, and what casts to it safely.
Signature block_types(std::string_view name, const std::vector<DType>& operands) {
    for (DType dtype : operands)
        user_check<TypeError>(can_cast_safely(dtype, DType::uint64), name, ": an operand is ",
                              dtype, ". uint64 is required.");
    return {std::vector<DType>(operands.size(), DType::uint64), DType::uint64};
}

}  // namespace

std::vector<Row> random_rows() {
    return {
        {"threefry2x32",
         {},
         2,
         block_types,
         {},
         "64 random bits for a counter (x1) and a key (x2): Threefry-2x32-20 (Salmon et al. 2011)",
         [](X x) { return threefry(x[0], x[1]); },
         {},
         true},
    };
}

}  // namespace composit::ir::scalar
