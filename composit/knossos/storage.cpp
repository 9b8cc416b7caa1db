// Arrays of procedures.
#include "composit/knossos/storage.h"

namespace composit::knossos {

StoredRef Storage::add_array(const std::string& wanted, Kind kind, std::vector<Value> shape,
                             Role role, int lists) {
    if (!found_.has_arrays && role != Role::input) {  // which calls before this one depend on
        found_.has_arrays = true;
        found_.begin_again();
    }
    const std::set<std::string> taken = taken_names();
    std::string name = wanted;
    for (int k = 2; taken.contains(name); ++k) name = wanted + "_" + std::to_string(k);
    const int number = static_cast<int>(code_.arrays.size());
    code_.operators.has_arrays = true;
    std::vector<Expr> extents;
    for (const Value& extent : shape) extents.push_back(code_.integer(extent));
    code_.arrays.push_back({name, code_.operators.dtype_of(kind), std::move(extents), role});
    const auto at = [this, number, name, kind](const Index& indices) -> Value {
        sharing_.check_current(number);
        const Expr own = code_.hidden(name + "_value", kind);
        std::vector<Expr> places;
        for (const Value& index : indices) places.push_back(code_.integer(index));
        code_.add(Statement::load(own.index(), number, std::move(places), code_.line));
        code_.homes[own.index()] = code_.out;
        code_.loaded.insert(own.index());
        return own;
    };
    sharing_.overwritten(number);  // that of the iteration before
    return std::make_shared<Stored>(number, name, kind, std::move(shape), at, role == Role::input,
                                    lists);
}

std::set<std::string> Storage::taken_names() const {
    std::set<std::string> names;
    for (const auto& array : code_.arrays) names.insert(array.name);
    for (const auto& variable : code_.variables) names.insert(variable.name);
    return names;
}

StoredRef Storage::fresh_array(const std::string& wanted, Kind kind, std::vector<Value> shape,
                               bool is_zeroed) {
    StoredRef made = add_array(wanted, kind, std::move(shape));
    sharing_.fresh.insert(made->number);
    code_.add(Statement::allocate(made->number, is_zeroed, code_.line));
    return made;
}

void Storage::store(const Stored& array, const Index& indices, const Value& value) {
    const auto own = kind(value);
    if (!own || *own > array.kind) {
        const std::string wanted(name(array.kind));
        throw Mismatch(
            "an element of " + array.name + " is " + kind_of(value) + " here, and " + wanted +
                " elsewhere",
            "Write " + wanted + "(…), or make " + array.name + " of " + kind_of(value) + "s.");
    }
    std::vector<Expr> places;
    for (const Value& index : indices) places.push_back(code_.integer(index));
    code_.add(Statement::write(Statement::Kind::store, array.number, std::move(places),
                               code_.operators.cast(value, array.kind), code_.line));
}

void Storage::nest(const std::vector<Value>& shape, const std::function<void(const Index&)>& body) {
    Index indices;
    nest_rest(shape, 0, indices, body);
}

void Storage::nest_rest(const std::vector<Value>& shape, size_t axis, Index& indices,
                        const std::function<void(const Index&)>& body) {
    if (axis == shape.size()) {
        body(indices);
        return;
    }
    const Value& extent = shape[axis];
    if (extent.is(1)) {
        indices.push_back(0);
        nest_rest(shape, axis + 1, indices, body);
        indices.pop_back();
        return;
    }
    const std::string wanted = begin_counter();
    const Expr here = code_.hidden(wanted, Kind::integer);
    const int number = here.index(), line = code_.line;
    integers_.bounds[number] = {0, extent};
    std::vector<Statement> inner;
    {
        const Emitting emitting(code_);
        indices.push_back(here);
        nest_rest(shape, axis + 1, indices, body);
        indices.pop_back();
        inner = std::move(emitting.block()->statements);
    }
    end_counter(wanted);
    const Expr next = Expr::make(Op::add, {here, code_.integer(1)});
    const Expr condition = Expr::make(Op::less, {here, code_.integer(extent)});
    code_.add(Statement::loop({Statement::assign(number, code_.integer(0), line)}, condition,
                              std::move(inner), {Statement::assign(number, next, line)}, line));
}

std::string Storage::begin_counter() {
    std::string wanted = "index";
    for (const char letter : std::string_view("ijklabpqrs")) {
        const std::string name(1, letter);
        if (code_.assigned.contains(name) || counters_.contains(name)) continue;
        wanted = name;
        break;
    }
    counters_.insert(wanted);
    return wanted;
}

void Storage::end_counter(const std::string& name) { counters_.erase(name); }

void Storage::store_all(const Stored& target, const Array& value) {
    nest(value.shape, [&](const Index& at) { store(target, at, value.at(at)); });
}

void Storage::fill(const Stored& target, const Array& value, bool is_again) {
    const bool is_zeroed = value.is_zero && !is_again;
    code_.add(Statement::allocate(target.number, is_zeroed, code_.line));
    if (!is_zeroed) store_all(target, value);
}

StoredRef Storage::stored(const ArrayRef& value, const std::string& name) {
    if (const StoredRef known = std::dynamic_pointer_cast<Stored>(value)) return known;
    return made(name, *value);
}

StoredRef Storage::made(const std::string& name, const Array& value) {
    StoredRef made = add_array(name, value.kind, value.shape);
    fill(*made, value);
    sharing_.copy_of_parts(*made, value);
    sharing_.fresh.insert(made->number);
    return made;
}

}  // namespace composit::knossos
