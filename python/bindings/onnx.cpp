// composit/onnx/loaded_model.h and save_model.h, into module composit._core.onnx.
#include "onnx.h"

#include "arrays.h"
#include "casters.h"
#include "composit/onnx/call.h"
#include "composit/onnx/decisions.h"
#include "composit/onnx/image_decoder.h"
#include "composit/onnx/loaded_model.h"
#include "composit/onnx/save_model.h"
#include "interpreter_lock.h"
#include "location.h"
#include "shown.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

namespace composit::python {
namespace {

using onnx::LoadedModel;
using onnx::Strings;
using onnx::Type;
using onnx::Value;
using onnx::Values;

// ONNX's operators warn of nothing: nodes of a model carry the user's line and no errstate.
struct LocatedWithoutWarnings {
    ir::LocationScope scope{user_location(), nullptr};
};

Value value_from(nb::handle object, const Type& type) {
    const Type& inner = type.inner ? *type.inner : type;
    if (object.is_none()) return {};
    if (nb::isinstance<Strings>(object)) return nb::cast<Strings>(object);
    if (type.kind == Type::Kind::optional && type.inner) return value_from(object, inner);
    if (type.kind == Type::Kind::sequence) {
        Values parts;
        for (nb::handle part : nb::iter(object)) parts.push_back(value_from(part, inner));
        return Value::sequence(std::move(parts));
    }
    const Tensor tensor = tensor_from(object);
    const bool is_carried =
        onnx::is_small(type.element) && tensor.dtype() == onnx::carrier(type.element);
    return is_carried ? Value(tensor, type.element) : Value(tensor);
}

// Strings as an array of str objects.
nb::object as_python(const Value& value) {
    if (value.is_tensor()) return wrap(value.tensor());
    if (value.is_strings())
        return numpy_attribute("array")(nb::cast(value.strings().elements),
                                        numpy_attribute("object_"))
            .attr("reshape")(tuple_from(value.strings().shape));
    if (value.is_chosen()) return nb::cast(value.chosen());
    if (!value.is_sequence()) return nb::none();
    nb::list parts;
    for (const Value& part : value.parts()) parts.append(as_python(part));
    return parts;
}

Values values_from(const LoadedModel& model, const nb::list& objects) {
    Values values;
    static const Type unknown;
    for (size_t i = 0; i < nb::len(objects); ++i)
        values.push_back(
            value_from(objects[i], i < model.inputs().size() ? model.inputs()[i].type : unknown));
    return values;
}

// The name of a tensor's element type and the lengths of its shape; of sequences and optionals of
// tensors, those of their tensors.
const Type& innermost(const Type& type) { return type.inner ? innermost(*type.inner) : type; }

nb::object shape_of(const Type& type) {
    const Type& of_tensor = innermost(type);
    if (!of_tensor.shape) return nb::none();
    nb::list lengths;
    for (const onnx::Dimension& dimension : *of_tensor.shape) {
        if (dimension.value)
            lengths.append(*dimension.value);
        else if (!dimension.name.empty())
            lengths.append(dimension.name);
        else
            lengths.append(nb::none());
    }
    return nb::tuple(lengths);
}

const char* kind_of(const Type& type) {
    switch (type.kind) {
        case Type::Kind::sequence: return "sequence";
        case Type::Kind::optional: return "optional";
        default: return "tensor";
    }
}

nb::list infos(const std::vector<onnx::ValueInfo>& values) {
    nb::list all;
    for (const onnx::ValueInfo& value : values)
        all.append(nb::make_tuple(
            value.name, std::string(onnx::name(innermost(value.type).element)),
            shape_of(value.type), kind_of(value.type), onnx::description(value.type)));
    return all;
}

// ----- arguments of calls, as Python has them

bool is_list_of_strings(nb::handle value) {
    for (const nb::handle part : value)
        if (!PyUnicode_Check(part.ptr()) && !PyBytes_Check(part.ptr())) return false;
    return nb::len(value) > 0;
}

// The dtype that holds NumPy's types of few bits (ml_dtypes'); "" for all others.
const char* carrier_of_numpys(const std::string& dtype) {
    if (ir::find_dtype(dtype)) return "";
    const auto begins = [&](const char* with) { return dtype.rfind(with, 0) == 0; };
    if (begins("float8_") || begins("float6_") || begins("float4_")) return "float32";
    if (dtype == "int4" || dtype == "int2") return "int8";
    return dtype == "uint4" || dtype == "uint2" ? "uint8" : "";
}

// Strings as objects of the core's, types of few bits in their carriers.
nb::object as_argument(nb::handle value, const Type& type) {
    const bool is_list = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
    if (is_list && !is_list_of_strings(value)) {
        nb::list parts;
        for (const nb::handle part : value) parts.append(as_argument(part, type));
        return parts;
    }
    if (innermost(type).element == onnx::ElementType::string && !value.is_none()) {
        const nb::object array = numpy_attribute("asarray")(value);
        Strings made{nb::cast<std::vector<int64_t>>(array.attr("shape")), {}};
        for (const nb::handle each : nb::list(array.attr("ravel")().attr("tolist")()))
            made.elements.emplace_back(
                nb::str(PyBytes_Check(each.ptr()) ? each.attr("decode")() : nb::borrow(each))
                    .c_str());
        return nb::cast(made);
    }
    if (nb::isinstance(value, numpy_attribute("ndarray"))) {
        const auto dtype = nb::cast<std::string>(value.attr("dtype").attr("name"));
        const char* carrier = carrier_of_numpys(dtype);
        if (*carrier != 0) return value.attr("astype")(carrier);
    }
    return nb::borrow(value);
}

// In the order of the model's inputs; None for those that are left out.
nb::list arguments_of_model(const LoadedModel& model, const nb::tuple& args,
                            const nb::dict& named) {
    std::vector<std::string> names;
    for (const onnx::ValueInfo& input : model.inputs()) names.push_back(input.name);
    user_check<TypeError>(nb::len(args) <= names.size(), "onnx: the model is called with ",
                          nb::len(args), " inputs. At most ", names.size(),
                          " are required: ", join(names), ".");
    for (const auto& [key, value] : named) {
        const auto name = nb::cast<std::string>(key);
        const auto place =
            static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
        if (place >= nb::len(args) && place < names.size()) continue;
        const char* why = place < names.size() ? "is given twice" : "is no input of the model";
        fail<TypeError>("onnx: ", Shown{key}, " ", why, ". Inputs are required: ", join(names),
                        ".");
    }
    nb::list given;
    for (size_t i = 0; i < names.size(); ++i) {
        const nb::object value = i < nb::len(args)
                                     ? nb::object(args[i])
                                     : named.attr("get")(names[i].c_str(), nb::none());
        given.append(as_argument(value, model.inputs()[i].type));
    }
    return given;
}

// As as_python; NotSupported for strings that nobody chooses before the graph runs.
nb::list outputs_of_model(const LoadedModel& model, const Values& values) {
    nb::list outputs;
    for (size_t i = 0; i < values.size(); ++i) {
        if (values[i].is_chosen()) {
            std::vector<std::string> shown;
            const std::vector<std::string>& texts = values[i].chosen().texts;
            for (size_t k = 0; k < std::min<size_t>(texts.size(), 4); ++k)
                shown.emplace_back(nb::repr(nb::cast(texts[k])).c_str());
            const std::string more = texts.size() <= 4 ? "" : text(", … (", texts.size(), ")");
            fail<NotSupported>("onnx: output ", Shown{nb::cast(model.outputs()[i].name)},
                               " is one of ", join(shown), more,
                               ", chosen by values of a placeholder. model.compile(...), whose "
                               "results are strings, is required.");
        }
        outputs.append(as_python(values[i]));
    }
    return outputs;
}

std::map<std::string, Tensor> named_parameters(const nb::dict& parameters) {
    std::map<std::string, Tensor> given;
    for (const auto& [name, tensor] : parameters)
        given[nb::cast<std::string>(name)] = tensor_from(tensor);
    return given;
}

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

std::vector<onnx::NamedTensor> named(const NamedTensors& tensors) {
    std::vector<onnx::NamedTensor> all;
    for (const auto& [name, tensor] : tensors) all.push_back({name, tensor});
    return all;
}

}  // namespace

void bind_onnx(nb::module_& module) {
    const nb::call_guard<LocatedWithoutWarnings> located;
    nb::class_<Strings>(module, "Strings")
        .def("__init__",
             [](Strings* made, const std::vector<int64_t>& shape,
                const std::vector<std::string>& elements) { new (made) Strings{shape, elements}; })
        .def_ro("shape", &Strings::shape)
        .def_ro("elements", &Strings::elements);
    nb::class_<onnx::ChosenStrings>(module, "ChosenStrings")
        .def_prop_ro("places",
                     [](const onnx::ChosenStrings& chosen) { return wrap(chosen.places); })
        .def_ro("texts", &onnx::ChosenStrings::texts);
    nb::class_<LoadedModel>(module, "LoadedModel")
        .def_prop_ro("inputs", [](const LoadedModel& model) { return infos(model.inputs()); })
        .def_prop_ro("outputs", [](const LoadedModel& model) { return infos(model.outputs()); })
        .def_prop_ro("operations",
                     [](const LoadedModel& model) {
                         std::vector<std::string> names;
                         for (const onnx::Node& node : model.file().graph.nodes)
                             names.push_back(node.operation);
                         return names;
                     })
        .def_prop_ro("opsets", [](const LoadedModel& model) { return model.opsets(); })
        .def_prop_ro("parameters",
                     [](const LoadedModel& model) {
                         nb::dict all;
                         for (const auto& parameter : model.parameters())
                             all[nb::cast(parameter.name)] = wrap_array(parameter.tensor);
                         return all;
                     })
        .def(
            "call",
            [](const LoadedModel& model, const nb::list& inputs, const nb::dict& parameters) {
                nb::list outputs;
                for (const Value& value :
                     model(values_from(model, inputs), named_parameters(parameters)))
                    outputs.append(as_python(value));
                return outputs;
            },
            located)
        .def(
            "outputs_of",
            [](const LoadedModel& model, const nb::list& inputs, const nb::dict& parameters) {
                return outputs_of_model(
                    model, model(values_from(model, inputs), named_parameters(parameters)));
            },
            located)
        .def("arguments", &arguments_of_model, nb::arg("args"), nb::arg("named"))
        .def_prop_ro("constant_numbers", &LoadedModel::constant_numbers)
        .def(
            "with_fixed_parameters",
            [](const LoadedModel& model, const nb::list& inputs) {
                nb::list outputs;
                for (const Value& value : model.with_fixed_parameters(values_from(model, inputs)))
                    outputs.append(as_python(value));
                return outputs;
            },
            located)
        .def(
            "deciding_inputs",
            [](const LoadedModel& model, const nb::list& examples) {
                return model.deciding_inputs(values_from(model, examples));
            },
            located);
    nb::class_<onnx::Decisions>(module, "Decisions")
        .def(nb::init<>())
        .def(
            "of",
            [](onnx::Decisions& self, const LoadedModel& model, const nb::list& inputs) {
                const auto found = self.of(model, values_from(model, inputs));
                return nb::make_tuple(nb::bytes(found.key.data(), found.key.size()), found.free);
            },
            nb::arg("model"), nb::arg("inputs"), located);
    module.def(
        "load",
        [](const std::string& path) {
            const Released released;
            return onnx::load(path);
        },
        located);
    module.def(
        "load_bytes",
        [](const nb::bytes& content, const std::string& folder) {
            std::string bytes(content.c_str(), content.size());
            const Released released;
            return onnx::load_bytes(std::move(bytes), folder);
        },
        located);
    module.def(
        "model_bytes",
        [](const NamedTensors& outputs, const NamedTensors& inputs, int64_t opset) {
            const std::string bytes =
                onnx::model_bytes(named(outputs), {.opset = opset, .inputs = named(inputs)});
            return nb::bytes(bytes.data(), bytes.size());
        },
        nb::arg("outputs"), nb::arg("inputs"), nb::arg("opset"), located);
    module.def(
        "save",
        [](const std::string& path, const NamedTensors& outputs, const NamedTensors& inputs,
           int64_t opset) {
            onnx::save(path, named(outputs), {.opset = opset, .inputs = named(inputs)});
        },
        nb::arg("path"), nb::arg("outputs"), nb::arg("inputs"), nb::arg("opset"), located);
    module.def("set_image_decoder", [](const nb::callable& function) {
        // Kept for good, as the decoder is.
        onnx::set_image_decoder(
            [held = function.inc_ref().ptr()](const ir::Array& bytes, const std::string& format) {
                const nb::gil_scoped_acquire acquired;
                return array_from(nb::handle(held)(ndarray_over(bytes), format));
            });
    });
    module.def("operators", [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const onnx::OperatorRecord& record : onnx::operators().all())
            all.emplace_back(record.domain, record.name);
        return all;
    });
}

}  // namespace composit::python
