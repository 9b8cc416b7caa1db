// One specialisation of a function: its graph taken through the passes, compiled and held.
#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/execute/blame.h"
#include "composit/execute/build.h"
#include "composit/execute/devices.h"
#include "composit/execute/floating_errors.h"
#include "composit/execute/memory.h"
#include "composit/execute/signature.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/print.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

namespace composit::execute {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Program;

// How much of the user's graph the header of generated code quotes.
constexpr size_t lines_in_headers = 40;

void check_graph(const std::string& name, const std::vector<Tensor>& inputs,
                 const std::vector<Tensor>& outputs, int64_t most_nodes) {
    std::unordered_map<const ir::Node*, int> given;
    for (const Tensor& input : inputs) {
        user_check(ir::is_input(input.node()), name, ": input ", given.size(), " is a ",
                   ir::label(input.node()), ". Placeholders are required.");
        user_check(given.emplace(&input.node(), 0).second, name, ": the placeholder '",
                   input.name(), "' is given twice. Distinct placeholders are required.");
    }
    const std::vector<const ir::Node*> nodes = ir::topological_order(outputs);
    user_check(
        static_cast<int64_t>(nodes.size()) <= most_nodes, name, ": the graph has ", nodes.size(),
        " nodes, but most_nodes is ", most_nodes,
        ". Compile a part that is called again and again, write a loop (fori_loop, scan), or "
        "give a larger most_nodes: each node takes kilobytes of memory.");
    for (const ir::Node* node : nodes)
        user_check(!ir::is_input(*node) || given.contains(node), name,
                   ": the result depends on "
                   "the placeholder '",
                   node->name(), "', ", node->types()[0],
                   ", which is not among the inputs. Add it to them.");
}

}  // namespace

struct Compiled::Stages {
    std::vector<std::pair<std::string, std::vector<Tensor>>> graphs;  // what each pass made
    Program lowered;
    std::vector<std::pair<std::string, Program>> programs;
    std::once_flag once;
    MemoryCheck memory;
    std::vector<Pass> printed;

    // What the schedule begins with.
    const Program& unscheduled() const {
        return programs.empty() ? lowered : programs.back().second;
    }
};

