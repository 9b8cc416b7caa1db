// composit/ir/procedure: statements and procedures, their text, and calls of what was compiled.
#include "composit/ir/procedure/procedure.h"

#include "arrays.h"
#include "bindings.h"
#include "casters.h"
#include "compiled_arrays.h"
#include "composit/backends/cpp/procedures.h"
#include "composit/base/error.h"
#include "composit/exporters/device_source/kernel_files.h"
#include "composit/exporters/mlir_kernels/kernel_text.h"
#include "composit/exporters/procedures/procedures.h"
#include "composit/ir/procedure/given_derivative.h"
#include "composit/ir/procedure/interpret.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/known_parameter.h"
#include "composit/ir/procedure/returns_in_loops.h"
#include "composit/ir/procedure/stand_ins.h"
#include "composit/ir/procedure/structure.h"
#include "composit/ir/procedure/windows_of_rows.h"
#include "composit/ir/scalar/parse.h"
#include "composit/ops/ops.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/warning.h"
#include "held.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>

namespace composit::python {
namespace {

namespace procedure = ir::procedure;
using cpp::Slot;
using ir::DType;
using ir::scalar::Expr;
using procedure::Block;
using procedure::Procedure;
using procedure::Statement;
using procedure::Variable;
using procedures::ProcedureFamily;

using Variables = std::vector<std::pair<std::string, DType>>;

std::vector<Variable> variables_from(const Variables& pairs) {
    std::vector<Variable> variables;
    for (const auto& [name, dtype] : pairs) variables.push_back({name, dtype});
    return variables;
}

// (name, dtype, extents, "input", "output" or "local")
using Arrays = std::vector<std::tuple<std::string, DType, std::vector<Expr>, std::string>>;

std::vector<procedure::ArrayVariable> arrays_from(const Arrays& given) {
    using Role = procedure::ArrayVariable::Role;
    std::vector<procedure::ArrayVariable> arrays;
    for (const auto& [name, dtype, shape, role] : given)
        arrays.push_back({name, dtype, shape,
                          role == "input"    ? Role::input
                          : role == "output" ? Role::output
                                             : Role::local});
    return arrays;
}

nb::list pairs_of(const std::vector<Variable>& variables, size_t count) {
    nb::list pairs;
    for (size_t i = 0; i < count; ++i)
        pairs.append(nb::make_tuple(variables[i].name, dtype_object(variables[i].dtype)));
    return pairs;
}

// A compiled procedure: the fewest steps from Python's numbers and NumPy's arrays to its code.
class CompiledProcedures {
  public:
    CompiledProcedures(std::shared_ptr<cpp::Library> library, size_t number,
                       const Procedure& procedure)
        : library_(std::move(library)) {
        call_ = reinterpret_cast<Call>(library_->symbol(text("call_", number)));
        map_ = reinterpret_cast<Map>(library_->symbol(text("map_", number)));
        for (size_t i = 0; i < procedure.parameters; ++i)
            parameters_.push_back(procedure.variables[i].dtype);
        for (const Variable& result : procedure.results) results_.push_back(result.dtype);
        user_check<NotSupported>(parameters_.size() <= most && results_.size() <= most,
                                 procedure.name, ": ", parameters_.size(), " parameters and ",
                                 results_.size(), " results. At most ", most,
                                 " of each are supported.");
    }

    // Numbers as parameters; NotImplemented where they are something else.
    nb::object call(nb::args arguments) const {
        if (arguments.size() != parameters_.size()) return nb::borrow(Py_NotImplemented);
        Slot in[most], out[most];
        for (size_t i = 0; i < parameters_.size(); ++i)
            if (!read(arguments[i].ptr(), parameters_[i], in[i]))
                return nb::borrow(Py_NotImplemented);
        if (call_(in, out) != 0) throw runtime::Interrupted();
        if (results_.size() == 1) return made(out[0], results_[0]);
        nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(results_.size())));
        for (size_t i = 0; i < results_.size(); ++i)
            PyTuple_SET_ITEM(all.ptr(), static_cast<Py_ssize_t>(i),
                             made(out[i], results_[i]).release().ptr());
        return all;
    }

