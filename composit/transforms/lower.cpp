// From a graph to a program: elementwise chains and views fuse into the kernels that use them.
#include "composit/transforms/lower.h"

#include "composit/base/ascii.h"
#include "composit/base/error.h"
#include "composit/ops/nest.h"
#include "composit/ops/storage.h"
#include "composit/runtime/interrupt.h"
#include "composit/transforms/represent.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace composit::transforms {

using ir::DType;
using ir::Nest;
using ir::Node;
using ir::Shape;
using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Map;
using ir::scalar::Expr;
using ir::scalar::Op;

GraphLowering::GraphLowering(const LowerOptions& options) : options_(options) {
    program_.name = options.name;
}

std::string GraphLowering::unique_name(std::unordered_set<std::string>& taken, std::string name) {
    for (char& c : name)
        if (!ascii::is_of_word(c)) c = '_';
    if (name.empty() || ascii::is_digit(name[0])) name = "t_" + name;
    int& number = last_number_[name];
    std::string candidate = number == 0 ? name : name + "_" + std::to_string(number + 1);
    while (!taken.insert(candidate).second) candidate = name + "_" + std::to_string(++number + 1);
    ++number;
    return candidate;
}

int GraphLowering::add_buffer(BufferKind kind, DType dtype, const Shape& shape,
                              const std::string& name) {
    const ir::TensorType type = ops::storage_type({shape, dtype});
    Buffer buffer;
    buffer.name = unique_name(buffer_names_, name);
    buffer.kind = kind;
    buffer.dtype = type.dtype;
    buffer.shape = type.shape;
    buffer.bytes = ir::element_count(shape) * ir::size_of(dtype);
    program_.buffers.push_back(std::move(buffer));
    return static_cast<int>(program_.buffers.size()) - 1;
}

void GraphLowering::bind_input(const Tensor& leaf, const std::string& fallback_name) {
    const auto [shape, dtype, weak] = ops::storage_type(leaf.type());
    const int buffer = add_buffer(BufferKind::input, dtype, shape,
                                  leaf.name().empty() ? fallback_name : leaf.name());
    program_.inputs.push_back(buffer);
    inputs_.push_back(leaf);
    values_[&leaf.node()] = {ops::nest_of(shape, ops::row_major(buffer, dtype, shape))};
}

void GraphLowering::bind_constant(const Node& node) {
    const ir::ConstantArray& value = ir::constant_array(node);
    const std::string name = node.name().empty() ? "constant" : node.name();
    if (options_.inline_scalars && value.size() == 1) {
        ir::scalar::Bits bits{};
        std::memcpy(bits.data(), value.row_major().get(),
                    static_cast<size_t>(ir::size_of(value.dtype())));
        values_[&node] = {Nest{value.shape(), {}, Expr::constant_bits(value.dtype(), bits)}};
        return;
    }
    if (options_.constants_are_inputs) {
        bind_input(Tensor(Ref<Node>(&node), 0), name);
        return;
    }
    const int buffer = add_buffer(BufferKind::constant, value.dtype(), value.shape(), name);
    program_.buffers.back().value = value;
    values_[&node] = {
        ops::nest_of(value.shape(), ops::row_major(buffer, value.dtype(), value.shape()))};
}

void GraphLowering::count_uses(const std::vector<const Node*>& order,
                               const std::vector<Tensor>& outputs) {
    const auto use = [&](const Tensor& x) {
        auto& counts = uses_[&x.node()];
        counts.resize(static_cast<size_t>(x.node().output_count()));
        ++counts[static_cast<size_t>(x.output_index())];
    };
    uses_.reserve(order.size());
    values_.reserve(order.size());
    for (const Node* node : order)
        for (const Tensor& operand : node->operands()) {
            use(operand);
            if (node->operation().name == "transpose") transposes_[&operand.node()] = node;
            const int64_t count = ir::element_count(operand.shape());
            if (count < ir::element_count(node->types()[0].shape))
                repeated_.emplace(&operand.node(), operand.output_index());
        }
    for (const Tensor& output : outputs) use(output);
}

namespace {

// Whether it moves values that lie on another device.
bool crosses(const Node& node) {
    if (!node.operation().device) return false;
    const ir::DeviceNumber from = node.operand(0).node().device();
    return from != ir::anywhere && from != node.device();
}

}  // namespace

void GraphLowering::lower_node(const Node& node) {
    if (values_.contains(&node)) return;
    if (ir::is_constant(node)) return bind_constant(node);
    if (ir::is_input(node))
        fail<ValueError>("evaluate: '", node.name(), "' is a placeholder",
                         node.location().empty() ? "" : " made at ", node.location(),
                         ". Compile the function and pass a value for it.");
    internal_check(static_cast<bool>(node.operation().lower), "lower: operation '",
                   node.operation().name, "' has no lower rule");
    node_ = &node;
    device_ = node.device();
    values_[&node].resize(static_cast<size_t>(node.output_count()));
    if (crosses(node)) {
        // What is read elsewhere is made first, where its operands are.
        device_ = node.operand(0).node().device();
        result(0, ops::nest_of(node.types()[0].shape, memory(0)));
    } else {
        node.operation().lower(node, *this);
    }
    forget_operands(node);
}

