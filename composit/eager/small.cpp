#include "composit/eager/small.h"

#include "composit/base/default_floating_point.h"
#include "composit/eager/loops.h"
#include "composit/ir/scalar/values.h"
#include "composit/ops/components.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace composit::eager {
namespace {

using ir::DType;
using ir::Node;
using ir::scalar::Bits;
using ir::scalar::Specialisation;

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

// Where a view's elements lie in the value of its base, which is row-major.
std::optional<Region> region_in(const Tensor& base, const Tensor& view) {
    return region_through(base, {0, ir::row_major_strides(base.shape())}, view);
}

class Computing {
  public:
    explicit Computing(std::vector<Tensor>* needed) : needed_(needed) {}

    std::optional<Number> number(const Tensor& tensor, int depth) {
        const Node& node = tensor.node();
        if (tensor.rank() != 0 || node.is_open() || node.reads_borrowed() ||
            ir::is_complex(tensor.dtype()))
            return fail();
        if (ir::is_constant(node)) return number_at(ir::constant_array(node), 0);
        Number found{tensor.dtype(), {}};
        if (node.output_count() == 1 && node.copy_kept_number(found.bits.data())) return found;
        if (depth == 0) return fail();
        if (ops::is_element(node)) return element(tensor);
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

    std::optional<Number> element(const Tensor& tensor) {
        const Tensor* source = &tensor.node().operand(0);
        if (const ir::ConstantArray value = known(*source))
            return number_at(value,
                             place_of(ops::element_position(tensor.node()), source->shape()));
        while (is_layout(source->node()) && !known(*source)) source = &source->node().operand(0);
        if (const ir::ConstantArray value = known(*source)) {
            const auto region = region_in(*source, tensor);
            return region ? std::optional(number_at(value, region->offset)) : fail();
        }
        if (!needed_) return fail();
        needed_->push_back(*source);
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
        const std::optional<Bits> bits = computed(function, x, reported);
        return bits ? std::optional(Number{node.types()[0].dtype, *bits}) : fail();
    }

    std::vector<Tensor>* needed_;
    bool is_impossible_ = false;
};

}  // namespace

ir::ConstantArray known(const Tensor& tensor) {
    if (ir::is_constant(tensor.node())) return ir::constant_array(tensor.node());
    return tensor.node().kept(tensor.output_index());
}

Array copied(const ir::ConstantArray& values) {
    Array copy(values.dtype(), values.shape());
    std::memcpy(copy.mutable_data(), values.row_major().get(), static_cast<size_t>(values.bytes()));
    return copy;
}

Array elements_at(const void* memory, const Region& region, DType dtype, const ir::Shape& shape) {
    Array elements(dtype, shape);
    const auto size = static_cast<size_t>(ir::size_of(dtype));
    const auto* const from = static_cast<const char*>(memory);
    auto* to = static_cast<char*>(elements.mutable_data());
    for_each_row(region, shape, [&](int64_t place, int64_t step, int64_t length) {
        for (int64_t i = 0; i < length; ++i, to += size)
            std::memcpy(to, from + static_cast<size_t>(place + i * step) * size, size);
    });
    return elements;
}

namespace {

constexpr int64_t most_elements = 32;  // of a view that is copied
constexpr size_t most_nodes = 64;      // of a graph that is looked through

// The elements of a layout operation's result whose base is known.
void copy_view(const Tensor& view) {
    const Tensor* base = &view;
    while (is_layout(base->node()) && !known(*base)) base = &base->node().operand(0);
    const ir::ConstantArray there = known(*base);
    if (!there || view.node().reads_borrowed()) return;
    const auto region = region_in(*base, view);
    if (!region) return;
    const Array copy = elements_at(there.row_major().get(), *region, view.dtype(), view.shape());
    view.node().keep(view.output_index(), copy);
}

}  // namespace

void compute_small_views(const Tensor& tensor) {
    std::vector<const Tensor*> open{&tensor};
    std::vector<const Node*> seen;
    while (!open.empty() && seen.size() < most_nodes) {
        const Tensor& x = *open.back();
        open.pop_back();
        const Node& node = x.node();
        if (node.operands().empty() || std::find(seen.begin(), seen.end(), &node) != seen.end())
            continue;
        seen.push_back(&node);
        if (is_layout(node) && x.size() > 0 && x.size() <= most_elements && !known(x)) copy_view(x);
        if (known(x)) continue;
        for (const Tensor& operand : node.operands()) open.push_back(&operand);
    }
}

std::optional<Number> small_number(const Tensor& tensor) {
    const DefaultFloatingPoint floating_point;
    return Computing(nullptr).number(tensor, most_depth);
}

Small compute_small(const Tensor& tensor, int depth, std::vector<Tensor>* needed) {
    const DefaultFloatingPoint floating_point;
    Computing computing(needed);
    const std::optional<Number> number = computing.number(tensor, depth);
    if (!number) return computing.is_impossible() ? Small::impossible : Small::needs;
    if (!ir::is_constant(tensor.node()) && !tensor.type().weak)
        tensor.node().keep_number(number->bits.data());
    return Small::computed;
}

}  // namespace composit::eager