    // Plain arrays of the parameters' dtypes and of one shape; NotImplemented for others. Results
    // without axes are numbers, as NumPy's functions return them.
    nb::object map(nb::args arguments) const {
        if (arguments.size() != parameters_.size()) return nb::borrow(Py_NotImplemented);
        const void* in[most];
        ir::Shape shape;
        for (size_t i = 0; i < parameters_.size(); ++i) {
            const auto array = plain_array(arguments[i]);
            if (!array || array->dtype != parameters_[i]) return nb::borrow(Py_NotImplemented);
            const ir::Shape own(array->shape, array->shape + array->rank);
            if (i != 0 && own != shape) return nb::borrow(Py_NotImplemented);
            shape = own;
            in[i] = array->data;
        }
        void* out[most];
        std::vector<ir::Array> results;
        for (size_t i = 0; i < results_.size(); ++i) {
            results.emplace_back(results_[i], shape);
            out[i] = results[i].mutable_data();
        }
        const int64_t count = ir::element_count(shape);
        {
            const Released released;
            if (map_(in, out, count) != 0) throw runtime::Interrupted();
        }
        const auto returned = [](ir::Array& result) {
            const bool is_number = result.shape().empty();
            const nb::object array = ndarray_from(std::move(result));
            return is_number ? nb::object(array[nb::make_tuple()]) : array;
        };
        if (results.size() == 1) return returned(results[0]);
        nb::list all;
        for (ir::Array& result : results) all.append(returned(result));
        return nb::tuple(all);
    }

  private:
    static constexpr size_t most = 64;
    using Call = int (*)(const Slot*, Slot*);
    using Map = int (*)(const void* const*, void* const*, int64_t);

    static bool read(PyObject* value, DType dtype, Slot& slot) {
        if (dtype == DType::boolean) {
            if (!PyBool_Check(value)) return false;
            slot.as_boolean = value == Py_True;
            return true;
        }
        if (dtype == DType::int64) {
            if (!PyLong_Check(value)) return false;
            int overflow = 0;
            slot.as_int64 = PyLong_AsLongLongAndOverflow(value, &overflow);
            user_check<OverflowError>(overflow == 0,
                                      "an integer does not fit in int64, which is required.");
            return true;
        }
        // NumPy's float64 is a float, too: it gives one of its kind back, elsewhere.
        if (!PyFloat_CheckExact(value) && !PyLong_Check(value)) return false;
        const double number = PyFloat_AsDouble(value);
        if (number == -1 && PyErr_Occurred()) throw nb::python_error();
        if (dtype == DType::float32)
            slot.as_float32 = static_cast<float>(number);
        else
            slot.as_float64 = number;
        return true;
    }

    static nb::object made(const Slot& slot, DType dtype) {
        if (dtype == DType::boolean) return nb::borrow(slot.as_boolean ? Py_True : Py_False);
        if (dtype == DType::int64) return nb::steal(PyLong_FromLongLong(slot.as_int64));
        return nb::steal(
            PyFloat_FromDouble(dtype == DType::float32 ? slot.as_float32 : slot.as_float64));
    }

    std::shared_ptr<cpp::Library> library_;
    Call call_ = nullptr;
    Map map_ = nullptr;
    std::vector<DType> parameters_, results_;
};

std::vector<ProcedureFamily> families_from(const std::vector<std::vector<Procedure>>& lists) {
    std::vector<ProcedureFamily> families;
    for (const auto& list : lists) {
        user_check(!list.empty(), "a family of procedures is empty. A function is required.");
        families.push_back({list[0], {list.begin() + 1, list.end()}});
    }
    return families;
}

