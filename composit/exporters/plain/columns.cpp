#include "composit/exporters/plain/columns.h"

#include "composit/base/text.h"
#include "composit/exporters/plain/shapes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

namespace composit::plain {
namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Contract;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Program;

constexpr int64_t least_columns = 8;           // as few are no vector
constexpr int64_t operations_per_copied = 16;  // of a copy that pays

// An operand of a contraction, with the loops that its strides belong to.
struct Operand {
    Access* access = nullptr;
    Extents loops;
    size_t first = 0, count = 0;  // its own loops: rows or columns
    Extents others;               // the other operand's
};

std::vector<Operand> operands_of(Contract& c) {
    using ir::kernel::concatenate;
    return {{&c.left, concatenate({c.batch, c.rows, c.depth}), c.batch.size(), c.rows.size(),
             c.columns},
            {&c.right, concatenate({c.batch, c.depth, c.columns}), c.batch.size() + c.depth.size(),
             c.columns.size(), c.rows}};
}

// How many sums lie side by side along an operand, as it is.
int64_t columns_along(const Operand& operand) {
    int64_t most = 1;
    for (size_t l = operand.first; l < operand.first + operand.count; ++l)
        if (operand.access->strides[l] == 1) most = std::max(most, operand.loops[l]);
    return most;
}

// The axis of the array that becomes the last one, and the access to the array that is so made.
struct Turned {
    size_t axis = 0;
    Access access;
    int64_t columns = 0;
};

std::vector<int64_t> with_last(std::vector<int64_t> of_axes, size_t axis) {
    const auto place = of_axes.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(place, place + 1, of_axes.end());
    return of_axes;
}

// That of the longest loop which walks along an axis of its own, element by element.
std::optional<Turned> turned(const Operand& operand, const std::vector<int64_t>& shape) {
    const auto axes = along_axes(*operand.access, operand.loops, shape);
    if (!axes) return {};
    std::optional<Turned> found;
    for (size_t l = operand.first; l < operand.first + operand.count; ++l)
        for (size_t a = 0; a + 1 < axes->size(); ++a) {
            const auto& strides = (*axes)[a].strides;
            const auto walks = std::count_if(strides.begin(), strides.end(),
                                             [](int64_t stride) { return stride != 0; });
            if (strides[l] != 1 || walks != 1 || operand.loops[l] < least_columns) continue;
            if (!found || operand.loops[l] > found->columns)
                found = Turned{a, *operand.access, operand.loops[l]};
        }
    if (!found) return {};
    const std::vector<int64_t> steps = ir::row_major_strides(with_last(shape, found->axis));
    Access& made = found->access;
    made.offset = 0;
    std::fill(made.strides.begin(), made.strides.end(), 0);
    for (size_t a = 0; a < axes->size(); ++a) {
        const size_t place = a < found->axis ? a : a == found->axis ? axes->size() - 1 : a - 1;
        made.offset += (*axes)[a].offset * steps[place];
        for (size_t l = 0; l < made.strides.size(); ++l)
            made.strides[l] += (*axes)[a].strides[l] * steps[place];
    }
    return found;
}

ir::Array copied(const ir::Array& value, size_t axis) {
    const ir::Shape shape = with_last(value.shape(), axis);
    ir::Array made = ir::Array::zeros(value.dtype(), shape);
    const auto size = static_cast<size_t>(ir::size_of(value.dtype()));
    int64_t inside = 1;
    for (size_t d = axis + 1; d < value.shape().size(); ++d) inside *= value.shape()[d];
    const int64_t length = value.shape()[axis], outside = value.size() / (length * inside);
    auto* to = static_cast<char*>(made.mutable_data());
    for (int64_t o = 0; o < outside; ++o)
        for (int64_t i = 0; i < inside; ++i)
            for (int64_t a = 0; a < length; ++a, to += size)
                std::memcpy(to,
                            value.data_as<char>() +
                                static_cast<size_t>((o * length + a) * inside + i) * size,
                            size);
    return made;
}

class Turning {
  public:
    explicit Turning(Program program) : program_(std::move(program)) {
        for (const Kernel& kernel : program_.kernels)
            ir::kernel::for_each_step(kernel, [&](const Kernel& step) {
                for (const int b : ir::kernel::buffers_read(step)) ++reads_[b];
            });
    }

