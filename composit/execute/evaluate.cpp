// Values of tensors, through plans that are found by the structure of the graph.
#include "composit/base/default_floating_point.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/execute/blame.h"
#include "composit/execute/build.h"
#include "composit/execute/devices.h"
#include "composit/execute/floating_errors.h"
#include "composit/execute/memory.h"
#include "composit/execute/parts.h"
#include "composit/execute/signature.h"
#include "composit/ir/body.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <mutex>
#include <unordered_map>

namespace composit::execute {
namespace {

using ir::Node;

// Where the value of one of the program's inputs comes from.
struct Binding {
    static constexpr size_t fixed = SIZE_MAX;
    size_t leaf = fixed;      // a number among the signature's leaves
    ir::ConstantArray value;  // fixed: a constant that a rule of composit made, not the user
};

// A result is a leaf itself where all work on it was found to do nothing.
struct Result {
    bool is_leaf = false;
    size_t index = 0;  // of a leaf, or of the program's outputs
};

struct Plan {
    // What it is found by.
    uint64_t hash = 0;
    std::vector<uint64_t> words;
    Options options;
    std::shared_ptr<runtime::Backend> backend;

    std::mutex mutex;  // one thread builds, the others wait for it
    bool is_built = false;
    std::shared_ptr<runtime::Executable> executable;
    std::vector<Binding> inputs;
    std::vector<ir::TensorType> outputs;
    std::vector<Result> results;
    MemoryCheck memory;
};
using PlanRef = std::shared_ptr<Plan>;

bool same_options(const Options& a, const Options& b) {
    return a.backend == b.backend && a.threads == b.threads && a.fuse == b.fuse &&
           a.reuse_buffers == b.reuse_buffers && a.cache_folder == b.cache_folder &&
           a.bytes_of_part == b.bytes_of_part && a.whole_model == b.whole_model &&
           a.pipeline == b.pipeline;
}

// The most recently used plans, at most `most_plans` of them and `most_words` of signatures.
class Cache {
  public:
    // The plan of that signature: a new one, not yet built, when there is none. Takes the words.
    PlanRef find(Signature& signature, const Options& options,
                 const std::shared_ptr<runtime::Backend>& backend) {
        const std::lock_guard lock(mutex_);
        auto [first, last] = by_hash_.equal_range(signature.hash);
        for (auto entry = first; entry != last; ++entry) {
            const PlanRef& plan = *entry->second;
            if (plan->backend != backend || !same_options(plan->options, options) ||
                plan->words != signature.words)
                continue;
            ++statistics_.hits;
            plans_.splice(plans_.begin(), plans_, entry->second);
            return plan;
        }
        ++statistics_.misses;
        const auto plan = std::make_shared<Plan>();
        plan->hash = signature.hash;
        plan->words = std::move(signature.words);
        plan->options = options;
        plan->backend = backend;
        plans_.push_front(plan);
        by_hash_.emplace(plan->hash, plans_.begin());
        words_ += plan->words.size();
        while (plans_.size() > 1 && (plans_.size() > most_plans || words_ > most_words))
            erase(std::prev(plans_.end()));
        return plan;
    }

    // A plan that could not be built is not kept.
    void forget(const PlanRef& plan) {
        const std::lock_guard lock(mutex_);
        for (auto place = plans_.begin(); place != plans_.end(); ++place)
            if (*place == plan) return erase(place);
    }

    void clear() {
        const std::lock_guard lock(mutex_);
        plans_.clear();
        by_hash_.clear();
        words_ = 0;
        statistics_ = {};
    }

    PlanStatistics statistics() {
        const std::lock_guard lock(mutex_);
        PlanStatistics result = statistics_;
        result.plans = static_cast<int64_t>(plans_.size());
        return result;
    }

  private:
    static constexpr size_t most_plans = 256, most_words = size_t{1} << 24;

    void erase(std::list<PlanRef>::iterator place) {
        auto [first, last] = by_hash_.equal_range((*place)->hash);
        for (auto entry = first; entry != last; ++entry)
            if (entry->second == place) {
                by_hash_.erase(entry);
                break;
            }
        words_ -= (*place)->words.size();
        plans_.erase(place);
    }

