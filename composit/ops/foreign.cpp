// What operations have in common that a foreign function computes.
#include "composit/ops/foreign.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {
namespace {

using ir::Components;
using ir::kernel::Foreign;
using Integers = std::vector<int64_t>;

// ----- calls on real and imaginary parts, where operands or outputs are complex

void check_call(std::string_view name, const Attributes& attributes) {
    ir::checked_attribute<std::string>(name, attributes, "function");
    ir::checked_attribute<Integers>(name, attributes, "options");
    check_stated_types(name, attributes);
}

ForeignCallee stated_callee(const Attributes& attributes) {
    return {attributes.get<std::string>("function"), attributes.get<Integers>("options")};
}

const ir::Operation& by_parts_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "foreign_by_parts",
        .doc = "A foreign function of real and imaginary parts.",
        .infer = stated_types,
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                const Attributes& attributes = node.attributes();
                emit_call(node, lowering, stated_callee(attributes),
                          attributes.get<Integers>("pairs_in"),
                          attributes.get<Integers>("pairs_out"));
            },
        .label = [](const Node& node) { return node.attributes().get<std::string>("function"); },
        .check =
            [](const Tensors&, const Attributes& attributes) {
                check_call("foreign_by_parts", attributes);
                for (std::string_view list : {"pairs_in", "pairs_out"})
                    ir::checked_attribute<Integers>("foreign_by_parts", attributes, list);
            },
        .is_foreign = true,
        .is_unchecked = true,
    });
    return operation;
}

std::vector<Components> call_by_parts(const Node& node, const std::vector<Components>& operands,
                                      const ForeignCallee& callee) {
    Tensors flat;
    Integers pairs_in, pairs_out, dtypes, lengths;
    const auto put = [](const Components& x, Tensors& tensors, Integers& pairs) {
        tensors.push_back(x.re);
        pairs.push_back(x.im ? 1 : 0);
        if (!x.im) return;
        tensors.push_back(x.im);
        pairs.push_back(0);
    };
    for (const Components& x : operands) put(x, flat, pairs_in);
    for (const TensorType& type : node.types()) {
        const bool is_complex = ir::is_complex(type.dtype);
        for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
            pairs_out.push_back(is_complex && part == 0 ? 1 : 0);
            state_type(type, ir::real_part_of(type.dtype), dtypes, lengths);
        }
    }
    const Tensors parts = ir::outputs_of(ir::make_node(by_parts_operation(), flat,
                                                       {{"function", callee.function},
                                                        {"options", callee.options},
                                                        {"pairs_in", pairs_in},
                                                        {"pairs_out", pairs_out},
                                                        {"dtypes", dtypes},
                                                        {"lengths", lengths}}));
    std::vector<Components> result;
    for (size_t i = 0; i < parts.size(); ++i) {
        if (pairs_out[i] != 0) {
            result.push_back({parts[i], parts[i + 1]});
            ++i;
        } else {
            result.push_back({parts[i], {}});
        }
    }
    return result;
}

const ir::Operation& call_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "foreign_call",
        .doc = "A function that was registered at run time; foreign.",
        .infer = stated_types,
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                emit_call(node, lowering, stated_callee(node.attributes()));
            },
        .by_components =
            [](const Node& node, const std::vector<Components>& operands) {
                return call_by_parts(node, operands, stated_callee(node.attributes()));
            },
        .label = [](const Node& node) { return node.attributes().get<std::string>("name"); },
        .check =
            [](const Tensors&, const Attributes& attributes) {
                check_call("foreign_call", attributes);
                ir::checked_attribute<std::string>("foreign_call", attributes, "name");
            },
        .may_fail = [](const Node&) { return true; },
        .keeps_forever = true,
        .is_foreign = true,
        .is_unchecked = true,
    });
    return operation;
}

bool is_passed(DType dtype) { return !ir::is_short_float(dtype) && dtype != DType::complex64; }

}  // namespace

void emit_call(const Node& node, ir::Lowering& lowering, const ForeignCallee& callee,
               const Integers& pairs_in, const Integers& pairs_out) {
    const auto is_pair = [](const Integers& flags, size_t i) {
        return i < flags.size() && flags[i] != 0;
    };
    Foreign kernel{callee.function, callee.options, {}, {}};
    for (size_t i = 0; i < node.operands().size(); ++i)
        kernel.inputs.push_back({lowering.memory(static_cast<int>(i)),
                                 node.operand(static_cast<int>(i)).shape(), is_pair(pairs_in, i)});
    for (size_t i = 0; i < node.types().size(); ++i) {
        const auto& [shape, dtype, weak] = node.types()[i];
        if (ir::is_complex(dtype)) {  // by parts where it is used: nobody reads this one
            for (const bool is_real : {true, false})
                kernel.outputs.push_back(
                    {lowering.new_temporary(DType::float64, shape), shape, is_real});
            continue;
        }
        kernel.outputs.push_back(
            {lowering.new_output(static_cast<int>(i)), shape, is_pair(pairs_out, i)});
    }
    lowering.emit(std::move(kernel));
}

