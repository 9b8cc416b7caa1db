#include "composit/eager/pending.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace composit::eager {

bool may_be_looked_at(const Tensor& tensor) {
    const ir::Node& node = tensor.node();
    return !node.is_open() && !node.reads_borrowed() && !ir::is_constant(node) &&
           !node.kept(tensor.output_index());
}

Pending& pending() {
    static auto& cells = *new Pending;
    return cells;
}

void Pending::put(const Cell& cell, Tensor tensor) {
    tensor.node().count_holders(1);
    cell.elements_.reset();
    cell.asked_ = 0;
    {
        const std::lock_guard lock(mutex_);
        std::swap(cell.tensor_, tensor);
        if (cell.is_pending_) unlink(cell);
        if (may_be_looked_at(cell.tensor_)) {
            cell.is_pending_ = true;
            cell.newer_ = nullptr;
            cell.older_ = newest_;
            if (newest_) newest_->newer_ = &cell;
            newest_ = &cell;
        }
    }
    // What was there, and what it kept, is freed without the lock.
    if (tensor) tensor.node().count_holders(-1);
}

void Pending::remove(const Cell& cell) {
    if (cell.is_plain() && cell.tensor_) cell.tensor_.node().count_holders(-1);
    const std::lock_guard lock(mutex_);
    if (cell.is_pending_) unlink(cell);
    (cell.previous_ ? cell.previous_->next_ : any_) = cell.next_;
    if (cell.next_) cell.next_->previous_ = cell.previous_;
}

void Pending::enter(const Cell& cell) {
    const std::lock_guard lock(mutex_);
    cell.next_ = any_;
    if (any_) any_->previous_ = &cell;
    any_ = &cell;
}

std::vector<Ref<const Cell>> Pending::living() const {
    const std::lock_guard lock(mutex_);
    std::vector<Ref<const Cell>> cells;
    for (const Cell* cell = any_; cell; cell = cell->next_)
        if (cell->retain_if_alive()) cells.push_back(Ref<const Cell>::adopt(cell));
    return cells;
}

std::vector<Tensor> Pending::take(size_t most) {
    const std::lock_guard lock(mutex_);
    std::vector<Tensor> tensors;
    while (newest_ && tensors.size() < most) {
        if (may_be_looked_at(newest_->tensor_)) tensors.push_back(newest_->tensor_);
        unlink(*newest_);
    }
    return tensors;
}

std::vector<Tensor> Pending::newest(size_t most) const {
    const std::lock_guard lock(mutex_);
    std::vector<Tensor> tensors;
    for (const Cell* cell = newest_; cell && tensors.size() < most; cell = cell->older_)
        if (may_be_looked_at(cell->tensor_)) tensors.push_back(cell->tensor_);
    return tensors;
}

void Pending::unlink(const Cell& cell) {
    (cell.newer_ ? cell.newer_->older_ : newest_) = cell.older_;
    if (cell.older_) cell.older_->newer_ = cell.newer_;
    cell.is_pending_ = false;
}

bool each_unknown(const std::vector<Tensor>& tensors,
                  const std::function<bool(const ir::Node&)>& visit) {
    std::unordered_set<const ir::Node*> met;
    std::vector<const ir::Node*> open;
    const auto meet = [&](const Tensor& tensor) {
        const ir::Node& node = tensor.node();
        if (ir::is_constant(node) || node.has_kept() || !met.insert(&node).second) return true;
        open.push_back(&node);
        return visit(node);
    };
    if (!std::all_of(tensors.begin(), tensors.end(), meet)) return false;
    while (!open.empty()) {
        const ir::Node& node = *open.back();
        open.pop_back();
        const auto& operands = node.operands();
        if (!std::all_of(operands.begin(), operands.end(), meet)) return false;
    }
    return true;
}

}  // namespace composit::eager
