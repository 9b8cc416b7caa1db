// composit/ir/kernel/kernel.h: programs, for inspection and for back ends written in Python.
#include "composit/ir/kernel/kernel.h"

#include "bindings.h"
#include "casters.h"

namespace composit::python {
namespace {

namespace kernel = ir::kernel;
using kernel::Access;
using kernel::Buffer;
using kernel::Kernel;
using kernel::Program;

// The members of a kernel's body by name, as kernel.h calls them.
struct Fields {
    nb::dict operator()(const kernel::Map& body) const {
        nb::dict fields;
        fields["extents"] = body.extents;
        fields["inputs"] = body.inputs;
        fields["values"] = body.values;
        fields["outputs"] = body.outputs;
        return fields;
    }
    nb::dict operator()(const kernel::Reduce& body) const {
        nb::dict fields;
        fields["kept"] = body.kept;
        fields["reduced"] = body.reduced;
        fields["inputs"] = body.inputs;
        fields["value"] = body.value;
        fields["combiner"] = std::string(kernel::name(body.combiner));
        fields["output"] = body.output;
        return fields;
    }
    nb::dict operator()(const kernel::Scan& body) const {
        nb::dict fields;
        fields["extents"] = body.extents;
        fields["inputs"] = body.inputs;
        fields["value"] = body.value;
        fields["combiner"] = std::string(kernel::name(body.combiner));
        fields["output"] = body.output;
        return fields;
    }
    nb::dict operator()(const kernel::Contract& body) const {
        nb::dict fields;
        fields["batch"] = body.batch;
        fields["rows"] = body.rows;
        fields["columns"] = body.columns;
        fields["depth"] = body.depth;
        fields["left"] = body.left;
        fields["right"] = body.right;
        fields["output"] = body.output;
        fields["left_is_packed"] = nb::bool_(body.left_is_packed);
        fields["right_is_packed"] = nb::bool_(body.right_is_packed);
        nb::dict finish;
        finish["inputs"] = body.finish.inputs;
        finish["values"] = body.finish.values;
        finish["outputs"] = body.finish.outputs;
        fields["finish"] = finish;
        return fields;
    }
    nb::dict operator()(const kernel::Gather& body) const {
        nb::dict fields = indexed(body);
        fields["output"] = body.output;
        return fields;
    }
    nb::dict operator()(const kernel::Scatter& body) const {
        nb::dict fields = indexed(body);
        fields["update"] = body.update;
        fields["add"] = nb::bool_(body.add);
        return fields;
    }
    nb::dict operator()(const kernel::Fold& body) const {
        nb::dict fields;
        fields["outer"] = body.outer;
        fields["positions"] = body.positions;
        fields["counts"] = body.counts;
        fields["window"] = body.window;
        fields["steps"] = body.steps;
        fields["dilations"] = body.dilations;
        fields["input"] = body.input;
        fields["output"] = body.output;
        return fields;
    }
    nb::dict operator()(const kernel::Sort& body) const {
        nb::dict fields;
        fields["extents"] = body.extents;
        fields["input"] = body.input;
        fields["output"] = body.output;
        fields["spare"] = body.spare;
        fields["gives_values"] = nb::bool_(body.gives_values);
        return fields;
    }
    nb::dict operator()(const kernel::Search& body) const {
        nb::dict fields;
        fields["extents"] = body.extents;
        fields["row"] = body.row;
        fields["sorted"] = body.sorted;
        fields["values"] = body.values;
        fields["output"] = body.output;
        fields["is_right"] = nb::bool_(body.is_right);
        return fields;
    }
    nb::dict operator()(const kernel::Pack& body) const {
        nb::dict fields;
        fields["across"] = body.across;
        fields["depth"] = body.depth;
        fields["is_left"] = nb::bool_(body.is_left);
        fields["from"] = body.from;
        fields["to"] = body.to;
        return fields;
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
    nb::dict operator()(const kernel::DecodedContract& body) const {
        nb::dict fields;
        fields["rows"] = body.rows;
        fields["columns"] = body.columns;
        fields["depth"] = body.depth;
        fields["last_columns"] = body.last_columns;
        fields["is_packed"] = nb::bool_(body.is_packed);
        fields["left"] = body.left;
        fields["inputs"] = body.inputs;
        fields["value"] = body.value;
        fields["output"] = body.output;
        return fields;
    }

  private:
    template <class Body>
    static nb::dict indexed(const Body& body) {
        nb::dict fields;
        fields["outer"] = body.outer;
        fields["inner"] = body.inner;
        fields["data"] = body.data;
        fields["indices"] = body.indices;
        fields["axis_strides"] = body.axis_strides;
        fields["axis_lengths"] = body.axis_lengths;
        fields["axis_numbers"] = body.axis_numbers;
        return fields;
    }
};

void bind_parts(nb::module_& module) {
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
