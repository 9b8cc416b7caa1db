// Control flow: If, Loop and Scan.
//
// A condition that is known when the graph is built decides then. Otherwise both branches are built
// and the condition chooses among their values; it has to be known where one cannot be built, or
// their types differ. Loops whose number of steps is known are a loop of
// the graph where the state keeps its types; others are unrolled.
#include "composit/functional/loops.h"
#include "composit/functional/scan.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/builder.h"
#include "composit/onnx/operators.h"

#include <limits>
#include <utility>

namespace composit::onnx {
namespace control {
namespace {

using numpy::apply;

// Unrolled loops beyond this are refused: each step is part of the graph.
constexpr int64_t most_steps = 100'000;

Tensor number(const Tensor& x) { return numpy::reshape(x, {}); }

Value chosen(const Call& call, const Tensor& condition, const Value& one, const Value& other) {
    call.check<NotSupported>(
        one.is_tensor() && other.is_tensor() && one.element() == other.element() &&
            one.shape() == other.shape(),
        "the branches give ", description(one), " and ", description(other),
        " and the condition depends on a placeholder. Tensors of one type, or a condition that is "
        "known when the graph is built, are required.");
    return {apply("where", {condition, one.tensor(), other.tensor()}), one.element()};
}

// The branches' values. One that cannot be built for inputs of these shapes is one that is not
// taken; nothing then: the condition has to be known.
std::optional<std::pair<Values, Values>> both_branches(Call& call) {
    try {
        return std::pair{call.builder().build(call.graph("then_branch"), {}, call),
                         call.builder().build(call.graph("else_branch"), {}, call)};
    } catch (const NeedsValue&) {
        throw;
    } catch (const InternalError&) {
        throw;
    } catch (const OutOfMemory&) {
        throw;
    } catch (const Error&) {
        return {};
    }
}

Values if_(Call& call) {
    const Tensor& condition = call.tensor(0);
    const auto the_one = [&] {
        const bool is_true = call.known_integer_of(condition) != 0;
        return call.builder().build(call.graph(is_true ? "then_branch" : "else_branch"), {}, call);
    };
    if (Call::is_known(condition)) return the_one();
    const auto both = both_branches(call);
    if (!both) return the_one();
    const auto& [one, other] = *both;
    call.check(one.size() == other.size(), "the branches give ", one.size(), " and ", other.size(),
               " values. As many are required.");
    // Types that differ need the condition now.
    for (size_t i = 0; i < one.size(); ++i) {
        const bool fits = one[i].is_tensor() && other[i].is_tensor() &&
                          one[i].element() == other[i].element() &&
                          one[i].shape() == other[i].shape();
        if (!fits) return call.known_integer_of(condition) != 0 ? one : other;
    }
    Values values;
    for (size_t i = 0; i < one.size(); ++i)
        values.push_back(chosen(call, number(condition), one[i], other[i]));
    return values;
}

bool all_tensors(const Values& values) {
    for (const Value& value : values)
        if (!value.is_tensor()) return false;
    return true;
}

// Step after step, as long as the condition holds, which is asked for when it is.
Values unrolled_loop(Call& call, int64_t most, bool goes_on, Values state) {
    const Graph& body = call.graph("body");
    const size_t carried = state.size();
    std::vector<Values> rows(body.outputs.size() - 1 - carried);
    for (int64_t i = 0; i < most && goes_on; ++i) {
        call.check<NotSupported>(i < most_steps, "the loop takes more than ", most_steps,
                                 " steps. Fewer are required.");
        Values inputs{numpy::array<int64_t>({i}, {}),
                      numpy::asarray(Array::scalar(DType::boolean, 1))};
        inputs.insert(inputs.end(), state.begin(), state.end());
        const Values outputs = call.builder().build(body, inputs, call);
        for (size_t k = 0; k < carried; ++k) state[k] = outputs[1 + k];
        for (size_t k = 0; k < rows.size(); ++k) rows[k].push_back(outputs[1 + carried + k]);
        // A condition that is never asked for need not be known.
        if (i + 1 < most) goes_on = call.known_integer_of(outputs[0].tensor()) != 0;
    }
    for (const Values& each : rows) {
        std::vector<Tensor> tensors;
        for (const Value& row : each) tensors.push_back(row.tensor());
        call.check<NotSupported>(!tensors.empty(),
                                 "the loop takes no step, so that the shapes of "
                                 "its rows are not known. A step is required.");
        state.emplace_back(Value(numpy::stack(tensors, 0), each[0].element()));
    }
    return state;
}

// Whether the condition that a body gives is always the one that it gets.
bool is_endless(const Graph& body) {
    const std::string& given = body.outputs[0].name;
    if (body.inputs.size() > 1 && given == body.inputs[1].name) return true;
    for (const Node& node : body.nodes)
        if (!node.outputs.empty() && node.outputs[0] == given)
            return node.operation == "Identity" && node.inputs.size() == 1 &&
                   body.inputs.size() > 1 && node.inputs[0] == body.inputs[1].name;
    return false;
}

// One loop of the graph. Nothing where the body changes the types of its state.
std::optional<Values> loop_of_graph(Call& call, int64_t steps, const Values& state) {
    const Graph& body = call.graph("body");
    const size_t carried = state.size();
    Tensors first;
    for (const Value& value : state) first.push_back(value.tensor());
    bool keeps_types = true;
    const ScanBody step = [&](const Tensors& carry, const Tensors& x) {
        Values inputs{x[0], numpy::asarray(Array::scalar(DType::boolean, 1))};
        for (size_t i = 0; i < carried; ++i)
            inputs.emplace_back(Value(carry[i], state[i].element()));
        const Values outputs = call.builder().build(body, inputs, call);
        Scanned made;
        for (size_t i = 1; i < outputs.size(); ++i) {
            keeps_types = keeps_types && outputs[i].is_tensor();
            if (!keeps_types) break;
            (i <= carried ? made.carry : made.ys).push_back(outputs[i].tensor());
        }
        for (size_t i = 0; i < made.carry.size(); ++i)
            keeps_types = keeps_types && made.carry[i].shape() == carry[i].shape() &&
                          made.carry[i].dtype() == carry[i].dtype();
        if (!keeps_types) fail<TypeError>("onnx: the state changes its types");
        return made;
    };
    try {
        const Scanned made = scan(step, first, {numpy::arange(steps)});
        Values values;
        for (size_t i = 0; i < carried; ++i)
            values.emplace_back(Value(made.carry[i], state[i].element()));
        values.insert(values.end(), made.ys.begin(), made.ys.end());
        return values;
    } catch (const NeedsValue&) {
        return std::nullopt;  // of a counter, or of the state: steps that are known one by one
    } catch (const TypeError&) {
        if (keeps_types) throw;
        return std::nullopt;
    }
}

Values loop(Call& call) {
    const Graph& body = call.graph("body");
    Values state;
    for (size_t i = 2; i < call.input_count(); ++i) state.push_back(call.value(i));
    call.check(body.inputs.size() == state.size() + 2 && body.outputs.size() > state.size(),
               "the body has ", body.inputs.size(), " inputs and ", body.outputs.size(),
               " outputs for a state of ", state.size(),
               ". A counter, a condition and the state are required.");
    const int64_t most = call.has(0) ? call.known_integer(0) : std::numeric_limits<int64_t>::max();
    const bool goes_on = !call.has(1) || call.known_integer_of(call.tensor(1)) != 0;
    constexpr int64_t few = 8;
    if (goes_on && call.has(0) && most > few && is_endless(body) && all_tensors(state))
        if (const auto values = loop_of_graph(call, most, state)) return *values;
    return unrolled_loop(call, most, goes_on, std::move(state));
}

std::vector<int64_t> one_for_each(const Call& call, std::string_view name, size_t count,
                                  int64_t missing) {
    std::vector<int64_t> given = call.integers(name);
    if (given.empty()) given.assign(count, missing);
    call.check(given.size() == count, "attribute '", name, "' is ", given, ". ", count,
               " numbers are required.");
    return given;
}

int64_t checked_axis(const Call& call, int64_t axis, int rank) {
    call.check(axis >= -rank && axis < rank, "axis ", axis, " of a tensor of rank ", rank,
               ". An axis of the tensor is required.");
    return axis < 0 ? axis + rank : axis;
}

// Over the rows of sequences, along an axis and in a direction of each.
Values scan_sequences(Call& call, const std::vector<Value>& given) {
    const Graph& body = call.graph("body");
    const auto sequences = static_cast<size_t>(call.integer("num_scan_inputs"));
    call.check(sequences > 0 && sequences <= given.size() && body.inputs.size() == given.size(),
               "there are ", sequences, " sequences among ", given.size(),
               " inputs. At least one, and a body with as many inputs, are required.");
    const size_t carried = given.size() - sequences;
    call.check(body.outputs.size() >= carried, "the body has ", body.outputs.size(),
               " outputs for a state of ", carried, ". One for each is required.");
    const size_t results = body.outputs.size() - carried;
    const auto in_axes = one_for_each(call, "scan_input_axes", sequences, 0);
    const auto in_directions = one_for_each(call, "scan_input_directions", sequences, 0);
    const auto out_axes = one_for_each(call, "scan_output_axes", results, 0);
    const auto out_directions = one_for_each(call, "scan_output_directions", results, 0);
    Tensors first, xs;
    for (size_t i = 0; i < given.size(); ++i) {
        call.check<NotSupported>(given[i].is_tensor(), "an input is ", description(given[i]),
                                 ". Tensors are required.");
        if (i < carried) {
            first.push_back(given[i].tensor());
            continue;
        }
        const Tensor& x = given[i].tensor();
        const int64_t axis = checked_axis(call, in_axes[i - carried], x.rank());
        const Tensor rows = numpy::moveaxis(x, axis, 0);
        xs.push_back(in_directions[i - carried] ? numpy::flip(rows, 0) : rows);
    }
    const ScanBody step = [&](const Tensors& carry, const Tensors& x) {
        Values inputs;
        for (size_t i = 0; i < given.size(); ++i)
            inputs.emplace_back(Value(i < carried ? carry[i] : x[i - carried], given[i].element()));
        const Values outputs = call.builder().build(body, inputs, call);
        Scanned made;
        for (size_t i = 0; i < outputs.size(); ++i)
            (i < carried ? made.carry : made.ys).push_back(outputs[i].tensor());
        return made;
    };
    const Scanned made = scan(step, first, xs);
    Values values(made.carry.begin(), made.carry.end());
    for (size_t i = 0; i < results; ++i) {
        const Tensor ordered = out_directions[i] ? numpy::flip(made.ys[i], 0) : made.ys[i];
        values.emplace_back(
            numpy::moveaxis(ordered, 0, checked_axis(call, out_axes[i], ordered.rank())));
    }
    return values;
}

// Before opset 9 there are lengths, and a batch: each element of it is scanned alone.
Values scan_(Call& call) {
    std::vector<Value> given;
    for (size_t i = 0; i < call.input_count(); ++i) given.push_back(call.value(i));
    if (call.opset() >= 9) return scan_sequences(call, given);
    call.check<NotSupported>(!call.has(0),
                             "sequence_lens is given. Sequences of one length are "
                             "required.");
    call.check(given.size() > 1 && given[1].is_tensor() && given[1].tensor().rank() > 0,
               "there is no batch. Tensors with one along their first axis are required.");
    given.erase(given.begin());
    std::vector<std::vector<Tensor>> parts;
    const int64_t batch = given[0].tensor().shape()[0];
    for (int64_t i = 0; i < batch; ++i) {
        std::vector<Value> of_batch;
        for (const Value& value : given)
            of_batch.emplace_back(numpy::get_item(value.tensor(), {i}));
        const Values made = scan_sequences(call, of_batch);
        parts.resize(made.size());
        for (size_t k = 0; k < made.size(); ++k) parts[k].push_back(made[k].tensor());
    }
    Values values;
    for (const std::vector<Tensor>& each : parts) values.emplace_back(numpy::stack(each, 0));
    return values;
}

}  // namespace
}  // namespace control

void add_control(Registry& registry) {
    using namespace control;
    registry.add("If", if_);
    registry.add("Loop", loop);
    registry.add("Scan", scan_);
}

}  // namespace composit::onnx