// A row whose operands are of kinds "float" (any floating dtype, one for all), "int" and "bool".
ir::scalar::TypeRule rule_of(const std::vector<std::string>& kinds, const std::string& result) {
    return [kinds, result](std::string_view row, const std::vector<DType>& given) {
        const std::string_view name = row.substr(0, row.find('.'));  // of "relu3.kernel"
        std::vector<DType> floats;
        for (size_t i = 0; i < kinds.size(); ++i)
            if (kinds[i] == "float") floats.push_back(given[i]);
        const DType floating =
            floats.empty() ? DType::float64 : ir::scalar::types::floating(name, floats).result;
        const auto dtype_of = [&](const std::string& kind) {
            return kind == "float" ? floating : kind == "int" ? DType::int64 : DType::boolean;
        };
        ir::scalar::Signature signature{{}, dtype_of(result)};
        for (size_t i = 0; i < kinds.size(); ++i) {
            signature.operands.push_back(dtype_of(kinds[i]));
            const bool fits =
                kinds[i] == "float" ||
                (kinds[i] == "int" ? !is_inexact(given[i]) : given[i] == DType::boolean);
            user_check<TypeError>(fits, name, ": argument ", i + 1, " has dtype ", given[i],
                                  ". Its annotation is ", kinds[i], ".");
        }
        return signature;
    };
}

// A row that stands in no table. (A shared pointer taken from Python would own the Python object,
// which the core's registries would then keep.)
struct KernelRow {
    ir::scalar::RowRef row;
    // What makes its procedures, a method of the kernel that has this row, and how often the row
    // refers to it.
    std::shared_ptr<nb::object> maker;
    long own_references;
};

// Whether nothing but this object has the row: no expression, and no row that derives it.
bool is_alone(const KernelRow& kernel) {
    return kernel.row.use_count() == 1 && kernel.maker.use_count() == kernel.own_references;
}

int traverse_row(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const KernelRow& kernel = *nb::inst_ptr<KernelRow>(self);
    if (kernel.maker && is_alone(kernel)) Py_VISIT(kernel.maker->ptr());
    return 0;
}

int clear_row(PyObject* self) {
    KernelRow& kernel = *nb::inst_ptr<KernelRow>(self);
    kernel.row.reset();
    kernel.maker.reset();
    return 0;
}

PyType_Slot row_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_row)},
                           {Py_tp_clear, reinterpret_cast<void*>(clear_row)},
                           {0, nullptr}};

KernelRow row_by(std::shared_ptr<nb::object> maker, const std::string& name, const std::string& doc,
                 const std::vector<std::string>& kinds, const std::string& result, size_t index) {
    ir::scalar::RowRef row;
    {
        const auto make = [maker](const std::vector<DType>& dtypes) {
            const Acquired acquired;
            nb::list objects;
            for (const DType dtype : dtypes) objects.append(dtype_object(dtype));
            return nb::cast<Procedure>((*maker)(objects));
        };
        row = std::make_shared<const ir::scalar::Row>(procedure::row_of(
            name, doc, static_cast<int>(kinds.size()), rule_of(kinds, result), make, index));
    }
    const long references = maker.use_count();
    return {std::move(row), std::move(maker), references};
}

// Empty where nothing can be compiled, of which a warning is given.
template <class Make>
void load_each(const std::string& name, const std::vector<std::vector<Procedure>>& lists,
               const std::string& folder, bool runs, const Make& make) {
    const std::vector<ProcedureFamily> families = families_from(lists);
    std::string warning;
    std::optional<cpp::ProcedureLibrary> loaded;
    {
        const std::optional<Released> released =
            PyGILState_Check() ? std::optional<Released>(std::in_place) : std::nullopt;
        loaded = cpp::load_procedures(name, families, folder, runs, &is_asked_to_stop, warning);
    }
    if (!warning.empty()) runtime::warn(warning);
    if (!loaded) return;
    size_t number = 0;
    for (const auto& list : lists)
        for (const Procedure& each : list) make(*loaded, number++, each);
}

std::vector<CompiledProcedures> load(const std::string& name,
                                     const std::vector<std::vector<Procedure>>& lists,
                                     const std::string& folder) {
    std::vector<CompiledProcedures> all;
    load_each(name, lists, folder, false,
              [&](const auto& loaded, size_t number, const Procedure& each) {
                  all.emplace_back(loaded.library, number, each);
              });
    return all;
}

std::vector<CompiledArrays> load_arrays(const std::string& name,
                                        const std::vector<std::vector<Procedure>>& lists,
                                        const std::string& folder) {
    std::vector<CompiledArrays> all;
    load_each(name, lists, folder, true,
              [&](const auto& loaded, size_t number, const Procedure& each) {
                  all.emplace_back(each, cpp::run_of(loaded, number, each));
              });
    return all;
}

