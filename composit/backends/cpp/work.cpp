#include "composit/backends/cpp/work.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/ir/kernel/fields.h"

#include <algorithm>
#include <cmath>
#include <optional>

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

bool jumps(const Access& access) {
    return access.buffer != Access::position && !access.strides.empty() &&
           std::abs(access.strides.back()) > 1;
}

// Of scalar bodies; and the dtype that a kernel computes in.
struct Values : NoFields {
    double nanoseconds = 0;
    std::optional<ir::DType> dtype;

    void values(std::string_view, const auto& values, const auto&... loops) {
        nanoseconds += count_of(concatenate({loops...})) * time_of(several(values));
        for (const scalar::Expr& value : several(values)) dtype = dtype.value_or(value.dtype());
    }
    void writes(std::string_view, const auto& accesses, const auto&...) {
        for (const Access& access : several(accesses)) dtype = dtype.value_or(access.dtype);
    }
    void updates(std::string_view, const Access& access, const auto&...) { dtype = access.dtype; }
};

struct Arithmetic {
    double operator()(const Map& map) const {
        if (count_of(map.extents) < 64) return 0;
        const bool does_jump = std::any_of(map.inputs.begin(), map.inputs.end(), jumps) ||
                               std::any_of(map.outputs.begin(), map.outputs.end(), jumps);
        return count_of(map.extents) * (time_of(map.values) + (does_jump ? per_element : 0));
    }
    double operator()(const Fused& fused) const {
        double all = 0;
        for (const Member& member : fused.members) all += arithmetic(member.kernel);
        return all * count_of(fused.pieces);
    }
    double operator()(const Repeat&) const { return 0; }   // its kernels are cut, not it
    double operator()(const Foreign&) const { return 0; }  // cut by its own library, if at all
    // Of a Call nothing: it is cut by runtime/procedure_call.h.
    double operator()(const auto& body) const {
        Values values;
        describe(body, values);
        const Work more = work(body);
        return values.nanoseconds + per_element * more.placed + per_comparison * more.compared +
               (per_operation * more.combined + per_product * more.products) *
                   ir::size_of(*values.dtype);
    }
};

double arithmetic(const Kernel& kernel) { return std::visit(Arithmetic(), kernel.body); }

}  // namespace

double work_of(const Kernel& kernel, const Program& program) {
    return flops(kernel) + bytes_moved(kernel, program);
}

double most_work(const Kernel& kernel) {
    const bool is_product =
        std::visit([](const auto& body) { return work(body).products > 0; }, kernel.body);
    return is_product ? 0x1p33 : 0x1p28;
}

double nanoseconds_of(const Kernel& kernel, const Program& program) {
    return arithmetic(kernel) + per_byte * bytes_moved(kernel, program);
}

}  // namespace composit::cpp
