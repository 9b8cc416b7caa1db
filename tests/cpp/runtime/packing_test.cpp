// Operands in panels: every element in its place, and back again.
#include "composit/runtime/packing.h"

#include "composit/ir/operation.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

namespace composit::runtime {
namespace {

using ir::Array;
using ir::DType;
using ir::Shape;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::Extents;
using ir::kernel::Map;
using ir::kernel::Pack;
using ir::kernel::Program;

template <class T>
Array counted(DType dtype, const Shape& shape) {
    std::vector<T> values(static_cast<size_t>(ir::element_count(shape)));
    std::iota(values.begin(), values.end(), T{1});
    return Array::of<T>(dtype, shape, values);
}

// Buffer 0 is the constant, buffer 1 what `pack` makes of it.
Program program_of(const Array& value, Pack pack, int64_t most_across) {
    Program program;
    Buffer constant{"w",  BufferKind::constant, value.dtype(), value.shape(), value.bytes(), -1,
                    value};
    const int64_t depth = ir::element_count(pack.depth);
    const int64_t bytes = most_across * depth * ir::size_of(constant.dtype);
    Buffer packed{"packed_w", BufferKind::packed, constant.dtype, {most_across, depth}, bytes, -1,
                  {}};
    program.buffers = {std::move(constant), std::move(packed)};
    pack.from.buffer = 0;
    pack.from.dtype = pack.to.dtype = program.buffers[0].dtype;
    pack.to.buffer = 1;
    program.kernels.push_back({"pack_w", "", {}, std::move(pack)});
    return program;
}

// Panels of `width`, then of 4 and 1, as a left operand has them.
PanelWidth in_panels_of(int64_t width) {
    return [width](bool is_left, DType, int64_t remaining) -> int64_t {
        if (!is_left || remaining >= width) return width;
        return remaining > 1 ? 4 : 1;
    };
}

template <class T>
void expect_packed(const Program& program, const PanelWidth& width) {
    const Array before = program.buffers[0].value.value();
    const Pack pack = std::get<Pack>(program.kernels[0].body);
    const auto memory = memory_of_constants(program, width, {});
    const T* packed = static_cast<const T*>(memory[1].get());
    const int64_t across = ir::element_count(pack.across), depth = ir::element_count(pack.depth);
    const auto element = [&](int64_t i, int64_t k) {
        int64_t at = pack.from.offset;
        const Extents extents = ir::kernel::concatenate({pack.across, pack.depth});
        for (size_t d = extents.size(); d-- > 0;) {
            int64_t& index = d < pack.across.size() ? i : k;
            at += index % extents[d] * pack.from.strides[d];
            index /= extents[d];
        }
        return before.data_as<T>()[at];
    };
    for (int64_t begin = 0; begin < across;) {
        const int64_t columns = width(pack.is_left, pack.from.dtype, across - begin);
        for (int64_t k = 0; k < depth; ++k)
            for (int64_t i = 0; i < columns; ++i)
                ASSERT_EQ(packed[begin * depth + k * columns + i],
                          begin + i < across ? element(begin + i, k) : T{0});
        begin += columns;
    }
}

// Random loops that meet every element of an array once: the axes in some order, some backwards.
Pack random_pack(const Shape& shape, std::mt19937& draw) {
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::shuffle(order.begin(), order.end(), draw);
    const auto strides = ir::row_major_strides(shape);
    const size_t split = draw() % (shape.size() + 1);
    Pack pack;
    pack.is_left = draw() % 2 == 0;
    for (size_t j = 0; j < order.size(); ++j) {
        const size_t d = order[j];
        (j < split ? pack.across : pack.depth).push_back(shape[d]);
        const bool is_reversed = draw() % 4 == 0;
        if (is_reversed) pack.from.offset += strides[d] * (shape[d] - 1);
        pack.from.strides.push_back(is_reversed ? -strides[d] : strides[d]);
    }
    return pack;
}

TEST(Packing, EveryElementIsInItsPanelAndComesBack) {
    std::mt19937 draw(5);
    for (int round = 0; round < 60; ++round) {
        Shape shape;
        for (size_t d = 0; d < 1 + draw() % 4; ++d) shape.push_back(1 + draw() % 19);
        shape.push_back(1 + draw() % 70);
        const Pack pack = random_pack(shape, draw);
        const int64_t width = std::array{6, 8, 12, 16, 32}[draw() % 5];
        const int64_t most = ir::element_count(pack.across) + width;
        const bool is_double = draw() % 2 == 0;
        const Program program = program_of(is_double ? counted<double>(DType::float64, shape)
                                                     : counted<float>(DType::float32, shape),
                                           pack, most);
        const Array before = program.buffers[0].value.value();
        const std::string bytes(before.data_as<char>(), static_cast<size_t>(before.bytes()));
        if (is_double)
            expect_packed<double>(program, in_panels_of(width));
        else
            expect_packed<float>(program, in_panels_of(width));
        const Program alone = program_of(is_double ? counted<double>(DType::float64, shape)
                                                   : counted<float>(DType::float32, shape),
                                         pack, most);
        const auto memory = memory_of_constants(alone, in_panels_of(width), {});
        const ir::ConstantArray& constant = alone.buffers[0].value;
        EXPECT_EQ(constant.is_row_major(), constant.bytes() < 4096);
        EXPECT_EQ(memory[0], nullptr);
        const Array again = constant.value();
        EXPECT_EQ(std::memcmp(again.data(), bytes.data(), bytes.size()), 0);
    }
}

TEST(Packing, APartOfAConstantTakesNoPlace) {
    // Columns 10 to 29 of 64, or each row twice.
    for (const auto& [offset, strides] :
         {std::pair<int64_t, std::vector<int64_t>>{10, {1, 64}}, {0, {0, 64}}}) {
        Pack pack{{20}, {80}, false, {}, {}};
        pack.from.offset = offset;
        pack.from.strides = strides;
        const Program program = program_of(counted<float>(DType::float32, {80, 64}), pack, 64);
        const auto memory = memory_of_constants(program, in_panels_of(16), {});
        EXPECT_TRUE(program.buffers[0].is_in_memory());
    }
}

TEST(Packing, WhatIsReadInBothOrdersIsInMemoryInBoth) {
    Pack pack{{64}, {80}, false, {}, {}};
    pack.from.strides = {1, 64};
    Program program = program_of(counted<float>(DType::float32, {80, 64}), pack, 64);
    Map copy{{80, 64}, {{0, DType::float32, 0, {64, 1}}}, {}, {}};
    program.kernels.push_back({"copy", "", {}, copy});
    const auto memory = memory_of_constants(program, in_panels_of(16), {});
    EXPECT_TRUE(program.buffers[0].is_in_memory());
    EXPECT_EQ(memory[0], program.buffers[0].value.row_major());
    EXPECT_NE(memory[1], nullptr);
}

}  // namespace
}  // namespace composit::runtime
