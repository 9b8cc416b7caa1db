// composit/knossos/annotated.h, of structures as Python has them (composit/knossos/annotations.py).
#include "casters.h"
#include "composit/knossos/annotated.h"
#include "knossos.h"
#include "provided.h"

#include <nanobind/stl/pair.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace composit::python::of_kernels {

using knossos::Kind;
using knossos::Structure;
using knossos::StructureRef;
using knossos::Value;

std::string text_attribute(nb::handle object, const char* name) {
    return text_in_utf8(nb::object(object.attr(name)));
}

StructureRef structure_from(nb::handle given) {
    Structure made;
    made.kind = knossos::kind_named(text_attribute(given, "kind")).value_or(Kind::none);
    if (nb::hasattr(given, "extents")) {
        made.sort = Structure::Sort::tensor;
        for (nb::handle each : nb::object(given.attr("extents")))
            if (PyUnicode_Check(each.ptr()))
                made.extents.emplace_back(nb::cast<std::string>(each));
            else
                made.extents.emplace_back(value_from(each));
    } else if (nb::hasattr(given, "parts")) {
        made.sort = Structure::Sort::parts;
        const nb::object made_by = given.attr("made_by");
        if (!nb::cast<bool>(nb::object(given.attr("is_plain"))))
            made.made_by = record_type(made_by);
        for (auto [key, part] : nb::borrow<nb::dict>(nb::object(given.attr("parts"))))
            made.parts.emplace_back(nb::str(key).c_str(), structure_from(part));
    }
    return std::make_shared<const Structure>(std::move(made));
}

namespace {

std::vector<StructureRef> structures_from(nb::handle sequence) {
    std::vector<StructureRef> made;
    for (const nb::handle each : sequence) made.push_back(structure_from(each));
    return made;
}

std::vector<StructureRef> leaves_from(nb::handle structures) {
    std::vector<StructureRef> found;
    for (const StructureRef& each : structures_from(structures))
        for (const StructureRef& leaf : knossos::all_leaves(each)) found.push_back(leaf);
    return found;
}

// An annotation of Python's: what `like` is, with the extents of the structure. Names that stand
// for numbers in the last axes of `like` do so here.
nb::object annotation_of(const StructureRef& structure, nb::handle like) {
    if (structure->sort == Structure::Sort::parts) {
        const nb::dict parts = like.attr("parts");
        nb::dict made;
        size_t place = 0;
        for (const auto& [key, part] : parts)
            made[key] = annotation_of(structure->parts[place++].second, part);
        return provided("knossos_parts")(like.attr("made_by"), made);
    }
    if (structure->sort != Structure::Sort::tensor) return nb::borrow(like);
    nb::list extents;
    for (const Structure::Extent& extent : structure->extents)
        if (const auto* name = std::get_if<std::string>(&extent))
            extents.append(*name);
        else
            extents.append(object_of(std::get<Value>(extent)));
    nb::dict names;
    if (nb::hasattr(like, "names")) {
        const auto more = static_cast<int64_t>(structure->extents.size()) -
                          static_cast<int64_t>(nb::len(nb::object(like.attr("extents"))));
        for (const auto& [axis, name] : nb::borrow<nb::dict>(nb::object(like.attr("names"))))
            names[nb::int_(nb::cast<int64_t>(axis) + more)] = name;
    }
    return provided("knossos_tensor")(text_attribute(like, "kind"), nb::tuple(extents), names);
}

// What a value of a kernel is.
nb::object annotation_of_value(const Value& value) {
    const auto parts_of = [](const nb::object& made_by, const nb::dict& parts) {
        return provided("knossos_parts")(made_by, parts);
    };
    nb::dict parts;
    if (const knossos::Tuple* tuple = value.tuple()) {
        for (size_t i = 0; i < tuple->parts.size(); ++i)
            parts[nb::int_(i)] = annotation_of_value(tuple->parts[i]);
        return parts_of(tuple->is_list ? provided("knossos_listed")
                                       : nb::borrow(reinterpret_cast<PyObject*>(&PyTuple_Type)),
                        parts);
    }
    if (const knossos::Record* record = value.record()) {
        for (const auto& [name, part] : record->fields)
            parts[name.c_str()] = annotation_of_value(part);
        return parts_of(object_of(value).attr("made_by"), parts);
    }
    if (const knossos::ArrayRef array = value.array())
        return provided("knossos_tensor")(std::string(knossos::name(array->kind)),
                                          objects_of(array->shape));
    return provided("knossos_leaf")(knossos::kind_of(value));
}

// A value of a structure, whose numbers and arrays are the next of `leaves`: for Python, or within
// kernels, where records are Record's.
nb::object put_together(nb::handle structure, const nb::list& leaves, size_t& next,
                        bool within_kernels) {
    if (!nb::hasattr(structure, "parts")) {
        if (next >= leaves.size()) throw nb::index_error("pop from empty list");
        return leaves[next++];
    }
    nb::list made;
    nb::dict named;
    for (const auto& [key, part] : nb::borrow<nb::dict>(nb::object(structure.attr("parts")))) {
        named[key] = put_together(part, leaves, next, within_kernels);
        made.append(named[key]);
    }
    const nb::object made_by = structure.attr("made_by");
    if (nb::cast<bool>(nb::object(structure.attr("is_plain"))))
        return within_kernels ? made_by(made) : nb::object(nb::tuple(made));
    return within_kernels ? provided("knossos_record")(made_by, named) : made_by(**named);
}

// Places of results among what code returns (numbers, then arrays) of functions whose arguments and
// results have no parts, but for a tuple of several results; None for others.
nb::object plain_order(nb::handle result, nb::handle parameters) {
    const bool is_several =
        nb::hasattr(result, "parts") &&
        nb::object(result.attr("made_by")).is(reinterpret_cast<PyObject*>(&PyTuple_Type)) &&
        nb::len(nb::object(result.attr("parts"))) > 1;
    nb::list parts;
    if (is_several)
        parts = nb::list(nb::object(result.attr("parts").attr("values")()));
    else
        parts.append(result);
    for (const nb::handle each : parts + nb::list(nb::borrow(parameters)))
        if (nb::hasattr(each, "parts")) return nb::none();
    return nb::cast(knossos::places_of_results(structures_from(parts)));
}

}  // namespace

