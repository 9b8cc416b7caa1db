#include "composit/foreign/long_calls.h"

#include "composit/runtime/floating_flags.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace composit::foreign {
namespace {

using runtime::ForeignArray;
using runtime::ForeignCall;

// Operations of one matrix that take some hundredths of a second, times which a thread is nothing.
constexpr double long_work = 0x1p25;

double work_of_a_matrix(const ForeignCall& call) {
    double work = 0;
    for (const ForeignArray& array : call.inputs) {
        const size_t rank = array.shape.size();
        if (rank < 2) continue;
        const auto m = static_cast<double>(array.shape[rank - 2]),
                   n = static_cast<double>(array.shape[rank - 1]);
        work = std::max(work, m * n * std::min(m, n));
    }
    return work;
}

std::vector<int64_t> dense_strides(const ir::kernel::Extents& shape) {
    std::vector<int64_t> strides(shape.size());
    int64_t stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) strides[axis] = stride;
    return strides;
}

// An operand in memory of its own, as row-major.
class Copied {
  public:
    // `original` has to live while elements are copied from or to it, not longer.
    explicit Copied(const ForeignArray& original) : array_(original) {
        size_ = static_cast<size_t>(
            original.dtype == ir::DType::complex128 ? sizeof(double) : ir::size_of(original.dtype));
        int64_t count = 1;
        for (const int64_t extent : original.shape) count *= extent;
        array_.strides = dense_strides(original.shape);
        real_.resize(static_cast<size_t>(count) * size_);
        array_.data = real_.data();
        if (!original.imaginary) return;
        array_.imaginary_strides = array_.strides;
        imaginary_.resize(real_.size());
        array_.imaginary = imaginary_.data();
    }

    void read(const ForeignArray& from) {
        move<true>(from, from.data, from.strides, real_);
        if (from.imaginary) move<true>(from, from.imaginary, from.imaginary_strides, imaginary_);
    }
    void write(const ForeignArray& to) {
        move<false>(to, to.data, to.strides, real_);
        if (to.imaginary) move<false>(to, to.imaginary, to.imaginary_strides, imaginary_);
    }
    const ForeignArray& array() const { return array_; }

  private:
    template <bool reads>
    void move(const ForeignArray& other, void* data, const std::vector<int64_t>& strides,
              std::vector<char>& own) const {
        char* at = own.data();
        if (!own.empty()) move_axis<reads>(other, 0, static_cast<char*>(data), strides, at);
    }
    template <bool reads>
    void move_axis(const ForeignArray& other, size_t axis, char* element,
                   const std::vector<int64_t>& strides, char*& own) const {
        if (axis == other.shape.size()) {
            std::memcpy(reads ? own : element, reads ? element : own, size_);
            own += size_;
            return;
        }
        const auto step = strides[axis] * static_cast<int64_t>(size_);
        for (int64_t i = 0; i < other.shape[axis]; ++i)
            move_axis<reads>(other, axis + 1, element + i * step, strides, own);
    }

    ForeignArray array_;
    size_t size_ = 0;
    std::vector<char> real_, imaginary_;
};

// All that a call touches. Moving a Copied keeps its memory where it is.
struct OwnCall {
    ForeignCall call;
    std::vector<Copied> inputs, outputs;
    runtime::FloatingFlags flags = 0;

    explicit OwnCall(const ForeignCall& original) {
        call.options = original.options;
        for (const ForeignArray& input : original.inputs) {
            inputs.emplace_back(input).read(input);
            call.inputs.push_back(inputs.back().array());
        }
        for (const ForeignArray& output : original.outputs)
            call.outputs.push_back(outputs.emplace_back(output).array());
    }
};

}  // namespace

bool has_no_elements(const ForeignCall& call) {
    const auto is_empty = [](const ForeignArray& array) {
        return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end();
    };
    return std::all_of(call.inputs.begin(), call.inputs.end(), is_empty) &&
           std::all_of(call.outputs.begin(), call.outputs.end(), is_empty);
}

void run_answering(runtime::ForeignFunction function, const ForeignCall& call) {
    if (has_no_elements(call)) return;
    if (work_of_a_matrix(call) < long_work) return function(call);
    const auto own = std::make_shared<OwnCall>(call);
    runtime::run_or_leave_behind([own, function] {
        runtime::take_floating_flags();
        function(own->call);
        own->flags = runtime::take_floating_flags();
    });
    for (size_t i = 0; i < own->outputs.size(); ++i) own->outputs[i].write(call.outputs[i]);
    runtime::raise_floating_flags(own->flags);
}

}  // namespace composit::foreign
