// composit/mosaic/*.h: graphs mapped to a back end in the open.
#include "bindings.h"
#include "calling.h"
#include "casters.h"
#include "composit/base/text.h"
#include "composit/mosaic/place.h"
#include "composit/mosaic/program.h"
#include "interpreter_lock.h"
#include "location.h"
#include "shown.h"

#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using mosaic::Kernel;
using mosaic::Machine;
using mosaic::PlannedBuffer;
using mosaic::Program;
using mosaic::Roofline;
using mosaic::Schema;
using mosaic::TiledTensor;
using mosaic::TileLevel;
using mosaic::TileView;

// A level, levels, or one shape, which is a level called "tile".
TileView tile_view(nb::handle levels) {
    if (nb::isinstance<TileLevel>(levels)) return {nb::cast<TileLevel>(levels)};
    const auto refuse = [&] {
        fail<TypeError>("Schema: ", Shown{levels},
                        " are no tiles. A shape, or a list of TileLevel, is required.");
    };
    if (!nb::hasattr(levels, "__iter__")) refuse();
    TileView view;
    ir::Shape tile;
    for (const nb::handle each : nb::list(nb::borrow(levels))) {
        if (nb::isinstance<TileLevel>(each))
            view.push_back(nb::cast<TileLevel>(each));
        else if (PyLong_Check(each.ptr()))
            tile.push_back(integer_from(each));
        else
            refuse();
    }
    if (!view.empty() && !tile.empty()) refuse();
    if (!tile.empty()) view.push_back({"tile", tile, {}});
    return view;
}

Schema schema_of(nb::handle tiles) {
    Schema schema;
    if (tiles.is_none()) return schema;
    user_check<TypeError>(nb::hasattr(tiles, "items"), "Schema: ", Shown{tiles},
                          " is not a mapping. Tiles by tensor, or by a tensor's name, are "
                          "required.");
    for (const nb::handle item : nb::object(tiles.attr("items")())) {
        const nb::object key = item[0];
        const TileView view = tile_view(item[1]);
        if (PyUnicode_Check(key.ptr()))
            schema.tile(nb::cast<std::string>(key), view);
        else if (nb::isinstance<LazyTensor>(key))
            schema.tile(tensor_from(key), view);
        else
            fail<TypeError>("Schema: ", Shown{key},
                            " is neither a tensor nor a name. One is required.");
    }
    return schema;
}

void bind_schema(nb::module_& module) {
    nb::class_<TileLevel>(module, "TileLevel", "One level of a tile view.")
        .def(
            "__init__",
            [](TileLevel* self, const std::string& name, const ir::Shape& tile,
               const std::optional<std::vector<int>>& order) {
                new (self) TileLevel{name, tile, order.value_or(std::vector<int>())};
            },
            nb::arg("name"), nb::arg("tile"), nb::arg("order") = nb::none())
        .def_ro("name", &TileLevel::name)
        .def_prop_ro("tile", [](const TileLevel& self) { return nb::tuple(nb::cast(self.tile)); })
        .def_prop_ro("order", [](const TileLevel& self) { return nb::tuple(nb::cast(self.order)); })
        .def("__eq__", [](const TileLevel& a, const TileLevel& b) { return a == b; })
        .def("__hash__", [](const TileLevel& self) { return nb::hash(nb::str(self.name.c_str())); })
        .def("__repr__", [](const TileLevel& self) { return transforms::text_of(TileView{self}); });
    nb::class_<Schema>(module, "Schema", "Tiles by tensor.")
        .def(
            "__init__", [](Schema* self, nb::handle tiles) { new (self) Schema(schema_of(tiles)); },
            nb::arg("tiles") = nb::none())
        .def("entries",
             [](const Schema& self) {
                 nb::list entries;
                 for (const Schema::Entry& entry : self.entries())
                     entries.append(nb::make_tuple(entry.name, entry.view));
                 return entries;
             })
        .def("print", &Schema::print)
        .def_static("parse", [](const std::string& text) { return Schema::parse(text); })
        .def("save", [](const Schema& self, const std::string& path) { self.save(path); })
        .def_static("load", [](const std::string& path) { return Schema::load(path); })
        .def_static("diff", &Schema::diff);
}

void bind_tiles(nb::module_& module) {
    module.def(
        "tilize",
        [](nb::handle value, nb::handle levels) {
            return ndarray_from(transforms::tilize(
                array_from(numpy_attribute("asarray")(value), false), tile_view(levels)));
        },
        nb::call_guard<Located>());
    module.def(
        "untilize",
        [](nb::handle tiles, const ir::Shape& shape, nb::handle levels) {
            return ndarray_from(transforms::untilize(
                array_from(numpy_attribute("asarray")(tiles), false), shape, tile_view(levels)));
        },
        nb::call_guard<Located>());
}

