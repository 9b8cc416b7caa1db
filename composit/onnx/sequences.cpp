// Sequences and optionals: lists of values that are known when a graph is built.
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/builder.h"
#include "composit/onnx/operators.h"

#include <numeric>

namespace composit::onnx {
namespace sequences {
namespace {

Values construct(Call& call) {
    Values parts;
    for (size_t i = 0; i < call.input_count(); ++i) parts.push_back(call.value(i));
    return {Value::sequence(std::move(parts))};
}

Values empty(Call&) { return {Value::sequence({})}; }

// A place in a sequence; the end is one where something is inserted.
size_t place(const Call& call, size_t input, size_t length, bool with_end) {
    const auto count = static_cast<int64_t>(length);
    const int64_t given = call.known_integer(input);
    call.check<IndexError>(given >= -count && given < count + (with_end ? 1 : 0), "place ", given,
                           " of a sequence of ", count, ". A place within it is required.");
    return static_cast<size_t>(given < 0 ? given + count : given);
}

Values at(Call& call) {
    const Values& parts = call.sequence(0);
    return {parts[place(call, 1, parts.size(), false)]};
}

Values erase(Call& call) {
    Values parts = call.sequence(0);
    call.check(!parts.empty(), "the sequence is empty. An element is required.");
    const size_t i = call.has(1) ? place(call, 1, parts.size(), false) : parts.size() - 1;
    parts.erase(parts.begin() + static_cast<int64_t>(i));
    return {Value::sequence(std::move(parts))};
}

Values insert(Call& call) {
    Values parts = call.sequence(0);
    const size_t i = call.has(2) ? place(call, 2, parts.size(), true) : parts.size();
    parts.insert(parts.begin() + static_cast<int64_t>(i), call.value(1));
    return {Value::sequence(std::move(parts))};
}

Values length(Call& call) {
    return {numpy::array<int64_t>({static_cast<int64_t>(call.sequence(0).size())}, {})};
}

std::vector<Tensor> tensors_of(const Call& call, const Values& parts) {
    std::vector<Tensor> tensors;
    for (const Value& part : parts) {
        call.check<TypeError>(part.is_tensor(), "a part is ", description(part),
                              ". Tensors are required.");
        tensors.push_back(part.tensor());
    }
    return tensors;
}

Values concat(Call& call) {
    const Values& parts = call.sequence(0);
    const std::vector<Tensor> tensors = tensors_of(call, parts);
    call.check(!tensors.empty(), "the sequence is empty. An element is required.");
    const int rank = tensors[0].rank();
    const bool is_new = call.flag("new_axis");
    const int64_t axis = call.axis(is_new ? rank + 1 : rank, 0);
    return {Value(is_new ? numpy::stack(tensors, axis) : numpy::concatenate(tensors, axis),
                  parts[0].element())};
}

// Parts of a length, of lengths, or, without any, of 1, whose axis may go.
Values split(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), 0);
    const int64_t whole = x.shape()[static_cast<size_t>(axis)];
    std::vector<int64_t> lengths;
    bool keeps_axis = true;
    if (!call.has(1)) {
        lengths.assign(static_cast<size_t>(whole), 1);
        keeps_axis = call.flag("keepdims", true);
    } else if (call.tensor(1).rank() == 0) {
        const int64_t part = call.known_integer(1);
        call.check(part > 0, "parts have length ", part, ". A positive one is required.");
        for (int64_t at = 0; at < whole; at += part) lengths.push_back(std::min(part, whole - at));
    } else {
        lengths = call.known_integers(1);
    }
    const int64_t total = std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    call.check(total == whole, "the parts have lengths ", lengths, " of ", whole,
               ". Lengths that add up to that are required.");
    if (lengths.empty()) return {Value::sequence({})};
    std::vector<int64_t> ends(lengths.begin(), lengths.end() - 1);
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Values parts;
    for (const Tensor& part : numpy::split(x, ends, axis))
        parts.emplace_back(
            Value(keeps_axis ? part : numpy::squeeze(part, axis), call.value(0).element()));
    return {Value::sequence(std::move(parts))};
}

// The body for the parts of the first sequence; of other sequences it gets the part at that place.
Values map(Call& call) {
    const Values& first = call.sequence(0);
    const Graph& body = call.graph("body");
    std::vector<Values> results(body.outputs.size());
    for (size_t i = 0; i < first.size(); ++i) {
        Values inputs;
        for (size_t k = 0; k < call.input_count(); ++k) {
            const Value& value = call.value(k);
            call.check(!value.is_sequence() || i < value.parts().size(), "sequence ", k, " has ",
                       description(value), ". As many parts as the first has are required.");
            inputs.push_back(value.is_sequence() ? value.parts()[i] : value);
        }
        const Values outputs = call.builder().build(body, inputs, call);
        for (size_t k = 0; k < outputs.size(); ++k) results[k].push_back(outputs[k]);
    }
    Values values;
    for (Values& each : results) values.push_back(Value::sequence(std::move(each)));
    return values;
}

Values optional(Call& call) { return {call.value(0)}; }

Values has_element(Call& call) {
    return {numpy::asarray(Array::scalar(DType::boolean, call.has(0) ? 1 : 0))};
}

Values get_element(Call& call) {
    call.check(call.has(0), "the optional is empty. An element is required.");
    return {call.value(0)};
}

}  // namespace
}  // namespace sequences

void add_sequences(Registry& registry) {
    using namespace sequences;
    registry.add("ConcatFromSequence", concat);
    registry.add("Optional", optional);
    registry.add("OptionalGetElement", get_element);
    registry.add("OptionalHasElement", has_element);
    registry.add("SequenceAt", at);
    registry.add("SequenceConstruct", construct);
    registry.add("SequenceEmpty", empty);
    registry.add("SequenceErase", erase);
    registry.add("SequenceInsert", insert);
    registry.add("SequenceLength", length);
    registry.add("SequenceMap", map);
    registry.add("SplitToSequence", split);
}

}  // namespace composit::onnx
