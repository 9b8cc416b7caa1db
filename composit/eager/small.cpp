#include "composit/eager/small.h"

#include "composit/base/default_floating_point.h"
#include "composit/eager/pending.h"
#include "composit/ir/scalar/values.h"
#include "composit/ops/components.h"
#include "composit/ops/ops.h"

#include <cfenv>
#include <cstring>
#include <optional>

namespace composit::eager {
namespace {

using ir::DType;
using ir::Node;
using ir::scalar::Bits;
using ir::scalar::Op;
using ir::scalar::Specialisation;

struct Number {
    DType dtype;
    Bits bits;
};

Number number_at(const ir::ConstantArray& array, int64_t place) {
    Number number{array.dtype(), {}};
    const auto size = static_cast<size_t>(ir::size_of(array.dtype()));
    const std::shared_ptr<const void> memory = array.row_major();
    std::memcpy(number.bits.data(),
                static_cast<const char*>(memory.get()) + static_cast<size_t>(place) * size, size);
    return number;
}

int64_t place_of(const std::vector<int64_t>& position, const ir::Shape& shape) {
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d) place = place * shape[d] + position[d];
    return place;
}

// The operations that programs of single numbers are made of, as the processor has them; what has
// no value here is left to `evaluate`.
std::optional<Bits> quickly(Op op, double a, double b) {
    using ir::scalar::store;
    switch (op) {
        case Op::add: return store(a + b);
        case Op::subtract: return store(a - b);
        case Op::multiply: return store(a * b);
        case Op::divide: return store(a / b);
        case Op::less: return store(a < b);
        case Op::less_equal: return store(a <= b);
        case Op::equal: return store(a == b);
        case Op::not_equal: return store(a != b);
        default: return {};
    }
}

Bits value_of(const Specialisation& function, const std::vector<Bits>& x) {
    const std::vector<DType>& dtypes = function.signature.operands;
    const ir::scalar::Expr& body = function.body;
    if (function.is_one_operation && body.operands().size() == 2 && dtypes[0] == DType::float64 &&
        dtypes[1] == DType::float64) {
        const auto operand = [&](int i) {
            const auto& argument = body.operand(i);
            const bool is_argument = argument.op() == Op::argument;
            return ir::scalar::load<double>(is_argument ? x[static_cast<size_t>(argument.index())]
                                                        : argument.bits());
        };
        const auto is_plain = [&](int i) {
            return body.operand(i).op() == Op::argument || body.operand(i).op() == Op::constant;
        };
        if (is_plain(0) && is_plain(1))
            if (const auto found = quickly(body.op(), operand(0), operand(1))) return *found;
    }
    return ir::scalar::evaluate({body}, x)[0];
}

class Computing {
  public:
    explicit Computing(std::vector<Tensor>* needed) : needed_(needed) {}

    std::optional<Number> number(const Tensor& tensor, int depth) {
        const Node& node = tensor.node();
        if (tensor.rank() != 0 || node.is_open()) return fail();
        if (const ir::ConstantArray value = known(tensor)) return number_at(value, 0);
        if (depth == 0) return fail();
        if (ops::is_element(node)) return element(node);
        if (ops::is_map(node)) return mapped(node, depth - 1);
        if (!ops::is_astype(node)) return fail();
        const auto x = number(node.operand(0), depth - 1);
        if (!x) return {};
        const DType dtype = tensor.dtype();
        return Number{dtype, ir::scalar::cast_bits(x->dtype, dtype, x->bits)};
    }

    bool is_impossible() const { return is_impossible_; }

  private:
    std::nullopt_t fail() {
        is_impossible_ = true;
        return std::nullopt;
    }

    std::optional<Number> element(const Node& node) {
        const Tensor& source = node.operand(0);
        if (const ir::ConstantArray value = known(source))
            return number_at(value, place_of(ops::element_position(node), source.shape()));
        if (!needed_) return fail();
        needed_->push_back(source);
        return {};
    }

