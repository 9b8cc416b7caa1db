// Lists that grow.
#include "composit/knossos/lists.h"

#include "composit/base/text.h"
#include "composit/knossos/syntax_text.h"

#include <algorithm>

namespace composit::knossos {
namespace {

std::string instead_of_growing(const std::string& name) {
    return "Write " + name + " = np.zeros(n) before the loop, and " + name + "[i] = … in it.";
}

}  // namespace

bool Lists::grows(const std::string& name, const Value& value) const {
    const Tuple* tuple = value.tuple();
    return tuple && tuple->is_list && scope.appended.contains(name);
}

void Lists::begin(const SyntaxRef& target, const std::string& name, const Tuple& value) {
    const StructureRef before = scope.structure_named(name);
    if (before && scope.is_defined(name) && !(before->list && before->block == code.out))
        scope.refuse(*target, name + " is another list here than before",
                     "A variable keeps its structure: use another name.", Refusal::Class::type);
    auto& known = found.lists[{stack.number(), target->place.first, target->place.second}];
    if (!known) known = std::make_shared<GrowingList>();
    std::vector<Value> elements;
    for (const Value& each : value.parts) elements.push_back(element(each));
    for (const Value& each : elements) check(*known, *target, name, each);
    const auto least = static_cast<int64_t>(elements.size());
    Value size = least;
    for (const auto& [place, more] : known->appends) size = sum(size, more);
    size = integers.extent(integers.in_parameters(size));
    std::vector<Value> shape{size};
    shape.insert(shape.end(), known->shape.begin(), known->shape.end());
    const int lists = static_cast<int>(shape.size());
    const StoredRef stored = storage.add_array(name, known->kind, shape, Role::local, lists);
    const Expr count = code.hidden(name + "_count", Kind::integer);
    code.add(Statement::allocate(stored->number, true, code.line));
    for (size_t k = 0; k < elements.size(); ++k)
        store(stored, static_cast<int64_t>(k), elements[k]);
    code.assign(count.index(), code.integer(least));
    integers.bounds[count.index()] = {least,
                                      Expr::make(Op::add, {code.integer(size), code.integer(1)})};
    counts.lengths[stored->number] = least;
    Structure made{.sort = Structure::Sort::list, .kind = stored->kind, .block = code.out};
    made.list = std::make_shared<const ListOf>(
        ListOf{known, stored, count, least, scope.loops, scope.loops->size()});
    scope.structures[name] = std::make_shared<const Structure>(std::move(made));
    scope.defined->insert(name);
}

std::shared_ptr<const ListOf> Lists::list_of(const SyntaxRef& part) const {
    const SyntaxRef& function = part->form == Form::call ? part->at(Field::function) : nullptr;
    if (!function || function->form != Form::attribute || function->name != "append")
        return nullptr;
    const SyntaxRef& holder = function->at(Field::value);
    const std::string name = holder->form == Form::name ? holder->name : "";
    for (const Bound& names : scope.bound)
        if (names->contains(name)) return nullptr;
    const StructureRef structure = scope.structure_named(name);
    const bool is_one = part->all(Field::argument).size() == 1;
    return structure && is_one ? structure->list : nullptr;
}

void Lists::append(const SyntaxRef& call, const ListOf& to) {
    const std::string name = shown(*call->at(Field::function)->at(Field::value));
    scope.defined_variable(*call, name);
    const Value made = element(expressions.value(call->at(Field::argument)));
    GrowingList& known = *to.known;
    check(known, *call, name, made);
    const int turn = ++met[{to.known.get(), call->place}];
    const GrowingList::PlaceAndTurn place{call->place.first, call->place.second, turn};
    const Value often = how_often(*call, name, to);
    const auto before = std::find_if(known.appends.begin(), known.appends.end(),
                                     [&](const auto& each) { return each.first == place; });
    if (before == known.appends.end() || !same(before->second, often)) {
        if (before == known.appends.end())
            known.appends.emplace_back(place, often);
        else
            before->second = often;
        found.begin_again();
    }
    store(to.stored, to.count, made);
    code.assign(to.count.index(), Expr::make(Op::add, {to.count, code.integer(1)}));
    for (Lengths* each : {&counts.lengths, &counts.appended})
        if (const auto count = each->find(to.stored->number); count != each->end())
            count->second = sum(count->second, 1);
    sizes.erase(to.stored->number);
    stack.has_changed(*to.stored);
}

Value Lists::how_often(const Syntax& call, const std::string& name, const ListOf& to) {
    const auto unknown = [&] {
        scope.refuse(call,
                     "how often `" + shown(call) + "` runs is not known before the kernel runs",
                     instead_of_growing(name));
    };
    if (to.loops != scope.loops) unknown();
    Value often = 1;
    for (size_t i = to.depth; i < scope.loops->size(); ++i) {
        const auto& trips = (*scope.loops)[i]->trips;
        const Value known = trips ? integers.in_parameters(*trips) : Value();
        if (!trips || !integers.is_of_parameters(known)) unknown();
        often = times(often, known);
    }
    return often;
}

// Begins again where elements have another kind or shape than those before.
void Lists::check(GrowingList& known, const Syntax& part, const std::string& name,
                  const Value& each) {
    const ArrayRef array = each.array();
    const auto own = array ? std::optional(array->kind) : kind(each);
    std::vector<Value> shape;
    if (array)
        for (const Value& extent : array->shape) shape.push_back(integers.in_parameters(extent));
    const bool is_known = std::all_of(shape.begin(), shape.end(), [&](const Value& extent) {
        return integers.is_of_parameters(extent);
    });
    if (!own || own == Kind::none || !is_known)
        scope.refuse(part,
                     name + " has elements that are " +
                         (array ? std::string(knossos::name(array->kind)) : kind_of(each)) +
                         ", or have extents that are computed",
                     "Numbers, or arrays whose extents are those of arguments, are required: "
                     "write " +
                         name + " = np.zeros(n) before the loop, and " + name + "[i] = … in it.");
    if (known.is_empty) {
        known.is_empty = false;
        known.kind = *own;
        known.shape = shape;
        found.begin_again();
    }
    if (shape.size() != known.shape.size())
        scope.refuse(
            part, text(name, " has arrays of ", known.shape.size(), " axes and of ", shape.size()),
            "Equal numbers of axes are required.", Refusal::Class::type);
    if (*own > known.kind) {
        known.kind = *own;
        found.begin_again();
    }
}

// A number or an array; of a tuple an array of its numbers.
Value Lists::element(const Value& value) {
    return value.tuple() ? Value(makers.call("numpy.array", {value}, {})) : value;
}

void Lists::store(const StoredRef& stored, const Value& place, const Value& value) {
    const ArrayRef array = value.array();
    if (!array) {
        storage.store(*stored, {place}, value);
        return;
    }
    integers.require_shape({stored->shape.begin() + 1, stored->shape.end()}, array->shape);
    storage.nest(array->shape, [&](const Index& at) {
        Index whole{place};
        whole.insert(whole.end(), at.begin(), at.end());
        storage.store(*stored, whole, array->at(at));
    });
}

Value Lists::value(const ListOf& of) {
    const StoredRef& stored = of.stored;
    Value length;
    if (const auto known = counts.lengths.find(stored->number); known != counts.lengths.end()) {
        length = known->second;
    } else {
        const auto size = sizes.find(stored->number);
        if (size != sizes.end() && code.is_within(size->second.second)) {
            length = size->second.first;
        } else {
            length = integers.extent(of.count);
            integers.bounds[length.expr()->index()] = {of.least, stored->shape[0]};
            sizes[stored->number] = {length, code.out};
        }
    }
    if (same(integers.resolved(length), integers.resolved(stored->shape[0]))) return stored;
    std::vector<Value> shape = stored->shape;
    shape[0] = length;
    return array(stored->kind, std::move(shape), stored->at,
                 {.reads = stored->reads, .lists = stored->lists, .parts_of = stored->parts_of});
}

void Lists::begin_again_with(Counts other) {
    counts = std::move(other);
    sizes.clear();
}

void Lists::join(const Counts& other) {
    const auto keep = [](Lengths& own, const Lengths& others) {
        std::erase_if(own, [&](const auto& each) {
            const auto found = others.find(each.first);
            return found == others.end() || !same(each.second, found->second);
        });
    };
    keep(counts.lengths, other.lengths);
    keep(counts.appended, other.appended);
    sizes.clear();
}

Lists::BeginOfLoop Lists::begin_loop(const Body& body) {
    BeginOfLoop made{{}, counts};
    if (scope.appended.empty()) return made;
    for (const std::string& name : mentions.appended_in(body)) {
        const StructureRef structure = scope.structure_named(name);
        if (!structure || !structure->list) continue;
        const int number = structure->list->stored->number;
        made.numbers.push_back(number);
        counts.lengths.erase(number);
        sizes.erase(number);
        counts.appended[number] = 0;
    }
    return made;
}

void Lists::end_loop(const BeginOfLoop& begin, const std::optional<Value>& trips, bool is_whole) {
    for (const int number : begin.numbers) {
        const auto found = counts.appended.find(number);
        const bool is_known = found != counts.appended.end() && is_whole && trips;
        const Value each = is_known ? found->second : Value();
        const auto end = [&](Lengths& own, const Lengths& known) {
            own.erase(number);
            const auto before = known.find(number);
            if (is_known && before != known.end())
                own[number] = sum(before->second, times(*trips, each));
        };
        end(counts.lengths, begin.before.lengths);
        end(counts.appended, begin.before.appended);
        sizes.erase(number);
    }
}

Value Lists::times(const Value& a, const Value& b) const {
    for (const auto& [one, other] : {std::pair(a, b), std::pair(b, a)})
        if (one.is(0) || one.is(1)) return one.is(1) ? other : Value(0);
    return operators.binary("*", a, b);
}

Value Lists::sum(const Value& a, const Value& b) const {
    if (a.is(0)) return b;
    return b.is(0) ? a : operators.binary("+", a, b);
}

}  // namespace composit::knossos