void bind_knossos_structures(nb::module_& module) {
    module.def("with_own_extents", [](const nb::list& structures) {
        const auto own = knossos::with_own_extents(structures_from(structures));
        nb::list made;
        for (size_t i = 0; i < own.size(); ++i) made.append(annotation_of(own[i], structures[i]));
        return made;
    });
    module.def("with_rows", [](nb::handle structure, const std::string& rows) {
        return annotation_of(knossos::with_rows(structure_from(structure), rows), structure);
    });
    module.def("without_names", [](nb::handle leaf) {
        return annotation_of(knossos::without_names(structure_from(leaf)), leaf);
    });
    module.def("free_extent", [](const nb::list& leaves) {
        return knossos::free_extent(structures_from(leaves));
    });
    module.def("first_extents", [](const nb::list& leaves, const std::vector<size_t>& order) {
        return knossos::first_extents(structures_from(leaves), order);
    });
    module.def("have_same_kinds", [](const nb::list& found, const nb::list& wanted) {
        return knossos::have_same_kinds(structures_from(found), structures_from(wanted));
    });
    module.def("are_alike", [](const nb::list& found, const nb::list& wanted) {
        return knossos::are_alike(structures_from(found), structures_from(wanted));
    });
    module.def("annotation_text",
               [](nb::handle leaf) { return knossos::annotation_text(structure_from(leaf)); });
    module.def("places_of_results", [](nb::handle result) {
        return knossos::places_of_results(knossos::all_leaves(structure_from(result)));
    });
    module.def("plain_order", &plain_order, nb::arg("result"), nb::arg("parameters"));
    module.def("kinds_of_numbers", [](const nb::list& structures) {
        std::vector<Kind> kinds;
        for (const StructureRef& leaf : leaves_from(structures))
            if (leaf->sort == Structure::Sort::number) kinds.push_back(leaf->kind);
        return kinds;
    });
    module.def("structure_of",
               [](nb::handle value) { return annotation_of_value(value_from(value)); });
    module.def(
        "put_together",
        [](const nb::list& structures, const nb::list& leaves, bool within_kernels) {
            nb::list made;
            size_t next = 0;
            for (const nb::handle each : structures)
                made.append(put_together(each, leaves, next, within_kernels));
            return made;
        },
        nb::arg("structures"), nb::arg("leaves"), nb::arg("within_kernels"));
}

}  // namespace composit::python::of_kernels
