// Integers: what is known of them, and what is asserted.
#include "composit/knossos/integers.h"

#include <algorithm>

namespace composit::knossos {
namespace {

bool is_sum_or_product(const Expr& value) {
    return value.op() == Op::add || value.op() == Op::multiply;
}

}  // namespace

// Distances of int64 and their quotients fit into uint64.
int64_t length_of_range(int64_t begin, int64_t end, int64_t step) {
    const bool is_forwards = step > 0;
    if (is_forwards ? begin >= end : begin <= end) return 0;
    const uint64_t from = static_cast<uint64_t>(begin), to = static_cast<uint64_t>(end);
    const uint64_t distance = is_forwards ? to - from : from - to;
    const uint64_t size =
        is_forwards ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    return static_cast<int64_t>((distance - 1) / size + 1);
}

Value Integers::resolved(Value value) const {
    while (value.expr() && value.expr()->op() == Op::argument) {
        const auto known = aliases.find(value.expr()->index());
        if (known == aliases.end()) break;
        value = known->second;
    }
    return value;
}

Value Integers::resolved_within(const Value& value) const {
    const Value known = resolved(value);
    if (!known.expr()) return known;
    const Expr& now = *known.expr();
    if (!is_sum_or_product(now) && now.op() != Op::subtract) return known;
    std::vector<Expr> operands;
    for (const Expr& each : now.operands())
        operands.push_back(code_.integer(resolved_within(each)));
    return Expr::make(now.op(), std::move(operands));
}

Value Integers::in_parameters(const Value& value) const {
    if (!value.expr()) return value;
    const Expr& now = *value.expr();
    if (now.op() == Op::argument) {
        for (const auto* table : {&aliases, &settled_as_})
            if (const auto known = table->find(now.index()); known != table->end())
                return in_parameters(known->second);
        return value;
    }
    if (now.operands().empty()) return value;
    std::vector<Expr> operands;
    for (const Expr& each : now.operands()) {
        const Value made = in_parameters(each);
        operands.push_back(made.expr() ? *made.expr() : code_.integer(made));
    }
    return now.with_operands(std::move(operands));
}

std::optional<int64_t> Integers::least(const Value& value) const {
    const auto [base, constant] = linear(resolved(value));
    if (!base) return constant;
    if (base.op() == Op::argument) {
        if (const auto known = bounds.find(base.index()); known != bounds.end())
            return known->second.least + constant;
        return is_extent(base.index()) ? std::optional(constant) : std::nullopt;
    }
    if (!is_sum_or_product(base)) return std::nullopt;
    for (const Expr& each : base.operands())
        if (!is_natural(each)) return std::nullopt;
    return constant;
}

std::optional<int64_t> Integers::greatest(const Value& value) const {
    const auto [base, constant] = linear(resolved(value));
    if (!base) return constant;
    if (base.op() == Op::argument) {
        const auto known = bounds.find(base.index());
        if (known != bounds.end()) {
            const auto [below, moved] = linear(resolved(known->second.below));
            return below ? std::nullopt : std::optional(moved - 1 + constant);
        }
    }
    if (!is_sum_or_product(base)) return std::nullopt;
    const auto a = greatest(base.operand(0)), b = greatest(base.operand(1));
    if (!a || !b || !is_natural(base.operand(0)) || !is_natural(base.operand(1)))
        return std::nullopt;
    return (base.op() == Op::add ? *a + *b : *a * *b) + constant;
}

bool Integers::is_natural(const Value& value) const {
    const auto bound = least(value);
    return bound && *bound >= 0;
}

bool Integers::is_extent(int variable) const {
    for (const auto& array : code_.arrays) {
        if (array.role != ir::procedure::ArrayVariable::Role::input) continue;
        for (const Expr& extent : array.shape)
            if (extent.op() == Op::argument && extent.index() == variable) return true;
    }
    return false;
}

bool Integers::is_within(const Value& value, const Value& extent) const {
    const auto [base, constant] = linear(resolved(value));
    const auto bound = greatest(value), smallest = least(extent);
    if (bound && smallest && *bound < *smallest) return true;
    const auto [top, limit] = linear(resolved(extent));
    if (base && top && same(base, top)) return constant < limit;
    if (!base || base.op() != Op::argument) return false;
    const auto known = bounds.find(base.index());
    if (known == bounds.end()) return false;
    const auto [below, moved] = linear(resolved(known->second.below));
    if (static_cast<bool>(below) == static_cast<bool>(top) && (!below || same(below, top)))
        return moved + constant <= limit;
    // Below i + 1, of the counter of a loop around: no greater than i.
    const bool is_counted = below && below.op() == Op::argument && below.index() < base.index() &&
                            bounds.contains(below.index());
    return is_counted && is_within(this->moved(below, moved + constant - 1), extent);
}

bool Integers::is_next_of_counter(const Expr& value) const {
    const auto [base, constant] = linear(value);
    return constant == 1 && value.op() == Op::add && base && base.op() == Op::argument &&
           bounds.contains(base.index());
}

void Integers::narrow(int counter, const std::string& comparison, int64_t number) {
    const auto known = bounds.find(counter);
    if (known == bounds.end()) return;
    int64_t& least = known->second.least;
    if (comparison == ">=" || comparison == "==")
        least = std::max(least, number);
    else if (comparison == ">" || (comparison == "!=" && number == least))
        least = std::max(least, number + 1);
}

bool Integers::is_of_parameters(const Value& value) const {
    if (!value.expr()) return true;
    const Expr& now = *value.expr();
    if (now.op() == Op::argument)
        return now.index() < code_.parameter_count &&
               !code_.assigned.contains(code_.whole(now.index()));
    if (now.op() == Op::constant) return true;
    return !now.operands().empty() &&
           std::all_of(now.operands().begin(), now.operands().end(),
                       [&](const Expr& each) { return is_of_parameters(each); });
}

Value Integers::place(const Value& value, const Value& extent) {
    const auto kind_of_index = kind(value);
    if (kind_of_index == Kind::boolean)
        throw Mismatch("the index is a bool", "An integer is required.");
    if (kind_of_index != Kind::integer)
        throw Mismatch("the index is a " + kind_of(value), "An integer is required.");
    const auto known = value.plain_integer(), size = extent.integer();
    if (value.is_number() && size) {
        if (!known || *known < -*size || *known >= *size)
            throw Mismatch("index " + text_of(value) + " of an axis of " + text_of(extent),
                           "One that it has is required.");
        return *known < 0 ? *known + *size : *known;
    }
    if (known && *known < 0) {
        const Expr made = Expr::make(Op::subtract, {code_.integer(extent), code_.integer(-*known)});
        const Expr holds = Expr::make(Op::greater_equal, {made, code_.integer(0)});
        expect_place(holds, code_.integer(value), extent);
        return made;
    }
    const Expr* variable = value.expr();
    if (!variable || variable->op() != Op::argument || !code_.is_assigned_once(*variable))
        return settled_place(value, extent);
    const std::pair key(variable->index(), text_of(extent));
    if (const auto found = places_.find(key); found != places_.end()) {
        const auto& [made, block] = found->second;
        if (std::find(code_.blocks.begin(), code_.blocks.end(), block) != code_.blocks.end())
            return made;
    }
    const auto home = code_.homes.find(variable->index());
    const EmittingFurtherOut further(code_, home == code_.homes.end() ? nullptr : home->second);
    const Value made = settled_place(value, extent);
    places_[key] = {made, code_.out};
    return made;
}

Value Integers::settled_place(const Value& value, const Value& extent) {
    Value here = value;
    Expr given;
    if (is_natural(value)) {
        given = code_.integer(value);
    } else {
        given = settled(value);
        here = from_front(given, extent);
        const Expr holds = Expr::make(Op::greater_equal, {*here.expr(), code_.integer(0)});
        expect_place(holds, given, extent);
    }
    if (!is_within(here, extent)) {
        const Expr holds = Expr::make(Op::less, {code_.integer(here), code_.integer(extent)});
        expect_place(holds, given, extent);
    }
    return here;
}

void Integers::expect_place(const Expr& condition, const Expr& index, const Value& extent) {
    code_.expect(condition, "IndexError",
                 "index {} lies outside of an axis of {}%s. An index that it has is required.",
                 {index, code_.integer(extent)});
}

Expr Integers::settled(const Value& value) {
    if (value.expr() && value.expr()->op() == Op::argument) return *value.expr();
    const Expr here = code_.held(value, "index");
    settled_as_[here.index()] = value;
    return here;
}

Expr Integers::from_front(const Expr& value, const Value& extent) {
    const Expr wrapped = Expr::make(Op::add, {value, code_.integer(extent)});
    const Expr below = Expr::make(Op::less, {value, code_.integer(0)});
    return settled(Expr::make(Op::select, {below, wrapped, value}));
}

void Integers::require_same(const Value& one, const Value& other) {
    const Value a = resolved(one), b = resolved(other);
    if (same(a, b)) return;
    if (a.is_number() && b.is_number())
        throw Mismatch("extents " + text_of(a) + " and " + text_of(b) + " do not fit",
                       "Equal extents are required.");
    const Expr x = code_.integer(a), y = code_.integer(b);
    code_.expect(Expr::make(Op::equal, {x, y}), "ValueError",
                 "extents {} and {} do not fit%s. Equal extents are required.", {x, y});
}

void Integers::require_shape(const std::vector<Value>& a, const std::vector<Value>& b) {
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) require_same(a[i], b[i]);
}