// How nodes of graphs get compiled code; empty where nothing can be compiled.
procedure::Run load_for_nodes(const Procedure& one) {
    procedure::Run run;
    load_each(one.name, {{one}}, "", true,
              [&](const auto& loaded, size_t number, const Procedure& each) {
                  run = cpp::run_of(loaded, number, each);
              });
    return run;
}

}  // namespace

void bind_procedure(nb::module_& module) {
    using namespace nb::literals;
    nb::module_ inner = module.def_submodule("procedure", "Scalar functions as statements.");
    bind_statement(inner);
    nb::class_<Procedure>(inner, "Procedure", "A scalar function, written as statements.")
        .def(
            "__init__",
            [](Procedure* self, const std::string& name, const std::string& file, int line,
               const std::string& doc, const Variables& variables, size_t parameters,
               const Variables& results, Block body, const Arrays& arrays, std::vector<int> head) {
                Procedure made{name,
                               file,
                               line,
                               doc,
                               variables_from(variables),
                               parameters,
                               variables_from(results),
                               std::move(body),
                               arrays_from(arrays),
                               std::move(head)};
                procedure::check(made);
                const auto all = procedure::all_statements(made.body);
                if (std::any_of(all.begin(), all.end(),
                                [](const Statement* each) { return each->claim != nullptr; }))
                    made.as_written = std::make_shared<const Procedure>(made);
                new (self) Procedure(std::move(made));
            },
            "name"_a, "file"_a, "line"_a, "doc"_a, "variables"_a, "parameters"_a, "results"_a,
            "body"_a, "arrays"_a = Arrays(), "head"_a = std::vector<int>())
        .def_prop_ro("name", [](const Procedure& self) { return self.name; })
        .def_prop_ro(
            "parameters",
            [](const Procedure& self) { return pairs_of(self.variables, self.parameters); })
        .def_prop_ro(
            "results",
            [](const Procedure& self) { return pairs_of(self.results, self.results.size()); })
        .def_prop_ro(
            "has_arrays", [](const Procedure& self) { return !self.arrays.empty(); },
            "Whether it reads, writes or makes arrays.")
        .def_prop_ro("source", [](const Procedure& self) { return procedures::source_of(self); })
        .def_prop_ro("flat", [](const Procedure& self) { return procedure::flatten(self); })
        .def("with_derivative", procedure::with_derivative,
             "The procedure with a derivative that is not derived.")
        .def(
            "with_text_for_derivatives",
            [](const Procedure& self, const Procedure& other) {
                Procedure made = self, text = other;
                text.as_written = self.as_written;
                made.for_derivatives = std::make_shared<const Procedure>(std::move(text));
                return made;
            },
            "other"_a, "The procedure, whose derivatives are made of another one of its values.")
        .def(
            "without_derivative",
            [](const Procedure& self) {
                Procedure made = self;
                made.derivative = {};
                return made;
            },
            "The procedure, whose derivative is derived.")
        .def("__repr__", [](const Procedure& self) { return procedures::signature_of(self); });
    inner.def(
        "parse",
        [](const std::string& name, const std::string& text, DType floating,
           int64_t most_iterations) {
            const ir::scalar::Function function = ir::scalar::parse(text, floating);
            ir::scalar::check_defined(function, most_iterations);
            return procedure::procedure_of(name, function);
        },
        "name"_a, "text"_a, "floating"_a, "most_iterations"_a,
        "The procedure of a scalar function's text; floating is what `float` means in it.");
    inner.def("jvp", procedure::jvp);
    inner.def("vjp", procedure::vjp);
    inner.def("reverse", procedure::reverse);
    inner.def("reverse_over_rows", procedure::reverse_over_rows, "The derivative of over_rows.");
    inner.def("over_rows", procedure::over_rows, "The procedure for each row of its arguments.");
    inner.def("without_dead_code", procedure::without_dead_code, "procedure"_a,
              "keeps_assertions"_a = false);
    inner.def("with_windows_of_rows", procedure::with_windows_of_rows,
              "The procedure, which keeps the rows of local arrays that are alive at a time.");
    inner.def("with_neighbours_summed", procedure::with_neighbours_summed,
              "The procedure, whose loops sum what they add to neighbouring elements.");
    inner.def("slope", procedure::slope);
    inner.def("with_last_parameter", procedure::with_last_parameter, "procedure"_a, "value"_a,
              "name"_a, "The procedure of the other parameters, the last of which has the value.");
    inner.def("always_leaves", procedure::always_leaves);
    inner.def(
        "assigning_results",
        [](const Block& block, const Variables& variables, const std::vector<int>& results) {
            Procedure around;
            around.variables = variables_from(variables);
            const size_t before = around.variables.size();
            Block made = procedure::assigning_results(block, around, results);
            return std::pair(std::move(made), around.variables.size() > before);
        },
        "block"_a, "variables"_a, "results"_a,
        "The block without returns: the variables `results` get what is returned. Whether there is "
        "a new variable, a bool behind the others: it says that a loop has returned.");
    inner.def("print_file",
              [](const std::string& name, const std::vector<std::vector<Procedure>>& lists) {
                  const auto file = procedures::print_file(name, families_from(lists));
                  return std::pair(file.header, file.source);
              });
    inner.def("print_kernels", device_source::print_kernels, "language"_a, "procedures"_a,
              "The procedures as kernels of \"opencl\" or \"cuda\".");
    inner.def("print_kernel_files", device_source::print_kernel_files, "language"_a, "name"_a,
              "families"_a, "Names and texts of files: kernels, and a program that launches one.");
    inner.def(
        "print_mlir",
        [](const std::vector<std::vector<Procedure>>& families, const std::string& module,
           bool locations) { return mlir::kernel_text_of(families, {module, {}, locations}); },
        "families"_a, "module"_a = "", "locations"_a = false,
        "Kernels and their derivatives as a module of MLIR.");
    inner.def("print_loadable",
              [](const std::string& name, const std::vector<std::vector<Procedure>>& lists) {
                  return procedures::print_loadable(name, families_from(lists));
              });
    nb::class_<KernelRow>(inner, "KernelRow", nb::type_slots(row_slots),
                          "A procedure as a row of the scalar language.");
    nb::class_<CompiledProcedures>(inner, "Compiled", "Compiled code of a procedure.")
        .def("__call__", &CompiledProcedures::call)
        .def("map", &CompiledProcedures::map);
    inner.def("load", load);
    bind_compiled_arrays(inner);
    inner.def("load_arrays", load_arrays);
    inner.def("interpreted", [](Procedure self) { return CompiledArrays(std::move(self), {}); });
    procedure::set_loader(load_for_nodes);
    inner.def("keep_callable", procedure::keep_callable,
              "The number by which nodes call the procedure.");
    inner.def(
        "node",
        [](int64_t number, const std::vector<nb::object>& operands) {
            std::vector<ir::Tensor> tensors;
            for (const nb::object& operand : operands) tensors.push_back(tensor_from(operand));
            return ops::procedure(number, tensors);
        },
        nb::call_guard<Located>(), "A call of a procedure with arrays, as one node.");
    inner.def("row_of", [](const std::string& name, const std::string& doc,
                           const std::vector<std::string>& kinds, const std::string& result,
                           nb::object maker, size_t index) {
        return row_by(held(std::move(maker)), name, doc, kinds, result, index);
    });
    inner.def(
        "map",
        [](const KernelRow& kernel, nb::args operands) {
            std::vector<ir::Tensor> tensors;
            for (nb::handle operand : operands) tensors.push_back(tensor_from(operand));
            return ops::map(kernel.row, std::move(tensors));
        },
        nb::call_guard<Located>(), "The row applied elementwise, as one node.");
    inner.def("held", procedure::held, "The value, without a derivative in first derivatives.");
    inner.def("stand_in", procedure::stand_in, "value"_a, "other"_a,
              "The value, with the derivative of the other one.");
    inner.def("call_row", [](const KernelRow& kernel, std::vector<Expr> operands) {
        return Expr::call(kernel.row, std::move(operands));
    });
}

}  // namespace composit::python
