// Structures that annotations describe: their extents are names, integers, or nothing.
#include "composit/knossos/annotated.h"

#include "composit/base/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::knossos {
namespace {

using Sort = Structure::Sort;
using Extent = Structure::Extent;

const std::string* extent_name(const Extent& extent) { return std::get_if<std::string>(&extent); }

std::optional<int64_t> extent_integer(const Extent& extent) {
    const Value* value = std::get_if<Value>(&extent);
    const int64_t* integer = value ? value->as<int64_t>() : nullptr;
    return integer ? std::optional(*integer) : std::nullopt;
}

bool are_equal_extents(const Extent& a, const Extent& b) {
    if (extent_name(a) && extent_name(b)) return *extent_name(a) == *extent_name(b);
    return extent_integer(a) && extent_integer(a) == extent_integer(b);
}

StructureRef with_changed_leaves(const StructureRef& structure, auto&& of_leaf) {
    if (structure->sort != Sort::parts) return of_leaf(structure);
    Structure made = *structure;
    for (auto& [name, part] : made.parts) part = with_changed_leaves(part, of_leaf);
    return std::make_shared<const Structure>(std::move(made));
}

StructureRef with_extents(const StructureRef& leaf, std::vector<Extent> extents) {
    Structure made = *leaf;
    made.sort = Sort::tensor;
    made.extents = std::move(extents);
    return std::make_shared<const Structure>(std::move(made));
}

std::set<std::string> names_among(const std::vector<StructureRef>& structures) {
    std::set<std::string> names;
    for (const StructureRef& structure : structures)
        for (const StructureRef& leaf : all_leaves(structure))
            for (const Extent& extent : leaf->extents)
                if (extent_name(extent)) names.insert(*extent_name(extent));
    return names;
}

class OwnExtents {
  public:
    explicit OwnExtents(std::set<std::string> taken) : taken_(std::move(taken)) {}

    StructureRef of(const StructureRef& structure) {
        if (structure->sort != Sort::parts) return structure;
        if (structure->made_by && !seen_.insert(structure->made_by->identity()).second)
            return renamed(structure);
        Structure made = *structure;
        for (auto& [name, part] : made.parts) part = of(part);
        return std::make_shared<const Structure>(std::move(made));
    }

  private:
    StructureRef renamed(const StructureRef& structure) {
        std::map<std::string, std::string> names;
        return with_changed_leaves(structure, [&](const StructureRef& leaf) {
            if (leaf->sort != Sort::tensor) return leaf;
            std::vector<Extent> extents = leaf->extents;
            for (Extent& extent : extents)
                if (extent_name(extent)) extent = own_name(*extent_name(extent), names);
            return with_extents(leaf, std::move(extents));
        });
    }
    std::string own_name(const std::string& name, std::map<std::string, std::string>& names) {
        const auto known = names.find(name);
        if (known != names.end()) return known->second;
        int number = 2;
        while (!taken_.insert(text(name, "_", number)).second) ++number;
        return names[name] = text(name, "_", number);
    }

    std::set<std::string> taken_;
    std::set<const void*> seen_;
};

bool is_array_leaf(const StructureRef& leaf) { return leaf->sort == Sort::tensor; }

}  // namespace

std::vector<StructureRef> with_own_extents(const std::vector<StructureRef>& structures) {
    OwnExtents own(names_among(structures));
    std::vector<StructureRef> made;
    for (const StructureRef& structure : structures) made.push_back(own.of(structure));
    return made;
}

StructureRef with_rows(const StructureRef& structure, const std::string& rows) {
    return with_changed_leaves(structure, [&](const StructureRef& leaf) {
        std::vector<Extent> extents{rows};
        extents.insert(extents.end(), leaf->extents.begin(), leaf->extents.end());
        return with_extents(leaf, std::move(extents));
    });
}

StructureRef without_names(const StructureRef& leaf) {
    if (!is_array_leaf(leaf)) return leaf;
    std::vector<Extent> extents;
    for (const Extent& extent : leaf->extents)
        extents.emplace_back(extent_integer(extent) ? Value(*extent_integer(extent)) : Value());
    return with_extents(leaf, std::move(extents));
}

std::string free_extent(const std::vector<StructureRef>& leaves) {
    const std::set<std::string> taken = names_among(leaves);
    std::string name = "rows";
    while (taken.contains(name)) name += "_";
    return name;
}

std::vector<std::pair<size_t, size_t>> first_extents(const std::vector<StructureRef>& leaves,
                                                     const std::vector<size_t>& order) {
    std::set<std::string> known;
    std::vector<std::pair<size_t, size_t>> found;
    for (const size_t i : order)
        for (size_t axis = 0; axis < leaves.at(i)->extents.size(); ++axis) {
            const std::string* name = extent_name(leaves[i]->extents[axis]);
            if (name && known.insert(*name).second) found.emplace_back(i, axis);
        }
    return found;
}

bool have_same_kinds(const std::vector<StructureRef>& found,
                     const std::vector<StructureRef>& wanted) {
    return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(),
                      [](const StructureRef& one, const StructureRef& other) {
                          return one->kind == other->kind && one->sort == other->sort &&
                                 one->extents.size() == other->extents.size();
                      });
}

bool are_alike(const std::vector<StructureRef>& found, const std::vector<StructureRef>& wanted) {
    if (!have_same_kinds(found, wanted)) return false;
    std::map<std::string, Extent> meant_by;
    const auto is_meant = [&](const Extent& extent) {
        return std::any_of(meant_by.begin(), meant_by.end(), [&](const auto& known) {
            return are_equal_extents(known.second, extent);
        });
    };
    for (size_t i = 0; i < found.size(); ++i)
        for (size_t axis = 0; axis < found[i]->extents.size(); ++axis) {
            const Extent& own = found[i]->extents[axis];
            const Extent& meant = wanted[i]->extents[axis];
            if (!extent_name(meant) && !extent_integer(meant)) continue;
            const std::string* name = extent_name(own);
            if (name && !meant_by.contains(*name) && !is_meant(meant)) meant_by[*name] = meant;
            const bool is_known = name && meant_by.contains(*name);
            if (!are_equal_extents(is_known ? meant_by[*name] : own, meant)) return false;
        }
    return true;
}

std::string annotation_text(const StructureRef& leaf) {
    if (!is_array_leaf(leaf)) return std::string(name(leaf->kind));
    std::vector<std::string> words{std::string(name(leaf->kind))};
    for (const Extent& extent : leaf->extents) {
        if (!extent_name(extent) && !extent_integer(extent))
            return text("Tensor[", words[0], "] of ", leaf->extents.size(), " axes");
        words.push_back(extent_name(extent) ? *extent_name(extent)
                                            : std::to_string(*extent_integer(extent)));
    }
    return "Tensor[" + join(words) + "]";
}

std::vector<size_t> places_of_results(const std::vector<StructureRef>& leaves) {
    size_t next_array = static_cast<size_t>(std::count_if(
        leaves.begin(), leaves.end(), [](const auto& leaf) { return !is_array_leaf(leaf); }));
    size_t next_number = 0;
    std::vector<size_t> places;
    for (const StructureRef& leaf : leaves)
        places.push_back(is_array_leaf(leaf) ? next_array++ : next_number++);
    return places;
}

}  // namespace composit::knossos