Compiled::Compiled(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> outputs,
                   Options options)
    : name_(std::move(name)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      options_(std::move(options)),
      stages_(std::make_shared<Stages>()) {
    const DefaultFloatingPoint floating_point;
    if (options_.threads <= 0) options_.threads = default_threads();
    parallel_for_ = parallel_for(options_.threads);
    check_graph(name_, inputs_, outputs_, options_.most_nodes);
    find_homes();
    reported_ = signature_of(outputs_).reported;
    const transforms::Pipeline& pipeline = pipeline_of(options_);
    simplified_ = outputs_;
    for (const transforms::GraphPass& pass : pipeline.graph) {
        simplified_ = transforms::run_graph_stage({{pass}, {}, {}}, simplified_);
        stages_->graphs.emplace_back(pass.name, simplified_);
    }
    auto lowered = transforms::lower(simplified_, inputs_,
                                     {.name = name_,
                                      .fuse = options_.fuse,
                                      .inline_scalars = true,
                                      .output_names = options_.output_names,
                                      .target = runtime::backend(options_.backend)->target()});
    for (const Tensor& input : lowered.inputs) {
        size_t place = 0;
        while (place < inputs_.size() && !(inputs_[place] == input)) ++place;
        internal_check(place < inputs_.size(), "lower made an input of ", ir::label(input.node()));
        argument_of_input_.push_back(static_cast<int>(place));
    }
    for (const Tensor& input : inputs_)
        bytes_of_argument_.push_back(input.size() * ir::size_of(input.dtype()));
    stages_->lowered = std::move(lowered.program);
    stages_->lowered.graph_text = ir::print(outputs_, 0, lines_in_headers);
    for (const transforms::ProgramPass& pass : pipeline.program) {
        Program made =
            transforms::run_program_stage({{}, {pass}, {}}, stages_->unscheduled(), lowered.inputs);
        stages_->programs.emplace_back(pass.name, std::move(made));
    }
    if (options_.choose_placement)
        options_.placement = options_.choose_placement(stages_->unscheduled());
    Built built = build(transforms::donate(stages_->unscheduled(), donations()), options_, homes());
    program_ = std::move(built.program);
    for (int output : program_.outputs) {
        const int input = program_.buffers[static_cast<size_t>(output)].starts_as;
        const auto found = std::find(program_.inputs.begin(), program_.inputs.end(), input);
        start_of_output_.push_back(
            found == program_.inputs.end()
                ? -1
                : argument_of_input_[static_cast<size_t>(found - program_.inputs.begin())]);
    }
    executable_ = std::move(built.executable);
    placements_ = std::move(built.placements);
    for (const void* constant : constants_of(program_))
        if (is_in_mapped_file(constant)) constants_in_files_.push_back(constant);
}

// Where the graph says that arguments and results lie; else all on the back end's device.
void Compiled::find_homes() {
    options_.host = options_.backend;
    const bool are_several = needs_several_devices(outputs_);
    for (const Tensor& output : outputs_)
        if (!are_several) options_.backend = backend_for(output.node().device(), options_.backend);
    const auto device = runtime::backend(options_.backend)->device();
    homes_of_inputs_.resize(inputs_.size(), device);
    homes_of_outputs_.resize(outputs_.size(), device);
    device_ = device;
    if (!are_several) return;
    const auto device_of = [&](const Tensor& x) {
        const std::string name = backend_for(x.node().device(), options_.backend);
        const auto found = runtime::backend(name)->device();
        if (found) device_ = found;
        return found;
    };
    for (size_t k = 0; k < outputs_.size(); ++k) homes_of_outputs_[k] = device_of(outputs_[k]);
    // A placeholder lies where it is taken to first.
    std::set<const ir::Node*> known;
    for (const ir::Node* node : ir::topological_order(outputs_)) {
        if (!node->operation().device || !ir::is_input(node->operand(0).node())) continue;
        const auto input = std::ranges::find(inputs_, node->operand(0));
        if (input == inputs_.end() || !known.insert(&input->node()).second) continue;
        homes_of_inputs_[static_cast<size_t>(input - inputs_.begin())] =
            device_of(Tensor(Ref<ir::Node>(node), 0));
    }
}

Homes Compiled::homes() const {
    Homes result{{}, homes_of_outputs_};
    for (int place : argument_of_input_)
        result.inputs.push_back(homes_of_inputs_[static_cast<size_t>(place)]);
    return result;
}

std::vector<transforms::Donation> Compiled::donations() const {
    std::vector<transforms::Donation> result;
    // Memory of one device cannot hold the results of another.
    const auto is_elsewhere = [&](const auto& home) { return home != homes_of_inputs_[0]; };
    if (!homes_of_inputs_.empty() && (std::ranges::any_of(homes_of_inputs_, is_elsewhere) ||
                                      std::ranges::any_of(homes_of_outputs_, is_elsewhere)))
        return result;
    for (size_t argument : options_.donated) {
        user_check<ValueError>(argument < inputs_.size(), name_, ": argument ", argument,
                               " is donated, of ", inputs_.size(),
                               ". A number from 0 to one less than these is required.");
        const auto place = std::find(argument_of_input_.begin(), argument_of_input_.end(),
                                     static_cast<int>(argument));
        transforms::Donation donation{static_cast<size_t>(place - argument_of_input_.begin()), {}};
        for (size_t k = 0; k < outputs_.size(); ++k)
            if (outputs_[k].dtype() == inputs_[argument].dtype() &&
                outputs_[k].shape() == inputs_[argument].shape())
                donation.outputs.push_back(k);
        result.push_back(std::move(donation));
    }
    return result;
}

void Compiled::check(const std::vector<Array>& arguments) const {
    user_check<TypeError>(arguments.size() == inputs_.size(), name_, ": ", arguments.size(),
                          " arguments given. ", inputs_.size(), " are required.");
    for (size_t i = 0; i < arguments.size(); ++i) {
        const Array& argument = arguments[i];
        const Tensor& input = inputs_[i];
        user_check<TypeError>(argument.dtype() == input.dtype(), name_, ": argument '",
                              input.name(), "' has dtype ", argument.dtype(), ". ", input.dtype(),
                              " is required.");
        user_check(argument.shape() == input.shape(), name_, ": argument '", input.name(),
                   "' has shape ", argument.shape(), ". ", input.shape(), " is required.");
    }
}

namespace {

std::vector<const void*> pointers(const std::vector<Array>& arguments) {
    std::vector<const void*> result;
    for (const Array& argument : arguments) result.push_back(argument.data());
    return result;
}

}  // namespace

std::vector<Array> Compiled::operator()(const std::vector<Array>& arguments) const {
    check(arguments);
    if (device_) return run_on_device(arguments, {});
    return run(pointers(arguments));
}

std::vector<Array> Compiled::at(const std::vector<const void*>& pointers) const {
    std::vector<Array> arguments;
    for (size_t i = 0; i < inputs_.size(); ++i) {
        // Read while the call lasts: nobody owns it here.
        void* const data = const_cast<void*>(pointers[i]);
        arguments.emplace_back(inputs_[i].dtype(), inputs_[i].shape(),
                               std::shared_ptr<void>(data, [](void*) {}), data);
    }
    return arguments;
}

runtime::Run Compiled::device_run(const std::vector<Array>& arguments,
                                  const std::vector<Array>& given, DeviceHeld& held) const {
    runtime::Run run;
    run.threads = options_.threads;
    run.parallel_for = parallel_for_;
    std::vector<const void*> addresses;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const auto& home = homes_of_inputs_[i];
        held.arguments.push_back(home ? runtime::copied_to(home, arguments[i])
                                      : arguments[i].on_host());
        addresses.push_back(home ? held.arguments.back().remote()->address()
                                 : held.arguments.back().data());
    }
    for (int place : argument_of_input_)
        run.inputs.push_back(addresses[static_cast<size_t>(place)]);
    for (size_t k = 0; k < outputs_.size(); ++k) {
        const bool starts = start_of_output_[k] >= 0;
        const auto argument = static_cast<size_t>(std::max(start_of_output_[k], 0));
        if (starts && !given.empty() && given[argument]) {
            held.results.push_back(given[argument]);
        } else {
            const auto& home = homes_of_outputs_[k];
            if (!home) {
                held.results.emplace_back(outputs_[k].dtype(), outputs_[k].shape());
                run.outputs.push_back(held.results.back().mutable_data());
                continue;
            }
            held.results.push_back(
                runtime::array_on(home, outputs_[k].dtype(), outputs_[k].shape()));
            if (starts && held.results.back().bytes() > 0)
                home->copy(held.results.back().remote()->address(), addresses[argument],
                           held.results.back().bytes());
        }
        run.outputs.push_back(held.results.back().remote()->address());
    }
    return run;
}

