// composit/nn/torch_archive.h: archives of torch.save, whose pickles are followed without trust,
// and make Python's values.
#include "arrays.h"
#include "bindings.h"
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/eager/recording.h"
#include "composit/nn/torch_archive.h"
#include "nn.h"
#include "provided.h"
#include "shown.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

namespace {

using nn::BrokenPickle;

// Makes values of Python's. `named` are those that a pickle may name, by (module, name), and
// `functions` those of them that it may call; `outside` makes what stands outside of the pickle;
// `classes` are those of which it may make objects; `refuse` raises the error for another name.
class ValueBuilder {
  public:
    using Value = nb::object;

    ValueBuilder(nb::dict named, nb::list functions, nb::object outside, nb::tuple classes,
                 nb::object refuse)
        : named_(std::move(named)),
          functions_(std::move(functions)),
          outside_(std::move(outside)),
          classes_(std::move(classes)),
          refuse_(std::move(refuse)),
          ordered_(nb::module_::import_("collections").attr("OrderedDict")) {}

    Value none() { return nb::none(); }
    Value truth(bool truth) { return nb::bool_(truth); }
    Value integer(std::string_view bytes) {
        return made(_PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(bytes.data()),
                                          bytes.size(), 1, 1));
    }
    Value real(double value) { return nb::float_(value); }
    Value text(std::string_view value) {
        return made(PyUnicode_DecodeUTF8(value.data(), static_cast<Py_ssize_t>(value.size()),
                                         "surrogatepass"));
    }
    Value bytes(std::string_view value) { return nb::bytes(value.data(), value.size()); }
    Value tuple(const std::vector<Value>& items) {
        nb::list all;
        for (const Value& item : items) all.append(item);
        return nb::tuple(all);
    }
    Value list() { return nb::list(); }
    Value dict() { return nb::dict(); }
    Value set() { return made(PySet_New(nullptr)); }

    void append(Value& to, const std::vector<Value>& items) {
        check_container(to, PyList_Check(to.ptr()));
        for (const Value& item : items) to.attr("append")(item);
    }
    void put(Value& to, const std::vector<Value>& pairs) {
        check_container(to, PyDict_Check(to.ptr()));
        for (size_t i = 0; i < pairs.size(); i += 2)
            if (PyObject_SetItem(to.ptr(), pairs[i].ptr(), pairs[i + 1].ptr()) != 0)
                throw nb::python_error();
    }
    void add(Value& to, const std::vector<Value>& items) {
        check_container(to, PySet_Check(to.ptr()));
        for (const Value& item : items) to.attr("add")(item);
    }

    Value named(const std::string& module, const std::string& name) {
        return named_by(text(module), text(name));
    }
    Value named_by(const Value& module, const Value& name) {
        const nb::tuple key = nb::make_tuple(module, name);
        PyObject* const found = PyDict_GetItemWithError(named_.ptr(), key.ptr());
        if (found) return nb::borrow(found);
        if (PyErr_Occurred()) throw nb::python_error();
        refuse_(module, name);
        throw BrokenPickle{"it names what it may not"};
    }

