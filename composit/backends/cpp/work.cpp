#include "composit/backends/cpp/work.h"

#include "composit/backends/c_family/scalar_printer.h"

#include <algorithm>
#include <cmath>

namespace composit::cpp {
namespace {

using namespace ir::kernel;
namespace scalar = ir::scalar;

// Nanoseconds, measured on cores of 2023 with vectors of 32 and 64 bytes.
constexpr double per_byte = 0.004;       // read or written, in order
constexpr double per_operation = 0.002;  // and byte of its element
constexpr double per_product = 0.0015;   // and byte: a multiplication or addition of a product
constexpr double per_element = 0.5;      // that is found by an index, or lies apart from others
constexpr double per_comparison = 2;     // whose outcome nothing foretells

double arithmetic(const Kernel& kernel);

double size(const Extents& extents) { return static_cast<double>(ir::element_count(extents)); }

double halvings(double length) { return std::log2(length + 2); }

// Of an element, each operation with the bytes of its result; functions are as long as the
// polynomials that they consist of.
double bytes_computed(const std::vector<scalar::Expr>& values) {
    double bytes = 0;
    for (const scalar::Expr& expr : scalar::all_expressions(values)) {
        if (scalar::arity_of(expr.op()) == 0) continue;
        if (expr.op() == scalar::Op::call)
            bytes += bytes_computed({c_family::specialisation_of(expr).body});
        else
            bytes += ir::size_of(expr.dtype());
    }
    return bytes;
}

double time_of(const std::vector<scalar::Expr>& values) {
    return per_operation * bytes_computed(values);
}

double time_of_combining(const scalar::Expr& value) {
    return time_of({value}) + per_operation * ir::size_of(value.dtype());
}

bool jumps(const Access& access) {
    return access.buffer != Access::position && !access.strides.empty() &&
           std::abs(access.strides.back()) > 1;
}

struct Arithmetic {
    double operator()(const Map& map) const {
        if (size(map.extents) < 64) return 0;
        const bool does_jump = std::any_of(map.inputs.begin(), map.inputs.end(), jumps) ||
                               std::any_of(map.outputs.begin(), map.outputs.end(), jumps);
        return size(map.extents) * (time_of(map.values) + (does_jump ? per_element : 0));
    }
    double operator()(const Reduce& reduce) const {
        return size(reduce.kept) * size(reduce.reduced) * time_of_combining(reduce.value);
    }
    // One after the other.
    double operator()(const Scan& scan) const {
        return size(scan.extents) * (time_of_combining(scan.value) + per_element);
    }
    double operator()(const Contract& c) const {
        return size(c.batch) * size(c.rows) * size(c.columns) *
               (2 * size(c.depth) * per_product * ir::size_of(c.output.dtype) +
                time_of(c.finish.values));
    }
    double operator()(const DecodedContract& c) const {
        return size(c.columns) * size(c.depth) *
               (2 * size(c.rows) * per_product * ir::size_of(c.output.dtype) + time_of({c.value}));
    }
    double operator()(const Gather& gather) const { return per_element * size(gather.outer); }
    double operator()(const Scatter& scatter) const {
        return size(scatter.outer) * (per_element + size(scatter.inner) * per_operation);
    }
    double operator()(const Fold& fold) const {
        return size(fold.outer) * size(fold.counts) * size(fold.window) * per_element;
    }
    double operator()(const Sort& sort) const {
        const auto row = sort.extents.empty() ? 1 : static_cast<double>(sort.extents.back());
        return size(sort.extents) * halvings(row) * per_comparison;
    }
    double operator()(const Search& search) const {
        return size(search.extents) * halvings(size(search.row)) * per_comparison;
    }
    double operator()(const Pack& pack) const {
        return size(pack.across) * size(pack.depth) * per_element;
    }
    double operator()(const Fused& fused) const {
        double all = 0;
        for (const Member& member : fused.members) all += arithmetic(member.kernel);
        return all * size(fused.pieces);
    }
    double operator()(const Repeat&) const { return 0; }   // its kernels are cut, not it
    double operator()(const Foreign&) const { return 0; }  // cut by its own library, if at all
    double operator()(const Call&) const { return 0; }     // cut by runtime/procedure_call.h
};

double arithmetic(const Kernel& kernel) { return std::visit(Arithmetic(), kernel.body); }

}  // namespace

double work_of(const Kernel& kernel, const Program& program) {
    return flops(kernel) + bytes_moved(kernel, program);
}

double most_work(const Kernel& kernel) {
    return std::holds_alternative<Contract>(kernel.body) ? 0x1p33 : 0x1p28;
}

double nanoseconds_of(const Kernel& kernel, const Program& program) {
    return arithmetic(kernel) + per_byte * bytes_moved(kernel, program);
}

}  // namespace composit::cpp
