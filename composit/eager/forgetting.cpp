#include "composit/eager/forgetting.h"

#include "composit/eager/cell.h"
#include "composit/eager/compacting.h"
#include "composit/eager/pending.h"
#include "composit/eager/small.h"
#include "composit/ops/forgotten.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace composit::eager {

// What is forgotten has a value: it is a number, or what a cell holds or held before elements were
// written.
class Forgetting {
  public:
    Forgetting();
    size_t count() const { return all_.size(); }
    bool find(size_t stay);  // false where there are too many names
    void forget(int64_t bound);
    size_t left() const;

  private:
    using Set = NameSet;
    struct Name {
        Tensor tensor;  // else the tensor of:
        const Deferred* deferred = nullptr;
    };
    static constexpr size_t most_names = 64;

    static size_t place_of(const Deferred& deferred) { return deferred.mark_; }
    bool is_among(const Ref<Deferred>& x) const {
        return x && !x->is_made() && x->kind_ != Deferred::Kind::literal;
    }
    template <class Use>
    void each_operand(const Deferred& deferred, const Use& use) const {
        for (const Ref<Deferred>* operand : {&deferred.first_, &deferred.second_})
            if (is_among(*operand)) use(**operand);
    }
    void find_values();
    void find_cut(uint64_t oldest);
    Set behind(const Ref<Deferred>& operand);
    Set only(Name name, const void* key);
    std::vector<Tensor> tensors_of(const Set& set) const;
    ir::ConstantArray value_of(const Deferred& deferred) const;

    std::vector<Ref<const Deferred>> all_;  // by place, the oldest first
    std::vector<Ref<const Cell>> cells_;
    // By place:
    std::vector<bool> has_value_, is_root_, stays_, is_cut_;
    std::vector<Set> sets_;
    std::unordered_map<const Deferred*, ir::ConstantArray> values_;  // of arrays that are cut
    std::vector<Name> names_;
    std::unordered_map<const void*, size_t> number_;  // of names
};

Forgetting::Forgetting() : cells_(pending().living()) {
    for (Ref<const Deferred>& deferred : Deferred::living())
        if (!deferred->is_made() && deferred->kind_ != Deferred::Kind::literal)
            all_.push_back(std::move(deferred));
}

bool Forgetting::find(size_t stay) {
    if (all_.size() <= stay) return false;
    std::sort(all_.begin(), all_.end(),
              [](const auto& a, const auto& b) { return a->number_ < b->number_; });
    const size_t count = all_.size();
    for (auto* flags : {&has_value_, &is_root_, &stays_, &is_cut_}) flags->resize(count);
    sets_.resize(count);
    std::vector<uint32_t> known(count, 1);  // references: all_'s, and those of others
    for (size_t i = 0; i < count; ++i) all_[i]->mark_ = static_cast<uint32_t>(i);
    for (const auto& deferred : all_)
        each_operand(*deferred, [&](const Deferred& operand) { ++known[place_of(operand)]; });
    for (size_t i = 0; i < count; ++i) is_root_[i] = all_[i]->use_count() > known[i];
    find_values();
    find_cut(all_[count - stay]->number_);
    for (size_t i = 0; i < count; ++i) {
        const Deferred& deferred = *all_[i];
        if (deferred.first_) sets_[i] = behind(deferred.first_);
        const bool is_view = deferred.kind_ == Deferred::Kind::view;  // its path has no values
        if (deferred.second_ && !is_view) sets_[i] = united(sets_[i], behind(deferred.second_));
        if (sets_[i] && sets_[i]->size() > most_names) return false;
    }
    return true;
}

void Forgetting::find_values() {
    for (size_t i = 0; i < all_.size(); ++i)
        has_value_[i] = all_[i]->has_number_ || all_[i]->keeps_value();
    for (const Ref<const Cell>& cell : cells_) {
        if (!cell->is_written()) continue;
        const Deferred* at = cell->elements_->now.get();
        for (bool is_first = true; !at->is_made(); is_first = false) {
            const bool is_written = at->kind_ == Deferred::Kind::written;
            if (is_first || is_written) has_value_[place_of(*at)] = true;
            if (!is_written) break;
            at = at->first_.get();
        }
    }
}