void GraphLowering::forget_operands(const Node& node) {
    for (const Tensor& operand : node.operands()) {
        auto& counts = uses_.at(&operand.node());
        --counts[static_cast<size_t>(operand.output_index())];
        if (std::all_of(counts.begin(), counts.end(), [](int count) { return count == 0; }))
            values_.erase(&operand.node());
    }
}

Nest GraphLowering::operand(int i) {
    const Tensor& x = node_->operand(i);
    return values_.at(&x.node())[static_cast<size_t>(x.output_index())];
}

Access GraphLowering::memory(int i) {
    const Access access = materialise_as_read(operand(i));
    // For other users of the same tensor, which may be a nest that is quick to compute again.
    const Tensor& x = node_->operand(i);
    values_.at(&x.node())[static_cast<size_t>(x.output_index())] = ops::nest_of(x.shape(), access);
    return access;
}

Access GraphLowering::materialise(const Nest& nest) {
    if (ops::is_view(nest) && nest.inputs[0].buffer != Access::position) return nest.inputs[0];
    const Access target = new_temporary(nest.value.dtype(), nest.extents);
    emit(Map{nest.extents, nest.inputs, {nest.value}, {target}});
    return target;
}

namespace {

// The loops of a nest from the longest step to the shortest of an input that all of them move;
// nothing when there is no such input.
std::optional<std::vector<size_t>> reading_order(const Nest& nest) {
    for (const Access& input : nest.inputs) {
        if (!ops::moves_with_all(input, nest.extents)) continue;
        std::vector<size_t> order, long_loops;
        for (size_t d = 0; d < nest.extents.size(); ++d)
            if (nest.extents[d] != 1) long_loops.push_back(d);
        std::stable_sort(long_loops.begin(), long_loops.end(), [&](size_t a, size_t b) {
            return std::abs(input.strides[a]) > std::abs(input.strides[b]);
        });
        for (size_t d = 0, next = 0; d < nest.extents.size(); ++d)
            order.push_back(nest.extents[d] == 1 ? d : long_loops[next++]);
        return order;
    }
    return std::nullopt;
}

}  // namespace

Access GraphLowering::materialise_as_read(const Nest& nest) {
    const auto order = reading_order(nest);
    if (ops::is_view(nest) || !order || std::is_sorted(order->begin(), order->end()))
        return materialise(nest);
    Shape shape;
    for (size_t d : *order) shape.push_back(nest.extents[d]);
    const Access rows = new_temporary(nest.value.dtype(), shape);
    Access target = rows;
    for (size_t d = 0; d < order->size(); ++d) target.strides[(*order)[d]] = rows.strides[d];
    emit(Map{nest.extents, nest.inputs, {nest.value}, {target}});
    return target;
}

Access GraphLowering::new_temporary(DType dtype, const Shape& shape) {
    const std::string name =
        node_ ? (node_->name().empty() ? ir::label(*node_) : node_->name()) : "temporary";
    return ops::row_major(add_buffer(BufferKind::temporary, dtype, shape, name), dtype, shape);
}

Access GraphLowering::new_output(int i) {
    const ir::TensorType& type = node_->types()[static_cast<size_t>(i)];
    Access access;
    if (const Axes* axes = later_order()) {
        Shape shape;
        for (int64_t axis : *axes) shape.push_back(type.shape[static_cast<size_t>(axis)]);
        const Access rows = new_temporary(type.dtype, shape);
        access = rows;
        for (size_t d = 0; d < axes->size(); ++d)
            access.strides[static_cast<size_t>((*axes)[d])] = rows.strides[d];
    } else {
        access = new_temporary(type.dtype, type.shape);
    }
    values_.at(node_)[static_cast<size_t>(i)] = ops::nest_of(type.shape, access);
    return access;
}

// A gather that is only transposed is written in that order at once: `take` along an inner axis.
const GraphLowering::Axes* GraphLowering::later_order() const {
    if (node_->operation().name != "gather") return nullptr;
    const auto transpose = transposes_.find(node_);
    if (transpose == transposes_.end()) return nullptr;
    const auto uses = uses_.find(node_);
    if (uses == uses_.end() || uses->second[0] != 1) return nullptr;
    return &transpose->second->attributes().get<Axes>("axes");
}

namespace {

// "exp_multiply": what the kernel does, from the rows it calls; at most three words.
std::string body_name(const ir::kernel::Kernel& kernel) {
    std::vector<std::string> words;
    for (const Expr& e : ir::scalar::all_expressions(ir::kernel::bodies(kernel)))
        if (e.op() == Op::call && (words.empty() || words.back() != e.row()->name))
            words.push_back(e.row()->name);
    if (words.size() > 3) words = {words[0], words[1], "and_more", words.back()};
    return join(words, "_");
}

// Of a map that calls no row.
std::string plain_name(const Map& map, const std::string& label) {
    const Op op = map.values[0].op();
    return op == Op::argument ? "copy" : op == Op::constant ? "fill" : label;
}

}  // namespace