std::vector<TensorType> stated_types(const Tensors&, const Attributes& attributes) {
    const auto& dtypes = attributes.get<Integers>("dtypes");
    const auto& lengths = attributes.get<Integers>("lengths");
    std::vector<TensorType> types;
    auto next = lengths.begin();
    for (int64_t dtype : dtypes) {
        const int64_t rank = *next++;
        types.push_back({{next, next + rank}, static_cast<DType>(dtype)});
        next += rank;
    }
    return types;
}

void state_type(const TensorType& type, DType dtype, Integers& dtypes, Integers& lengths) {
    dtypes.push_back(static_cast<int64_t>(dtype));
    lengths.push_back(static_cast<int64_t>(type.shape.size()));
    lengths.insert(lengths.end(), type.shape.begin(), type.shape.end());
}

void check_stated_types(std::string_view name, const Attributes& attributes) {
    const auto& dtypes = ir::checked_attribute<Integers>(name, attributes, "dtypes");
    const auto& lengths = ir::checked_attribute<Integers>(name, attributes, "lengths");
    size_t at = 0;
    for (int64_t dtype : dtypes) {
        user_check(dtype >= 0 && dtype < ir::dtype_count && at < lengths.size() &&
                       lengths[at] >= 0 && lengths[at] < static_cast<int64_t>(lengths.size() - at),
                   name, ": dtypes ", dtypes, " and lengths ", lengths,
                   " do not fit. For each output its rank and lengths are required.");
        const auto begin = lengths.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        ir::check_shape(name, {begin, begin + lengths[at]});
        at += 1 + static_cast<size_t>(lengths[at]);
    }
}

Tensors foreign_call(const std::string& name, const std::string& function,
                     const std::vector<int64_t>& options, const Tensors& operands,
                     const std::vector<TensorType>& results) {
    Integers dtypes, lengths;
    std::vector<DType> all;
    for (const Tensor& operand : operands) all.push_back(operand.dtype());
    for (const TensorType& type : results) {
        state_type(type, type.dtype, dtypes, lengths);
        all.push_back(type.dtype);
    }
    for (DType dtype : all)
        user_check<TypeError>(is_passed(dtype), name, ": an operand or result has dtype ", dtype,
                              ". float32, float64, complex128, an integer or bool is required.");
    return make_checked(call_operation(), operands,
                        {{"name", name},
                         {"function", function},
                         {"options", options},
                         {"dtypes", dtypes},
                         {"lengths", lengths}});
}

Tensors batched_alike(const Node& node, const Tensors& operands, const std::vector<bool>& batched,
                      int64_t batch_size) {
    Tensors all;
    for (size_t i = 0; i < operands.size(); ++i)
        all.push_back(with_batch(operands[i], batched[i], batch_size));
    return ir::outputs_of(ir::make_node(node.operation(), all, node.shared_attributes()));
}

const ir::Operation& register_foreign(ir::Operation operation, ForeignRule callee) {
    operation.is_foreign = true;
    operation.may_fail = [](const Node&) { return true; };
    operation.batch = batched_alike;
    operation.lower = [callee](const Node& node, ir::Lowering& lowering) {
        emit_call(node, lowering, callee(node.attributes()));
    };
    operation.by_components = [callee](const Node& node, const std::vector<Components>& operands) {
        return call_by_parts(node, operands, callee(node.attributes()));
    };
    return ir::register_operation(std::move(operation));
}

void check_matrices(std::string_view operation, const std::vector<Tensor>& operands,
                    const MatrixRules& rules) {
    user_check(operands.size() == rules.count, operation, ": ", operands.size(),
               " operands given. ", rules.count, " required.");
    for (size_t i = 0; i < rules.matrices; ++i) {
        const Tensor &x = operands[i], &first = operands[0];
        user_check<TypeError>((x.dtype() == DType::float64 || x.dtype() == DType::complex128) &&
                                  x.dtype() == first.dtype(),
                              operation, ": operand ", i, " has dtype ", x.dtype(),
                              ". float64 or complex128, the same for all, is required.");
        user_check(x.rank() >= 2 && x.rank() == first.rank() &&
                       std::equal(x.shape().begin(), x.shape().end() - 2, first.shape().begin()),
                   operation, ": operand ", i, " has shape ", x.shape(),
                   ". Matrices in the last two axes, and equal batch axes, are required.");
    }
    const Shape& shape = operands[0].shape();
    user_check(!rules.is_square || shape.back() == shape[shape.size() - 2], operation,
               ": a has shape ", shape, ". Square matrices are required.");
}

void register_foreign_calls() {
    by_parts_operation();
    call_operation();
}

}  // namespace composit::ops
