// Running graphs: evaluate (plans, cached by structure), compile (one specialisation, held),
// threads.
#pragma once

#include "composit/execute/placement.h"
#include "composit/execute/timeline.h"
#include "composit/ir/array.h"
#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"
#include "composit/runtime/backend.h"
#include "composit/transforms/pipeline.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::execute {

using ir::Array;
using ir::Tensor;

struct Options {
    std::string backend = "interpreter";
    // The back end of kernels whose nodes lie on the "cpu"; empty: `backend`.
    std::string host = "";
    int threads = 0;  // 0: default_threads()
    bool fuse = true;
    bool reuse_buffers = true;
    std::string cache_folder = "";  // of back ends that compile; empty: the default
    int64_t bytes_of_part = 0;      // that a part of fused rows touches; 0: the back end's choice
    bool whole_model = true;        // one generated function calls all kernels, where there is one
    // Until a back end that compiles for long has done so, the interpreter answers, to the same
    // bits. Not for `evaluate`.
    bool waits = true;
    // The passes; null: the standard ones. Plans tell pipelines apart by this pointer.
    std::shared_ptr<const transforms::Pipeline> pipeline = nullptr;
    // Places, among its inputs, of arguments that callers of a compiled function give up: results
    // may lie in their memory (docs/decisions/0019-donation.md).
    std::vector<size_t> donated = {};
    // Of a compiled function's results, in order: names in its program and in exports. A result
    // that has none, or an empty one, is called after its node.
    std::vector<std::string> output_names = {};
    // Which kernels run elsewhere than on `backend`, of a graph that is compiled; or, where there
    // is one, a function that places the kernels of the program.
    Placement placement = {};
    std::function<Placement(const ir::kernel::Program&)> choose_placement = nullptr;
    // Of a graph that is compiled, those of bodies not counted: each takes memory and time. More
    // are refused; `evaluate` takes any number.
    int64_t most_nodes = int64_t{1} << 18;
};

int default_threads();  // COMPOSIT_THREADS, else the cores this process may use
runtime::ParallelFor parallel_for(int threads);  // on the process's pool, which restarts after fork

// Values of the tensors, in order. The plan is found by the structure of the graph, so that a loop
// which rebuilds the same graph every step plans once. Constants among `outputs` are returned as
// they are. ValueError when a placeholder is reached; IndexError in NumPy's words, with the line of
// the indexing node behind them where it has one: "index 7 is out of bounds for … (train.py:12)".
std::vector<Array> evaluate(const std::vector<Tensor>& outputs, const Options& options = {});
// A node keeps the value of an output (ir::Node::kept): who evaluates that again, or what was made
// of it, begins there. Not kept are Python's numbers, and what depends on memory that others can
// write.
void keep(const Tensor& tensor, const Array& value);
std::vector<Array> evaluate_and_keep(const std::vector<Tensor>& outputs,
                                     const Options& options = {});
// Values that a function needs while it makes a graph: a mask's, since the shape of the selection
// depends on them. They are kept. composit/eager makes this a look of the program, which also
// computes what its arrays hold, so that a loop does each step once.
std::vector<Array> values_now(const std::vector<Tensor>& tensors, const Options& options = {});
using Look = std::vector<Array> (*)(const std::vector<Tensor>&, const Options&);
void set_values_now(Look look);
struct PlanStatistics {
    int64_t plans = 0, hits = 0, misses = 0;
};
PlanStatistics plan_statistics();
void clear_plans();

// Where a kernel runs, and why not where it was asked to (empty when it does).
struct PlacedKernel {
    std::string kernel, backend, why;
};

struct Homes;  // build.h

// One specialisation of a function, ready to call.
class Compiled {
  public:
    // `inputs` are placeholders that `outputs` reach (or not), in calling order. Each kernel runs
    // where the options' placement puts it, else on the device that its node lies on, else on the
    // options' back end. Arguments and results lie where the graph says, else on that back end's
    // device.
    Compiled(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs,
             Options options);

    // ValueError/TypeError when count, shape or dtype do not fit, naming the argument. Results of a
    // program that runs on a device lie there; arguments that do not are copied there.
    std::vector<Array> operator()(const std::vector<Array>& arguments) const;
    // A result that updates a donated argument is written into its memory, if the caller is the
    // only owner; otherwise the argument is copied.
    std::vector<Array> operator()(std::vector<Array>&& arguments) const;
    // The same for host memory that is known to fit: row-major, of the inputs' dtypes and shapes.
    // `given`: for some donated arguments that memory, to be written over; a result that lies there
    // is that array. An argument that overlaps another is copied.
    std::vector<Array> run(const std::vector<const void*>& arguments,
                           const std::vector<Array>& given = {}) const;

