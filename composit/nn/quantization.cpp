#include "composit/nn/quantization.h"

#include "composit/base/aligned_columns.h"
#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/base/text.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/short_float.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>

namespace composit::nn {
namespace {

using ir::Array;
using ir::DType;
using ir::Node;
using ir::Shape;
using ops::Axes;

constexpr int64_t tile = 64;  // columns whose halves share bytes, of weights of four bits

int64_t length_of(const Tensor& x, const Axes& axes) {
    int64_t count = 1;
    for (int64_t axis : axes) count *= x.shape()[static_cast<size_t>(axis)];
    return count;
}

// A product's operand that is made of constants, and the other one.
struct Product {
    const Node* node = nullptr;
    int weight = 0;  // which operand
    Axes contracted, free;
};

// Whether a tensor has the elements of one constant, in another order or shape perhaps.
const Node* constant_behind(const Tensor& tensor) {
    const Node* node = &tensor.node();
    while (!ir::is_constant(*node)) {
        if (!node->operation().moves_elements || node->operands().size() != 1) return nullptr;
        node = &node->operand(0).node();
    }
    return node;
}

std::vector<Product> products_of(const std::vector<Tensor>& outputs,
                                 const std::vector<Tensor>& arguments) {
    std::vector<Product> found;
    const auto is_weight = [&](const Tensor& operand) {
        const Node* const constant = constant_behind(operand);
        return constant != nullptr && std::ranges::none_of(arguments, [&](const Tensor& given) {
                   return &given.node() == constant;
               });
    };
    for (const Node* node : ir::topological_order(outputs)) {
        if (node->operation().name != "contract") continue;
        const ops::Contraction c = ops::contraction_of(node->attributes());
        if (!c.batch_a.empty() || c.contracted_a.empty()) continue;
        for (const int side : {1, 0}) {
            const Tensor& operand = node->operand(side);
            if (operand.dtype() != DType::float32 || !is_weight(operand)) continue;
            const Axes& contracted = side == 1 ? c.contracted_b : c.contracted_a;
            found.push_back({node, side, contracted, ops::free_axes(operand, {}, contracted)});
            break;
        }
    }
    return found;
}

Axes joined(Axes first, const Axes& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

// The axes in front, the others behind them, as a matrix.
Tensor as_matrix(const Tensor& x, const Axes& front, const Axes& behind) {
    return ops::reshape(ops::transpose(x, joined(front, behind)),
                        {length_of(x, front), length_of(x, behind)});
}

uint64_t hash_of(const Array& matrix) {
    const std::string_view bytes(static_cast<const char*>(matrix.data()),
                                 static_cast<size_t>(matrix.bytes()));
    return hash_combine(hash_combine(hash_text(bytes), static_cast<uint64_t>(matrix.shape()[0])),
                        static_cast<uint64_t>(matrix.shape()[1]));
}

// One group of a column: `count` elements, `step` apart, and how much the square of each one's
// error counts; null: all alike.
struct Group {
    const float* at;
    int64_t count, step;
    const double* importance;

    float element(int64_t k) const { return at[k * step]; }
    float largest() const {
        float most = 0;
        for (int64_t k = 0; k < count; ++k) most = std::max(most, std::abs(element(k)));
        return most;
    }
    double error(float scale, int most) const {
        double sum = 0;
        for (int64_t k = 0; k < count; ++k) {
            const double difference = double(element(k)) - double(whole(k, scale, most)) * scale;
            sum += difference * difference * importance[k];
        }
        return sum;
    }
    int whole(int64_t k, float scale, int most) const {
        if (scale == 0) return 0;
        const float rounded = std::nearbyint(element(k) / scale);
        return static_cast<int>(std::clamp(rounded, -float(most), float(most)));
    }
    // That of the largest element; where errors differ in weight, a smaller one may have less error
    // in all.
    float scale(int most) const {
        constexpr float least = 0x1p-100F;  // a 16th of it is exact, too
        const float full = largest() / static_cast<float>(most);
        if (full < least) return 0;
        if (importance == nullptr || full == 0) return full;
        constexpr std::array shares = {1.0F, 0.95F, 0.9F, 0.85F, 0.8F, 0.75F, 0.7F, 0.6F};
        return *std::ranges::min_element(shares, {}, [&](float share) {
            return error(full * share, most);
        }) * full;
    }
};

struct Codes {
    std::vector<int8_t> whole;  // (depth, columns)
    std::vector<float> scales;  // (groups, columns)
};

Codes codes_of(const float* matrix, int64_t depth, int64_t columns, int64_t group, int most,
               const std::vector<double>* squares) {
    Codes codes{std::vector<int8_t>(static_cast<size_t>(depth * columns)),
                std::vector<float>(static_cast<size_t>(depth / group * columns))};
    for (int64_t first = 0; first < depth; first += group)
        for (int64_t n = 0; n < columns; ++n) {
            const Group one{matrix + first * columns + n, group, columns,
                            squares == nullptr ? nullptr : squares->data() + first};
            const float scale = one.scale(most);
            codes.scales[static_cast<size_t>(first / group * columns + n)] = scale;
            for (int64_t k = 0; k < group; ++k)
                codes.whole[static_cast<size_t>((first + k) * columns + n)] =
                    static_cast<int8_t>(one.whole(k, scale, most));
        }
    return codes;
}

Tensor floats(const Tensor& x) { return ops::astype(x, DType::float32); }

// (depth, columns) of bytes, each times its scale.
Tensor of_eight_bits(const Codes& codes, int64_t depth, int64_t columns, int64_t group,
                     const std::string& name) {
    const Tensor whole = ir::constant(
        Array::of<int8_t>(DType::int8, {depth / group, group, columns}, codes.whole), name);
    const Tensor scales =
        ir::constant(Array::of<float>(DType::float32, {depth / group, 1, columns}, codes.scales),
                     name.empty() ? "" : name + "_scales");
    return ops::reshape(floats(whole) * scales, {depth, columns});
}

// The same of halves of bytes. Of 64 columns the first 32 are the low halves, the others the high
// ones, so that neighbours in memory become neighbours: a mask leaves the number, or 16 times it,
// which the scale takes back exactly. The last 64 are filled up.
Tensor of_four_bits(const Codes& codes, int64_t depth, int64_t columns, int64_t group,
                    const std::string& name) {
    constexpr int64_t half = tile / 2;
    const int64_t tiles = (columns + tile - 1) / tile, groups = depth / group;
    std::vector<uint8_t> bytes(static_cast<size_t>(depth * tiles * half), 0x88);  // zeros
    std::vector<float> scales(static_cast<size_t>(groups * tiles * tile), 0);
    for (int64_t k = 0; k < depth; ++k)
        for (int64_t n = 0; n < columns; ++n) {
            const bool is_high = n % tile >= half;
            uint8_t& byte = bytes[static_cast<size_t>((k * tiles + n / tile) * half + n % half)];
            const int number = codes.whole[static_cast<size_t>(k * columns + n)] + 8;
            byte =
                static_cast<uint8_t>(is_high ? (byte & 15) | (number << 4) : (byte & 240) | number);
        }
    for (int64_t g = 0; g < groups; ++g)
        for (int64_t n = 0; n < columns; ++n)
            scales[static_cast<size_t>(g * tiles * tile + n)] =
                codes.scales[static_cast<size_t>(g * columns + n)] / (n % tile >= half ? 16 : 1);
    const Tensor both = ir::constant(
        Array::of<uint8_t>(DType::uint8, {groups, group, tiles, 1, half}, bytes), name);
    const auto halves = [](int32_t low, int32_t high) {
        return ir::constant(Array::of<int32_t>(DType::int32, {2, 1}, {low, high}));
    };
    const Tensor part = ops::map("bitwise_and", {ops::astype(both, DType::int32), halves(15, 240)});
    const Tensor number = floats(ops::map("subtract", {part, halves(8, 128)}));
    const Tensor scale =
        ir::constant(Array::of<float>(DType::float32, {groups, 1, tiles, 2, half}, scales),
                     name.empty() ? "" : name + "_scales");
    return ops::reshape(number * scale, {depth, tiles * tile});
}

// Whether the nearest number of a short float's dtype is finite.
bool is_finite_in(DType dtype, float x) {
    if (std::abs(x) <= ir::float_format(dtype).greatest()) return true;
    const uint16_t bits = ir::scalar::short_from_double(dtype, x);
    return std::isfinite(ir::scalar::double_from_short(dtype, bits));
}

// (depth, columns) of numbers of a dtype, each the nearest to the weight's.
Tensor of_short_floats(const Tensor& matrix, DType dtype, const std::string& name) {
    return floats(ir::constant(execute::evaluate({ops::astype(matrix, dtype)})[0], name));
}

// Known tensors as arrays; what they are for, in an error.
std::vector<Array> known(const std::vector<Tensor>& tensors, std::string_view what) {
    for (const Tensor& tensor : tensors)
        user_check<ValueError>(!tensor.node().is_open(), "quantize: ", what,
                               " is not known: ", tensor.type(),
                               " depends on an argument. Arrays are required.");
    return execute::evaluate(tensors);
}

}  // namespace

Quantizer::Quantizer(QuantizeOptions options) : options_(options) {
    user_check<ValueError>(options.bits == 8 || options.bits == 4, "quantize: bits is ",
                           options.bits, ". 8 or 4 is required.");
    user_check<ValueError>(options.group >= 0, "quantize: group is ", options.group,
                           ". A positive number of elements is required, or 0 for all.");
    if (!options.dtype) return;
    user_check<ValueError>(ir::is_short_float(*options.dtype), "quantize: dtype is ",
                           *options.dtype,
                           ". A float of 16 or eight bits is required; bits are for integers.");
    user_check<ValueError>(options.group == 0, "quantize: weights of ", *options.dtype,
                           " have no scales, but group is ", options.group, ". 0 is required.");
}

void Quantizer::observe(const std::vector<Tensor>& given, const std::vector<Tensor>& arguments) {
    user_check<ValueError>(known_.empty(), "quantize: the weights are quantised already. ",
                           "Observe inputs before the first call.");
    const std::vector<Tensor> outputs = transforms::inline_calls(given);
    for (const Product& product : products_of(outputs, arguments)) {
        const Node& node = *product.node;
        const Tensor &weight = node.operand(product.weight), &x = node.operand(1 - product.weight);
        const ops::Contraction c = ops::contraction_of(node.attributes());
        const Axes& along = product.weight == 1 ? c.contracted_a : c.contracted_b;
        const Tensor rows = as_matrix(x, ops::free_axes(x, {}, along), along);
        const std::vector<Array> values =
            known({rows, as_matrix(weight, product.contracted, product.free)},
                  "what a weight is multiplied with");
        std::vector<double>& sums = squares_[hash_of(values[1])];
        const int64_t depth = values[0].shape()[1];
        sums.resize(static_cast<size_t>(depth), 0);
        for (int64_t i = 0; i < values[0].size(); ++i) {
            const double element = values[0].data_as<float>()[i];
            sums[static_cast<size_t>(i % depth)] += element * element;
        }
    }
}

Quantizer::Stored Quantizer::stored(const Tensor& operand, const Axes& contracted) {
    const Axes free = ops::free_axes(operand, {}, contracted);
    const Tensor as_read = as_matrix(operand, contracted, free);
    const Array matrix = execute::evaluate({as_read})[0];
    const uint64_t hash = hash_of(matrix);
    const uint64_t key = hash_combine(hash, free.size() == 1 ? 1 : 0);  // may have more columns
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    QuantizedWeight row;
    row.name = constant_behind(operand)->name();
    row.shape = operand.shape();
    row.depth = matrix.shape()[0], row.columns = matrix.shape()[1];
    row.bytes_before = row.bytes_after = matrix.bytes();
    const int64_t group = options_.group == 0 ? row.depth : options_.group;
    if (matrix.size() == 0)
        row.kept_because = "it has no elements";
    else if (matrix.size() < options_.least_elements)
        row.kept_because =
            text("it has ", matrix.size(), " elements, fewer than ", options_.least_elements);
    else if (row.depth % group != 0)
        row.kept_because = text("its depth ", row.depth, " is no multiple of the group of ", group);
    else if (!options_.dtype && options_.bits == 4 && free.size() != 1 && row.columns % tile != 0)
        row.kept_because =
            text("its ", row.columns, " columns are several axes and no multiple of ", tile);
    Stored made{weights_.size(), {}};
    if (row.kept_because.empty()) {
        const float* const elements = matrix.data_as<float>();
        for (int64_t i = 0; i < matrix.size(); ++i)
            user_check<ValueError>(std::isfinite(elements[i]), "quantize: the weight '", row.name,
                                   "' has the element ", elements[i],
                                   ". Finite elements are required.");
        std::vector<float> decoded(static_cast<size_t>(matrix.size()));
        if (options_.dtype) {
            for (int64_t i = 0; i < matrix.size(); ++i)
                user_check<ValueError>(is_finite_in(*options_.dtype, elements[i]),
                                       "quantize: the weight '", row.name, "' has the element ",
                                       elements[i], ", which ", *options_.dtype,
                                       " has no finite number for. A smaller one, bfloat16 or "
                                       "bits is required.");
            made.values = of_short_floats(ir::constant(matrix), *options_.dtype, row.name);
            const Array numbers = execute::evaluate({made.values})[0];
            std::copy_n(numbers.data_as<float>(), decoded.size(), decoded.begin());
            row.bytes_after = matrix.size() * ir::size_of(*options_.dtype);
        } else {
            const int most = options_.bits == 8 ? 127 : 7;
            const auto squares = squares_.find(hash);
            const Codes codes = codes_of(elements, row.depth, row.columns, group, most,
                                         squares == squares_.end() ? nullptr : &squares->second);
            made.values = options_.bits == 8
                              ? of_eight_bits(codes, row.depth, row.columns, group, row.name)
                              : of_four_bits(codes, row.depth, row.columns, group, row.name);
            row.bytes_after = matrix.size() * options_.bits / 8 +
                              static_cast<int64_t>(codes.scales.size() * sizeof(float));
            for (int64_t i = 0; i < matrix.size(); ++i) {
                const int64_t k = i / row.columns, n = i % row.columns;
                decoded[static_cast<size_t>(i)] =
                    float(codes.whole[static_cast<size_t>(i)]) *
                    codes.scales[static_cast<size_t>(k / group * row.columns + n)];
            }
        }
        double errors = 0, squared = 0;
        for (int64_t i = 0; i < matrix.size(); ++i) {
            const double error =
                std::abs(double(decoded[static_cast<size_t>(i)]) - double(elements[i]));
            row.largest_error = std::max(row.largest_error, error);
            errors += error * error, squared += double(elements[i]) * double(elements[i]);
        }
        row.relative_error = squared > 0 ? std::sqrt(errors / squared) : 0;
    }
    weights_.push_back(std::move(row));
    return known_.emplace(key, made).first->second;
}

// The product with a decoded weight in place of a constant. The decoded one may have more columns.
Tensor Quantizer::with_decoded(const Node& node, int side, const Axes& contracted,
                               const Tensor& other) {
    const Tensor& operand = node.operand(side);
    const Stored weight = stored(operand, contracted);
    if (!weight.values) return {};
    // The extents of (depth, columns), turned back into the operand's order.
    const Axes order = joined(contracted, ops::free_axes(operand, {}, contracted));
    Shape extents;
    for (int64_t axis : order) extents.push_back(operand.shape()[static_cast<size_t>(axis)]);
    const bool is_wider = weight.values.shape()[1] != weights_[weight.number].columns;
    if (is_wider) extents.back() = weight.values.shape()[1];
    Axes back(order.size());
    for (size_t d = 0; d < order.size(); ++d)
        back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    const Tensor decoded = ops::transpose(ops::reshape(weight.values, extents), back);
    const ops::Contraction c = ops::contraction_of(node.attributes());
    const Tensor made =
        side == 1 ? ops::contract(other, decoded, c) : ops::contract(decoded, other, c);
    if (!is_wider) return made;
    const Shape& shape = node.types()[0].shape;
    return ops::slice(made, std::vector<int64_t>(shape.size(), 0), shape,
                      std::vector<int64_t>(shape.size(), 1));
}

std::vector<Tensor> Quantizer::operator()(const std::vector<Tensor>& given,
                                          const std::vector<Tensor>& arguments) {
    // What brings a derivative of its own stays, as do the marks of what is derived by.
    const std::vector<Tensor> outputs = transforms::open_for_derivatives(given);
    std::unordered_map<const Node*, Product> products;
    for (const Product& product : products_of(outputs, arguments))
        products.emplace(product.node, product);
    std::unordered_map<const Node*, Tensor> instead;     // of products
    std::unordered_map<const Node*, Ref<Node>> rebuilt;  // of what comes behind them
    const auto current = [&](const Tensor& tensor) {
        if (const auto found = instead.find(&tensor.node()); found != instead.end())
            return found->second;
        const auto found = rebuilt.find(&tensor.node());
        return found == rebuilt.end() ? tensor : Tensor(found->second, tensor.output_index());
    };
    for (const Node* node : ir::topological_order(outputs)) {
        if (const auto found = products.find(node); found != products.end()) {
            const Product& product = found->second;
            const Tensor other = current(node->operand(1 - product.weight));
            if (Tensor made = with_decoded(*node, product.weight, product.contracted, other)) {
                instead.emplace(node, std::move(made));
                continue;
            }
        }
        std::vector<Tensor> operands;
        for (const Tensor& operand : node->operands()) operands.push_back(current(operand));
        if (operands != node->operands())
            rebuilt.emplace(node, ir::with_operands(*node, std::move(operands)));
    }
    std::vector<Tensor> result;
    for (const Tensor& output : outputs) result.push_back(current(output));
    return result;
}

std::vector<QuantizationError> Quantizer::errors(const std::vector<Example>& examples) {
    struct Sums {
        double differences = 0, squares = 0;
        int64_t rows = 0, same = 0;
    };
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const size_t count = examples.empty() ? 0 : examples[0].outputs.size();
    std::vector<QuantizationError> found(count);
    std::vector<Sums> sums(count);
    for (const auto& [outputs, arguments] : examples) {
        user_check<ValueError>(outputs.size() == count, "quantize: an example has ", outputs.size(),
                               " outputs, the first one ", count, ". As many are required.");
        std::vector<Tensor> both;
        for (const std::vector<Tensor>& tensors : {outputs, (*this)(outputs, arguments)})
            for (const Tensor& tensor : tensors)
                both.push_back(ops::astype(tensor, DType::float64));
        const std::vector<Array> values = known(both, "an output");
        for (size_t i = 0; i < count; ++i) {
            const Array &exact = values[i], &close = values[i + count];
            const double *x = exact.data_as<double>(), *y = close.data_as<double>();
            for (int64_t k = 0; k < exact.size(); ++k) {
                const bool is_same = x[k] == y[k] || (std::isnan(x[k]) && std::isnan(y[k]));
                const double apart = is_same ? 0 : std::abs(x[k] - y[k]);
                const double difference = std::isnan(apart) ? infinite : apart;
                found[i].largest = std::max(found[i].largest, difference);
                sums[i].differences += difference * difference;
                if (std::isfinite(x[k])) sums[i].squares += x[k] * x[k];
            }
            const int64_t length = exact.shape().empty() ? 1 : exact.shape().back();
            const auto largest = [&](const double* row) {
                return std::max_element(row, row + length) - row;
            };
            for (int64_t at = 0; at < exact.size(); at += length) {
                ++sums[i].rows;
                sums[i].same += largest(x + at) == largest(y + at);
            }
        }
    }
    for (size_t i = 0; i < count; ++i) {
        const Sums& of = sums[i];
        if (of.differences > 0) found[i].relative = std::sqrt(of.differences / of.squares);
        if (of.rows > 0) found[i].same_argmax = double(of.same) / double(of.rows);
    }
    return found;
}

std::string Quantizer::report(const std::vector<QuantizationError>& errors) const {
    const auto number = [](double value) {
        std::array<char, 32> made{};
        std::snprintf(made.data(), made.size(), "%.3g", value);
        return std::string(made.data());
    };
    std::vector<std::vector<std::string>> rows = {
        {"weight", "shape", "bytes", "stored", "relative error", "largest error"}};
    int64_t before = 0, after = 0;
    for (const QuantizedWeight& weight : weights_) {
        before += weight.bytes_before, after += weight.bytes_after;
        std::vector<std::string> row = {weight.name.empty() ? "(no name)" : weight.name,
                                        text("(", join(weight.shape), ")"),
                                        text(weight.bytes_before), text(weight.bytes_after)};
        if (weight.kept_because.empty())
            row.insert(row.end(), {number(weight.relative_error), number(weight.largest_error)});
        rows.push_back(std::move(row));
    }
    rows.push_back({"all", "", text(before), text(after)});
    std::string result = aligned_columns(rows, 2);
    for (const QuantizedWeight& weight : weights_)
        if (!weight.kept_because.empty())
            result += text(weight.name.empty() ? "a weight without a name" : weight.name,
                           " stays float32: ", weight.kept_because, "\n");
    for (size_t i = 0; i < errors.size(); ++i)
        result += text("output ", i, ": relative error ", number(errors[i].relative), ", largest ",
                       number(errors[i].largest), ", same largest element in ",
                       number(100 * errors[i].same_argmax), " % of rows\n");
    return result;
}

std::vector<Tensor> quantize(const std::vector<Tensor>& outputs, QuantizeOptions options) {
    return Quantizer(options)(outputs);
}

}  // namespace composit::nn
