#include "composit/execute/floating_errors.h"

#include "composit/base/error.h"
#include "composit/execute/blame.h"
#include "composit/ir/body.h"
#include "composit/transforms/error_checks.h"

#include <map>
#include <tuple>
#include <unordered_map>

namespace composit::execute {
namespace {

using ir::ErrorHandling;
using ir::Node;
using transforms::ErrorCheck;

// Nodes that are evaluated, with their checks, as one graph. Values that later ones need are
// constants for them: the work is linear in the size of the graph.
constexpr size_t nodes_at_once = 256;

// What has been found: kinds by operation, line and handling, in the order of their finding.
class Findings {
  public:
    void add(const ErrorCheck& check) {
        const Key key(check.operation, check.line, check.handling);
        const auto [place, is_new] = number_.emplace(key, found_.size());
        if (is_new) found_.push_back({key, 0});
        found_[place->second].kinds |= check.kind;
    }
    void report() const {
        for (const auto& [key, kinds] : found_) {
            const auto& [operation, line, handling] = key;
            handling->report(operation, kinds, line);
        }
    }

  private:
    using Key = std::tuple<std::string, ir::Interned, const ErrorHandling*>;
    struct Found {
        Key key;
        uint8_t kinds;
    };
    std::map<Key, size_t> number_;
    std::vector<Found> found_;
};

// The kinds of errors that leave these flags, where arithmetic makes every NaN and infinity.
uint8_t kinds_of(runtime::FloatingFlags flags) {
    uint8_t kinds = ErrorHandling::remark;
    if ((flags & FE_INVALID) != 0) kinds |= ErrorHandling::invalid;
    if ((flags & (FE_DIVBYZERO | FE_OVERFLOW)) != 0)
        kinds |= ErrorHandling::divide | ErrorHandling::over;
    if ((flags & FE_UNDERFLOW) != 0) kinds |= ErrorHandling::under;
    return kinds;
}

class Checking {
  public:
    Checking(const std::vector<Tensor>& outputs, const std::vector<Array>& values,
             const Options& options, uint8_t kinds)
        : inlined_(transforms::inline_calls(outputs)), options_(options), kinds_(kinds) {
        for (size_t i = 0; i < inlined_.size(); ++i)
            computed_[&inlined_[i].node()].push_back({inlined_[i].output_index(), values[i]});
        for (const Node* node : ir::topological_order(inlined_))
            if (!node->operands().empty()) order_.push_back(node);
        for (size_t i = 0; i < order_.size(); ++i)
            for (const Tensor& operand : order_[i]->operands()) last_use_[&operand.node()] = i;
    }

    void run() {
        for (size_t i = 0; i < order_.size(); i += nodes_at_once)
            run_part(i, std::min(order_.size(), i + nodes_at_once));
    }
    const Findings& findings() const { return findings_; }

  private:
    Tensor current(const Tensor& x) const {
        const auto found = known_.find(&x.node());
        return found == known_.end() ? x : found->second[static_cast<size_t>(x.output_index())];
    }

    // The node with operands that are known already in the place of its own.
    Ref<Node> moved(const Node& node) {
        std::vector<Tensor> operands;
        for (const Tensor& operand : node.operands()) operands.push_back(current(operand));
        if (operands == node.operands()) return Ref<Node>(&node);
        Ref<Node> made = ir::with_operands(node, std::move(operands));
        known_[&node] = ir::outputs_of(made);
        return made;
    }

    void run_part(size_t begin, size_t end) {
        std::vector<ErrorCheck> checks;
        std::vector<Tensor> wanted, kept;
        std::vector<Tensor> known, constants;  // outputs, whose values there are already
        for (size_t i = begin; i < end; ++i) {
            const Ref<Node> node = moved(*order_[i]);
            if (const auto found = computed_.find(order_[i]); found != computed_.end())
                for (const auto& [output, value] : found->second) {
                    known.emplace_back(node, output);
                    constants.push_back(ir::constant(value));
                }
            for (ErrorCheck& check : transforms::error_checks(*node, kinds_)) {
                wanted.push_back(check.happened);
                checks.push_back(std::move(check));
            }
        }
        for (size_t i = begin; i < end; ++i) {
            const auto use = last_use_.find(order_[i]);
            if (use == last_use_.end() || use->second < end) continue;
            for (const Tensor& x : ir::outputs_of(Ref<Node>(order_[i]))) kept.push_back(x);
        }
        for (const Tensor& x : kept) wanted.push_back(current(x));
        const std::vector<Array> values =
            evaluate_without_blame(ir::substitute(wanted, known, constants), options_);
        for (size_t i = 0; i < checks.size(); ++i)
            if (*values[i].data_as<bool>()) findings_.add(checks[i]);
        for (size_t i = begin; i < end; ++i) known_.erase(order_[i]);
        std::erase_if(known_, [&](const auto& each) { return last_use_.at(each.first) < end; });
        for (size_t i = 0; i < kept.size(); ++i)
            known_[&kept[i].node()].push_back(ir::constant(values[checks.size() + i]));
    }

    struct Computed {
        int output;
        Array value;
    };

    std::vector<Tensor> inlined_;
    std::unordered_map<const Node*, std::vector<Computed>> computed_;
    Options options_;
    uint8_t kinds_;
    std::vector<const Node*> order_;
    std::unordered_map<const Node*, size_t> last_use_;
    std::unordered_map<const Node*, std::vector<Tensor>>
        known_;  // outputs that took a node's place
    Findings findings_;
};

}  // namespace

bool may_be_reported(runtime::FloatingFlags flags, uint8_t reported) {
    constexpr uint8_t loud = ErrorHandling::remark | ErrorHandling::divide | ErrorHandling::over |
                             ErrorHandling::invalid;
    if ((flags & ~unsigned{FE_UNDERFLOW}) != 0 && (reported & loud) != 0) return true;
    return (flags & FE_UNDERFLOW) != 0 && (reported & ErrorHandling::under) != 0;
}

void report_floating_errors(const std::vector<Tensor>& outputs, const std::vector<Array>& values,
                            runtime::FloatingFlags flags, const Options& options) {
    Checking checking(outputs, values, {.threads = options.threads}, kinds_of(flags));
    checking.run();
    checking.findings().report();
}

}  // namespace composit::execute
