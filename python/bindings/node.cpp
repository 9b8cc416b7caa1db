// Nodes, operations and attributes, read only.
#include "node.h"

#include "anywhere.h"
#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ir/parts.h"
#include "composit/ir/picture.h"
#include "composit/ir/scalar/row.h"
#include "location.h"

#include <nanobind/stl/shared_ptr.h>

namespace composit::python {
namespace {

struct OperationHandle {
    const ir::Operation* operation;
};

nb::object attribute_object(const ir::Attribute& attribute) {
    return std::visit(
        [](const auto& value) -> nb::object {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, ir::scalar::RowRef>)
                return nb::cast(value->name);
            else if constexpr (std::is_same_v<T, std::shared_ptr<const ir::Body>>)
                return nb::cast(std::const_pointer_cast<ir::Body>(value));
            else if constexpr (std::is_same_v<T, ir::ConstantArray>)
                return nb::cast(value.value());
            else if constexpr (std::is_same_v<T, bool>)
                return nb::bool_(value);
            else
                return nb::cast(value);
        },
        attribute);
}

nb::dict attributes_of(const NodeHandle& self) {
    nb::dict attributes;
    for (const auto& [name, value] : self.node->attributes().items())
        attributes[name.c_str()] = attribute_object(value);
    return attributes;
}

nb::tuple shapes_of(const NodeHandle& self) {
    nb::list shapes;
    for (const ir::TensorType& type : self.node->types()) shapes.append(tuple_from(type.shape));
    return nb::tuple(shapes);
}

nb::tuple dtypes_of(const NodeHandle& self) {
    nb::list dtypes;
    for (const ir::TensorType& type : self.node->types()) dtypes.append(dtype_object(type.dtype));
    return nb::tuple(dtypes);
}

nb::object listed(const std::variant<int64_t, ir::Repeat>& item);
nb::object listed(const ir::PartItem& item);

// Repeats as (start, length, count, items), parts as (name, items, runs, last); all else a
// position.
template <class Item>
nb::list listed(const std::vector<Item>& items) {
    nb::list list;
    for (const Item& item : items) list.append(listed(item));
    return list;
}

nb::object listed(const std::variant<int64_t, ir::Repeat>& item) {
    if (const auto* const position = std::get_if<int64_t>(&item)) return nb::int_(*position);
    const auto& repeat = std::get<ir::Repeat>(item);
    return nb::make_tuple(repeat.start, repeat.length, repeat.count, listed(repeat.items));
}

nb::object listed(const ir::PartItem& item) {
    if (const auto* const position = std::get_if<int64_t>(&item)) return nb::int_(*position);
    const ir::Part& part = *std::get<std::shared_ptr<ir::Part>>(item);
    nb::list runs;
    for (const std::vector<int64_t>& run : part.runs) {
        nb::list positions;
        for (const int64_t position : run) positions.append(position);
        runs.append(positions);
    }
    return nb::make_tuple(part.name, listed(part.items), runs, part.last);
}

}  // namespace

nb::list items_of_picture(const std::vector<ir::PictureItem>& items) {
    nb::list list;
    for (const ir::PictureItem& item : items) {
        nb::dict attributes;
        for (const auto& [name, value] : item.attributes)
            attributes[nb::str(name.c_str())] = nb::cast(value);  // with any zeros
        const nb::object label = attributes["label"];
        nb::del(attributes["label"]);
        list.append(nb::make_tuple(
            item.name, label, attributes,
            item.is_cluster ? nb::object(items_of_picture(item.items)) : nb::object(nb::none())));
    }
    return list;
}

namespace {

nb::tuple picture(const std::vector<Tensor>& tensors, int64_t depth, int64_t fold,
                  std::optional<int64_t> modules) {
    const ir::Picture made = ir::picture_of(tensors, {depth, fold, modules});
    nb::list edges;
    for (const ir::PictureEdge& edge : made.edges) {
        nb::dict attributes;
        if (!edge.is_forward) {
            attributes["constraint"] = "false";
            attributes["style"] = "dashed";
        }
        edges.append(nb::make_tuple(edge.source, edge.sink, edge.label, attributes));
    }
    return nb::make_tuple(items_of_picture(made.items), edges, made.has_calls);
}

std::string node_text(const NodeHandle& self) {
    const std::string& name = self.node->name();
    return "<Node(name=" + (name.empty() ? ir::label(*self.node) : name) + ")>";
}

// What never changes is its own copy: deep copies of graphs' attributes hold these.
nb::object itself(nb::object self, nb::handle) { return self; }

void bind_operation(nb::module_& module) {
    nb::class_<OperationHandle>(module, "Operation", "A kind of tensor primitive, with its rules.")
        .def("__deepcopy__", itself)
        .def_prop_ro("name", [](const OperationHandle& self) { return self.operation->name; })
        .def_prop_ro("doc", [](const OperationHandle& self) { return self.operation->doc; })
        .def_prop_ro("is_foreign",
                     [](const OperationHandle& self) { return self.operation->is_foreign; })
        .def("__repr__", [](const OperationHandle& self) { return self.operation->name; })
        .def(
            "__eq__",
            [](const OperationHandle& self, const OperationHandle& other) {
                return self.operation == other.operation;
            },
            nb::is_operator())
        .def("__hash__", [](const OperationHandle& self) {
            return static_cast<Py_ssize_t>(reinterpret_cast<uintptr_t>(self.operation) >> 4);
        });
    nb::class_<ir::Body>(module, "Body", "A named graph with parameters: what a call node holds.")
        .def_ro("name", &ir::Body::name)
        .def_prop_ro("parameters", [](const ir::Body& self) { return self.parameters; })
        .def_prop_ro("results", [](const ir::Body& self) { return self.results; })
        .def("__repr__", [](const ir::Body& self) { return "<Body(" + self.name + ")>"; });
}

}  // namespace

