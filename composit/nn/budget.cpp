// Which calls of layers are computed again: traced, planned, and searched by how many of them.
#include "composit/nn/budget.h"

#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace composit::nn {
namespace {

// Of the compile_within that traces on this thread.
struct Choice {
    const Again& again;
    int64_t calls = 0;
    std::map<int64_t, int64_t> kept = {};
};

thread_local Choice* current_choice = nullptr;

// While it lives, calls are made as the choice says.
class Choosing {
  public:
    explicit Choosing(Choice& choice) : before_(std::exchange(current_choice, &choice)) {}
    ~Choosing() { current_choice = before_; }
    Choosing(const Choosing&) = delete;
    Choosing& operator=(const Choosing&) = delete;

  private:
    Choice* before_;
};

int64_t bytes_of(const ir::TensorType& type) {
    return ir::element_count(type.shape) * ir::size_of(type.dtype);
}

}  // namespace

int64_t bytes_within(const Tensor& x) {
    const ir::Attribute* body = x.node().attributes().find("body");
    const auto* found = body ? std::get_if<std::shared_ptr<const ir::Body>>(body) : nullptr;
    if (found == nullptr) return 0;
    int64_t bytes = 0;
    for (const ir::Node* node : ir::topological_order((*found)->results))
        if (!ir::is_constant(*node) && !ir::is_input(*node))
            for (const ir::TensorType& type : node->types()) bytes += bytes_of(type);
    return bytes;
}

int64_t planned_bytes(const execute::Compiled& compiled) {
    const ir::kernel::Program& program = compiled.program();
    int64_t bytes = program.arena_bytes;
    const std::set<int> results(program.outputs.begin(), program.outputs.end());
    for (const int number : results) bytes += program.buffers[static_cast<size_t>(number)].bytes;
    return bytes;
}

TensorFunction remat_when_needed(TensorFunction function, std::string_view name) {
    return [function = std::move(function),
            name = std::string(name)](const std::vector<Tensor>& arguments) {
        Choice* choice = current_choice;
        if (choice == nullptr) return function(arguments);
        const int64_t number = choice->calls++;
        if (choice->again && !choice->again->contains(number)) return function(arguments);
        const std::vector<Tensor> results = remat(function, name)(arguments);
        choice->kept[number] = bytes_within(results[0]);
        return results;
    };
}

void choose_within(int64_t memory, const std::function<Planned(const Again&)>& planned,
                   const std::function<int64_t(const Again&)>& compiled, std::string_view calls) {
    const int64_t none = planned(std::set<int64_t>{}).bytes;
    if (none <= memory && compiled(std::set<int64_t>{}) <= memory) return;
    const Planned every = planned(std::nullopt);
    std::vector<std::pair<int64_t, int64_t>> order;  // bytes, so that most come first; then number
    for (const auto& [number, bytes] : every.kept) order.emplace_back(-bytes, number);
    std::sort(order.begin(), order.end());
    const auto first = [&](size_t count) {
        std::set<int64_t> numbers;
        for (size_t k = 0; k < count; ++k) numbers.insert(order[k].second);
        return Again(std::move(numbers));
    };
    std::map<size_t, int64_t> reached{{0, none}, {order.size(), every.bytes}};
    const auto fits = [&](size_t count) {
        const auto found = reached.find(count);
        if (found != reached.end()) return found->second <= memory;
        return (reached[count] = planned(first(count)).bytes) <= memory;
    };
    size_t least = 0, enough = order.size();  // too few; perhaps enough
    while (enough - least > 1 && enough > 0) {
        const size_t middle = (least + enough) / 2;
        (fits(middle) ? enough : least) = middle;
    }
    for (; enough <= order.size() && fits(enough);
         ++enough) {  // as the back end asked for plans it
        reached[enough] = compiled(first(enough));
        if (reached[enough] <= memory) return;
    }
    int64_t best = none;
    for (const auto& [_, bytes] : reached) best = std::min(best, bytes);
    fail<OutOfMemory>("compile_within: ", memory, " bytes are allowed; ", best,
                      " are planned at least, ", none, " without computing anything again, for ",
                      order.size(), " calls of ", calls,
                      ". More memory, or more such calls, are required.");
}

execute::Compiled compile_within(int64_t memory, const TensorFunction& function,
                                 const std::vector<Tensor>& examples,
                                 const execute::Options& options, const std::string& name) {
    user_check(memory >= 0, "compile_within: memory is ", memory,
               ". A number of bytes, an integer from 0, is required.");
    user_check(!examples.empty(),
               "compile_within: no examples are given. Arguments of the shapes and dtypes that the "
               "function is to be called with are required.");
    const auto compiled = [&](const Again& again, const execute::Options& with) {
        Choice choice{again};
        const Choosing choosing(choice);
        return std::pair(compile_function(function, examples, with, name), choice.kept);
    };
    execute::Options planning = options;
    planning.backend = "interpreter";
    std::optional<execute::Compiled> result;
    choose_within(
        memory,
        [&](const Again& again) {
            const auto [plan, kept] = compiled(again, planning);
            return Planned{planned_bytes(plan), kept};
        },
        [&](const Again& again) {
            result = compiled(again, options).first;
            return planned_bytes(*result);
        },
        "layers made by remat_when_needed");
    return std::move(*result);
}

}  // namespace composit::nn