    Value call(const Value& function, const Value& arguments) {
        const bool is_known = std::any_of(functions_.begin(), functions_.end(),
                                          [&](nb::handle known) { return known.is(function); });
        if (!is_known) throw BrokenPickle{composit::text("it calls a ", KindOf{function})};
        if (!PyTuple_Check(arguments.ptr()))
            throw BrokenPickle{"it calls a function without a tuple of arguments"};
        return made(PyObject_Call(function.ptr(), arguments.ptr(), nullptr));
    }
    Value make(const Value& kind, const Value& arguments, const std::optional<Value>& options) {
        const bool is_known =
            PyType_Check(kind.ptr()) &&
            (kind.is(ordered_) || PySequence_Contains(classes_.ptr(), kind.ptr()) == 1);
        if (!is_known)
            throw BrokenPickle{"it makes an object of what is no class that may be loaded"};
        nb::list all;
        all.append(kind);
        for (nb::handle argument : arguments) all.append(argument);
        nb::dict named;
        if (options) named.update(nb::borrow<nb::dict>(*options));
        return made(PyObject_Call(nb::object(kind.attr("__new__")).ptr(), nb::tuple(all).ptr(),
                                  named.ptr()));
    }
    void set_state(Value& object, const Value& state) {
        if (object.type().is(ordered_)) {
            bool is_metadata = PyDict_Check(state.ptr()) != 0;
            if (is_metadata)
                for (nb::handle key : nb::borrow<nb::dict>(state).keys())
                    is_metadata = is_metadata && key.equal(nb::str("_metadata"));
            if (!is_metadata)
                throw BrokenPickle{"it gives a dictionary other attributes than _metadata"};
            object.attr("__dict__").attr("update")(state);
            return;
        }
        if (!nb::isinstance(object, classes_))
            throw BrokenPickle{composit::text("it gives a ", KindOf{object}, " a state")};
        if (nb::hasattr(object, "__setstate__")) {
            object.attr("__setstate__")(state);
            return;
        }
        const bool has_slots = PyTuple_Check(state.ptr());
        const nb::object own = has_slots ? nb::object(state[0]) : state;
        if (PyObject_IsTrue(own.ptr()) == 1) object.attr("__dict__").attr("update")(own);
        if (!has_slots || PyObject_IsTrue(nb::object(state[1]).ptr()) != 1) return;
        for (nb::handle pair : nb::list(nb::object(nb::object(state[1]).attr("items")())))
            if (PyObject_GenericSetAttr(object.ptr(), nb::object(pair[0]).ptr(),
                                        nb::object(pair[1]).ptr()) != 0)
                throw nb::python_error();
    }
    Value outside(const Value& described) { return outside_(described); }

  private:
    static Value made(PyObject* object) {
        Value value = nb::steal(object);
        if (!value.is_valid()) throw nb::python_error();
        return value;
    }
    static void check_container(const Value& to, bool is_one) {
        if (!is_one) throw BrokenPickle{composit::text("it adds items to a ", KindOf{to})};
    }

    const nb::dict named_;
    const nb::list functions_;
    const nb::object outside_;
    const nb::tuple classes_;
    const nb::object refuse_, ordered_;
};

// An archive, and the memory that it is read from.
struct OpenArchive {
    nb::bytes content;  // or a file
    MappedFile file;
    std::optional<nn::TorchArchive> archive;

    // What `read` gives of the archive. `broken` is the class of errors for a damaged one.
    template <class Read>
    auto reading(nb::handle broken, const Read& read) const {
        const ReadingMappedFiles scope;
        try {
            auto found = read();
            if (file.data) scope.check("load", {file.data});
            return found;
        } catch (const BrokenPickle& error) {
            PyErr_SetString(broken.ptr(), error.why.c_str());
            throw nb::python_error();
        }
    }
};

void open_archive(OpenArchive* self, nb::object source, const std::string& where,
                  nb::handle broken) {
    new (self) OpenArchive();
    try {
        if (nb::isinstance<nb::bytes>(source))
            self->content = nb::borrow<nb::bytes>(source);
        else
            self->file = map_file(where + ": ", nb::cast<std::string>(source));
        const std::string_view bytes =
            self->file.data ? std::string_view(self->file.data, self->file.bytes)
                            : std::string_view(self->content.c_str(), self->content.size());
        self->reading(broken, [&] {
            self->archive.emplace(bytes);
            return true;
        });
    } catch (...) {
        self->~OpenArchive();
        throw;
    }
}

nb::bytes record_of_archive(const OpenArchive& self, const std::string& name, nb::handle broken) {
    return self.reading(broken, [&] {
        const std::string_view bytes = self.archive->record(name);
        return nb::bytes(bytes.data(), bytes.size());
    });
}