std::vector<Array> Compiled::run_on_device(const std::vector<Array>& arguments,
                                           const std::vector<Array>& given) const {
    const DefaultFloatingPoint floating_point;
    DeviceHeld held;
    const runtime::Run run = device_run(arguments, given, held);
    try {
        executable_->run(run);
    } catch (const IndexError& error) {
        rethrow_with_line(error, with_values(pointers(arguments)));
    } catch (const LinAlgError& error) {
        rethrow_with_line(error, with_values(pointers(arguments)));
    }
    return held.results;
}

std::vector<Array> Compiled::operator()(std::vector<Array>&& arguments) const {
    check(arguments);
    const std::vector<Array> owned = std::move(arguments);
    std::vector<Array> given(owned.size());
    for (size_t argument : options_.donated) {
        const Array& donated = owned[argument];
        if (donated.owner().use_count() != 1 || donated.is_borrowed()) continue;
        const auto remote = donated.remote();
        if (device_ ? remote && remote->device() == device_->name() && !remote->is_on_host()
                    : remote == nullptr)
            given[argument] = donated;
    }
    if (device_) return run_on_device(owned, given);
    return run(pointers(owned), given);
}

const Program& Compiled::unscheduled() const { return stages_->unscheduled(); }

std::vector<double> Compiled::seconds_of_kernels(const std::vector<Array>& arguments) const {
    check(arguments);
    const DefaultFloatingPoint floating_point;
    if (device_) {
        DeviceHeld held;
        return executable_->seconds_of_kernels(device_run(arguments, {}, held));
    }
    std::vector<Array> results;
    return executable_->seconds_of_kernels(run_of(pointers(arguments), {}, results));
}

