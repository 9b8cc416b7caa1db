// Conversions of components, products, and what is done to each component alike.
#include "composit/ops/components.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/short_float_values.h"

#include <array>

namespace composit::ops {

using ir::Node;
using ir::scalar::Expr;
using ir::scalar::RowRef;

namespace {

// A row of one operand that is in no table: each short float has its own.
using ShortFunction = Expr (*)(const Expr&, DType);
RowRef short_row(std::string_view name, DType dtype, DType from, DType to, ShortFunction f) {
    ir::scalar::Row row;
    row.name = text(name, "_", dtype);
    row.doc = text(name, ", ", dtype);
    row.types = [from, to](std::string_view, const std::vector<DType>&) {
        return ir::scalar::Signature{{from}, to};
    };
    row.value = [dtype, f](const std::vector<Expr>& x) { return f(x[0], dtype); };
    return std::make_shared<const ir::scalar::Row>(std::move(row));
}

struct ShortRows {
    std::array<RowRef, ir::dtype_count> round;  // by the operand's dtype
    RowRef to_bits, from_bits;
};

ShortRows make_rows(DType dtype) {
    ShortRows rows;
    const DType whole = ir::unsigned_of_size(ir::size_of(dtype));
    for (int d = 0; d < ir::dtype_count; ++d) {
        const auto from = static_cast<DType>(d);
        if (has_components(from) || from == DType::boolean) continue;
        rows.round[static_cast<size_t>(d)] = short_row(
            text("round_", from, "_to"), dtype, from, DType::float32, ir::scalar::rounded_to_short);
    }
    rows.to_bits = short_row("bits_of", dtype, DType::float32, whole, ir::scalar::bits_of_short);
    rows.from_bits = short_row("value_of", dtype, whole, DType::float32, ir::scalar::short_of_bits);
    return rows;
}

const ShortRows& rows_of(DType dtype) {
    static const auto& rows = *[] {
        auto* const all = new std::array<ShortRows, ir::dtype_count>;
        for (int d = 0; d < ir::dtype_count; ++d)
            if (const auto each = static_cast<DType>(d); ir::is_short_float(each))
                (*all)[static_cast<size_t>(d)] = make_rows(each);
        return all;
    }();
    return rows[static_cast<size_t>(dtype)];
}

Tensor scalar(DType dtype, double value) { return ir::constant(Array::scalar(dtype, value)); }

Tensor convert_real(const Tensor& x, DType to) {
    const bool is_small = x.dtype() == DType::boolean;  // every short float has 0 and 1
    return ir::is_short_float(to) && !is_small ? rounded(x, to) : astype(x, component_dtype(to));
}

}  // namespace

bool has_components(DType dtype) { return ir::is_complex(dtype) || ir::is_short_float(dtype); }

DType component_dtype(DType dtype) {
    return ir::is_short_float(dtype) ? DType::float32 : ir::real_part_of(dtype);
}

Tensor rounded(const Tensor& x, DType dtype) {
    if (!ir::is_short_float(dtype)) return x;
    return map(rows_of(dtype).round[static_cast<size_t>(x.dtype())], {x});
}

Tensor bits_of_short(const Tensor& x, DType dtype) { return map(rows_of(dtype).to_bits, {x}); }
Tensor short_of_bits(const Tensor& bits, DType dtype) {
    return map(rows_of(dtype).from_bits, {bits});
}

Tensor conjugated(const Tensor& x) { return ir::is_complex(x.dtype()) ? map("conjugate", {x}) : x; }

Components converted(const Components& x, DType from, DType to) {
    if (from == to && !x.re.type().weak) return x;
    if (to == DType::boolean && x.im)
        return {map("logical_or", {astype(x.re, to), astype(x.im, to)}), {}};
    const Tensor re = from == to ? astype(x.re, component_dtype(to)) : convert_real(x.re, to);
    if (!ir::is_complex(to)) return {re, {}};
    const DType part = component_dtype(to);
    return {re, x.im ? astype(x.im, part) : full(x.re.shape(), scalar(part, 0))};
}

std::vector<Components> each_component(const Node& node, const std::vector<Components>& operands) {
    std::vector<Tensor> re, im;
    bool is_complex = false;
    for (const Components& x : operands) {
        re.push_back(x.re);
        im.push_back(x.im ? x.im : x.re);
        is_complex = is_complex || x.im;
    }
    const auto apply = [&](std::vector<Tensor> x) {
        return ir::outputs_of(
            ir::make_node(node.operation(), std::move(x), node.shared_attributes()));
    };
    const std::vector<Tensor> real = apply(std::move(re));
    const std::vector<Tensor> imaginary =
        is_complex ? apply(std::move(im)) : std::vector<Tensor>(real.size());
    std::vector<Components> result;
    for (size_t i = 0; i < real.size(); ++i) {
        const DType dtype = node.types()[i].dtype;
        const bool is_exact = node.operation().moves_elements;
        result.push_back({is_exact ? real[i] : rounded(real[i], dtype), imaginary[i]});
    }
    return result;
}

std::vector<Components> product_by_components(const Node& node,
                                              const std::vector<Components>& operands) {
    const Components &a = operands[0], &b = operands[1];
    if (!a.im) return each_component(node, operands);
    const auto product = [&](const Tensor& x, const Tensor& y) {
        return Tensor(ir::make_node(node.operation(), {x, y}, node.shared_attributes()), 0);
    };
    return {{map("subtract", {product(a.re, b.re), product(a.im, b.im)}),
             map("add", {product(a.re, b.im), product(a.im, b.re)})}};
}

}  // namespace composit::ops