// What went wrong in the values of a damaged pickle, in a line.
std::string first_line_of(nb::python_error& error) {
    const auto said = nb::cast<std::string>(nb::object(nb::str(error.value())));
    return said.empty() ? "it is cut off" : said.substr(0, said.find('\n'));
}

nb::object follow_pickle(const nb::bytes& content, nb::dict named, nb::list functions,
                         nb::object outside, nb::tuple classes, nb::object refuse,
                         nb::handle broken) {
    ValueBuilder builder(std::move(named), std::move(functions), std::move(outside),
                         std::move(classes), std::move(refuse));
    std::string why;
    try {
        return nn::PickleMachine<ValueBuilder>(builder, {content.c_str(), content.size()}).run();
    } catch (const BrokenPickle& error) {
        why = error.why;
    } catch (nb::python_error& error) {
        if (error.matches(PyExc_RecursionError))
            why = "it is nested too deep";
        else if (error.matches(PyExc_LookupError) && !error.matches(broken))
            why = "it takes values that are not there";
        else if (!error.matches(broken) &&
                 (error.matches(PyExc_ValueError) || error.matches(PyExc_TypeError) ||
                  error.matches(PyExc_AttributeError) || error.matches(PyExc_OverflowError)))
            why = first_line_of(error);
        else
            throw;
    }
    PyErr_SetString(broken.ptr(), why.c_str());
    throw nb::python_error();
}

[[noreturn]] void refuse_damage(nb::handle broken, const std::string& why) {
    PyErr_SetString(broken.ptr(), why.c_str());
    throw nb::python_error();
}

// The memory of tensors in an archive: where its bytes are, and the tensor that has it first.
class ArchivedStorage {
  public:
    // Of a TorchArchive. `dtype` is None of bytes; `broken` the class of errors for damage.
    ArchivedStorage(nb::object archive, nb::object broken, nb::object dtype, std::string key,
                    int64_t count, std::string place)
        : dtype(std::move(dtype)),
          count(count),
          archive_(std::move(archive)),
          broken_(std::move(broken)),
          key_(std::move(key)),
          place_(std::move(place)) {}

    // A tensor of this memory. The first one that has all of it owns it, else a tensor that nobody
    // sees; all others are views of the owner.
    nb::object tensor(const std::string& name, int64_t offset, const nb::object& size,
                      const nb::object& stride) {
        const nb::object layout = nb::make_tuple(offset, nb::tuple(size), nb::tuple(stride));
        nn::StorageLayout checked{offset, nb::cast<ir::Shape>(nb::tuple(size)),
                                  nb::cast<std::vector<int64_t>>(nb::tuple(stride))};
        check([&] { nn::check_layout(checked); });
        if (!owner_.is_valid()) {
            const nb::object values = values_of(name);
            length_ = static_cast<int64_t>(nb::len(values));
            check([&] { nn::check_reach(checked, length_); });
            const bool is_whole = checked.is_whole(length_);
            layout_ = is_whole ? layout : nb::none();
            owner_ = provided("torch_tensor_of_array")(
                is_whole ? nb::object(values.attr("reshape")(size)) : values, place_);
            if (is_whole) return owner_;
        }
        const auto own = nb::cast<std::string>(nb::object(owner_.attr("dtype").attr("name")));
        if (own != name) refuse_damage(broken_, "a storage is read as " + own + " and as " + name);
        check([&] { nn::check_reach(checked, length_); });
        const eager::NoGrad scope;
        if (layout.equal(layout_)) return owner_.attr("detach")();
        const bool is_row = nb::cast<int64_t>(nb::object(owner_.attr("ndim"))) == 1;
        const nb::object flat = is_row ? owner_ : nb::object(owner_.attr("view")(-1));
        return flat.attr("as_strided")(size, stride, offset);
    }

