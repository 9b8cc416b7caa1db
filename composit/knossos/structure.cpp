// Structures of variables and values.
#include "composit/knossos/structure.h"

#include "composit/base/text.h"

namespace composit::knossos {
namespace {

using Sort = Structure::Sort;

void collect_leaves(const Value& value, const std::string& path, bool has_arrays,
                    std::vector<Leaf>& found) {
    if (const Tuple* tuple = value.tuple()) {
        for (size_t i = 0; i < tuple->parts.size(); ++i)
            collect_leaves(tuple->parts[i], text(path, ".", i), has_arrays, found);
    } else if (const Record* record = value.record()) {
        for (const auto& [name, part] : record->fields)
            collect_leaves(part, path + "." + name, has_arrays, found);
    } else {
        if (!value.expr() && !value.is_number() && !(has_arrays && value.array()))
            throw Mismatch(kind_of(value) + " is no number", "Numbers, tuples and records are.");
        found.emplace_back(path, value);
    }
}

StructureRef made(Structure structure) {
    return std::make_shared<const Structure>(std::move(structure));
}

Value with_leaves_within(const Value& value, const OfLeaf& of_leaf, bool keeps_lists,
                         const std::string& path) {
    if (const Tuple* tuple = value.tuple()) {
        std::vector<Value> parts;
        for (size_t i = 0; i < tuple->parts.size(); ++i)
            parts.push_back(
                with_leaves_within(tuple->parts[i], of_leaf, keeps_lists, text(path, ".", i)));
        return tuple_of(std::move(parts), keeps_lists && tuple->is_list);
    }
    if (const Record* record = value.record()) {
        Record whole{record->made_by, {}};
        for (const auto& [name, part] : record->fields)
            whole.fields.emplace_back(
                name, with_leaves_within(part, of_leaf, keeps_lists, path + "." + name));
        return std::make_shared<const Record>(std::move(whole));
    }
    return of_leaf(value, path);
}

}  // namespace

std::string Structure::outline() const {
    switch (sort) {
        case Sort::number: return "a number";
        case Sort::tensor: return text("an array of ", extents.size(), " axes");
        case Sort::variable: return stored->outline();
        case Sort::list: return text("a list of ", name(kind), "s");
        case Sort::function: return "a function";
        case Sort::parts: break;
    }
    if (made_by) return "a " + made_by->name();
    std::string all;
    for (const auto& [key, part] : parts) all += (all.empty() ? "" : ", ") + part->outline();
    return "a tuple of " + all;
}

StructureRef number_structure(Kind kind) { return made({.kind = kind}); }

StructureRef variable_structure(StoredRef stored, BlockRef block) {
    const Kind kind = stored->kind;
    return made({.sort = Sort::variable,
                 .kind = kind,
                 .stored = std::move(stored),
                 .block = std::move(block)});
}

StructureRef structure_of_value(const Value& value) {
    return structure_with(value, "", [](const std::string&, const ArrayRef& array) {
        Structure tensor{.sort = Sort::tensor, .kind = array->kind};
        for (const Value& extent : array->shape) tensor.extents.emplace_back(extent);
        return made(std::move(tensor));
    });
}

StructureRef structure_with(
    const Value& value, const std::string& name,
    const std::function<StructureRef(const std::string&, const ArrayRef&)>& of_array) {
    if (const ArrayRef array = value.array()) return of_array(name, array);
    Structure whole{.sort = Sort::parts};
    const auto add = [&](const std::string& key, const Value& part) {
        whole.parts.emplace_back(key, structure_with(part, name + "." + key, of_array));
    };
    if (const Record* record = value.record()) {
        whole.made_by = record->made_by;
        for (const auto& [key, part] : record->fields) add(key, part);
    } else if (const Tuple* tuple = value.tuple()) {
        whole.is_list = tuple->is_list;
        for (size_t i = 0; i < tuple->parts.size(); ++i) add(text(i), tuple->parts[i]);
    } else {
        return number_structure(kind(value).value_or(Kind::none));
    }
    return made(std::move(whole));
}

Value built(const StructureRef& structure, const std::function<Value(const std::string&)>& leaf,
            const std::string& name) {
    if (structure->sort == Sort::variable) return structure->stored;
    if (structure->sort == Sort::function) return structure->function;
    if (structure->sort != Sort::parts) return leaf(name);
    std::vector<std::pair<std::string, Value>> parts;
    for (const auto& [key, part] : structure->parts)
        parts.emplace_back(key, built(part, leaf, name + "." + key));
    if (structure->made_by)
        return std::make_shared<const Record>(Record{structure->made_by, std::move(parts)});
    std::vector<Value> values;
    for (auto& [key, part] : parts) values.push_back(std::move(part));
    return tuple_of(std::move(values), structure->is_list);
}

std::vector<StructureRef> all_leaves(const StructureRef& structure) {
    if (structure->sort != Sort::parts) return {structure};
    std::vector<StructureRef> found;
    for (const auto& [key, part] : structure->parts) {
        const auto inner = all_leaves(part);
        found.insert(found.end(), inner.begin(), inner.end());
    }
    return found;
}

std::vector<Kind> kinds_of_numbers(const StructureRef& structure) {
    std::vector<Kind> kinds;
    for (const StructureRef& leaf : all_leaves(structure))
        if (leaf->sort == Sort::number) kinds.push_back(leaf->kind);
    return kinds;
}

std::vector<Leaf> leaves_with_names(const Value& value, bool has_arrays) {
    std::vector<Leaf> found;
    collect_leaves(value, "", has_arrays, found);
    return found;
}

std::vector<Value> leaves_of_value(const Value& value) {
    std::vector<Value> leaves;
    for (auto& [path, leaf] : leaves_with_names(value, true)) leaves.push_back(std::move(leaf));
    return leaves;
}

bool has_arrays(const Value& value) {
    if (value.array()) return true;
    for (const Value& part : parts_of_value(value))
        if (has_arrays(part)) return true;
    return false;
}

Value with_leaves(const Value& value, const OfLeaf& made, bool keeps_lists) {
    return with_leaves_within(value, made, keeps_lists, "");
}

std::vector<Value> parts_of_value(const Value& value) {
    if (const Tuple* tuple = value.tuple()) return tuple->parts;
    std::vector<Value> parts;
    if (const Record* record = value.record())
        for (const auto& [name, part] : record->fields) parts.push_back(part);
    return parts;
}

}  // namespace composit::knossos
