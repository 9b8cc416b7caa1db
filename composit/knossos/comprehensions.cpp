// Values for each of a sequence.
#include "composit/knossos/comprehensions.h"

namespace composit::knossos {
namespace {

[[noreturn]] void refuse_length() {
    throw Mismatch("a comprehension whose length depends on values",
                   "Write (… if condition else 0.0).");
}

// While it lives, the names of a target stand for the parts of an item.
class BoundWithin {
  public:
    BoundWithin(Scope& scope, Targets& targets, const SyntaxRef& target, const Value& item)
        : scope_(scope) {
        targets.bind(target, item);
    }
    ~BoundWithin() { scope_.bound.pop_back(); }
    BoundWithin(const BoundWithin&) = delete;
    BoundWithin& operator=(const BoundWithin&) = delete;

  private:
    Scope& scope_;
};

}  // namespace

Value Comprehensions::of_each(const SyntaxRef& part) {
    const auto generators = part->all(Field::generator);
    if (generators.size() != 1)
        throw Mismatch("a comprehension of several loops",
                       "Write out = [] and loops with out.append(…); sum, any and all take it.");
    const Sequence all = sequences.items(sequences.sequence(generators[0]->at(Field::iterated)));
    if (const ArrayRef* array = std::get_if<ArrayRef>(&all))
        return of_array(part, generators[0], *array);
    return of_items(*part, *generators[0], std::get<Items>(all));
}

Value Comprehensions::of_items(const Syntax& part, const Syntax& generator, const Items& items) {
    std::vector<Value> results;
    for (const Value& item : items) {
        const BoundWithin bound(scope, targets, generator.at(Field::target), item);
        bool is_chosen = true, is_known = true;
        for (const SyntaxRef& test : generator.all(Field::test)) {
            const Value truth = arrays.operators.truth(expressions.value(test));
            const bool* known = truth.as<bool>();
            is_known = is_known && known;
            is_chosen = is_chosen && known && *known;
        }
        if (!is_known) refuse_length();
        if (is_chosen) results.push_back(expressions.value(part.at(Field::element)));
    }
    return tuple_of(std::move(results));
}

Value Comprehensions::of_array(const SyntaxRef& part, const SyntaxRef& generator,
                               const ArrayRef& items) {
    if (generator->at(Field::test)) refuse_length();
    const auto element_at = [this, part, generator, items](const Value& index) {
        const BoundWithin bound(scope, targets, generator->at(Field::target), items->at({index}));
        return expressions.value(part->at(Field::element));
    };
    const auto number_of = [](const Value& element, const Index& indices) -> Value {
        const ArrayRef row = element.array();
        if (!row) return scalar(element);
        return indices.size() > 1 ? row->at({indices.begin() + 1, indices.end()}) : Value(0);
    };
    const Expr first = arrays.code.hidden("first", Kind::integer);  // an index, for the kind alone
    Value element;
    Kind kind = arrays.code.kind_by_trial([&] {
        element = element_at(first);
        return number_of(element, {first});
    });
    std::vector<Value> shape = items->shape;
    ArrayOrigin origin{.reads = items->reads, .lists = 1};
    if (const ArrayRef row = element.array()) {
        kind = row->kind;
        shape.insert(shape.end(), row->shape.begin(), row->shape.end());
        origin.parts_of = row->parts_of;
        origin.lists = 1 + row->lists;
    }
    const int lists = origin.lists;
    const auto at = [element_at, number_of](const Index& indices) {
        return number_of(element_at(indices[0]), indices);
    };
    const ArrayRef made = array(kind, shape, at, std::move(origin));
    if (part->form == Form::generator_of_each) return made;
    const StoredRef stored = arrays.storage.add_array("list", kind, shape, Role::local, lists);
    arrays.storage.fill(*stored, *made);
    arrays.sharing.copy_of_parts(*stored, *made);
    arrays.sharing.fresh.insert(stored->number);
    return stored;
}

}  // namespace composit::knossos
