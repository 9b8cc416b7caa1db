// The foreign function of procedures that nodes call: one run for each slice of a batch.
#include "composit/base/error.h"
#include "composit/foreign/long_calls.h"
#include "composit/ir/procedure/callable.h"
#include "composit/runtime/foreign.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <cstring>

namespace composit::foreign {
namespace {

using ir::procedure::Callable;
using ir::scalar::Bits;
using runtime::ForeignArray;
using runtime::ForeignCall;

int64_t product(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return count;
}

// The elements in row-major order: those of the array, or a copy.
class Dense {
  public:
    explicit Dense(const ForeignArray& array)
        : size_(static_cast<size_t>(ir::size_of(array.dtype))),
          at_(static_cast<char*>(array.data)) {
        int64_t expected = 1;
        bool is_dense = true;
        for (size_t axis = array.shape.size(); axis-- > 0;) {
            is_dense &= array.shape[axis] == 1 || array.strides[axis] == expected;
            expected *= array.shape[axis];
        }
        if (is_dense || expected == 0) return;
        copy_.resize(static_cast<size_t>(expected) * size_);
        char* to = copy_.data();
        copy_from(array, 0, at_, to);
        at_ = copy_.data();
    }

    char* at(int64_t element) const { return at_ + static_cast<size_t>(element) * size_; }

  private:
    void copy_from(const ForeignArray& array, size_t axis, const char* from, char*& to) const {
        if (axis == array.shape.size()) {
            std::memcpy(to, from, size_);
            to += size_;
            return;
        }
        const auto step = array.strides[axis] * static_cast<int64_t>(size_);
        for (int64_t i = 0; i < array.shape[axis]; ++i)
            copy_from(array, axis + 1, from + i * step, to);
    }

    size_t size_;
    char* at_;
    std::vector<char> copy_;
};

// The extents behind `rank` leading ones.
std::vector<int64_t> behind(const std::vector<int64_t>& shape, int64_t rank) {
    return {shape.begin() + static_cast<std::ptrdiff_t>(rank), shape.end()};
}

// options: the number of the procedure, and how many leading axes all operands have.
void call_procedure(const ForeignCall& call) {
    const Callable& callable = *ir::procedure::find_callable(call.options[0]);
    const int64_t rank = call.options[1];
    const std::vector<int>& operands = callable.operands();
    std::vector<Dense> inputs;
    std::vector<std::vector<int64_t>> shapes;
    for (size_t i = 0; i < operands.size(); ++i) {
        inputs.emplace_back(call.inputs[i]);
        if (operands[i] < 0) shapes.push_back(behind(call.inputs[i].shape, rank));
    }
    std::vector<int64_t> steps;
    for (const auto* arrays : {&call.inputs, &call.outputs})
        for (const ForeignArray& array : *arrays)
            steps.push_back(product(behind(array.shape, rank)));
    const std::vector<int64_t>& first = call.outputs[0].shape;
    int64_t slices = product({first.begin(), first.begin() + static_cast<long>(rank)});
    if (has_no_elements(call)) slices = std::min<int64_t>(slices, 1);  // all do the same
    const auto& procedure = callable.procedure();
    const size_t numbers = procedure.results.size();
    std::vector<Bits> parameters =
        callable.with_extents(std::vector<Bits>(procedure.parameters), shapes);
    std::vector<std::vector<int64_t>> all_shapes;  // where they are to be compared
    if (callable.has_numbers_in_extents()) {
        all_shapes = shapes;
        for (size_t k = numbers; k < call.outputs.size(); ++k)
            all_shapes.push_back(behind(call.outputs[k].shape, rank));
    }
    for (int64_t slice = 0; slice < slices; ++slice) {
        runtime::check_interrupt();
        std::vector<void*> arrays;
        for (size_t i = 0; i < operands.size(); ++i) {
            char* const at = inputs[i].at(slice * steps[i]);
            if (operands[i] < 0) {
                arrays.push_back(at);
                continue;
            }
            Bits& bits = parameters[static_cast<size_t>(operands[i])] = {};
            std::memcpy(bits.data(), at, static_cast<size_t>(size_of(call.inputs[i].dtype)));
        }
        if (callable.has_numbers_in_extents())  // of which nobody knew before
            callable.check_shapes(parameters, all_shapes,
                                  std::vector<bool>(procedure.parameters, true));
        const auto output = [&](size_t k) {
            return static_cast<char*>(call.outputs[k].data) +
                   slice * steps[operands.size() + k] * ir::size_of(call.outputs[k].dtype);
        };
        for (size_t k = numbers; k < call.outputs.size(); ++k) arrays.push_back(output(k));
        const std::vector<Bits> results = callable.run(parameters, arrays.data());
        for (size_t k = 0; k < numbers; ++k)
            std::memcpy(output(k), results[k].data(),
                        static_cast<size_t>(size_of(call.outputs[k].dtype)));
    }
}

const bool is_registered = [] {
    runtime::register_foreign_function("procedure", &call_procedure);
    return true;
}();

}  // namespace
}  // namespace composit::foreign