std::vector<bool> Compiled::overlapping(const std::vector<const void*>& arguments) const {
    struct Range {
        uintptr_t start, end;
        size_t argument;
    };
    std::vector<Range> ranges;
    for (size_t i = 0; i < arguments.size(); ++i) {
        const auto start = reinterpret_cast<uintptr_t>(arguments[i]);
        ranges.push_back({start, start + static_cast<uintptr_t>(bytes_of_argument_[i]), i});
    }
    std::sort(ranges.begin(), ranges.end(),
              [](const Range& a, const Range& b) { return a.start < b.start; });
    std::vector<bool> result(arguments.size());
    Range longest{0, 0, 0};  // of those before, the one that ends last
    for (const Range& range : ranges) {
        if (range.start == range.end) continue;
        if (range.start < longest.end) result[range.argument] = result[longest.argument] = true;
        if (range.end > longest.end) longest = range;
    }
    return result;
}

runtime::Run Compiled::run_of(const std::vector<const void*>& arguments,
                              const std::vector<Array>& given, std::vector<Array>& results) const {
    runtime::Run run;
    run.threads = options_.threads;
    run.parallel_for = parallel_for_;
    run.inputs.reserve(argument_of_input_.size());
    for (int place : argument_of_input_)
        run.inputs.push_back(arguments[static_cast<size_t>(place)]);
    results.reserve(outputs_.size());
    if (stages_->memory.is_wanted()) {
        std::vector<ir::TensorType> types;
        for (const Tensor& output : outputs_) types.push_back(output.type());
        stages_->memory.before_run(name_, executable_.get(), options_.threads, types);
    }
    const std::vector<bool> overlaps =
        given.empty() ? std::vector<bool>(arguments.size()) : overlapping(arguments);
    for (size_t k = 0; k < outputs_.size(); ++k) {
        const bool starts = start_of_output_[k] >= 0;
        const auto argument = static_cast<size_t>(std::max(start_of_output_[k], 0));
        if (starts && !given.empty() && given[argument] && !overlaps[argument]) {
            results.push_back(given[argument]);
        } else {
            results.emplace_back(outputs_[k].dtype(), outputs_[k].shape());
            if (starts && results.back().bytes() > 0)
                std::memcpy(results.back().mutable_data(), arguments[argument],
                            static_cast<size_t>(results.back().bytes()));
        }
        run.outputs.push_back(results.back().mutable_data());
    }
    return run;
}

std::vector<Array> Compiled::run(const std::vector<const void*>& arguments,
                                 const std::vector<Array>& given) const {
    if (device_) return run_on_device(at(arguments), {});
    const DefaultFloatingPoint floating_point;
    std::vector<Array> results;
    const ReadingMappedFiles reading;
    const runtime::Run run = run_of(arguments, given, results);
    runtime::take_floating_flags();
    try {
        executable_->run(run);
        reading.check(name_, arguments);
        if (!constants_in_files_.empty()) reading.check(name_, constants_in_files_);
        stages_->memory.after_run();
        const runtime::FloatingFlags flags = runtime::take_floating_flags();
        if (may_be_reported(flags, reported_))
            report_floating_errors(with_values(arguments), results, flags,
                                   {.threads = options_.threads});
    } catch (const IndexError& error) {
        rethrow_with_line(error, with_values(arguments));
    } catch (const LinAlgError& error) {
        rethrow_with_line(error, with_values(arguments));
    }
    return results;
}