void bind_reports(nb::module_& module) {
    nb::class_<Machine>(module, "Machine", "Caches, and measured speeds.")
        .def_ro("threads", &Machine::threads)
        .def_ro("vector_bytes", &Machine::vector_bytes)
        .def_ro("line_bytes", &Machine::line_bytes)
        .def_ro("l1_bytes", &Machine::l1_bytes)
        .def_ro("l2_bytes", &Machine::l2_bytes)
        .def_ro("l3_bytes", &Machine::l3_bytes)
        .def_ro("flops_per_second", &Machine::flops_per_second)
        .def_ro("bytes_per_second", &Machine::bytes_per_second)
        .def("__repr__", &Machine::print);
    module.def(
        "this_machine",
        [](const std::string& target, int threads) {
            const Released released;
            return mosaic::this_machine(target, threads);
        },
        nb::arg("target") = "cpp", nb::arg("threads") = 0);
    nb::class_<TiledTensor>(module, "TiledTensor", "A tensor of a program, as it is stored.")
        .def_ro("name", &TiledTensor::name)
        .def_prop_ro(
            "kind",
            [](const TiledTensor& self) { return std::string(ir::kernel::name(self.kind)); })
        .def_prop_ro("dtype", [](const TiledTensor& self) { return dtype_object(self.dtype); })
        .def_prop_ro("shape",
                     [](const TiledTensor& self) { return nb::tuple(nb::cast(self.shape)); })
        .def_ro("levels", &TiledTensor::view)
        .def("__repr__", [](const TiledTensor& self) {
            return self.name + " " + composit::tuple_text(self.shape) + ": " +
                   transforms::text_of(self.view);
        });
    nb::class_<PlannedBuffer>(module, "PlannedBuffer", "A buffer, its place and its life.")
        .def_ro("name", &PlannedBuffer::name)
        .def_prop_ro(
            "kind",
            [](const PlannedBuffer& self) { return std::string(ir::kernel::name(self.kind)); })
        .def_prop_ro("dtype", [](const PlannedBuffer& self) { return dtype_object(self.dtype); })
        .def_prop_ro("shape",
                     [](const PlannedBuffer& self) { return nb::tuple(nb::cast(self.shape)); })
        .def_ro("bytes", &PlannedBuffer::bytes)
        .def_ro("offset", &PlannedBuffer::offset)
        .def_ro("first", &PlannedBuffer::first)
        .def_ro("last", &PlannedBuffer::last)
        .def_ro("is_in_memory", &PlannedBuffer::is_in_memory,
                "False for a constant whose packed copy took its place.");
    nb::class_<mosaic::Memory>(module, "Memory", "Bytes that a program takes.")
        .def_ro("arena", &mosaic::Memory::arena)
        .def_ro("scratch", &mosaic::Memory::scratch)
        .def_ro("outputs", &mosaic::Memory::outputs)
        .def_ro("packed", &mosaic::Memory::packed)
        .def_ro("constants", &mosaic::Memory::constants)
        .def_ro("inputs", &mosaic::Memory::inputs)
        .def_prop_ro("peak", &mosaic::Memory::peak);
}

void bind_kernels(nb::module_& module) {
    nb::class_<Kernel::Operand>(module, "Operand", "What a kernel reads or writes.")
        .def_ro("name", &Kernel::Operand::name)
        .def_prop_ro("dtype", [](const Kernel::Operand& self) { return dtype_object(self.dtype); })
        .def_prop_ro("shape",
                     [](const Kernel::Operand& self) { return nb::tuple(nb::cast(self.shape)); })
        .def("__repr__", [](const Kernel::Operand& self) {
            return composit::text(self.name, " ", self.dtype, composit::tuple_text(self.shape));
        });
    nb::class_<Kernel>(module, "Kernel", "One kernel of a program, which can be called alone.")
        .def_prop_ro("name", &Kernel::name)
        .def_prop_ro("kind", &Kernel::kind)
        .def_prop_ro("comment", &Kernel::comment)
        .def_prop_ro("lines", &Kernel::lines)
        .def_prop_ro("inputs", &Kernel::inputs)
        .def_prop_ro("outputs", &Kernel::outputs)
        .def("__str__", &Kernel::print)
        .def_prop_ro("source",
                     [](const Kernel& self) {
                         const Released released;
                         return self.source();
                     })
        .def("run", [](const Kernel& self, nb::args arguments) {
            const auto arrays = arrays_from(arguments);
            return computed([&] { return self(arrays); });
        });
}

