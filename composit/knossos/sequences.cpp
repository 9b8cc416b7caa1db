// Ranges, tuples and arrays, one behind the other, beside each other, backwards.
#include "composit/knossos/sequences.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>
#include <set>

namespace composit::knossos {
namespace {

bool meet(const Numbers& a, const Numbers& b) {
    return std::any_of(a.begin(), a.end(), [&](int each) { return b.contains(each); });
}

// An array of which only what `at` gives for one index matters.
ArrayRef one_by_one(const Value& count, Array::At at, Numbers reads = {}, Numbers parts_of = {}) {
    return array(Kind::none, {count}, std::move(at),
                 {.reads = std::move(reads), .parts_of = std::move(parts_of)});
}

// The arguments that a call gives by name.
std::map<std::string, SyntaxRef> named_parts(const Syntax& call) {
    std::map<std::string, SyntaxRef> named;
    for (const SyntaxRef& each : call.all(Field::keyword))
        named[each->name] = each->at(Field::value);
    return named;
}

}  // namespace

Sequence Sequences::sequence(const SyntaxRef& part, const Changes& changes) {
    const std::string function = scope.name_of_called(*part);
    if (function == "range") return range_of(*part);
    if (function == "enumerate") return enumerated(*part, changes);
    if (function == "zip") return zipped(*part, changes);
    if (function == "reversed") return reversed(*part, changes);
    NameSet all = changes.names;
    all.insert(changes.elements.begin(), changes.elements.end());
    return of_value(part, changes, common(mentions.of(part).names, all));
}

Sequence Sequences::of_value(const SyntaxRef& part, const Changes& changes,
                             const NameSet& changed) {
    if (!changed.empty() && part->form == Form::generator_of_each)
        throw Mismatch(*changed.begin() + " changes in a loop over values that are computed of it",
                       "Write [ and ] around them: they are computed before the loop.");
    const Value found = unnamed(expressions.value(part));
    if (const Tuple* tuple = found.tuple()) return tuple->parts;
    ArrayRef items = found.array();
    if (!items)
        scope.refuse(*part, "a loop over `" + shown(*part) + "`, " + with_article(kind_of(found)),
                     "Loops and comprehensions go over range(…), a tuple or an array.",
                     Refusal::Class::type);
    if (!changed.empty() && items->parts_of.empty()) {
        items = arrays.storage.stored(items, "items");  // else computed when they are asked for
    } else if (const NameSet names = common(changed, changes.names); !names.empty()) {
        if (!common(changed, changes.elements).empty())
            throw Mismatch(*names.begin() + " is assigned in a loop over it", "Use another name.");
        items = arrays.storage.copied(*items);
    }
    return rows(items);
}

// An array of one axis whose elements are those of the first axis.
ArrayRef Sequences::rows(const ArrayRef& of) {
    const auto at = [this, of](const Index& indices) { return arrays.slices.row(of, indices[0]); };
    return one_by_one(first_extent(*of), at, of->reads, of->parts_of);
}

Sequence Sequences::range_of(const Syntax& call) {
    std::vector<Value> given;
    for (const SyntaxRef& each : call.all(Field::argument))
        given.push_back(expressions.value(each));
    if (given.empty() || given.size() > 3 || call.at(Field::keyword))
        scope.refuse(call, text("range of ", given.size(), " arguments"),
                     "One to three are required.");
    for (const Value& each : given)
        if (kind(each) != Kind::integer && kind(each) != Kind::boolean)
            scope.refuse(call, "range of " + with_article(kind_of(each)), "Integers are required.",
                         Refusal::Class::type);
    const Value begin = given.size() == 1 ? Value(0) : given[0];
    const Value end = given.size() == 1 ? given[0] : given[1];
    const Value step = given.size() == 3 ? given[2] : Value(1);
    if (step.is(0))
        scope.refuse(call, "the step `" + shown(*call.all(Field::argument)[2]) + "` is 0",
                     "Another integer is required.", Refusal::Class::value);
    if (!step.is_number()) return arrays.makers.stepping(begin, end, step);
    if (!step.integer())
        scope.refuse(call,
                     "the step `" + shown(*call.all(Field::argument)[2]) + "` is beyond int64",
                     "A smaller integer is required.", Refusal::Class::value);
    return Range{begin, end, *step.integer()};
}

Sequence Sequences::enumerated(const Syntax& call, const Changes& changes) {
    const auto given = call.all(Field::argument);
    auto named = named_parts(call);
    std::vector<SyntaxRef> starts(given.begin() + (given.empty() ? 0 : 1), given.end());
    if (const auto start = named.find("start"); start != named.end()) {
        starts.push_back(start->second);
        named.erase(start);
    }
    if (given.empty() || !named.empty() || starts.size() > 1)
        throw Mismatch("enumerate of other arguments", "One sequence and a start are required.");
    Value start = starts.empty() ? Value(0) : expressions.value(starts[0]);
    if (kind(start) != Kind::integer)
        throw Mismatch("enumerate from " + kind_of(start), "An integer is required.");
    const Sequence all = items(sequence(given[0], changes), changes.is_nothing);
    if (!start.is_number()) start = arrays.integers.kept(start, "start");
    if (const Items* known = std::get_if<Items>(&all)) {
        Items pairs;
        for (size_t i = 0; i < known->size(); ++i) {
            const auto place = static_cast<int64_t>(i);
            const auto first = start.plain_integer();
            pairs.push_back(tuple_of(
                {first ? Value(*first + place) : arrays.integers.plus(start, place), (*known)[i]}));
        }
        return pairs;
    }
    const ArrayRef of = std::get<ArrayRef>(all);
    const auto at = [this, of, start](const Index& at) {
        const Value count = start.is(0) ? at[0] : arrays.integers.plus(start, at[0]);
        return tuple_of({count, of->at(at)});
    };
    return one_by_one(of->shape[0], at, of->reads);
}

Sequence Sequences::zipped(const Syntax& call, const Changes& changes) {
    Value is_strict = false;
    bool has_others = false;
    for (const auto& [name, part] : named_parts(call)) {
        const Value value = expressions.value(part);
        if (name == "strict")
            is_strict = value;
        else
            has_others = true;
    }
    if (has_others || !is_strict.as<bool>())
        throw Mismatch("zip of other arguments", "Sequences alone are required.");
    std::vector<Sequence> given, whole;
    for (const SyntaxRef& each : call.all(Field::argument))
        given.push_back(sequence(each, changes));
    const auto is_tuple = [](const Sequence& each) { return std::holds_alternative<Items>(each); };
    const bool is_known = changes.is_nothing || std::any_of(given.begin(), given.end(), is_tuple);
    for (const Sequence& each : given) whole.push_back(items(each, is_known));
    if (std::all_of(whole.begin(), whole.end(), is_tuple)) {
        std::set<size_t> sizes;
        for (const Sequence& each : whole) sizes.insert(std::get<Items>(each).size());
        if (*is_strict.as<bool>() && sizes.size() > 1)
            throw Mismatch("zip of sequences of other lengths", "Equal ones are required.");
        Items all;
        for (size_t i = 0; !sizes.empty() && i < *sizes.begin(); ++i) {
            std::vector<Value> parts;
            for (const Sequence& each : whole) parts.push_back(std::get<Items>(each)[i]);
            all.push_back(tuple_of(std::move(parts)));
        }
        return all;
    }
    const auto is_empty = [&](const Sequence& each) {
        return is_tuple(each) && std::get<Items>(each).empty();
    };
    if (!*is_strict.as<bool>() && std::any_of(whole.begin(), whole.end(), is_empty)) return Items();
    std::vector<ArrayRef> made;
    for (const Sequence& each : given)
        made.push_back(std::holds_alternative<Range>(each)
                           ? arrays.makers.counted(std::get<Range>(each))
                       : is_tuple(each) ? choosing(std::get<Items>(each), changes)
                                        : std::get<ArrayRef>(each));
    return zipped_arrays(std::move(made), *is_strict.as<bool>());
}

ArrayRef Sequences::zipped_arrays(std::vector<ArrayRef> all, bool is_strict) {
    Value count = all[0]->shape[0];
    for (size_t i = 1; i < all.size(); ++i)
        if (is_strict)
            arrays.integers.require_same(count, all[i]->shape[0]);
        else
            count = shorter(count, all[i]->shape[0]);
    const Numbers reads = reads_of(all);
    const auto at = [all = std::move(all)](const Index& at) {
        std::vector<Value> parts;
        for (const ArrayRef& each : all) parts.push_back(each->at(at));
        return tuple_of(std::move(parts));
    };
    return one_by_one(count, at, reads);
}

Value Sequences::shorter(Value a, Value b) {
    a = arrays.integers.resolved(a);
    b = arrays.integers.resolved(b);
    if (a.integer() && b.integer()) return *b.integer() < *a.integer() ? b : a;
    if (same(a, b)) return a;
    const Operators& operators = arrays.operators;
    return arrays.integers.extent(operators.select(operators.compare("<", b, a), b, a));
}

Sequence Sequences::reversed(const Syntax& call, const Changes& changes) {
    const auto given = call.all(Field::argument);
    if (given.size() != 1 || call.at(Field::keyword))
        throw Mismatch("reversed of other arguments", "One sequence is required.");
    const std::string function = scope.name_of_called(*given[0]);
    if (function == "enumerate" || function == "zip" || function == "reversed" ||
        given[0]->form == Form::generator_of_each)
        throw Mismatch("reversed of values that Python makes one by one",
                       "Reverse what they are made of.");
    Sequence found = sequence(given[0], changes);
    if (Items* known = std::get_if<Items>(&found)) {
        std::reverse(known->begin(), known->end());
        return found;
    }
    if (const Range* range = std::get_if<Range>(&found)) return reversed_range(*range);
    const ArrayRef forward = std::get<ArrayRef>(found);
    const auto at = [this, forward](const Index& at) {
        return forward->at({from_end(forward->shape[0], at[0])});
    };
    return one_by_one(forward->shape[0], at, forward->reads, forward->parts_of);
}

Range Sequences::reversed_range(const Range& of) const {
    const int64_t step = of.step;
    const Operators& operators = arrays.operators;
    const auto less = [&](const Value& value, int64_t by) {
        const auto known = value.integer();
        return known ? Value(*known - by) : arrays.integers.moved(value, -by);
    };
    if (std::abs(step) == 1) return {less(of.end, step), less(of.begin, step), -step};
    const auto binary = [&](const char* symbol, const Value& a, const Value& b) {
        return operators.binary(symbol, a, b);
    };
    const Value length = binary("-", binary("-", of.end, of.begin), step > 0 ? 1 : -1);
    const Value last = binary("+", of.begin, binary("*", binary("//", length, step), step));
    return {last, binary("-", of.begin, step), -step};
}

Value Sequences::from_end(const Value& extent, const Value& index) const {
    if (const auto known = index.integer()) return arrays.integers.moved(extent, -1 - *known);
    return Expr::make(Op::subtract, {arrays.code.integer(arrays.integers.moved(extent, -1)),
                                     arrays.code.integer(index)});
}

Sequence Sequences::items(const Sequence& found, bool is_known) {
    const Range* range = std::get_if<Range>(&found);
    if (!range) return found;
    const auto known = is_known ? range->known() : std::nullopt;
    if (!known) return arrays.makers.counted(*range);
    return Items(known->begin(), known->end());
}

Value Sequences::as_before(const Value& value, const Changes& changes, const std::string& wanted) {
    const auto once = [&](const Value& leaf, std::string path) -> Value {
        std::replace(path.begin(), path.end(), '.', '_');
        if (const ArrayRef array = leaf.array()) return array_in_loop(array, changes);
        const Expr* expression = leaf.expr();
        if (!expression || expression->op() == Op::constant) return leaf;
        const bool is_variable = expression->op() == Op::argument;
        if (is_variable && !changes.names.contains(arrays.code.whole(expression->index())))
            return leaf;
        return arrays.code.held(leaf, wanted + path);
    };
    return with_leaves(value, once, false);
}

// An array that a loop goes over beside others. Parts of arrays stay parts, whose elements may
// change, unless nothing changes them.
ArrayRef Sequences::array_in_loop(const ArrayRef& array, const Changes& changes) {
    const bool is_assigned = meet(numbers_of(changes.names), array->reads);
    const bool is_stored = stored(array) != nullptr;
    if (array->parts_of.empty() || !meet(numbers_of(changes.elements), array->reads))
        return is_stored && !is_assigned ? array : arrays.storage.copied(*array);
    if (is_assigned || !is_stored)
        throw Mismatch("a loop over arrays that it assigns", "Use another name.");
    return array;
}

Numbers Sequences::numbers_of(const NameSet& names) const {
    Numbers numbers;
    for (const std::string& name : names)
        if (const StructureRef structure = scope.structure_named(name))
            for (const StructureRef& leaf : all_leaves(structure))
                if (leaf->is_variable()) numbers.insert(leaf->stored->number);
    return numbers;
}

ArrayRef Sequences::choosing(Items items, const Changes& changes) {
    if (items.empty())
        throw Mismatch("a loop over nothing beside an array",
                       "Sequences of equal lengths are required.");
    for (size_t i = 0; i < items.size(); ++i)
        items[i] = as_before(items[i], changes, text("item_", i));
    const auto count = static_cast<int64_t>(items.size());
    const auto at = [this, items = std::move(items)](const Index& indices) {
        const auto size = static_cast<int64_t>(items.size());
        if (const auto known = indices[0].integer())
            return items[static_cast<size_t>((*known % size + size) % size)];
        Value made = items.back();
        for (size_t i = items.size() - 1; i-- > 0;) {
            const Value is_here =
                arrays.operators.compare("==", indices[0], static_cast<int64_t>(i));
            made = arrays.operators.select(is_here, items[i], made);
        }
        return made;
    };
    return one_by_one(count, at);
}

}  // namespace composit::knossos