void Forgetting::find_cut(uint64_t oldest) {
    std::vector<const Deferred*> open;
    const auto enter = [&](const Deferred& deferred) {
        const size_t place = place_of(deferred);
        if (stays_[place] || is_cut_[place]) return;
        const bool is_cut = deferred.number_ < oldest && has_value_[place];
        (is_cut ? is_cut_ : stays_)[place] = true;
        if (!is_cut) open.push_back(&deferred);
    };
    for (size_t i = 0; i < all_.size(); ++i)
        if (is_root_[i]) enter(*all_[i]);
    while (!open.empty()) {
        const Deferred& deferred = *open.back();
        open.pop_back();
        each_operand(deferred, enter);
    }
    // What the arrays held that are cut: the values now, without what was written since.
    for (const Ref<const Cell>& cell : cells_) {
        if (!cell->is_written()) continue;
        Array values = copied(cell->elements_->own);
        for (const Deferred* at = cell->elements_->now.get(); !at->is_made();
             at = at->first_.get()) {
            if (is_cut_[place_of(*at)] && !at->keeps_value()) values_.emplace(at, copied(values));
            if (at->kind_ != Deferred::Kind::written) break;
            const auto size = static_cast<size_t>(ir::size_of(at->dtype_));
            std::memcpy(
                static_cast<char*>(values.mutable_data()) + static_cast<size_t>(at->place_) * size,
                &at->bits_, size);
        }
    }
}

Forgetting::Set Forgetting::only(Name name, const void* key) {
    const auto [found, is_new] = number_.emplace(key, names_.size());
    if (is_new) names_.push_back(std::move(name));
    return std::make_shared<const std::vector<size_t>>(1, found->second);
}

// What can be named among what an operand was made of, or that itself.
Forgetting::Set Forgetting::behind(const Ref<Deferred>& operand) {
    if (operand->is_made()) {
        const Tensor& tensor = operand->tensor_;
        return tensor.type().weak ? Set() : only({tensor, nullptr}, &tensor.node());
    }
    if (!is_among(operand)) return {};
    const size_t place = place_of(*operand);
    const bool is_part = operand->kind_ == Deferred::Kind::part;
    if ((stays_[place] || is_cut_[place]) && !is_part)
        return only({{}, operand.get()}, operand.get());
    return sets_[place];
}

std::vector<Tensor> Forgetting::tensors_of(const Set& set) const {
    std::vector<Tensor> tensors;
    if (!set) return tensors;
    for (const size_t number : *set) {
        const Name& name = names_[number];
        tensors.push_back(name.deferred ? name.deferred->tensor() : name.tensor);
    }
    return tensors;
}

ir::ConstantArray Forgetting::value_of(const Deferred& deferred) const {
    if (deferred.keeps_value()) return deferred.extra_->value;
    if (!deferred.has_number_) return values_.at(&deferred);
    Array value(deferred.dtype_, {});
    std::memcpy(value.mutable_data(), &deferred.bits_, static_cast<size_t>(value.bytes()));
    return value;
}

void Forgetting::forget(int64_t bound) {
    for (size_t i = 0; i < all_.size(); ++i) {
        const Deferred& deferred = *all_[i];
        if (!is_cut_[i] || deferred.is_made()) continue;
        const ir::LocationScope scope(deferred.line_, deferred.error_handling_,
                                      deferred.reported_as_);
        const ir::NumberScope number(deferred.number_);
        deferred.become(ops::forgotten(tensors_of(sets_[i]), value_of(deferred), bound));
    }
    cells_.clear();
}

size_t Forgetting::left() const {
    return static_cast<size_t>(std::count(stays_.begin(), stays_.end(), true));
}

LivingDeferred living_deferred() {
    LivingDeferred living;
    for (const auto& deferred : Deferred::living()) {
        living.without_node += !deferred->is_made() && deferred->stands_alone();
        living.counted += deferred->is_counted();
    }
    return living;
}

std::optional<size_t> forget_deferred(size_t stay, int64_t bound) {
    size_t left = 0;
    {
        Forgetting forgetting;
        if (!forgetting.find(stay)) return {};
        forgetting.forget(bound);
        left = forgetting.left();
    }
    Deferred::tidy();
    return left;
}

}  // namespace composit::eager
