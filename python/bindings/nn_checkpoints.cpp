// composit/nn/checkpoints.h: structures of Python's as structures in files, and back.
#include "arrays.h"
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/nn/checkpoints.h"
#include "content.h"
#include "level.h"
#include "location.h"
#include "nn.h"
#include "provided.h"
#include "shown.h"
#include "tape.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using nn::Held;

// In UTF-8, in which halves of characters may stand alone.
std::string utf8_of(nb::handle value) {
    const nb::bytes made =
        nb::steal<nb::bytes>(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
    if (!made.is_valid()) throw nb::python_error();
    return {made.c_str(), made.size()};
}

nb::object text_from(const std::string& text) {
    nb::object made = nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

// Nothing but tensors, numbers and texts: what a structure of composit.torch may hold.
struct Unsaid {};

// What is met on the way through a structure: tensors and arrays, by the placeholders for them.
class StructureReader {
  public:
    explicit StructureReader(bool is_of_torch) : is_of_torch_(is_of_torch) {}

    Held read(nb::handle value, const std::string& place) {
        const Level level(" in a structure that is saved");
        return is_of_torch_ ? read_torch(value, place) : read_checkpoint(value, place);
    }

    nb::object object_of(const Tensor& placeholder) const {
        return objects_.at(&placeholder.node());
    }

  private:
    Held plain(nb::handle value) const {
        Held made;
        if (PyBool_Check(value.ptr())) {
            made.kind = "truth";
            made.truth = value.is(nb::handle(Py_True));
        } else if (PyLong_Check(value.ptr())) {
            made.kind = "integer";
            const nb::object exact = nb::steal(PyLong_Type.tp_repr(value.ptr()));
            if (!exact.is_valid()) throw nb::python_error();
            made.text = nb::cast<std::string>(exact);
        } else if (PyFloat_Check(value.ptr())) {
            made = Held::real(PyFloat_AS_DOUBLE(value.ptr()));
        } else if (PyUnicode_Check(value.ptr())) {
            made = Held::of_text(utf8_of(value));
        }
        return made;
    }

    static bool is_plain(nb::handle value) {
        return value.is_none() || PyLong_Check(value.ptr()) || PyFloat_Check(value.ptr()) ||
               PyUnicode_Check(value.ptr());
    }

    Held tensor(const char* kind, nb::handle held) {
        Held made = Held::of(ir::input("", ir::DType::boolean, {}));
        made.kind = kind;
        objects_.emplace(&made.tensor.node(), nb::borrow(held));
        return made;
    }

    Held sequence(const char* kind, nb::handle value, const std::string& place) {
        Held made;
        made.kind = kind;
        size_t number = 0;
        for (nb::handle item : value)
            made.items.push_back(read(item, nn::place_within(place, std::to_string(number++))));
        return made;
    }

    Held mapping(const std::string& kind, nb::handle value, const std::string& place) {
        Held made;
        made.kind = kind;
        for (nb::handle pair : nb::list(nb::object(value.attr("items")()))) {
            const nb::object key = pair[0];
            Held held = read(key, "");
            held.name = utf8_of(nb::str(key));
            const std::string name = held.name;
            made.items.push_back(std::move(held));
            made.items.push_back(read(nb::object(pair[1]), nn::place_within(place, name)));
        }
        return made;
    }

    static std::string shown_place(const std::string& place) {
        return place.empty() ? "the checkpoint" : place;
    }

    Held read_checkpoint(nb::handle value, const std::string& place) {
        if (PyDict_Check(value.ptr())) {
            for (nb::handle key : nb::borrow<nb::dict>(value).keys())
                user_check<TypeError>(
                    PyUnicode_CheckExact(key.ptr()) || PyLong_CheckExact(key.ptr()),
                    "save_checkpoint: ", shown_place(place), " has the key ", Shown{key},
                    ". Texts and integers are required.");
            return mapping("dict", value, place);
        }
        if (PyList_Check(value.ptr())) return sequence("list", value, place);
        if (PyTuple_Check(value.ptr())) return sequence("tuple", value, place);
        if (is_tensor(value)) return tensor("tensor", value);
        if (nb::isinstance(value, numpy_attribute("ndarray"))) return tensor("array", value);
        if (nb::isinstance(value, numpy_attribute("generic"))) return tensor("scalar", value);
        user_check<TypeError>(is_plain(value), "save_checkpoint: ", shown_place(place), " is ",
                              KindOf{value},
                              ". Tensors, arrays, numbers, texts and None, in dictionaries, lists "
                              "and tuples, are required.");
        return plain(value);
    }

    Held read_torch(nb::handle value, const std::string& place) {
        if (is_tensor_of_torch(value)) {
            const bool is_parameter =
                nb::cast<bool>(nb::getattr(value, "_is_parameter", nb::bool_(false)));
            Held made = tensor(is_parameter ? "parameter" : "tensor",
                               lazy_of(nb::object(value.attr("detach")())));
            made.truth = is_recorded(as_tensor(value));
            return made;
        }
        if (is_plain(value)) return plain(value);
        if (PyComplex_Check(value.ptr())) {
            Held made;
            made.kind = "complex";
            const Py_complex number = PyComplex_AsCComplex(value.ptr());
            made.items = {Held::real(number.real), Held::real(number.imag)};
            return made;
        }
        for (const char* kind : {"dtype", "device"}) {
            const bool is_dtype = std::string_view(kind) == "dtype";
            if (!nb::isinstance(value, provided(is_dtype ? "torch_dtype" : "torch_device")))
                continue;
            Held made;
            made.kind = kind;
            made.text = nb::cast<std::string>(nb::object(nb::str(value)));
            if (made.text.starts_with("torch.")) made.text.erase(0, 6);
            return made;
        }
        const auto name = nb::cast<std::string>(nb::object(value.type().attr("__name__")));
        if (PyDict_CheckExact(value.ptr()) || is_collection(value, "OrderedDict") ||
            is_collection(value, "Counter"))
            return mapping(name, value, place);
        if (value.type().is(provided("torch_size"))) return sequence("Size", value, place);
        if (PyList_CheckExact(value.ptr())) return sequence("list", value, place);
        if (PyTuple_CheckExact(value.ptr())) return sequence("tuple", value, place);
        throw Unsaid{};
    }

    static bool is_collection(nb::handle value, const char* name) {
        return value.type().is(nb::module_::import_("collections").attr(name));
    }

    const bool is_of_torch_;
    std::map<const ir::Node*, nb::object> objects_;
};

const nn::OutlineFormat& format_named(bool is_of_torch) {
    return is_of_torch ? nn::torch_format() : nn::checkpoint_format();
}

// (the outline, what stands in it under each name); None where the structure holds something else.
nb::object outline_of(nb::handle value, bool is_of_torch) {
    StructureReader reader(is_of_torch);
    Held held;
    try {
        held = reader.read(value, "");
    } catch (const Unsaid&) {
        return nb::none();
    }
    nn::NamedTensors tensors;
    const std::string outline = nn::outline_text(format_named(is_of_torch), held, tensors);
    nb::dict objects;
    for (const auto& [name, placeholder] : tensors)
        objects[text_from(name)] = reader.object_of(placeholder);
    return nb::make_tuple(outline, objects);
}

// ----- back

class StructureBuilder {
  public:
    nb::object build(const Held& held, const std::string& place) const {
        const std::string& kind = held.kind;
        if (kind == "none") return nb::none();
        if (kind == "truth") return nb::bool_(held.truth);
        if (kind == "integer") return integer(held.text);
        if (kind == "float") return nb::float_(held.number);
        if (kind == "text") return text_from(held.text);
        if (kind == "tensor" || kind == "array" || kind == "scalar" || kind == "parameter")
            return tensor(held);
        if (kind == "complex") {
            nb::object made =
                nb::steal(PyComplex_FromDoubles(held.items.at(0).number, held.items.at(1).number));
            return made;
        }
        if (kind == "dtype" || kind == "device") return named(held, place);
        if (kind == "dict" || kind == "OrderedDict" || kind == "Counter")
            return mapping(held, place);
        nb::list items;
        for (size_t i = 0; i < held.items.size(); ++i)
            items.append(build(held.items[i], nn::place_within(place, std::to_string(i))));
        if (kind == "list") return items;
        return kind == "Size" ? provided("torch_size")(items) : nb::object(nb::tuple(items));
    }

    explicit StructureBuilder(bool is_of_torch) : is_of_torch_(is_of_torch) {}

  private:
    static nb::object integer(const std::string& digits) {
        nb::object made = nb::steal(PyLong_FromString(digits.c_str(), nullptr, 10));
        if (!made.is_valid()) throw nb::python_error();
        return made;
    }

    nb::object tensor(const Held& held) const {
        const nb::object lazy = wrap_array(held.tensor);
        if (!is_of_torch_) {
            if (held.kind == "tensor") return lazy;
            const nb::object array = numpy_attribute("asarray")(lazy);
            return held.kind == "array" ? array : nb::object(array[nb::tuple()]);
        }
        nb::object made = provided("torch_wrapped")(lazy);
        if (held.kind == "parameter") return provided("torch_parameter")(made, held.truth);
        return held.truth ? nb::object(made.attr("requires_grad_")()) : made;
    }

    static nb::object named(const Held& held, const std::string& place) {
        const nb::object name = text_from(held.text);
        const auto refuse = [&] {
            nn::refuse_outline(place,
                               text("is the ", held.kind, ' ', Shown{name}, ", which is none"));
        };
        if (held.kind == "dtype") {
            const nb::object known = provided("torch_dtypes");
            if (PyMapping_HasKey(known.ptr(), name.ptr()) == 0) refuse();
            return known[name];
        }
        try {
            return provided("torch_device")(name);
        } catch (nb::python_error& error) {
            if (!error.matches(PyExc_RuntimeError)) throw;
        }
        refuse();
        return nb::none();
    }

    nb::object mapping(const Held& held, const std::string& place) const {
        nb::object made = nb::dict();
        if (held.kind != "dict")
            made = nb::module_::import_("collections").attr(held.kind.c_str())();
        for (size_t i = 0; i + 1 < held.items.size(); i += 2) {
            const nb::object key = build(held.items[i], place);
            const nb::object value =
                build(held.items[i + 1], nn::place_within(place, utf8_of(nb::str(key))));
            const int is_there = PySequence_Contains(made.ptr(), key.ptr());
            if (is_there < 0) {
                PyErr_Clear();
                nn::refuse_outline(place, text("has a key of type ", KindOf{key}));
            }
            if (is_there > 0) nn::refuse_outline(place, text("has the key ", Shown{key}, " twice"));
            if (PyObject_SetItem(made.ptr(), key.ptr(), value.ptr()) != 0) throw nb::python_error();
        }
        return made;
    }

    const bool is_of_torch_;
};

nb::object structure_of(const std::string& outline, const nb::dict& tensors, bool is_of_torch,
                        const std::string& where, const std::string& required) {
    nn::NamedTensors named;
    for (const auto& [name, tensor] : tensors)
        named.emplace(utf8_of(name), content_of<LazyTensor>(tensor).tensor());
    const Held held = nn::read_outline(format_named(is_of_torch), where, required, outline, named);
    try {
        return StructureBuilder(is_of_torch).build(held, "");
    } catch (const nn::BrokenOutline& broken) {
        nn::refuse_broken_outline(where, required, broken);
    }
}

}  // namespace

void bind_nn_checkpoints(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("outline_of", outline_of, nb::arg("value").none(), nb::arg("is_of_torch"), located,
               "(the outline of a structure, its tensors and arrays by their places); None where "
               "composit.torch has to write the structure in another way.");
    module.def("structure_of", structure_of, nb::arg("outline"), nb::arg("tensors"),
               nb::arg("is_of_torch"), nb::arg("where"), nb::arg("required"), located,
               "The structure of an outline. ValueError, which begins with `where`, for whatever "
               "is wrong.");
}

}  // namespace composit::python
