#include "composit/execute/devices.h"

#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <map>

namespace composit::execute {
namespace {

using ir::DeviceNumber;
using ir::Node;

bool lies_elsewhere(DeviceNumber device) { return device != ir::anywhere && device != ir::on_cpu; }

// A transfer of values that lie on another device.
bool is_crossing(const Node& node) {
    if (!node.operation().device || node.has_kept()) return false;
    const DeviceNumber from = node.operand(0).node().device();
    return from != ir::anywhere && from != node.device();
}

// The first transfers that cross, of which none needs another: their operands are of one device.
std::vector<Tensor> first_crossings(const std::vector<Tensor>& outputs) {
    std::vector<Tensor> found;
    for (const Node* node : ir::topological_order(outputs))
        if (is_crossing(*node) && !node->operand(0).node().crosses_devices())
            found.emplace_back(Ref<Node>(node), 0);
    return found;
}

Array moved(const Array& value, DeviceNumber device) {
    if (!lies_elsewhere(device)) return value.on_host();
    return runtime::copied_to(runtime::device(ir::device_name(device)), value);
}

}  // namespace

std::string backend_for(DeviceNumber device, const std::string& wanted) {
    return lies_elsewhere(device) ? ir::device_name(device) : wanted;
}

Tensor moved_to(const Tensor& x, const std::string& device) {
    const Tensor made = ops::transfer(x, device);
    const Node& node = x.node();
    if (made == x || x.node().device() == ir::anywhere || node.reads_borrowed()) return made;
    const ir::ConstantArray value =
        ir::is_constant(node) ? ir::constant_array(node) : node.kept(x.output_index());
    if (value) keep(made, moved(value.value(), made.node().device()));
    return made;
}

Tensor placed_on(const Tensor& x, const std::string& device) {
    if (!ir::is_constant(x.node()) || x.node().reads_borrowed() || x.type().weak)
        return moved_to(x, device);
    return constant_on(ir::constant_array(x.node()).value(), ir::device_number(device), x.name());
}

Tensor constant_on(const Array& value, DeviceNumber device, std::string_view name) {
    return ir::placed_constant(moved(value, device), name);
}

Tensor beside(const Tensor& value, const Tensor& target) {
    const DeviceNumber here = value.node().device(), there = target.node().device();
    if (here == there || (!lies_elsewhere(here) && !lies_elsewhere(there))) return value;
    return moved_to(value, ir::device_name(there));
}

Tensor made_beside(const Tensor& made, const Tensor& target) {
    const DeviceNumber there = target.node().device();
    return lies_elsewhere(there) ? placed_on(made, ir::device_name(there)) : made;
}

Tensor written_beside(const Tensor& value, const Tensor& target) {
    return target.node().device() == ir::anywhere ? value : beside(value, target);
}

Tensor part_beside(const Tensor& value, const Tensor& target) {
    return value.node().device() == ir::anywhere ? value : written_beside(value, target);
}

bool needs_several_devices(const std::vector<Tensor>& outputs) {
    DeviceNumber first = ir::anywhere;
    for (const Tensor& output : outputs) {
        const Node& node = output.node();
        if (node.crosses_devices() && !node.has_kept()) return true;
        const DeviceNumber device = node.device();
        if (first == ir::anywhere) first = device;
        if (device != ir::anywhere && device != first) return true;
    }
    return false;
}

std::vector<Array> evaluate_across_devices(const std::vector<Tensor>& outputs,
                                           const Evaluating& evaluate) {
    std::vector<Tensor> open = outputs;
    for (;;) {
        const std::vector<Tensor> crossings = first_crossings(open);
        if (crossings.empty()) break;
        std::vector<Tensor> sources, constants;
        for (const Tensor& crossing : crossings) sources.push_back(crossing.node().operand(0));
        const std::vector<Array> values = evaluate_across_devices(sources, evaluate);
        for (size_t i = 0; i < crossings.size(); ++i) {
            const Array there = moved(values[i], crossings[i].node().device());
            keep(crossings[i], there);
            constants.push_back(ir::placed_constant(there));
        }
        open = ir::substitute(open, crossings, constants);
    }
    std::map<DeviceNumber, std::vector<size_t>> groups;
    for (size_t i = 0; i < open.size(); ++i) groups[open[i].node().device()].push_back(i);
    std::vector<Array> results(open.size());
    for (const auto& [device, places] : groups) {
        std::vector<Tensor> group;
        for (size_t place : places) group.push_back(open[place]);
        const std::vector<Array> values = evaluate(group);
        for (size_t i = 0; i < places.size(); ++i) results[places[i]] = values[i];
    }
    return results;
}

namespace {

class Staged : public runtime::Executable {
  public:
    Staged(std::shared_ptr<runtime::Executable> inner, std::shared_ptr<runtime::Device> device,
           const ir::kernel::Program& program)
        : inner_(std::move(inner)), device_(std::move(device)) {
        for (const auto& [numbers, bytes] : {std::pair{&program.inputs, &input_bytes_},
                                             std::pair{&program.outputs, &output_bytes_}})
            for (int number : *numbers)
                bytes->push_back(program.buffers[static_cast<size_t>(number)].bytes);
    }

    void run(const runtime::Run& run) const override {
        std::vector<std::shared_ptr<runtime::DeviceMemory>> held;
        const auto copied = [&](const void* from, int64_t bytes) {
            held.push_back(runtime::DeviceMemory::allocate(device_, bytes, "argument"));
            if (bytes > 0) device_->copy_from_host(held.back()->address(), from, bytes);
            return held.back()->address();
        };
        runtime::Run there{{}, {}, run.threads, run.parallel_for};
        for (size_t i = 0; i < run.inputs.size(); ++i)
            there.inputs.push_back(copied(run.inputs[i], input_bytes_[i]));
        for (size_t i = 0; i < run.outputs.size(); ++i)
            there.outputs.push_back(copied(run.outputs[i], output_bytes_[i]));
        inner_->run(there);
        for (size_t i = 0; i < run.outputs.size(); ++i)
            if (output_bytes_[i] > 0)
                device_->copy_to_host(run.outputs[i], there.outputs[i], output_bytes_[i]);
    }
    std::vector<runtime::SourceFile> sources() const override { return inner_->sources(); }
    std::string build_command() const override { return inner_->build_command(); }
    int64_t held_bytes() const override { return inner_->held_bytes(); }

  private:
    std::shared_ptr<runtime::Executable> inner_;
    std::shared_ptr<runtime::Device> device_;
    std::vector<int64_t> input_bytes_, output_bytes_;
};

}  // namespace

std::shared_ptr<runtime::Executable> with_host_memory(
    std::shared_ptr<runtime::Executable> executable, const std::string& backend,
    const ir::kernel::Program& program) {
    auto device = runtime::backend(backend)->device();
    if (!device) return executable;
    return std::make_shared<Staged>(std::move(executable), std::move(device), program);
}

std::vector<Array> run_on_device(const runtime::Executable& executable, const DeviceCall& call,
                                 const runtime::ParallelFor& parallel_for, int threads) {
    runtime::Run run;
    run.threads = threads;
    run.parallel_for = parallel_for;
    for (const auto& input : call.inputs) run.inputs.push_back(input.get());
    std::vector<Array> results;
    for (const ir::TensorType& type : call.outputs) {
        results.push_back(runtime::array_on(call.device, type.dtype, type.shape));
        run.outputs.push_back(results.back().remote()->address());
    }
    executable.run(run);
    return results;
}

}  // namespace composit::execute
