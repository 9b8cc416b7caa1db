// Programs whose values lie on devices: where a graph runs, and copies from one device to another.
#pragma once

#include "composit/execute/execute.h"
#include "composit/runtime/device.h"

#include <functional>
#include <vector>

namespace composit::execute {

// The back end that a graph of values on that device runs on; `wanted` where they lie in host
// memory or anywhere.
std::string backend_for(ir::DeviceNumber device, const std::string& wanted);

// x on the device of that full name. A value that is there is copied at once, and once.
Tensor moved_to(const Tensor& x, const std::string& device);
// The same for a tensor that was just made, of which nobody else knows: a constant becomes another.
Tensor placed_on(const Tensor& x, const std::string& device);

// A constant of a value that lies on that device, or is copied there; one with dimensions that lies
// in host memory lies on the cpu from then on.
Tensor constant_on(const Array& value, ir::DeviceNumber device, std::string_view name = {});
// What becomes part of a tensor on a device, moved there; itself beside one in host memory, unless
// it lies on a device.
Tensor beside(const Tensor& value, const Tensor& target);
// A tensor that was just made of the target's values, on the device that it lies on, if any.
Tensor made_beside(const Tensor& made, const Tensor& target);
// What a target holds once all of it was written: it stays on its device, if it has one.
Tensor written_beside(const Tensor& value, const Tensor& target);
// The same for a value that is written into a part: one that lies anywhere stays as it is.
Tensor part_beside(const Tensor& value, const Tensor& target);

using Evaluating = std::function<std::vector<Array>(const std::vector<Tensor>&)>;

// Values of tensors of several devices, or that need values of other devices than their own.
// `evaluate` is called for graphs of one device.
bool needs_several_devices(const std::vector<Tensor>& outputs);
std::vector<Array> evaluate_across_devices(const std::vector<Tensor>& outputs,
                                           const Evaluating& evaluate);

// An executable of `program` whose runs are given host memory, whatever its back end needs: inputs
// and outputs, which may be gone on with, are copied to the device and outputs back.
std::shared_ptr<runtime::Executable> with_host_memory(
    std::shared_ptr<runtime::Executable> executable, const std::string& backend,
    const ir::kernel::Program& program);

// Runs an executable whose inputs and outputs lie on the device.
struct DeviceCall {
    std::shared_ptr<runtime::Device> device;
    std::vector<std::shared_ptr<const void>> inputs;  // addresses, in the program's order
    std::vector<ir::TensorType> outputs;
};
// Results on the device; the executable may still be at work on them.
std::vector<Array> run_on_device(const runtime::Executable& executable, const DeviceCall& call,
                                 const runtime::ParallelFor& parallel_for, int threads);

}  // namespace composit::execute