    // The same, and the seconds that each of program().kernels took; none where the back end cannot
    // tell them apart.
    std::vector<double> seconds_of_kernels(const std::vector<Array>& arguments) const;

    // Results of the calls with each of these arguments, in order. Of that many calls the work is
    // under way at the same time (0: two for each device), so that devices which wait for one
    // another in a call work for different calls.
    std::vector<std::vector<Array>> run_stream(const std::vector<std::vector<Array>>& calls,
                                               int in_flight = 0) const;
    // What ran where and when in a call, of a program on several devices; else empty.
    Timeline timeline(const std::vector<Array>& arguments) const;

    const std::string& name() const { return name_; }
    const std::vector<Tensor>& inputs() const { return inputs_; }
    const std::vector<Tensor>& outputs() const { return outputs_; }  // the user's graph
    const std::vector<Tensor>& lowered_outputs() const {
        return simplified_;
    }  // after simplification and inlining
    // (pass name, text before, text after), in order.
    struct Pass {
        std::string name, before, after;
    };
    const std::vector<Pass>& passes() const;                         // printed on first use
    const ir::kernel::Program& program() const { return program_; }  // kernels, buffers
    // Buffers as a table, arena, bytes; "packed" is a constant whose copy took its place.
    std::string plan() const;
    std::string source() const;  // what the back end generated
    std::string build_command() const;
    // The kernels as they would be on another target, with buffers placed: for who prints them for
    // a machine that is not here. `refusal` says why a kernel that a pass makes is not taken.
    ir::kernel::Program program_for(const Target& target, const transforms::Refusal& refusal) const;
    const std::vector<PlacedKernel>& placements() const { return placements_; }  // one per kernel
    // The kernels before they are scheduled for their targets, which are placed.
    const ir::kernel::Program& unscheduled() const;
    const Options& options() const { return options_; }
    // Places among inputs() of the arguments that a call takes from its caller.
    const std::vector<size_t>& donated() const { return options_.donated; }
    const runtime::Executable& executable() const { return *executable_; }
    // Of each of program().inputs its place among inputs().
    const std::vector<int>& arguments_of_inputs() const { return argument_of_input_; }
    // Memory that it keeps between calls, about: code, packed constants, arenas, the graph's nodes.
    // Constants, which others may hold, do not count.
    int64_t held_bytes() const;

  private:
    void check(const std::vector<Array>& arguments) const;
    std::vector<transforms::Donation> donations() const;
    void find_homes();
    Homes homes() const;
    // For these arguments; `results` get the outputs, of which those that start as an argument hold
    // that already.
    runtime::Run run_of(const std::vector<const void*>& arguments, const std::vector<Array>& given,
                        std::vector<Array>& results) const;
    // Host memory that nobody owns, as arrays; calls of programs that run on a device, whose
    // results lie there.
    std::vector<Array> at(const std::vector<const void*>& pointers) const;
    struct DeviceHeld {
        std::vector<Array> arguments, results;
    };
    runtime::Run device_run(const std::vector<Array>& arguments, const std::vector<Array>& given,
                            DeviceHeld& held) const;
    std::vector<Array> run_on_device(const std::vector<Array>& arguments,
                                     const std::vector<Array>& given) const;
    // Of each argument whether its memory overlaps another's.
    std::vector<bool> overlapping(const std::vector<const void*>& arguments) const;
    // The outputs, computed from constants instead of placeholders.
    std::vector<Tensor> with_values(const std::vector<const void*>& arguments) const;

    std::string name_;
    std::vector<Tensor> inputs_, outputs_, simplified_;
    Options options_;
    runtime::ParallelFor parallel_for_;
    // That something of it runs on, or lies on; null: host memory only.
    std::shared_ptr<runtime::Device> device_;
    // On which each of inputs_ and outputs_ lies; null: in host memory.
    std::vector<std::shared_ptr<runtime::Device>> homes_of_inputs_, homes_of_outputs_;
    struct Stages;  // what the passes printed are printed from
    std::shared_ptr<Stages> stages_;
    ir::kernel::Program program_;
    std::shared_ptr<runtime::Executable> executable_;
    std::vector<int> argument_of_input_;  // of program_.inputs
    std::vector<int64_t> bytes_of_argument_;
    std::vector<int> start_of_output_;  // of outputs_: the argument that each starts as, else -1
    std::vector<PlacedKernel> placements_;
    std::vector<const void*> constants_in_files_;  // which are mapped (base/mapped_file.h)
    uint8_t reported_ = 0;  // kinds of floating-point errors that nodes want reported
};

}  // namespace composit::execute
