// A procedure with arrays as a node, which is opaque but for its derivatives and its batch.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/print.h"
#include "composit/ir/procedure/callable.h"
#include "composit/ir/scalar/function.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/foreign.h"
#include "composit/ops/rules.h"

#include <algorithm>
#include <cstring>
#include <deque>

namespace composit::ops {
namespace {

using ir::procedure::ArrayVariable;
using ir::procedure::Callable;
using ir::procedure::find_callable;
using ir::procedure::Procedure;
using ir::scalar::Bits;
using ir::scalar::Expr;
using Integers = std::vector<int64_t>;
using Role = ArrayVariable::Role;

// The number that the procedure has in this process.
int64_t number_in(const Attributes& attributes) {
    return ir::procedure::find_callable_named(attributes.get<std::string>("procedure"));
}

const Callable& callable_of(const Attributes& attributes) {
    return *find_callable(number_in(attributes));
}

// Leading axes of all operands and outputs.
int64_t batch_rank(const Node& node) { return node.attributes().get<int64_t>("batch_rank"); }

Tensors make(int64_t number, const Tensors& operands, const std::vector<TensorType>& types,
             int64_t rank);

// The operands that have gradients, in the order of a derivative's results: numbers, then arrays.
std::vector<size_t> floating_operands(const Callable& callable) {
    std::vector<size_t> found;
    for (const bool is_array : {false, true})
        for (size_t i = 0; i < callable.operands().size(); ++i)
            if ((callable.operands()[i] < 0) == is_array &&
                ir::is_floating(callable.dtype_of(static_cast<int>(i))))
                found.push_back(i);
    return found;
}

// Tensors in the order in which `callable` takes them behind the first `begin` operands, of
// numbers and of arrays.
void add_in_order(const Callable& callable, size_t begin, std::deque<Tensor> numbers,
                  std::deque<Tensor> arrays, Tensors& operands) {
    for (size_t i = begin; i < callable.operands().size(); ++i) {
        std::deque<Tensor>& from = callable.operands()[i] < 0 ? arrays : numbers;
        internal_check(!from.empty(), callable.procedure().name, ": too few gradients");
        operands.push_back(from.front());
        from.pop_front();
    }
}

Tensor zeros_of(const TensorType& type) {
    return full(type.shape, ir::constant(ir::Array::zeros(type.dtype, {})));
}

Tensors pull_back(const Node& node, const Tensors& gradients, const std::vector<bool>& wanted) {
    const Callable& callable = callable_of(node.attributes());
    const int64_t number = callable.vjp();
    const Callable& derivative = *find_callable(number);
    std::deque<Tensor> numbers, arrays;
    for (size_t k = 0; k < node.types().size(); ++k) {
        const TensorType& type = node.types()[k];
        if (!ir::is_floating(type.dtype)) continue;
        (k < callable.procedure().results.size() ? numbers : arrays)
            .push_back(gradients[k] ? gradients[k] : zeros_of(type));
    }
    Tensors operands(node.operands().begin(), node.operands().end());
    add_in_order(derivative, operands.size(), numbers, arrays, operands);
    const std::vector<size_t> floats = floating_operands(callable);
    std::vector<TensorType> types;
    for (const size_t i : floats)
        types.push_back(
            {node.operand(static_cast<int>(i)).shape(), node.operand(static_cast<int>(i)).dtype()});
    const Tensors made = make(number, operands, types, batch_rank(node));
    Tensors received(node.operands().size());
    for (size_t k = 0; k < floats.size(); ++k)
        if (wanted[floats[k]]) received[floats[k]] = made[k];
    return received;
}

Tensors push_forward(const Node& node, const Tensors& tangents) {
    const Callable& callable = callable_of(node.attributes());
    const int64_t number = callable.jvp();
    std::deque<Tensor> numbers, arrays;
    for (size_t i = 0; i < callable.operands().size(); ++i) {
        const Tensor& own = node.operand(static_cast<int>(i));
        if (!ir::is_floating(own.dtype())) continue;
        (callable.operands()[i] < 0 ? arrays : numbers)
            .push_back(tangents[i] ? tangents[i] : zeros_of({own.shape(), own.dtype()}));
    }
    Tensors operands(node.operands().begin(), node.operands().end());
    add_in_order(*find_callable(number), operands.size(), numbers, arrays, operands);
    std::vector<TensorType> types;
    for (const TensorType& type : node.types())
        if (ir::is_floating(type.dtype)) types.push_back(type);
    const Tensors made = make(number, operands, types, batch_rank(node));
    Tensors moved;
    size_t next = 0;
    for (const TensorType& type : node.types())
        moved.push_back(ir::is_floating(type.dtype) ? made[next++] : Tensor());
    return moved;
}

Tensors batch(const Node& node, const Tensors& operands, const std::vector<bool>& batched,
              int64_t size) {
    Tensors all;
    for (size_t i = 0; i < operands.size(); ++i)
        all.push_back(with_batch(operands[i], batched[i], size));
    std::vector<TensorType> types;
    for (const TensorType& type : node.types())
        types.push_back({prefixed(size, type.shape), type.dtype});
    return make(number_in(node.attributes()), all, types, batch_rank(node) + 1);
}

void check_operands(const Callable& callable, const Tensors& operands, int64_t rank) {
    const Procedure& own = callable.procedure();
    user_check<TypeError>(operands.size() == callable.operands().size(), own.name, ": got ",
                          operands.size(), " operands. ", callable.operands().size(),
                          " are required.");
    for (size_t i = 0; i < operands.size(); ++i) {
        const int place = callable.operands()[i];
        const size_t axes =
            place < 0 ? own.arrays[static_cast<size_t>(-1 - place)].shape.size() : 0;
        const DType dtype = callable.dtype_of(static_cast<int>(i));
        const Tensor& x = operands[i];
        user_check<TypeError>(x.dtype() == dtype, own.name, ": operand ", i, " has dtype ",
                              x.dtype(), ". ", dtype, " is required.");
        user_check(x.shape().size() == axes + static_cast<size_t>(rank), own.name, ": operand ", i,
                   " has shape ", x.shape(), ". ", axes, " axes are required",
                   rank == 0 ? "." : text(", behind ", rank, " of the batch."));
    }
}

// The axes behind those of the batch.
Shape behind(const Shape& shape, int64_t rank) { return {shape.begin() + rank, shape.end()}; }

// The parameters as far as they are known before the run; `is_known` tells which.
std::vector<Bits> known_parameters(const Callable& callable, const Tensors& operands, int64_t rank,
                                   std::vector<bool>& is_known) {
    const auto& procedure = callable.procedure();
    std::vector<Bits> parameters(procedure.parameters);
    std::vector<Shape> shapes;
    for (size_t i = 0; i < procedure.parameters; ++i) is_known.push_back(callable.is_extent(i));
    for (size_t i = 0; i < operands.size(); ++i) {
        const int place = callable.operands()[i];
        if (place < 0) {
            shapes.push_back(behind(operands[i].shape(), rank));
        } else if (rank == 0 && ir::is_constant(operands[i].node())) {
            const ir::Array value = ir::constant_value(operands[i].node());
            std::memcpy(parameters[static_cast<size_t>(place)].data(), value.data(),
                        static_cast<size_t>(ir::size_of(operands[i].dtype())));
            is_known[static_cast<size_t>(place)] = true;
        }
    }
    return callable.with_extents(std::move(parameters), shapes);
}

// All operands and results have the same leading axes.
void check_batch(const Procedure& own, const Tensors& operands,
                 const std::vector<TensorType>& types, int64_t rank) {
    user_check(!types.empty(), own.name, ": it has no results. One, at least, is required.");
    const Shape batch(types[0].shape.begin(), types[0].shape.begin() + rank);
    const auto check_shape = [&](const Shape& shape) {
        user_check(std::equal(batch.begin(), batch.end(), shape.begin()), own.name,
                   ": an operand or result of shape ", shape, " is not of the batch ", batch,
                   ". The same leading axes are required.");
    };
    for (const Tensor& operand : operands) check_shape(operand.shape());
    for (const TensorType& type : types) check_shape(type.shape);
}

void check(const Tensors& operands, const Attributes& attributes) {
    check_stated_types("procedure", attributes);
    const auto& name = ir::checked_attribute<std::string>("procedure", attributes, "procedure");
    const int64_t number = ir::procedure::find_callable_named(name);
    user_check(number >= 0, "procedure: there is no kernel ", ir::quoted(name),
               " in this process. One of that name and content, which was called with a tensor, is "
               "required.");
    const Callable* const callable = find_callable(number);
    const auto rank = ir::checked_attribute<int64_t>("procedure", attributes, "batch_rank");
    constexpr int64_t most_axes = 64;
    user_check(rank >= 0 && rank <= most_axes, "procedure: batch_rank is ", rank, ". 0 to ",
               most_axes, " is required.");
    check_operands(*callable, operands, rank);
    const Procedure& own = callable->procedure();
    const std::vector<TensorType> types = stated_types(operands, attributes);
    const std::vector<int> outputs = own.arrays_of(Role::output);
    user_check(types.size() == own.results.size() + outputs.size(), own.name, ": ", types.size(),
               " results are stated. ", own.results.size() + outputs.size(), " are required.");
    for (size_t k = 0; k < types.size(); ++k) {
        const bool is_number = k < own.results.size();
        const ArrayVariable* const array =
            is_number ? nullptr : &own.arrays[static_cast<size_t>(outputs[k - own.results.size()])];
        const size_t axes = static_cast<size_t>(rank) + (array ? array->shape.size() : 0);
        user_check(types[k].dtype == (array ? array->dtype : own.results[k].dtype) &&
                       types[k].shape.size() == axes,
                   own.name, ": result ", k, " is stated to be ", types[k],
                   ", which the procedure does not make.");
    }
    check_batch(own, operands, types, rank);
    std::vector<bool> is_known;
    const std::vector<Bits> parameters = known_parameters(*callable, operands, rank, is_known);
    std::vector<Shape> shapes;
    for (size_t i = 0; i < operands.size(); ++i)
        if (callable->operands()[i] < 0) shapes.push_back(behind(operands[i].shape(), rank));
    for (size_t k = own.results.size(); k < types.size(); ++k)
        shapes.push_back(behind(types[k].shape, rank));
    callable->check_shapes(parameters, shapes, is_known);
}

void lower(const Node& node, ir::Lowering& lowering) {
    const int64_t rank = batch_rank(node);
    const Shape& first = node.types()[0].shape;
    ir::kernel::Call call{number_in(node.attributes()), {first.begin(), first.begin() + rank}};
    for (size_t i = 0; i < node.operands().size(); ++i)
        call.inputs.push_back({lowering.memory(static_cast<int>(i)),
                               behind(node.operand(static_cast<int>(i)).shape(), rank)});
    for (size_t k = 0; k < node.types().size(); ++k)
        call.outputs.push_back(
            {lowering.new_output(static_cast<int>(k)), behind(node.types()[k].shape, rank)});
    lowering.emit(std::move(call));
}

const ir::Operation& operation() {
    static const ir::Operation& made = ir::register_operation({
        .name = "procedure",
        .doc = "A function of arrays that was written as statements.",
        .infer = stated_types,
        .vjp = pull_back,
        .jvp = push_forward,
        .batch = batch,
        .lower = lower,
        .label = [](const Node& node) { return callable_of(node.attributes()).procedure().name; },
        .check = check,
        .calls_procedure = true,
    });
    return made;
}

Tensors make(int64_t number, const Tensors& operands, const std::vector<TensorType>& types,
             int64_t rank) {
    Integers dtypes, lengths;
    for (const TensorType& type : types) state_type(type, type.dtype, dtypes, lengths);
    return make_checked(operation(), operands,
                        {{"procedure", find_callable(number)->name()},
                         {"batch_rank", rank},
                         {"dtypes", dtypes},
                         {"lengths", lengths}});
}

}  // namespace

std::vector<Tensor> procedure(int64_t number, const std::vector<Tensor>& operands) {
    const Callable* const callable = find_callable(number);
    internal_check(callable != nullptr, "no procedure has the number ", number);
    const Procedure& own = callable->procedure();
    check_operands(*callable, operands, 0);
    std::vector<bool> is_known;
    const std::vector<Bits> parameters = known_parameters(*callable, operands, 0, is_known);
    const auto shape_of = [&](int array) {
        const ArrayVariable& known = own.arrays[static_cast<size_t>(array)];
        for (const Expr& expr : ir::scalar::topological_order(known.shape))
            user_check<TypeError>(expr.op() != ir::scalar::Op::argument ||
                                      is_known[static_cast<size_t>(expr.index())],
                                  own.name, ": the extents of ", known.name,
                                  " depend on the value of ",
                                  expr.op() == ir::scalar::Op::argument
                                      ? own.variables[static_cast<size_t>(expr.index())].name
                                      : "",
                                  ", which is a tensor. A number is required.");
        return ir::procedure::shape_of(known, parameters);
    };
    for (size_t i = 0; i < operands.size(); ++i)
        if (const int place = callable->operands()[i]; place < 0) {
            const Shape wanted = shape_of(-1 - place);
            user_check<ValueError>(operands[i].shape() == wanted, own.name, ": ",
                                   own.arrays[static_cast<size_t>(-1 - place)].name,
                                   " has the shape [", join(operands[i].shape()), "]. [",
                                   join(wanted), "] is required.");
        }
    std::vector<TensorType> types;
    for (const auto& result : own.results) types.push_back({{}, result.dtype});
    for (const int output : own.arrays_of(Role::output))
        types.push_back({shape_of(output), own.arrays[static_cast<size_t>(output)].dtype});
    return make(number, operands, types, 0);
}

void register_procedure() { operation(); }

}  // namespace composit::ops