void bind_program(nb::module_& module) {
    nb::class_<Program>(module, "Program", "A graph, compiled with a schema.")
        .def("run",
             [](const Program& self, nb::args arguments) {
                 const auto arrays = arrays_from(arguments);
                 return computed([&] { return self(arrays); });
             })
        .def("evaluate_values",
             [](const Program& self, const std::vector<Tensor>& leaves, nb::list values) {
                 const auto arrays = arrays_from(values);
                 std::vector<std::pair<Tensor, ir::Array>> given;
                 for (size_t i = 0; i < leaves.size(); ++i)
                     given.emplace_back(leaves[i], arrays[i]);
                 return computed([&] { return self.evaluate(given); });
             })
        .def("evaluate_tensors",
             [](const Program& self, const std::vector<Tensor>& outputs) {
                 return computed([&] { return self.evaluate(outputs); });
             })
        .def_prop_ro("schema", [](const Program& self) { return self.schema(); })
        .def_prop_ro("tiles", [](const Program& self) { return self.tiles(); })
        .def_prop_ro("kernels", [](const Program& self) { return self.kernels(); })
        .def_prop_ro("buffers", [](const Program& self) { return self.buffers(); })
        .def_prop_ro("memory", &Program::memory)
        .def_prop_ro("constants",
                     [](const Program& self) {
                         nb::dict arrays;
                         for (const auto& buffer : self.compiled().program().buffers)
                             if (buffer.kind == ir::kernel::BufferKind::constant)
                                 arrays[buffer.name.c_str()] = ndarray_from(buffer.value.value());
                         return arrays;
                     })
        .def_prop_ro("buffer_table", &Program::buffer_table)
        .def_prop_ro("buffer_picture", &Program::buffer_picture)
        .def_prop_ro("inputs", [](const Program& self) { return self.inputs(); })
        .def_prop_ro("outputs", [](const Program& self) { return self.outputs(); })
        .def_prop_ro(
            "compiled", [](const Program& self) { return &self.compiled(); },
            nb::rv_policy::reference_internal)
        .def_prop_ro("sources",
                     [](const Program& self) {
                         nb::dict files;
                         for (const runtime::SourceFile& file : self.sources())
                             files[file.name.c_str()] = file.text;
                         return files;
                     })
        .def("explain", [](const Program& self, nb::list arguments, bool measure, int runs) {
            const auto arrays = arrays_from(arguments);
            std::vector<Program::Explained> rows;
            {
                const Released released;
                rows = self.explain(measure ? &arrays : nullptr, runs);
            }
            nb::list result;
            for (const Program::Explained& row : rows)
                result.append(nb::make_tuple(row.name, row.kind, row.limit.flops, row.limit.bytes,
                                             row.limit.seconds, row.limit.is_bound_by_memory,
                                             row.seconds));
            return result;
        });
}

mosaic::Options options_from(const Schema* schema, const std::string& target, bool reuse_buffers,
                             bool fuse, bool whole_model, int threads,
                             const std::string& cache_folder, std::vector<Tensor> inputs,
                             const std::string& name, const execute::Placement& placement,
                             std::vector<std::string> devices) {
    return {schema ? std::optional(*schema) : std::nullopt,
            target,
            reuse_buffers,
            fuse,
            whole_model,
            threads,
            cache_folder,
            std::move(inputs),
            name,
            placement,
            std::move(devices)};
}

}  // namespace

void bind_mosaic(nb::module_& module) {
    // Of rows as explain gives them.
    module.def(
        "table",
        [](nb::list rows) {
            std::vector<Program::Explained> kernels;
            for (nb::handle row : rows) {
                Program::Explained kernel;
                kernel.name = nb::cast<std::string>(row[0]);
                kernel.kind = nb::cast<std::string>(row[1]);
                kernel.limit.flops = nb::cast<double>(row[2]);
                kernel.limit.bytes = nb::cast<double>(row[3]);
                kernel.limit.seconds = nb::cast<double>(row[4]);
                kernel.limit.is_bound_by_memory = nb::cast<bool>(row[5]);
                kernel.seconds = nb::cast<double>(row[6]);
                kernels.push_back(std::move(kernel));
            }
            return mosaic::table(kernels);
        },
        nb::arg("rows"), "Work, limits and times of kernels as a table.");
    bind_schema(module);
    bind_tiles(module);
    bind_reports(module);
    bind_kernels(module);
    nb::class_<mosaic::Options>(module, "Options")
        .def(
            "__init__",
            [](mosaic::Options* self, const Schema* schema, const std::string& target,
               bool reuse_buffers, bool fuse, bool whole_model, int threads,
               const std::string& cache_folder, std::vector<Tensor> inputs, const std::string& name,
               const execute::Placement& placement, std::vector<std::string> devices) {
                new (self) mosaic::Options(options_from(
                    schema, target, reuse_buffers, fuse, whole_model, threads, cache_folder,
                    std::move(inputs), name, placement, std::move(devices)));
            },
            nb::arg("schema").none(), nb::arg("target"), nb::arg("reuse_buffers"), nb::arg("fuse"),
            nb::arg("whole_model"), nb::arg("threads"), nb::arg("cache_folder"), nb::arg("inputs"),
            nb::arg("name"), nb::arg("placement"), nb::arg("devices"));
    module.def(
        "choose_placement",
        [](const execute::Compiled& compiled, const std::vector<std::string>& devices) {
            const Released released;
            return mosaic::choose_placement(compiled.unscheduled(), devices,
                                            compiled.options().threads);
        },
        nb::arg("compiled"), nb::arg("devices"), nb::call_guard<Located>());
    bind_program(module);
    module.def(
        "compile",
        [](const std::vector<Tensor>& outputs, const mosaic::Options& options) {
            const Released released;
            return Program(outputs, options);
        },
        nb::call_guard<Located>());
    module.def(
        "evaluate",
        [](const std::vector<Tensor>& outputs, const mosaic::Options& options) {
            return computed([&] { return mosaic::evaluate(outputs, options); });
        },
        nb::call_guard<Located>());
}

}  // namespace composit::python