    std::mutex mutex_;
    std::list<PlanRef> plans_;  // most recently used first
    std::unordered_multimap<uint64_t, std::list<PlanRef>::iterator> by_hash_;
    size_t words_ = 0;
    PlanStatistics statistics_;
};

Cache& cache() {
    static Cache& instance = *new Cache;
    return instance;
}

std::string described(const Node& node) {
    return text("'", node.name(), "', ", node.types()[0],
                node.location().empty() ? "" : ", of " + node.location());
}

// The outputs, of which values that are kept are constants.
struct Cut {
    std::vector<Tensor> outputs;
    std::vector<const Node*> leaves;  // of the outputs, as the signature numbers them
    std::vector<Tensor> constants;    // which keep them alive
};

Cut cut_at_kept(const std::vector<Tensor>& outputs, const std::vector<Leaf>& leaves) {
    Cut cut{outputs, {}, {}};
    std::vector<Tensor> kept;
    for (const Leaf& leaf : leaves) {
        if (!leaf.kept) {
            cut.leaves.push_back(leaf.node);
            continue;
        }
        kept.emplace_back(Ref<Node>(leaf.node), leaf.output);
        cut.constants.push_back(ir::constant(leaf.kept.value()));
        cut.leaves.push_back(&cut.constants.back().node());
    }
    if (!kept.empty()) cut.outputs = ir::substitute(outputs, kept, cut.constants);
    return cut;
}

void build_plan(Plan& plan, const Cut& cut) {
    std::unordered_map<const Node*, size_t> leaf_number;
    for (size_t i = 0; i < cut.leaves.size(); ++i) leaf_number.emplace(cut.leaves[i], i);
    std::vector<Tensor> computed;
    std::vector<Result> results;
    const transforms::Pipeline& pipeline = pipeline_of(plan.options);
    for (const Tensor& tensor : transforms::run_graph_stage(pipeline, cut.outputs)) {
        const auto leaf = leaf_number.find(&tensor.node());
        if (leaf != leaf_number.end()) {
            results.push_back({true, leaf->second});
            continue;
        }
        size_t place = 0;
        while (place < computed.size() && !(computed[place] == tensor)) ++place;
        if (place == computed.size()) computed.push_back(tensor);
        results.push_back({false, place});
    }
    std::vector<Binding> inputs;
    if (!computed.empty()) {
        auto lowered = transforms::lower(computed, {},
                                         {.fuse = plan.options.fuse,
                                          .constants_are_inputs = true,
                                          .target = plan.backend->target()});
        lowered.program =
            transforms::run_program_stage(pipeline, std::move(lowered.program), lowered.inputs);
        for (const Tensor& input : lowered.inputs) {
            const Node& node = input.node();
            const auto leaf = leaf_number.find(&node);
            if (leaf != leaf_number.end())
                inputs.push_back({leaf->second, {}});
            else
                inputs.push_back({Binding::fixed, ir::constant_array(node)});
        }
        plan.executable = build(lowered.program, plan.options).executable;
    }
    plan.inputs = std::move(inputs);
    plan.results = std::move(results);
    for (const Tensor& tensor : computed) plan.outputs.push_back(tensor.type());
    plan.is_built = true;
}

const ir::ConstantArray& value_of(const Leaf& leaf) {
    if (leaf.kept) return leaf.kept;
    if (!ir::is_constant(*leaf.node))
        fail<ValueError>(
            "evaluate: the placeholder ", described(*leaf.node),
            " has no value. Compile the function and call it, or put a constant in its place.");
    return ir::constant_array(*leaf.node);
}

std::vector<Array> values_of_results(const Plan& plan, const std::vector<Leaf>& leaves,
                                     const std::vector<Array>& computed) {
    std::vector<Array> values;
    for (const Result& result : plan.results)
        values.push_back(result.is_leaf ? value_of(leaves[result.index]).value()
                                        : computed[result.index]);
    return values;
}

std::vector<Array> run_on(const std::shared_ptr<runtime::Device>& device, const Plan& plan,
                          const std::vector<Leaf>& leaves, int threads) {
    DeviceCall call{device, {}, plan.outputs};
    for (const Binding& input : plan.inputs)
        call.inputs.push_back(runtime::address_on(
            device, input.leaf == Binding::fixed ? input.value : value_of(leaves[input.leaf])));
    std::vector<Array> computed;
    if (plan.executable)
        computed = run_on_device(*plan.executable, call, parallel_for(threads), threads);
    std::vector<Array> values = values_of_results(plan, leaves, computed);
    for (Array& value : values) value = runtime::copied_to(device, value);
    return values;
}

std::vector<Array> run(const Plan& plan, const std::vector<Leaf>& leaves, int threads) {
    if (const auto device = plan.backend->device()) return run_on(device, plan, leaves, threads);
    runtime::Run run;
    run.threads = threads;
    run.parallel_for = parallel_for(threads);
    std::vector<std::shared_ptr<const void>> held;
    held.reserve(plan.inputs.size());
    run.inputs.reserve(plan.inputs.size());
    for (const Binding& input : plan.inputs) {
        held.push_back((input.leaf == Binding::fixed ? input.value : value_of(leaves[input.leaf]))
                           .row_major());
        run.inputs.push_back(held.back().get());
    }
    std::vector<Array> computed;
    plan.memory.before_run("evaluate", plan.executable.get(), threads, plan.outputs);
    computed.reserve(plan.outputs.size());
    for (const ir::TensorType& type : plan.outputs) {
        computed.emplace_back(type.dtype, type.shape);
        run.outputs.push_back(computed.back().mutable_data());
    }
    const ReadingMappedFiles reading;
    if (plan.executable) plan.executable->run(run);
    reading.check("evaluate", run.inputs);
    plan.memory.after_run();
    return values_of_results(plan, leaves, computed);
}

// What was looked at before was reported then.
std::vector<Tensor> above_kept(const std::vector<Tensor>& outputs) {
    return cut_at_kept(outputs, signature_of(outputs).leaves).outputs;
}

// Most signatures are looked for and not kept: a thread writes the next where it wrote the last.
constexpr size_t most_words_kept = size_t{1} << 13;
std::vector<uint64_t>& words_to_write() {
    thread_local std::vector<uint64_t> words;
    return words;
}

// `reported`: the kinds of errors that any node of the graph wants to be told of.
std::vector<Array> values_of(const std::vector<Tensor>& outputs, const Options& options,
                             uint8_t& reported, size_t most_nodes = most_nodes_of_plan) {
    Options resolved = options;
    if (resolved.threads <= 0) resolved.threads = default_threads();
    if (outputs.empty()) return {};
    if (needs_several_devices(outputs))
        return evaluate_across_devices(outputs, [&](const std::vector<Tensor>& part) {
            return values_of(part, resolved, reported, most_nodes);
        });
    for (const Tensor& output : outputs)
        resolved.backend = backend_for(output.node().device(), resolved.backend);
    Signature signature =
        signature_of(outputs, most_nodes, std::exchange(words_to_write(), std::vector<uint64_t>()));
    reported |= signature.reported;
    if (signature.is_cut) {
        const std::vector<const Node*> order = ir::topological_order(outputs);
        const bool is_known_in_part = std::any_of(
            order.begin(), order.end(), [](const Node* node) { return node->has_kept(); });
        return evaluate_in_parts(is_known_in_part ? above_kept(outputs) : outputs,
                                 [&](const std::vector<Tensor>& part) {
                                     return values_of(part, resolved, reported, SIZE_MAX);
                                 });
    }
    const PlanRef plan = cache().find(signature, resolved, runtime::backend(resolved.backend));
    if (signature.words.size() <= most_words_kept) words_to_write() = std::move(signature.words);
    {
        const std::lock_guard lock(plan->mutex);
        try {
            if (!plan->is_built) build_plan(*plan, cut_at_kept(outputs, signature.leaves));
        } catch (...) {
            cache().forget(plan);
            throw;
        }
    }
    return run(*plan, signature.leaves, resolved.threads);
}

}  // namespace

std::vector<Array> evaluate(const std::vector<Tensor>& outputs, const Options& options) {
    const DefaultFloatingPoint floating_point;
    try {
        runtime::take_floating_flags();
        uint8_t reported = 0;
        std::vector<Array> values = values_of(outputs, options, reported);
        const runtime::FloatingFlags flags = runtime::take_floating_flags();
        if (may_be_reported(flags, reported))
            report_floating_errors(above_kept(outputs), values, flags, options);
        return values;
    } catch (const IndexError& error) {
        rethrow_with_line(error, above_kept(outputs));
    } catch (const LinAlgError& error) {
        rethrow_with_line(error, above_kept(outputs));
    }
}

void keep(const Tensor& tensor, const Array& value) {
    const Node& node = tensor.node();
    if (ir::is_constant(node) || tensor.type().weak || node.reads_borrowed()) return;
    node.keep(tensor.output_index(), value);
}

std::vector<Array> evaluate_and_keep(const std::vector<Tensor>& outputs, const Options& options) {
    std::vector<Array> values = evaluate(outputs, options);
    for (size_t i = 0; i < outputs.size(); ++i) keep(outputs[i], values[i]);
    return values;
}

namespace {

std::atomic<Look>& present_look() {
    static std::atomic<Look> present{&evaluate_and_keep};
    return present;
}

}  // namespace

std::vector<Array> values_now(const std::vector<Tensor>& tensors, const Options& options) {
    return present_look().load(std::memory_order_relaxed)(tensors, options);
}

void set_values_now(Look look) { present_look().store(look, std::memory_order_relaxed); }

std::vector<Array> evaluate_without_blame(const std::vector<Tensor>& outputs,
                                          const Options& options) {
    const DefaultFloatingPoint floating_point;
    uint8_t reported = 0;
    return values_of(outputs, options, reported);
}

PlanStatistics plan_statistics() { return cache().statistics(); }
void clear_plans() { cache().clear(); }

}  // namespace composit::execute