void bind_node(nb::module_& module) {
    bind_operation(module);
    nb::class_<NodeHandle>(module, "Node", "An operation applied to operands; immutable.")
        .def_prop_ro("name",
                     [](const NodeHandle& self) {
                         const std::string& name = self.node->name();
                         return name.empty() ? ir::label(*self.node) : name;
                     })
        .def_prop_ro("label", [](const NodeHandle& self) { return ir::label(*self.node); })
        .def_prop_ro(
            "operation",
            [](const NodeHandle& self) { return OperationHandle{&self.node->operation()}; })
        .def_prop_ro("operands", [](const NodeHandle& self) { return self.node->operands(); })
        .def_prop_ro("attributes", attributes_of)
        .def_prop_ro("shapes", shapes_of)
        .def_prop_ro("dtypes", dtypes_of)
        .def_prop_ro("location", [](const NodeHandle& self) { return self.node->location(); })
        .def_prop_ro(
            "module_path",
            [](const NodeHandle& self) { return std::string(ir::part_of(self.node->location())); },
            "The part of a traced model that made the node, such as encoder.layer.0.")
        .def_prop_ro("structural_hash",
                     [](const NodeHandle& self) { return self.node->structural_hash(); })
        .def_prop_ro("is_constant",
                     [](const NodeHandle& self) { return ir::is_constant(*self.node); })
        .def_prop_ro("is_input", [](const NodeHandle& self) { return ir::is_input(*self.node); })
        .def_prop_ro("outputs", [](const NodeHandle& self) { return ir::outputs_of(self.node); })
        .def_prop_ro(
            "operand_nodes",
            [](const NodeHandle& self) {
                nb::list edges;
                for (const Tensor& operand : self.node->operands())
                    edges.append(
                        nb::make_tuple(NodeHandle{operand.node_ref()}, operand.output_index()));
                return edges;
            },
            "(node, output index) of each operand; makes no LazyTensor.")
        .def("__repr__", node_text)
        .def(
            "__eq__",
            [](const NodeHandle& self, const NodeHandle& other) { return self.node == other.node; },
            nb::is_operator())
        .def("__hash__", [](const NodeHandle& self) {
            return static_cast<Py_ssize_t>(reinterpret_cast<uintptr_t>(self.node.get()) >> 4);
        });
    module.def("topological_order", [](const std::vector<Tensor>& outputs) {
        nb::list nodes;
        for (const ir::Node* node : ir::topological_order(outputs))
            nodes.append(NodeHandle{Ref<ir::Node>(node)});
        return nodes;
    });
    module.def("folded", [](const std::vector<int64_t>& codes, int64_t least) {
        return listed(ir::folded(codes, least));
    });
    module.def("parts_of",
               [](const std::vector<std::string>& paths, const std::vector<int64_t>& codes,
                  bool fold) { return listed(ir::parts_of(paths, codes, fold)); });
    module.def(
        "drawn_for",
        [](const std::vector<std::string>& paths, const std::vector<int64_t>& codes, bool fold) {
            return ir::drawn_for(ir::parts_of(paths, codes, fold), codes.size());
        },
        "Of each position, the one that parts_of draws for it.");
    module.def("picture", picture, nb::arg("tensors"), nb::arg("depth"), nb::arg("fold"),
               nb::arg("modules").none(), "(items, edges, has_calls) as composit/ir/picture.h.");
    module.def(
        "input",
        [](const std::string& name, ir::DType dtype, const ir::Shape& shape) {
            return wrap_array(ir::input(name, dtype, shape));
        },
        nb::arg("name"), nb::arg("dtype"), nb::arg("shape"), nb::call_guard<Located>());
    module.def(
        "constant",
        [](nb::handle array, const std::string& name, bool copy) {
            return wrap_array(constant_of(array_from(array, copy), name));
        },
        nb::arg("array"), nb::arg("name") = "", nb::arg("copy") = true, nb::call_guard<Located>());
    module.def("dtype_of", [](ir::DType dtype) { return dtype; }, "The numpy.dtype meant.");
    module.def(
        "example",
        [](nb::handle value, const std::string& name, bool is_elsewhere) -> nb::object {
            if (const auto plain = plain_array(value)) {
                const ir::Shape shape(plain->shape, plain->shape + plain->rank);
                return wrap_array(ir::input(name, plain->dtype, shape));
            }
            if (!is_tensor(value)) return nb::none();
            const Tensor x = tensor_from(value);
            if (is_elsewhere)
                return wrap_array(
                    ir::input(x.name().empty() ? name : x.name(), x.dtype(), x.shape()));
            if (name.empty() || !x.name().empty()) return nb::borrow(value);
            return wrap_array(Tensor(ir::with_name(x.node(), name), x.output_index()));
        },
        nb::arg("value"), nb::arg("name"), nb::arg("is_elsewhere"), nb::call_guard<Located>(),
        "A tensor that has the type and the place of an argument, without a place if the function "
        "runs elsewhere, and its name or the one given. The values of an ndarray are not copied: "
        "nobody asks for them. None for other values.");
    module.def("constant_value", [](const Tensor& x) {
        user_check(ir::is_constant(x.node()), "constant_value: this is not a constant.");
        return ir::constant_value(x.node());
    });
    module.def("operation_names", [] {
        nb::list names;
        for (const ir::Operation* operation : ir::all_operations()) names.append(operation->name);
        return names;
    });
    module.def("set_current_part", &set_current_part,
               "The part of a model that nodes made on this thread belong to from now on.");
    module.def("substitute", &ir::substitute, nb::call_guard<Located>());
}

}  // namespace composit::python