void GraphLowering::emit(ir::kernel::Body body) {
    ir::kernel::Kernel kernel;
    kernel.body = std::move(body);
    if (auto* contract = std::get_if<ir::kernel::Contract>(&kernel.body))
        *contract = ir::kernel::widened(*contract);
    if (const auto* empty = std::get_if<Map>(&kernel.body);
        empty && ir::element_count(empty->extents) == 0)
        return;
    const std::string label = node_ ? ir::label(*node_) : "copy";
    const bool is_repeat = std::holds_alternative<ir::kernel::Repeat>(kernel.body);
    const std::string done = is_repeat ? "" : body_name(kernel);
    const auto* map = std::get_if<Map>(&kernel.body);
    std::string name = map ? (done.empty() ? plain_name(*map, label) : done)
                           : (done.empty() ? label : label + "_" + done);
    kernel.name = unique_name(kernel_names_, name);
    kernel.comment = node_ && !node_->name().empty() ? node_->name() + " = " + label : label;
    if (node_ && !node_->location().empty()) kernel.lines.push_back(node_->location());
    if (device_ != ir::anywhere) kernel.device = ir::device_name(device_);
    program_.kernels.push_back(std::move(kernel));
}

void GraphLowering::result(int i, Nest nest) {
    const auto found = uses_.find(node_);
    const int uses = found == uses_.end() || found->second.size() <= static_cast<size_t>(i)
                         ? 0
                         : found->second[static_cast<size_t>(i)];
    const int work = ops::operation_count(nest);
    const bool keep =
        work > 0 && !nest.inputs.empty() &&
        ((uses > 1 && (repeated_.contains({node_, i}) || !ops::is_quick(nest))) || !options_.fuse ||
         static_cast<size_t>(work) > options_.target.most_operations ||
         nest.inputs.size() > options_.target.most_inputs);
    if (keep && uses > 0)
        nest =
            ops::nest_of(nest.extents, outputs_.contains({node_, i}) ? materialise(nest)
                                                                     : materialise_as_read(nest));
    values_.at(node_)[static_cast<size_t>(i)] = std::move(nest);
}

std::vector<std::string> GraphLowering::names_for_outputs(size_t count) {
    std::vector<std::string> names(options_.output_names);
    names.resize(count);
    for (std::string& name : names) {
        if (name.empty()) continue;
        // A training step returns what it was given: w and new_w.
        if (buffer_names_.contains(name)) name = "new_" + name;
        name = unique_name(buffer_names_, name);
    }
    return names;
}

void GraphLowering::bind_output(const Tensor& output, const std::string& given_name) {
    const Nest& nest = values_.at(&output.node())[static_cast<size_t>(output.output_index())];
    node_ = &output.node();
    device_ = node_->device();
    if (ops::is_view(nest) && nest.inputs[0].buffer != Access::position) {
        const Access& access = nest.inputs[0];
        Buffer& buffer = program_.buffers[static_cast<size_t>(access.buffer)];
        const bool is_whole = access.offset == 0 &&
                              ir::element_count(nest.extents) == ir::element_count(buffer.shape) &&
                              access.strides == ir::row_major_strides(nest.extents);
        if (buffer.kind == BufferKind::temporary && is_whole) {
            buffer.kind = BufferKind::output;
            buffer.shape = nest.extents;
            if (!given_name.empty()) buffer.name = given_name;
            program_.outputs.push_back(access.buffer);
            return;
        }
    }
    const std::string name = node_->name().empty() ? ir::label(*node_) : node_->name();
    const int target = add_buffer(BufferKind::output, nest.value.dtype(), nest.extents, name);
    if (!given_name.empty()) program_.buffers[static_cast<size_t>(target)].name = given_name;
    emit(Map{nest.extents,
             nest.inputs,
             {nest.value},
             {ops::row_major(target, nest.value.dtype(), nest.extents)}});
    program_.outputs.push_back(target);
}

Lowered GraphLowering::lower(const std::vector<Tensor>& given,
                             const std::vector<Tensor>& placeholders) {
    std::vector<Tensor> all = given;
    all.insert(all.end(), placeholders.begin(), placeholders.end());
    all = inline_calls(all);
    const std::vector<Tensor> outputs =
        represent({all.begin(), all.begin() + static_cast<long>(given.size())},
                  options_.constants_are_inputs);
    const auto order = ir::topological_order(outputs);
    count_uses(order, outputs);
    for (const Tensor& output : outputs) outputs_.emplace(&output.node(), output.output_index());
    for (size_t i = given.size(); i < all.size(); ++i)
        bind_input(all[i], "x" + std::to_string(i - given.size()));
    const std::vector<std::string> names = names_for_outputs(outputs.size());
    for (const Node* node : order) {
        runtime::check_interrupt();
        lower_node(*node);
    }
    for (size_t i = 0; i < outputs.size(); ++i) bind_output(outputs[i], names[i]);
    if (has_repeats_) program_ = without_unused_buffers(std::move(program_));
    return {std::move(program_), std::move(inputs_)};
}

Lowered lower(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
              const LowerOptions& options) {
    return GraphLowering(options).lower(outputs, inputs);
}

}  // namespace composit::transforms
