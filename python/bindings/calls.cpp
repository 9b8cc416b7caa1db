// The quick way into compiled programs: arguments that fit a specialisation exactly go straight to
// its program, in about a microsecond. Everything else is compilation.py's business.
#include "arrays.h"
#include "bindings.h"
#include "composit/execute/execute.h"
#include "content.h"
#include "donation.h"
#include "interpreter_lock.h"
#include "structure.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>

namespace composit::python {
namespace {

using execute::Compiled;

class Calls {
  public:
    // `arguments` and `result` are an example of each: their structure and literals count. Returns
    // its number, which no other one gets.
    size_t add(nb::object core, nb::handle arguments, nb::handle result) {
        Entry entry;
        entry.number = count_++;
        entry.compiled = &content_of<Compiled>(core);
        entry.core = std::move(core);
        entry.arguments = Structure(arguments, entry.examples);
        for (nb::object& example : entry.examples)
            if (!is_literal(example)) example.reset();
        std::vector<nb::object> leaves;
        entry.result = Structure(result, leaves);
        entries_.insert(entries_.begin(), std::make_shared<Entry>(std::move(entry)));
        return entries_.front()->number;
    }

    // NotImplemented where no specialisation fits, or an argument must be converted first.
    nb::object call(const nb::args& arguments) {
        for (size_t i = 0; i < entries_.size(); ++i) {
            // Keys of dictionaries compare by Python code, and others run while this one does: all
            // of them may add and forget entries.
            const std::shared_ptr<Entry> entry = entries_[i];
            std::vector<nb::object> leaves;
            std::vector<const void*> inputs;
            if (!fits(*entry, arguments, leaves, inputs)) continue;
            set_latest(entry->number);
            return run(*entry, leaves, inputs);
        }
        return nb::borrow(Py_NotImplemented);
    }

    // Forgets those that were not used for the longest time while all hold more memory than that,
    // but never the one used last. Returns their numbers.
    std::vector<size_t> keep(int64_t most_bytes) {
        std::vector<size_t> forgotten;
        int64_t bytes = 0;
        for (const std::shared_ptr<Entry>& entry : entries_) bytes += entry->compiled->held_bytes();
        while (bytes > most_bytes && entries_.size() > 1) {
            const std::shared_ptr<Entry> last = std::move(entries_.back());
            entries_.pop_back();
            bytes -= last->compiled->held_bytes();
            forgotten.push_back(last->number);
        }
        return forgotten;
    }

    // What the cycle collector must know.
    template <class Visit>
    int visit(Visit&& visit) const {
        for (const std::shared_ptr<Entry>& entry : entries_) {
            if (entry.use_count() > 1) continue;  // a call that runs holds it, too
            if (const int stop = visit(entry->core.ptr())) return stop;
            for (const nb::object& example : entry->examples)
                if (const int stop = example.is_valid() ? visit(example.ptr()) : 0) return stop;
            for (const Structure* structure : {&entry->arguments, &entry->result})
                if (const int stop = structure->visit(visit)) return stop;
        }
        return 0;
    }
    void clear() { std::vector<std::shared_ptr<Entry>>().swap(entries_); }

    // The number of the one used last.
    size_t latest() const { return entries_.at(0)->number; }
    void set_latest(size_t number) {
        for (auto place = entries_.begin(); place != entries_.end(); ++place)
            if ((*place)->number == number) {
                std::rotate(entries_.begin(), place, place + 1);
                return;
            }
    }

  private:
    struct Entry {
        size_t number = 0;
        nb::object core;
        const Compiled* compiled = nullptr;
        Structure arguments;
        std::vector<nb::object> examples;  // literals; empty for arrays
        Structure result;
    };

    // Numbers and texts are part of the program, arrays are its inputs.
    static bool is_literal(nb::handle value) {
        PyObject* object = value.ptr();
        return PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
               PyUnicode_CheckExact(object);
    }

    static bool fits(const Entry& entry, nb::handle arguments, std::vector<nb::object>& leaves,
                     std::vector<const void*>& inputs) {
        if (!entry.arguments.match(arguments, leaves)) return false;
        for (size_t i = 0; i < leaves.size(); ++i) {
            const nb::object& literal = entry.examples[i];
            if (literal.is_valid()) {
                if (leaves[i].type().ptr() != literal.type().ptr() || !leaves[i].equal(literal))
                    return false;
                continue;
            }
            const std::optional<PlainArray> array = plain_array(leaves[i]);
            if (!array) return false;
            const ir::Tensor& input = entry.compiled->inputs()[inputs.size()];
            const ir::Shape& shape = input.shape();
            if (array->dtype != input.dtype() || static_cast<size_t>(array->rank) != shape.size() ||
                !std::equal(shape.begin(), shape.end(), array->shape))
                return false;
            inputs.push_back(array->data);
        }
        return true;
    }

    static nb::object run(const Entry& entry, std::vector<nb::object>& leaves,
                          const std::vector<const void*>& inputs) {
        size_t arrays = 0;  // among the leaves
        if (!entry.compiled->donated().empty())
            for (size_t i = 0; i < leaves.size(); ++i)
                if (!entry.examples[i].is_valid()) std::swap(leaves[arrays++], leaves[i]);
        const Donation donation(*entry.compiled, leaves);
        std::vector<ir::Array> values;
        {
            const Released released;
            values = entry.compiled->run(inputs, donation.given());
        }
        std::vector<nb::object> results;
        results.reserve(values.size());
        for (ir::Array& value : values) results.push_back(donation.result_from(std::move(value)));
        return entry.result.build(results);
    }

    std::vector<std::shared_ptr<Entry>> entries_;  // the one used last first
    size_t count_ = 0;
};

int traverse_calls(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    return nb::inst_ptr<Calls>(self)->visit([&](PyObject* object) { return visit(object, arg); });
}

int clear_calls(PyObject* self) {
    nb::inst_ptr<Calls>(self)->clear();
    return 0;
}

PyType_Slot calls_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_calls)},
                             {Py_tp_clear, reinterpret_cast<void*>(clear_calls)},
                             {0, nullptr}};

}  // namespace

void bind_calls(nb::module_& module) {
    nb::class_<Calls>(module, "Calls", nb::type_slots(calls_slots),
                      "The specialisations of a function, found by arguments.")
        .def(nb::init<>())
        .def("add", &Calls::add, nb::arg("core"), nb::arg("arguments"), nb::arg("result"))
        .def("__call__", &Calls::call)
        .def("keep", &Calls::keep, nb::arg("most_bytes"))
        .def_prop_rw("latest", &Calls::latest, &Calls::set_latest);
}

}  // namespace composit::python
