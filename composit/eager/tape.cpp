#include "composit/eager/tape.h"

#include "composit/base/error.h"
#include "composit/ir/dtype_traits.h"

#include <new>
#include <string_view>
#include <utility>

namespace composit::eager {
namespace {

std::string_view without_ending(std::string_view name) {
    constexpr std::string_view ending = "Backward0";
    if (name.ends_with(ending)) name.remove_suffix(ending.size());
    return name;
}

// Records that die let go of their operands, which may die, too. Below so many of them, operands
// wait until the outermost record comes to them: chains of any length end. Memory may have ended,
// and nothing may be thrown here: then operands do not wait.
constexpr int most_within = 64;
using Waiting = std::vector<Ref<TapeNode>>;
thread_local int within = 0;
thread_local Waiting* waiting = nullptr;  // no vector: its destructor would want memory

// Moves operands there; false where there is no memory for all.
bool wait(Waiting& operands) noexcept {
    try {
        if (!waiting) waiting = new Waiting;
        for (Ref<TapeNode>& operand : operands)
            if (operand) waiting->push_back(std::move(operand));
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

void let_go(std::vector<Ref<TapeNode>> operands) noexcept {
    if (within >= most_within && wait(operands)) return;
    ++within;
    operands.clear();
    while (within == 1 && waiting && !waiting->empty()) {
        const Ref<TapeNode> last = std::move(waiting->back());
        waiting->pop_back();
    }
    if (within == 1) delete std::exchange(waiting, nullptr);
    --within;
}

}  // namespace

const Record* TapeNode::record() const {
    return is_leaf_ ? nullptr : static_cast<const Record*>(this);
}
const Leaf* TapeNode::leaf() const { return is_leaf_ ? static_cast<const Leaf*>(this) : nullptr; }

const Ref<WeakLeaf>& Leaf::weak() const {
    if (!weak_) {
        weak_ = Ref<WeakLeaf>(new WeakLeaf);
        weak_->leaf_ = this;
    }
    return weak_;
}

Leaf::~Leaf() {
    if (weak_) weak_->leaf_ = nullptr;
}

SavedValue::SavedValue(const Savable& value, bool is_result, ir::Interned maker, bool is_first)
    : maker_(maker), is_result_(is_result), is_first_(is_first) {
    lie_in(value);
}

void SavedValue::move_to(const Savable& result) {
    is_result_ = true;
    lie_in(result);
}

void SavedValue::lie_in(const Savable& value) {
    counter_ = value.counter;
    if (counter_) {
        version_ = counter_->version();
        writes_ = counter_->writes();
    }
    before_ = value.tensor;
    cell_ = value.cell;
    leaf_ = value.leaf;
}

Tensor SavedValue::now() const {
    if (!may_differ()) return before_;
    return leaf_ ? leaf_->now() : cell_->tensor();
}

std::string SavedValue::error() const {
    return changed_value(counter_ ? counter_->version() : version_, version_, before_.type(),
                         maker_);
}

std::string changed_value(int64_t now, int64_t expected, const ir::TensorType& type,
                          ir::Interned maker) {
    std::string lengths;
    for (const int64_t length : type.shape)
        lengths += (lengths.empty() ? "" : ", ") + std::to_string(length);
    const std::string made =
        maker ? text(", which is output 0 of ", without_ending(*maker), ",") : "";
    return text("one of the variables needed for gradient computation has been modified by an ",
                "inplace operation: [torch.", ir::scalar_type_name(type.dtype), "Tensor [", lengths,
                "]]", made, " is at version ", now, "; expected version ", expected,
                " instead. Hint: enable anomaly detection to find the operation that failed to ",
                "compute its gradient, with torch.autograd.set_detect_anomaly(True).");
}

Ref<Record> Record::make(ir::Interned name, std::vector<Ref<TapeNode>> operands) {
    return Ref<Record>(new Record(name, std::move(operands)));
}

const Record::Notes& Record::nothing() {
    static const Notes empty;
    return empty;
}

Record::~Record() {
    if (!operands_.empty()) let_go(std::move(operands_));
}

void Record::free() const {
    is_freed_ = true;
    auto retained = noted().retained;
    notes_.reset();
    if (!retained.empty()) notes().retained = std::move(retained);
    let_go(std::exchange(operands_, {}));
}

Below below(const std::vector<Ref<TapeNode>>& nodes) {
    Below found;
    std::unordered_set<const TapeNode*> seen;
    std::vector<Ref<TapeNode>> open(nodes);
    while (!open.empty()) {
        const Ref<TapeNode> node = std::move(open.back());
        open.pop_back();
        if (!node || !seen.insert(node.get()).second) continue;
        if (const Leaf* const leaf = node->leaf()) {
            found.leaves.emplace_back(leaf);
            continue;
        }
        const Record& record = *node->record();
        user_check<RuntimeError>(!record.is_freed(),
                                 "Trying to backward through the graph a second time. Its records ",
                                 "were freed by backward(); retain_graph=True keeps them.");
        found.records.emplace_back(&record);
        for (const Ref<TapeNode>& operand : record.operands())
            if (operand) open.push_back(operand);
        for (const Ref<WeakLeaf>& retained : record.retained())
            if (const Leaf* const leaf = retained->get()) open.emplace_back(leaf);
    }
    return found;
}

Reaching::Reaching(const std::vector<Ref<TapeNode>>& targets) : held_(targets) {
    for (const Ref<TapeNode>& target : targets)
        if (target) targets_.insert(target.get());
}

bool Reaching::operator()(const Record& start) const {
    std::vector<const Record*> open{&start};
    while (!open.empty()) {
        const Record* const top = open.back();
        if (known_.contains(top)) {
            open.pop_back();
            continue;
        }
        bool leads = targets_.contains(top);
        const Record* unknown = nullptr;
        for (const Ref<TapeNode>& operand : top->operands()) {
            if (leads) break;
            if (!operand) continue;
            leads = targets_.contains(operand.get());
            const Record* const record = operand->record();
            if (leads || !record) continue;
            const auto known = known_.find(record);
            if (known == known_.end())
                unknown = unknown ? unknown : record;
            else
                leads = known->second;
        }
        for (const Ref<WeakLeaf>& retained : top->retained())
            leads = leads || (retained->get() && targets_.contains(retained->get()));
        if (!leads && unknown)
            open.push_back(unknown);
        else
            known_[top] = leads;
    }
    return known_[&start];
}

void check_saved(const std::vector<Ref<Record>>& records, const Reaching* reaching) {
    for (const Ref<Record>& record : records) {
        const auto is_reached = [&] { return !reaching || (*reaching)(*record); };
        for (const SavedValue& value : record->saved())
            if (value.is_changed() && is_reached()) throw RuntimeError(value.error());
        user_check<RuntimeError>(!record->has_no_derivative() || !is_reached(),
                                 "the derivative for '", without_ending(*record->name()),
                                 ": input' is not implemented.");
    }
}

}  // namespace composit::eager