    const nb::object dtype;
    const int64_t count;

  private:
    template <class Check>
    void check(const Check& demand) const {
        try {
            demand();
        } catch (const BrokenPickle& error) {
            refuse_damage(broken_, error.why);
        }
    }

    nb::object values_of(const std::string& name) const {
        const nb::bytes content =
            nb::borrow<nb::bytes>(nb::object(archive_.attr("record")("data/" + key_, broken_)));
        const nb::object kind = provided("torch_dtypes")[name.c_str()].attr("numpy");
        const auto width = nb::cast<int64_t>(nb::object(kind.attr("itemsize")));
        const auto bytes = static_cast<int64_t>(content.size());
        const int64_t needed = dtype.is_none() ? count : count * width;
        if (bytes != needed || bytes % width != 0)
            refuse_damage(broken_, composit::text("the storage ", Shown{nb::str(key_.c_str())},
                                                  " has ", bytes, " bytes, not ", needed));
        const nb::handle read = numpy_attribute("frombuffer");
        if (name == "bool") return read(content, numpy_attribute("uint8")).attr("__ne__")(0);
        const nb::object values = read(content, kind);
        const bool is_swapped = nb::cast<bool>(nb::object(archive_.attr("is_swapped")));
        return is_swapped ? nb::object(values.attr("byteswap")()) : values;
    }

    const nb::object archive_, broken_;
    const std::string key_, place_;
    nb::object owner_, layout_;
    int64_t length_ = 0;
};

}  // namespace

void bind_nn_archives(nb::module_& module) {
    nb::class_<OpenArchive>(module, "TorchArchive", "An archive of torch.save's, opened.")
        .def("__init__", open_archive, nb::arg("source"), nb::arg("where"), nb::arg("broken"),
             "Of a file's content, or its path. `broken` is the class of errors for a damaged one; "
             "others begin with `where`.")
        .def_prop_ro("is_swapped",
                     [](const OpenArchive& self) { return self.archive->is_swapped(); })
        .def("record", record_of_archive, nb::arg("name"), nb::arg("broken"),
             "The bytes of an entry.");
    nb::class_<ArchivedStorage>(module, "ArchivedStorage", "The memory of tensors in an archive.")
        .def(nb::init<nb::object, nb::object, nb::object, std::string, int64_t, std::string>(),
             nb::arg("archive"), nb::arg("broken"), nb::arg("dtype").none(), nb::arg("key"),
             nb::arg("count"), nb::arg("place"))
        .def_ro("dtype", &ArchivedStorage::dtype)
        .def_ro("count", &ArchivedStorage::count)
        .def("tensor", &ArchivedStorage::tensor, nb::arg("dtype"), nb::arg("offset"),
             nb::arg("size"), nb::arg("stride"));
    module.def("follow_pickle", follow_pickle, nb::arg("content"), nb::arg("named"),
               nb::arg("functions"), nb::arg("outside"), nb::arg("classes"), nb::arg("refuse"),
               nb::arg("broken"),
               "The value of a stranger's pickle (composit/nn/pickle_machine.h), made of what is "
               "named in a table.");
    module.def(
        "check_layout",
        [](int64_t offset, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
           int64_t length, nb::handle broken) {
            const nn::StorageLayout layout{offset, shape, strides};
            try {
                nn::check_layout(layout);
                if (length >= 0) nn::check_reach(layout, length);
                return length >= 0 && layout.is_whole(length);
            } catch (const BrokenPickle& error) {
                PyErr_SetString(broken.ptr(), error.why.c_str());
                throw nb::python_error();
            }
        },
        nb::arg("offset"), nb::arg("shape"), nb::arg("strides"), nb::arg("length"),
        nb::arg("broken"),
        "Checks a tensor's layout, and, where the length of its storage is no less than 0, that it "
        "lies in that; whether it is all of it, row by row.");
}

}  // namespace composit::python