Value Integers::extent(const Value& given) {
    const Value value = resolved_within(given);
    if (is_of_parameters(value)) return value;
    const Expr here = code_.held(resolved(given), "size");
    sizes[here.index()] = resolved(given);
    return here;
}

Value Integers::kept(const Value& value, const std::string& wanted) {
    const Value known = resolved_within(value);
    return value.is_number() || is_of_parameters(known) ? known : Value(code_.held(value, wanted));
}

Value Integers::plus(const Value& a, const Value& b) const {
    if (a.is_number() && b.is_number()) return code_.operators.binary("+", a, b);
    if (a.is(0)) return b;
    if (b.is(0)) return a;
    return Expr::make(Op::add, {code_.integer(a), code_.integer(b)});
}

Value Integers::moved(const Value& extent, int64_t by) const {
    auto [base, constant] = linear(resolved(extent));
    constant += by;
    if (!base) return constant;
    if (constant == 0) return base;
    return Expr::make(constant > 0 ? Op::add : Op::subtract,
                      {base, code_.integer(std::abs(constant))});
}

Value Integers::along(const Value& index, const Value& begin, int64_t step) const {
    const auto at = index.integer(), from = begin.integer();
    if (at && from) return *from + step * *at;
    if (step == -1) return Expr::make(Op::subtract, {code_.integer(begin), code_.integer(index)});
    Value scaled = index;
    if (step != 1)
        scaled = at ? Value(step * *at)
                    : Value(Expr::make(Op::multiply, {*index.expr(), code_.integer(step)}));
    return from == 0 ? scaled : plus(scaled, begin);
}

}  // namespace composit::knossos
