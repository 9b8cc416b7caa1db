// composit/ir/kernel/kernel.h: programs, for inspection and for back ends written in Python.
#include "bindings.h"
#include "casters.h"
#include "composit/ir/kernel/fields.h"
#include "composit/ir/procedure/callable.h"

namespace composit::python {
namespace {

namespace kernel = ir::kernel;
using kernel::Access;
using kernel::Buffer;
using kernel::Kernel;
using kernel::Program;

// The members of a kernel's body by name, as fields.h says them; "finish.inputs" is one of a
// dictionary "finish".
struct Described {
    nb::dict fields = {};

    template <class Value>
    void put(std::string_view name, const Value& value) {
        const size_t dot = name.find('.');
        nb::dict into = fields;
        if (dot != std::string_view::npos) {
            const nb::str outer(name.data(), dot);
            if (!fields.contains(outer)) fields[outer] = nb::dict();
            into = nb::cast<nb::dict>(fields[outer]);
            name.remove_prefix(dot + 1);
        }
        into[nb::str(name.data(), name.size())] = value;
    }
    void loops(std::string_view name, const kernel::Extents& extents, kernel::LoopRole) {
        put(name, extents);
    }
    void reads(std::string_view name, const auto& accesses, const auto&...) { put(name, accesses); }
    void reads_again(std::string_view name, const auto& access, const auto&...) {
        put(name, access);
    }
    void updates(std::string_view name, const auto& access, const auto&...) { put(name, access); }
    void writes(std::string_view name, const auto& accesses, const auto&...) {
        put(name, accesses);
    }
    void values(std::string_view name, const auto& values, const auto&...) { put(name, values); }
    void says(std::string_view name, bool value) { put(name, nb::bool_(value)); }
    void says(std::string_view name, kernel::Combiner combiner) {
        put(name, std::string(kernel::name(combiner)));
    }
    void says(std::string_view name, const auto& value) { put(name, value); }
};

struct Fields {
    template <kernel::IsDescribed Body>
    nb::dict operator()(const Body& body) const {
        Described described;
        kernel::describe(body, described);
        return described.fields;
    }
    nb::dict operator()(const kernel::Fused& body) const {
        std::vector<Kernel> members;
        std::vector<std::vector<std::vector<int64_t>>> steps;
        for (const kernel::Member& member : body.members) {
            members.push_back(member.kernel);
            steps.push_back(member.steps);
        }
        nb::dict fields;
        fields["pieces"] = body.pieces;
        fields["locals"] = body.locals;
        fields["members"] = members;
        fields["steps"] = steps;
        return fields;
    }
    nb::dict operator()(const kernel::Repeat& body) const {
        nb::dict fields;
        fields["begin"] = body.begin;
        fields["end"] = body.end;
        fields["counter"] = body.counter;
        fields["kernels"] = body.kernels;
        return fields;
    }
    nb::dict operator()(const kernel::Foreign& body) const {
        const auto accesses = [](const std::vector<kernel::Foreign::Operand>& operands) {
            std::vector<Access> result;
            for (const auto& operand : operands) result.push_back(operand.access);
            return result;
        };
        nb::dict fields;
        fields["function"] = body.function;
        fields["options"] = body.options;
        fields["inputs"] = accesses(body.inputs);
        fields["outputs"] = accesses(body.outputs);
        return fields;
    }
    nb::dict operator()(const kernel::Call& body) const {
        nb::dict fields;
        fields["procedure"] = ir::procedure::find_callable(body.procedure)->procedure().name;
        fields["batch"] = body.batch;
        for (const auto& [name, operands] :
             {std::pair("inputs", &body.inputs), {"outputs", &body.outputs}}) {
            std::vector<Access> accesses;
            std::vector<kernel::Extents> extents;
            for (const kernel::Call::Operand& operand : *operands) {
                accesses.push_back(operand.access);
                extents.push_back(operand.extents);
            }
            fields[name] = accesses;
            fields[nb::str((std::string(name) + "_extents").c_str())] = extents;
        }
        return fields;
    }
};

void bind_parts(nb::module_& module) {
    module.def("kernel_kinds", &kernel::kinds_table, "All kinds of kernels with their fields.");
    nb::class_<Access>(module, "Access", "Where the elements of a loop nest lie in a buffer.")
        .def_ro("buffer", &Access::buffer)
        .def_ro("dtype", &Access::dtype)
        .def_ro("offset", &Access::offset)
        .def_ro("strides", &Access::strides)
        .def_prop_ro("is_position",
                     [](const Access& self) { return self.buffer == Access::position; });
    nb::class_<Buffer>(module, "Buffer")
        .def_ro("name", &Buffer::name)
        .def_prop_ro("kind",
                     [](const Buffer& self) { return std::string(kernel::name(self.kind)); })
        .def_ro("dtype", &Buffer::dtype)
        .def_ro("shape", &Buffer::shape)
        .def_ro("bytes", &Buffer::bytes)
        .def_ro("arena_offset", &Buffer::arena_offset)
        .def_prop_ro("is_in_memory", &Buffer::is_in_memory,
                     "False for a constant whose packed copy took its place.")
        .def_prop_ro("value", [](const Buffer& self) {
            return self.value ? ndarray_from(self.value.value()) : nb::none();
        });
    nb::class_<Kernel>(module, "Kernel", "One loop nest of a program.")
        .def_ro("name", &Kernel::name)
        .def_ro("comment", &Kernel::comment)
        .def_ro("lines", &Kernel::lines)
        .def_prop_ro("kind",
                     [](const Kernel& self) { return std::string(kernel::kind_name(self)); })
        .def_prop_ro("fields", [](const Kernel& self) { return std::visit(Fields{}, self.body); })
        .def_prop_ro("bodies", [](const Kernel& self) { return kernel::bodies(self); })
        .def_prop_ro("flops", [](const Kernel& self) { return kernel::flops(self); })
        .def_prop_ro("reads", [](const Kernel& self) { return kernel::buffers_read(self); })
        .def_prop_ro("writes", [](const Kernel& self) { return kernel::buffers_written(self); })
        .def("__repr__", [](const Kernel& self) {
            return "<" + std::string(kernel::kind_name(self)) + " " + self.name + ">";
        });
}

}  // namespace

void bind_kernel(nb::module_& module) {
    bind_parts(module);
    nb::class_<Program>(module, "Program", "Kernels over numbered buffers, run in order.")
        .def_ro("name", &Program::name)
        .def_ro("buffers", &Program::buffers)
        .def_ro("inputs", &Program::inputs)
        .def_ro("outputs", &Program::outputs)
        .def_ro("kernels", &Program::kernels)
        .def_ro("arena_bytes", &Program::arena_bytes)
        .def_prop_ro(
            "bytes_moved",
            [](const Program& self) {
                double bytes = 0;
                for (const Kernel& kernel : self.kernels)
                    bytes += kernel::bytes_moved(kernel, self);
                return bytes;
            },
            "What the kernels read and write, each array once for each kernel.")
        .def_ro("graph_text", &Program::graph_text)
        .def("__str__", [](const Program& self) { return kernel::print(self); });
}

}  // namespace composit::python
