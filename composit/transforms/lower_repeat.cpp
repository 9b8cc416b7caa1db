// The part of lowering that makes a Repeat: a body lowered once, its state in buffers that every
// iteration reads and writes.
#include "composit/base/error.h"
#include "composit/ops/nest.h"
#include "composit/transforms/in_place.h"
#include "composit/transforms/lower.h"

#include <algorithm>

namespace composit::transforms {

using ir::DType;
using ir::Nest;
using ir::Node;
using ir::kernel::Access;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Repeat;

// What is known inside of the body, while it is lowered, and the kernels around it, meanwhile.
struct GraphLowering::Scope {
    decltype(values_) values;
    decltype(uses_) uses;
    decltype(outputs_) outputs;
    decltype(repeated_) repeated;
    std::vector<Kernel> kernels;
};

// One part of the state: `place` holds it while an iteration starts, and at the end.
struct GraphLowering::State {
    int number;  // among the operands, and among the body's results
    Access place;
    Access next;  // where the iteration puts it
};

// The counter, and what is the same in all iterations; into the values of the body.
void GraphLowering::bind_fixed(const ir::Body& body, size_t states, Scope& scope) {
    for (size_t p = states + 1; p < body.parameters.size(); ++p) {
        const Tensor& parameter = body.parameters[p];
        const int i = static_cast<int>(p) - 1;
        Nest value = operand(i);
        // Literals stay literals.
        if (!value.inputs.empty()) value = ops::nest_of(parameter.shape(), memory(i));
        scope.values[&parameter.node()] = {std::move(value)};
    }
}

// The first state, brought into memory.
std::vector<GraphLowering::State> GraphLowering::begin_states(const ir::Body& body, Scope& scope) {
    std::vector<State> states;
    for (size_t j = 0; j < body.results.size(); ++j) {
        const Tensor& parameter = body.parameters[j + 1];
        const Nest first = operand(static_cast<int>(j));
        const ir::Shape& shape = parameter.shape();
        const int buffer = add_buffer(BufferKind::temporary, parameter.dtype(), shape,
                                      parameter.name().empty() ? "state" : parameter.name());
        const Access place = ops::row_major(buffer, parameter.dtype(), shape);
        emit(Map{shape, first.inputs, {first.value}, {place}});
        scope.values[&parameter.node()] = {ops::nest_of(shape, place)};
        states.push_back({static_cast<int>(j), place, {}});
    }
    return states;
}

void GraphLowering::lower_body(const std::vector<Tensor>& results) {
    const auto order = ir::topological_order(results);
    count_uses(order, results);
    for (const Tensor& result : results) outputs_.emplace(&result.node(), result.output_index());
    for (const Node* node : order) lower_node(*node);
}

// The next state brought into memory, and from there to where the next iteration reads it.
void GraphLowering::store_states(const ir::Body& body, std::vector<State>& states) {
    std::vector<int> taken;  // places of the state, and results that are in place
    for (const State& state : states) taken.push_back(state.place.buffer);
    for (State& state : states) {
        const Tensor& result = body.results[static_cast<size_t>(state.number)];
        const Nest& nest = values_.at(&result.node())[static_cast<size_t>(result.output_index())];
        node_ = &result.node();
        const Access whole = ops::row_major(0, result.dtype(), result.shape());
        const bool is_buffer = ops::is_view(nest) && nest.inputs[0].buffer != Access::position &&
                               nest.inputs[0].offset == 0 &&
                               nest.inputs[0].strides == whole.strides;
        const int buffer = is_buffer ? nest.inputs[0].buffer : Access::position;
        const bool is_own = is_buffer && buffer == state.place.buffer;
        const bool is_fresh =
            is_buffer && !touches(taken, buffer) &&
            program_.buffers[static_cast<size_t>(buffer)].kind == BufferKind::temporary &&
            ir::element_count(program_.buffers[static_cast<size_t>(buffer)].shape) ==
                ir::element_count(result.shape()) &&
            std::any_of(program_.kernels.begin(), program_.kernels.end(), [&](const Kernel& k) {
                return touches(ir::kernel::buffers_written(k), buffer);
            });
        if (is_own || is_fresh) {
            state.next = nest.inputs[0];
        } else {
            state.next = new_temporary(result.dtype(), result.shape());
            emit(Map{nest.extents, nest.inputs, {nest.value}, {state.next}});
        }
        taken.push_back(state.next.buffer);
    }
    for (State& state : states) {
        if (state.next.buffer == state.place.buffer ||
            ir::element_count(body.results[static_cast<size_t>(state.number)].shape()) == 0)
            continue;
        if (may_write_in_place(program_.kernels, state.place, state.next)) {
            replace_buffer(program_.kernels, state.next.buffer, state.place.buffer);
            state.next = state.place;
        }
    }
    for (const State& state : states) {
        if (state.next.buffer == state.place.buffer) continue;
        const Tensor& result = body.results[static_cast<size_t>(state.number)];
        node_ = &result.node();
        const Nest nest = ops::nest_of(result.shape(), state.next);
        emit(Map{nest.extents, nest.inputs, {nest.value}, {state.place}});
    }
}

void GraphLowering::repeat(const ir::Body& body, int64_t begin, int64_t end) {
    const Node* const node = node_;
    has_repeats_ = true;
    if (end <= begin) {
        for (size_t j = 0; j < body.results.size(); ++j)
            values_.at(node)[j] = operand(static_cast<int>(j));
        return;
    }
    Scope scope;
    bind_fixed(body, body.results.size(), scope);
    std::vector<State> states = begin_states(body, scope);
    const Tensor& counter = body.parameters[0];
    const Access count =
        ops::row_major(add_buffer(BufferKind::temporary, DType::int64, {},
                                  counter.name().empty() ? "iteration" : counter.name()),
                       DType::int64, {});
    scope.values[&counter.node()] = {ops::nest_of({}, count)};

    const auto exchange = [&] {
        std::swap(values_, scope.values);
        std::swap(uses_, scope.uses);
        std::swap(outputs_, scope.outputs);
        std::swap(repeated_, scope.repeated);
        std::swap(program_.kernels, scope.kernels);
    };
    exchange();
    lower_body(body.results);
    store_states(body, states);
    exchange();
    node_ = node;

    Repeat repeat{begin, end, count, std::move(scope.kernels)};
    bool is_counted = false;
    for (const Kernel& kernel : repeat.kernels)
        is_counted = is_counted || touches(ir::kernel::buffers_read(kernel), count.buffer);
    if (!is_counted) repeat.counter = Access();
    if (!repeat.kernels.empty()) emit(std::move(repeat));
    for (const State& state : states)
        values_.at(node)[static_cast<size_t>(state.number)] =
            ops::nest_of(node->types()[static_cast<size_t>(state.number)].shape, state.place);
}

}  // namespace composit::transforms