std::vector<Tensor> Compiled::with_values(const std::vector<const void*>& arguments) const {
    std::vector<Tensor> values;
    for (size_t i = 0; i < inputs_.size(); ++i) {
        Array value(inputs_[i].dtype(), inputs_[i].shape());
        std::memcpy(value.mutable_data(), arguments[i], static_cast<size_t>(value.bytes()));
        values.push_back(ir::constant(std::move(value)));
    }
    return ir::substitute(outputs_, inputs_, values);
}

const std::vector<Compiled::Pass>& Compiled::passes() const {
    std::call_once(stages_->once, [&] {
        std::vector<Pass>& printed = stages_->printed;
        std::string before = ir::print(outputs_);
        const auto add = [&](const std::string& name, std::string after) {
            printed.push_back({name, std::exchange(before, after), after});
        };
        for (const auto& [name, graph] : stages_->graphs) add(name, ir::print(graph));
        add("lower", ir::kernel::print(stages_->lowered));
        for (const auto& [name, program] : stages_->programs) add(name, ir::kernel::print(program));
        const Program begun = transforms::donate(stages_->unscheduled(), donations());
        for (const Scheduled& step : scheduled(begun, options_)) {
            std::vector<std::string> texts;
            for (const Program& program : step.programs)
                texts.push_back(ir::kernel::print(program));
            if (!step.refused.empty()) texts.insert(texts.begin(), "# left out: " + step.refused);
            add(step.pass, join(texts, "\n"));
        }
        add("plan_buffers", ir::kernel::print(program_));
    });
    return stages_->printed;
}

std::string Compiled::plan() const {
    std::ostringstream out;
    out << std::left << std::setw(8) << "buffer" << std::setw(24) << "name" << std::setw(11)
        << "kind" << std::setw(11) << "dtype" << std::setw(20) << "shape" << std::right
        << std::setw(14) << "bytes" << std::setw(14) << "at" << '\n';
    int64_t separate = 0;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
        const Buffer& buffer = program_.buffers[i];
        const bool in_arena = buffer.kind == BufferKind::temporary;
        const std::string elsewhere = buffer.is_in_memory() ? "-" : "packed";
        out << std::left << std::setw(8) << i << std::setw(24) << buffer.name << std::setw(11)
            << ir::kernel::name(buffer.kind) << std::setw(11) << ir::name(buffer.dtype)
            << std::setw(20) << tuple_text(buffer.shape) << std::right << std::setw(14)
            << buffer.bytes << std::setw(14)
            << (in_arena ? std::to_string(buffer.arena_offset) : elsewhere) << '\n';
        if (in_arena) separate += buffer.bytes;
    }
    out << "arena: " << program_.arena_bytes << " bytes for " << separate
        << " bytes of temporaries\n";
    return out.str();
}

int64_t Compiled::held_bytes() const {
    // As measured, of a node with its type, place and text, and of a kernel with its buffers.
    constexpr int64_t bytes_of_node = 1024, bytes_of_kernel = 4096;
    const size_t nodes =
        ir::topological_order(outputs_).size() + ir::topological_order(simplified_).size();
    return executable_->held_bytes() + static_cast<int64_t>(nodes) * bytes_of_node +
           static_cast<int64_t>(program_.kernels.size()) * bytes_of_kernel;
}

ir::kernel::Program Compiled::program_for(const Target& target,
                                          const transforms::Refusal& refusal) const {
    Program begun = transforms::donate(stages_->unscheduled(), donations());
    return transforms::plan_buffers(
        transforms::run_schedule_stage(pipeline_of(options_), std::move(begun), target, refusal),
        options_.reuse_buffers);
}

std::string Compiled::source() const { return executable_->source(); }
std::string Compiled::build_command() const { return executable_->build_command(); }

}  // namespace composit::execute
