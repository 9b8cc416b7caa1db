// Keys sorted digit by digit, the lowest first, which keeps the order of equals.
#include "composit/numpy/ordered_keys.h"

#include "composit/base/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>
#include <utility>

namespace composit::numpy {
namespace {

using ir::DType;

constexpr uint64_t sign = uint64_t{1} << 63, not_a_number_key = ~uint64_t{0};

uint64_t key_of(double value) {
    if (std::isnan(value)) return not_a_number_key;
    const auto bits = std::bit_cast<uint64_t>(value == 0 ? 0.0 : value);
    return bits & sign ? ~bits : bits | sign;
}
template <std::integral T>
uint64_t key_of(T value) {
    if constexpr (std::is_signed_v<T>)
        return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ sign;
    else
        return static_cast<uint64_t>(value);
}

struct Item {
    uint64_t key;
    int64_t place;
};

template <class T>
std::vector<Item> items_of(const ir::Array& values) {
    std::vector<Item> items(static_cast<size_t>(values.size()));
    const T* data = values.data_as<T>();
    for (size_t i = 0; i < items.size(); ++i) {
        if constexpr (std::is_floating_point_v<T>)
            items[i] = {key_of(static_cast<double>(data[i])), static_cast<int64_t>(i)};
        else
            items[i] = {key_of(data[i]), static_cast<int64_t>(i)};
    }
    return items;
}

std::vector<Item> items_of(const ir::Array& values) {
    switch (values.dtype()) {
        case DType::boolean: return items_of<bool>(values);
        case DType::int8: return items_of<int8_t>(values);
        case DType::int16: return items_of<int16_t>(values);
        case DType::int32: return items_of<int32_t>(values);
        case DType::int64: return items_of<int64_t>(values);
        case DType::uint8: return items_of<uint8_t>(values);
        case DType::uint16: return items_of<uint16_t>(values);
        case DType::uint32: return items_of<uint32_t>(values);
        case DType::uint64: return items_of<uint64_t>(values);
        case DType::float32: return items_of<float>(values);
        case DType::float64: return items_of<double>(values);
        default: break;
    }
    internal_check(false, "ordered_keys: ", values.dtype());
    return {};
}

constexpr int digit_bits = 11, digit_count = 6;
constexpr size_t digit_size = size_t{1} << digit_bits;

size_t digit_of(uint64_t key, int digit) {
    return (key >> (digit * digit_bits)) & (digit_size - 1);
}

// Digits that are the same in all keys take no pass.
void sort_by_digits(std::vector<Item>& items) {
    std::vector<std::array<uint32_t, digit_size>> counts(digit_count);
    for (const Item& item : items)
        for (int d = 0; d < digit_count; ++d)
            ++counts[static_cast<size_t>(d)][digit_of(item.key, d)];
    std::vector<Item> spare(items.size());
    for (int d = 0; d < digit_count; ++d) {
        auto& starts = counts[static_cast<size_t>(d)];
        if (starts[digit_of(items[0].key, d)] == items.size()) continue;
        uint32_t start = 0;
        for (uint32_t& count : starts) count = std::exchange(start, start + count);
        for (const Item& item : items) spare[starts[digit_of(item.key, d)]++] = item;
        items.swap(spare);
    }
}

}  // namespace

OrderedKeys ordered_keys(const ir::Array& values) {
    std::vector<Item> items = items_of(values);
    constexpr size_t few = 512;  // for which counting digits takes longer
    if (items.size() < few || items.size() > UINT32_MAX)
        std::stable_sort(items.begin(), items.end(),
                         [](const Item& a, const Item& b) { return a.key < b.key; });
    else
        sort_by_digits(items);
    const bool is_floating = ir::is_floating(values.dtype());
    OrderedKeys result{{}, {}, is_floating ? not_a_number_key : 0};
    result.keys.reserve(items.size());
    result.places.reserve(items.size());
    for (const Item& item : items) {
        result.keys.push_back(item.key);
        result.places.push_back(item.place);
    }
    return result;
}

}  // namespace composit::numpy