    Program run() {
        visit(program_.kernels);
        return std::move(program_);
    }

  private:
    Buffer& buffer_of(int b) { return program_.buffers[static_cast<size_t>(b)]; }

    void visit(std::vector<Kernel>& kernels) {
        for (size_t k = 0; k < kernels.size(); ++k) {
            if (auto* repeat = std::get_if<ir::kernel::Repeat>(&kernels[k].body))
                visit(repeat->kernels);
            auto* contract = std::get_if<Contract>(&kernels[k].body);
            if (contract == nullptr) continue;
            if (auto copy = turn(*contract, kernels[k])) {
                kernels.insert(kernels.begin() + static_cast<std::ptrdiff_t>(k), std::move(*copy));
                ++k;
            }
        }
    }

    // Changes the access of one operand; the kernel that makes what it reads, if that is needed.
    std::optional<Kernel> turn(Contract& contract, const Kernel& kernel) {
        std::vector<Operand> operands = operands_of(contract);
        if (std::any_of(operands.begin(), operands.end(),
                        [](const Operand& each) { return columns_along(each) >= least_columns; }))
            return {};
        const int64_t work = ir::element_count(ir::kernel::concatenate(
            {contract.batch, contract.rows, contract.columns, contract.depth}));
        std::optional<Turned> best;
        const Operand* chosen = nullptr;
        for (const Operand& operand : operands) {
            const Buffer& buffer = buffer_of(operand.access->buffer);
            const auto found = turned(operand, buffer.shape);
            if (!found) continue;
            const bool is_free = is_of_one_reader(buffer, operand.access->buffer);
            if (!is_free && work < operations_per_copied * ir::element_count(buffer.shape))
                continue;
            if (best && best->columns >= found->columns) continue;
            best = found;
            chosen = &operand;
        }
        if (!best) return {};
        const int from = chosen->access->buffer;
        const std::vector<int64_t> shape = buffer_of(from).shape;
        Buffer made = buffer_of(from);
        made.shape = with_last(shape, best->axis);
        made.starts_as = -1;
        made.arena_offset = -1;
        best->access.buffer = static_cast<int>(program_.buffers.size());
        *chosen->access = best->access;
        if (made.kind == BufferKind::constant) {
            made.value = copied(made.value.value(), best->axis);
            program_.buffers.push_back(std::move(made));
            return {};
        }
        made.kind = BufferKind::temporary;
        made.name.clear();
        program_.buffers.push_back(std::move(made));
        return copy(from, shape, *best, kernel);
    }

    // A constant that nothing else reads takes no memory twice.
    bool is_of_one_reader(const Buffer& buffer, int number) const {
        return buffer.kind == BufferKind::constant && reads_.at(number) == 1;
    }

    static Kernel copy(int from, const std::vector<int64_t>& shape, const Turned& to,
                       const Kernel& kernel) {
        const ir::DType dtype = to.access.dtype;
        std::vector<int64_t> steps = ir::row_major_strides(shape);
        const std::vector<int64_t> turned_shape = with_last(shape, to.axis);
        Access read{from, dtype, 0, with_last(steps, to.axis)};
        Access written{to.access.buffer, dtype, 0, ir::row_major_strides(turned_shape)};
        Kernel made;
        made.name = kernel.name + "_transpose";
        made.comment = "transpose";
        made.lines = kernel.lines;
        made.body = ir::kernel::Map{
            turned_shape, {read}, {ir::scalar::Expr::argument(0, dtype)}, {written}};
        return made;
    }

    Program program_;
    std::map<int, int> reads_;  // of each buffer, kernels
};

}  // namespace

Program with_columns_side_by_side(Program program) { return Turning(std::move(program)).run(); }

}  // namespace composit::plain