    std::optional<Number> mapped(const Node& node, int depth) {
        const Specialisation& function = ops::map_specialisation(node);
        std::vector<Bits> x;
        x.reserve(node.operands().size());
        bool is_complete = true;
        for (size_t i = 0; i < node.operands().size(); ++i) {
            const auto operand = number(node.operands()[i], depth);
            if (is_impossible_) return {};
            is_complete = is_complete && operand;
            if (!operand) continue;
            x.push_back(ir::scalar::cast_bits(operand->dtype, function.signature.operands[i],
                                              operand->bits));
        }
        if (!is_complete) return {};
        const uint8_t reported = node.error_handling() ? node.error_handling()->reported() : 0;
        if (reported != 0 && is_reported_by_value(node, function)) return fail();
        if (reported == 0) return Number{node.types()[0].dtype, value_of(function, x)};
        std::feclearexcept(FE_ALL_EXCEPT);
        const Number result{node.types()[0].dtype, value_of(function, x)};
        const bool under = (reported & ir::ErrorHandling::under) != 0;
        const int loud = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | (under ? FE_UNDERFLOW : 0);
        if (std::fetestexcept(loud) != 0) return fail();
        return result;
    }

    // Warnings of their own, and integers divided by zero, raise no flags: plans find them.
    static bool is_reported_by_value(const Node& node, const Specialisation& function) {
        const auto& signals = node.attributes().get<ir::scalar::RowRef>("row")->signals;
        const bool is_inexact = ir::is_inexact(function.signature.operands[0]);
        return !signals.warning.empty() || (!signals.poles.empty() && !is_inexact);
    }

    std::vector<Tensor>* needed_;
    bool is_impossible_ = false;
};

Array array_of(const Number& number) {
    Array array(number.dtype, {});
    std::memcpy(array.mutable_data(), number.bits.data(),
                static_cast<size_t>(ir::size_of(number.dtype)));
    return array;
}

// Of a dtype that holds every number of another one.
bool fits(DType from, bool is_weak, DType to) {
    if (from == to || from == DType::boolean) return true;
    return is_weak && from == DType::int64 && to == DType::float64;
}

// The memory of a tensor's value, if it can be had for one's own; else a copy of it.
Array taken(const Tensor& tensor, bool is_only) {
    const Node& node = tensor.node();
    if (is_only && !ir::is_constant(node)) {
        Array array = node.give_up_kept(tensor.output_index()).value();
        if (array.owner().use_count() == 1 && !array.is_borrowed()) return array;
        node.keep(tensor.output_index(), array);
    }
    const ir::ConstantArray value = known(tensor);
    Array copy(value.dtype(), value.shape());
    std::memcpy(copy.mutable_data(), value.row_major().get(), static_cast<size_t>(value.bytes()));
    return copy;
}

}  // namespace

ir::ConstantArray known(const Tensor& tensor) {
    if (ir::is_constant(tensor.node())) return ir::constant_array(tensor.node());
    return tensor.node().kept(tensor.output_index());
}

Small compute_small(const Tensor& tensor, int depth, std::vector<Tensor>* needed) {
    const DefaultFloatingPoint floating_point;
    Computing computing(needed);
    const std::optional<Number> number = computing.number(tensor, depth);
    if (!number) return computing.is_impossible() ? Small::impossible : Small::needs;
    if (!ir::is_constant(tensor.node()) && !tensor.type().weak)
        tensor.node().keep(tensor.output_index(), array_of(*number));
    return Small::computed;
}

bool write_element(const Cell& cell, const std::vector<int64_t>& position, const Tensor& value) {
    if (!cell.is_plain()) return false;
    const Tensor& before = cell.tensor();
    const DType dtype = before.dtype();
    if (value.rank() != 0 || value.node().is_open() ||
        !fits(value.dtype(), value.type().weak, dtype))
        return false;
    const ir::ConstantArray written = known(value);
    ir::ConstantArray there = known(before);
    if (!written || !there || there.is_borrowed()) return false;
    there = {};  // one owner less
    const Number number = number_at(written, 0);
    const Bits bits = ir::scalar::cast_bits(number.dtype, dtype, number.bits);
    const bool is_only = before.node().use_count() == 1;
    const Tensor after = ops::with_element(before, position, ops::astype(value, dtype));
    const Array array = taken(before, is_only);
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    const auto place = static_cast<size_t>(place_of(position, before.shape()));
    std::memcpy(static_cast<char*>(array.mutable_data()) + place * size, bits.data(), size);
    after.node().keep(0, array);
    cell.replace(after);
    return true;
}

}  // namespace composit::eager
