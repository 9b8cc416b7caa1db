// Values that several paths give.
#include "composit/knossos/paths.h"

#include <algorithm>

namespace composit::knossos {

Kind kind_of_leaf(const Value& leaf) {
    const ArrayRef array = leaf.array();
    return array ? array->kind : kind_of_number(leaf);
}

std::shared_ptr<Joined> Paths::join(const Syntax& part, const Value& like,
                                    const std::vector<Kind>& kinds, const std::string& wanted,
                                    const BlockRef& block, int known) {
    return std::make_shared<Joined>(*this, part, like, kinds, wanted, block, known);
}

std::vector<Kind> Paths::larger_kinds(const Syntax& part, const Value& a, const Value& b) const {
    const auto first = leaves_of_value(a), second = leaves_of_value(b);
    std::vector<Kind> kinds;
    for (size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
        const Kind one = kind_of_leaf(first[i]), other = kind_of_leaf(second[i]);
        if (first[i].array() && one != other)
            scope.refuse(part,
                         "an array of " + std::string(name(one)) + "s on one path is " +
                             with_article(std::string(name(other))) + " array on the other",
                         "Equal kinds of numbers are required: write .astype(float).",
                         Refusal::Class::type);
        kinds.push_back(std::max(one, other));
    }
    return kinds;
}

Joined::Joined(Paths& paths, const Syntax& part, Value like, const std::vector<Kind>& kinds,
               const std::string& wanted, BlockRef block, int known)
    : paths_(paths), like_(std::move(like)), block_(std::move(block)), known_(known) {
    const auto leaves = leaves_of_value(like_);
    for (size_t i = 0; i < std::min(leaves.size(), kinds.size()); ++i)
        places.push_back(place(part, leaves[i], kinds[i], wanted));
}

Value Joined::place(const Syntax& part, const Value& leaf, Kind kind, const std::string& wanted) {
    const ArrayRef array = leaf.array();
    if (!array) return paths_.code.hidden(wanted, kind);
    std::vector<Value> shape;
    for (const Value& each : array->shape) shape.push_back(extent(part, each));
    const StoredRef made =
        paths_.storage.add_array(wanted, kind, std::move(shape), Role::local, array->lists);
    paths_.sharing.fresh.insert(made->number);
    block_->statements.push_back(Statement::allocate(made->number, false, paths_.code.line));
    return made;
}

// Whether an extent is known where the arrays are allocated.
bool Joined::is_known(const Value& extent) const {
    if (extent.is_nothing()) return false;
    if (!extent.expr()) return true;
    const auto variables = variables_of(*extent.expr());
    return std::all_of(variables.begin(), variables.end(), [&](int number) {
        return number < known_ || paths_.code.is_at_home(number, block_);
    });
}

Value Joined::extent(const Syntax& part, Value extent) const {
    const Integers& integers = paths_.integers;
    extent = integers.resolved(extent);
    Value size;  // what a variable for an extent was made of
    if (const Expr* variable = extent.expr(); variable && variable->op() == Op::argument) {
        const auto found = integers.sizes.find(variable->index());
        if (found != integers.sizes.end()) size = found->second;
    }
    const Expr* of = size.expr();
    if (of && !(of->op() == Op::argument && paths_.code.is_assigned_once(*of))) size = {};
    for (const Value& value : {extent, integers.in_parameters(extent), size})
        if (is_known(value)) return value;
    paths_.scope.refuse(part,
                        "the extent of an array is computed on one of several paths, and the "
                        "array is one of them all",
                        "Compute the extent before the if, or the loop.");
}

void Joined::check(const Syntax& part, const Value& value) const {
    const std::string own = structure_of_value(value)->outline();
    const std::string first = structure_of_value(like_)->outline();
    if (own != first)
        paths_.scope.refuse(part, "it is " + own + " on one path and " + first + " on another",
                            "The same on all paths is required.", Refusal::Class::type);
}

std::vector<Value> Joined::put(const Syntax& part, const Value& value) {
    check(part, value);
    const auto leaves = leaves_of_value(value);
    std::vector<Value> numbers;
    for (size_t i = 0; i < std::min(leaves.size(), places.size()); ++i) {
        const StoredRef place = stored(places[i]);
        if (!place) {
            numbers.push_back(leaves[i]);
            continue;
        }
        const ArrayRef array = leaves[i].array();
        paths_.integers.require_shape(place->shape, array->shape);
        paths_.storage.store_all(*place, *array);
        paths_.sharing.copy_of_parts(*place, *array);
    }
    return numbers;
}

void Joined::assign(const Syntax& part, const Value& value) {
    const auto numbers = put(part, value);
    const auto own = variables();
    for (size_t i = 0; i < std::min(numbers.size(), own.size()); ++i)
        paths_.code.assign(own[i].index(),
                           paths_.operators.cast(numbers[i], kind_of_number(own[i])));
}

std::vector<Expr> Joined::variables() const {
    std::vector<Expr> found;
    for (const Value& place : places)
        if (const Expr* variable = place.expr()) found.push_back(*variable);
    return found;
}

Value Joined::value() const {
    size_t next = 0;
    const auto here = [&](const Value&, const std::string&) { return places[next++]; };
    return with_leaves(like_, here, true);
}

}  // namespace composit::knossos
