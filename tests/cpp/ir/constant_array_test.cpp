// Which orders of a constant's elements are in memory, and that nobody who reads them can tell.
#include "composit/ir/constant_array.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>

namespace composit::ir {
namespace {

constexpr int64_t length = 5000;

Array numbers(int64_t first = 0, int64_t count = length) {
    std::vector<float> values(static_cast<size_t>(count));
    std::iota(values.begin(), values.end(), static_cast<float>(first));
    return Array::of<float>(DType::float32, {count}, values);
}

bool are_numbers(const float* values, int64_t first = 0) {
    for (int64_t i = 0; i < length; ++i)
        if (values[i] != static_cast<float>(first + i)) return false;
    return true;
}
bool are_numbers(const Array& array) { return are_numbers(array.data_as<float>()); }

// Element i at place (i + by) % length.
Arrangement rotated(int64_t by, std::atomic<int>* made = nullptr) {
    const auto move = [](const void* from, void* to, int64_t steps) {
        const auto* source = static_cast<const float*>(from);
        auto* target = static_cast<float*>(to);
        for (int64_t i = 0; i < length; ++i) target[(i + steps) % length] = source[i];
    };
    Arrangement order;
    order.key = std::to_string(by);
    order.bytes = length * 4;
    order.arrange = [=](const void* from, void* to) {
        if (made) ++*made;
        move(from, to, by);
    };
    order.restore = [=](const void* from, void* to) { move(from, to, length - by); };
    return order;
}

float first_of(const std::shared_ptr<const void>& memory) {
    return *static_cast<const float*>(memory.get());
}

TEST(ConstantArray, AnotherOrderTakesThePlaceOfTheRowMajorOne) {
    const ConstantArray constant = numbers();
    EXPECT_TRUE(constant.is_row_major());
    const auto order = constant.arranged(rotated(7));
    EXPECT_EQ(first_of(order), static_cast<float>(length - 7));
    EXPECT_FALSE(constant.is_row_major());
    EXPECT_TRUE(are_numbers(constant.value()));
    EXPECT_FALSE(constant.is_row_major());
    EXPECT_NE(constant.value().data(), constant.value().data());  // each caller's own
    EXPECT_TRUE(are_numbers(static_cast<const float*>(constant.row_major().get())));
    EXPECT_TRUE(constant.is_row_major());
    EXPECT_EQ(constant.row_major(), constant.row_major());
    EXPECT_EQ(constant.arranged(rotated(7)), order);
    EXPECT_FALSE(constant.is_row_major());
}

TEST(ConstantArray, AnOrderIsMadeOnceForAllWhoHoldIt) {
    std::atomic<int> made{0};
    const ConstantArray constant = numbers(), same = constant;
    auto first = constant.arranged(rotated(1, &made));
    EXPECT_EQ(same.arranged(rotated(1, &made)), first);
    EXPECT_EQ(made, 1);
    first = nullptr;  // all that is left of the elements
    EXPECT_TRUE(are_numbers(constant.value()));
    const auto second = constant.arranged(rotated(2, &made));
    EXPECT_EQ(first_of(second), static_cast<float>(length - 2));
    EXPECT_EQ(made, 2);
    constant.arranged(rotated(1, &made));
    EXPECT_EQ(made, 2);
    EXPECT_TRUE(are_numbers(same.value()));
    EXPECT_EQ(same, constant);
    EXPECT_NE(ConstantArray(numbers()), constant);
}

TEST(ConstantArray, WhatOthersHoldIsNotGivenUp) {
    const Array held = numbers();
    const ConstantArray constant = held;
    constant.arranged(rotated(3));
    EXPECT_EQ(constant.value().data(), held.data());

    std::vector<float> memory(length);
    const std::shared_ptr<void> owner(memory.data(), [](void*) {});
    const ConstantArray borrowed = Array(DType::float32, {length}, owner, memory.data());
    borrowed.arranged(rotated(3));
    EXPECT_EQ(borrowed.value().data(), memory.data());
}

TEST(ConstantArray, AnOrderThatLacksElementsTakesNoPlace) {
    std::atomic<int> made{0};
    const ConstantArray constant = numbers();
    Arrangement order = rotated(4, &made);
    order.restore = nullptr;
    constant.arranged(order);
    EXPECT_TRUE(constant.is_row_major());
    constant.arranged(order);  // nobody holds it any more
    EXPECT_EQ(made, 2);
}

TEST(ConstantArray, NothingAndLittle) {
    EXPECT_FALSE(ConstantArray());
    EXPECT_EQ(ConstantArray().bytes(), 0);
    EXPECT_FALSE(ConstantArray().value());
    const ConstantArray empty = Array(DType::int64, {3, 0});
    EXPECT_TRUE(empty);
    EXPECT_EQ(empty.shape(), (Shape{3, 0}));
    EXPECT_EQ(ConstantArray(numbers(5, 1)).value().data_as<float>()[0], 5.0f);
}

}  // namespace
}  // namespace composit::ir
