// composit/execute/execute.h and composit/functional/functional.h: running graphs, and functions of
// functions.
#include "composit/execute/execute.h"

#include "bindings.h"
#include "calling.h"
#include "casters.h"
#include "composit/eager/history.h"
#include "composit/exporters/device_source/device_source.h"
#include "composit/functional/functional.h"
#include "composit/functional/loops.h"
#include "composit/functional/scan.h"
#include "composit/functional/while_loop.h"
#include "donation.h"
#include "flags.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using execute::Compiled;
using execute::Options;

void bind_compiled(nb::module_& module) {
    nb::class_<Compiled>(module, "Compiled", "One specialisation of a function, ready to call.")
        .def(nb::init<std::string, std::vector<Tensor>, std::vector<Tensor>, Options>())
        .def("__call__",
             [](const Compiled& self, nb::args arguments) {
                 const auto arrays = arrays_from(arguments);
                 std::vector<nb::object> given;
                 for (nb::handle argument : arguments) given.push_back(nb::borrow(argument));
                 const Donation donation(self, given);
                 return computed([&] { return self(arrays); });
             })
        .def(
            "on_device",
            [](const Compiled& self, const std::vector<Tensor>& arguments) {
                std::vector<ir::Array> results;
                {
                    const Released released;
                    results = self(eager::look(arguments, {}));
                }
                nb::list tensors;
                for (ir::Array& result : results)
                    tensors.append(wrap_array(ir::constant(std::move(result))));
                return tensors;
            },
            "Of tensors; the results are tensors that lie where the program runs.")
        .def("seconds_of_kernels",
             [](const Compiled& self, nb::args arguments) {
                 const auto arrays = arrays_from(arguments);
                 const Released released;
                 return self.seconds_of_kernels(arrays);
             })
        .def("timeline",
             [](const Compiled& self, nb::args arguments) {
                 const auto arrays = arrays_from(arguments);
                 const Released released;
                 return self.timeline(arrays);
             })
        .def(
            "run_stream",
            [](const Compiled& self, const std::vector<std::vector<Tensor>>& calls, int in_flight) {
                std::vector<std::vector<ir::Array>> results;
                {
                    const Released released;
                    std::vector<std::vector<ir::Array>> arguments;
                    for (const std::vector<Tensor>& call : calls)
                        arguments.push_back(eager::look(call, {}));
                    results = self.run_stream(arguments, in_flight);
                }
                nb::list all;
                for (std::vector<ir::Array>& each : results) {
                    nb::list arrays;
                    for (ir::Array& result : each)
                        arrays.append(result.remote() ? wrap_array(ir::constant(std::move(result)))
                                                      : ndarray_from(std::move(result)));
                    all.append(std::move(arrays));
                }
                return all;
            },
            nb::arg("calls"), nb::arg("in_flight") = 0)
        .def_prop_ro("name", [](const Compiled& self) { return self.name(); })
        .def_prop_ro("inputs", [](const Compiled& self) { return self.inputs(); })
        .def_prop_ro("outputs", [](const Compiled& self) { return self.outputs(); })
        .def_prop_ro("lowered_outputs", [](const Compiled& self) { return self.lowered_outputs(); })
        .def_prop_ro("passes",
                     [](const Compiled& self) {
                         nb::list passes;
                         for (const Compiled::Pass& pass : self.passes())
                             passes.append(nb::make_tuple(pass.name, pass.before, pass.after));
                         return passes;
                     })
        .def_prop_ro(
            "program", [](const Compiled& self) { return &self.program(); },
            nb::rv_policy::reference_internal)
        .def_prop_ro(
            "unscheduled", [](const Compiled& self) { return &self.unscheduled(); },
            nb::rv_policy::reference_internal, "The kernels that placements name.")
        .def_prop_ro("plan", [](const Compiled& self) { return self.plan(); })
        .def_prop_ro("source", [](const Compiled& self) { return self.source(); })
        .def(
            "source_for",
            [](const Compiled& self, const std::string& language) {
                return device_source::print_for(language,
                                                self.program_for(device_source::target_of_groups(),
                                                                 device_source::unprintable));
            },
            nb::arg("language"), nb::call_guard<Located>(),
            "The kernels in the language of a device that need not be here: opencl or cuda.")
        .def_prop_ro("build_command", [](const Compiled& self) { return self.build_command(); })
        .def_prop_ro("placements",
                     [](const Compiled& self) {
                         nb::list placements;
                         for (const execute::PlacedKernel& placement : self.placements())
                             placements.append(nb::make_tuple(placement.kernel, placement.backend,
                                                              placement.why));
                         return placements;
                     })
        .def_prop_ro("placement", [](const Compiled& self) { return self.options().placement; })
        .def_prop_ro("options", [](const Compiled& self) { return self.options(); });
}

void bind_functional(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "compile_function",
        [](const Function& function, const Tensors& examples, const Options& options,
           const std::string& name, const std::vector<size_t>& donated, int64_t most_nodes,
           const std::function<std::vector<std::string>()>& output_names) {
            const Released released;  // `function` takes it back when it is called
            Options own = options;
            own.donated = donated;
            own.most_nodes = most_nodes;
            // Names are known when the function has returned its results.
            const Function with_names = [&](const Tensors& arguments) {
                Tensors results = function(arguments);
                own.output_names = output_names();
                return results;
            };
            return compile_function(with_names, examples, own, name);
        },
        located);
    module.def(
        "value_and_gradients",
        [](const Function& function, const Tensors& arguments,
           const std::vector<int64_t>& argnums) {
            Gradients both = value_and_gradients(function, arguments, argnums);
            return std::make_pair(both.values, both.gradients);
        },
        located);
    module.def("vjp_function", &vjp_function, located);
    module.def("jvp_function", &jvp_function, located);
    module.def(
        "fori_loop",
        [](int64_t lower, int64_t upper, const LoopBody& body, const Tensors& init,
           const std::string& name) { return fori_loop(lower, upper, body, init, name); },
        located);
    module.def(
        "scan",
        [](const nb::callable& body, const Tensors& init, const Tensors& xs,
           std::optional<int64_t> length, bool reverse, const std::string& name) {
            const auto step = [&](const Tensors& carry, const Tensors& x) {
                auto [next, y] = nb::cast<std::pair<Tensors, Tensors>>(body(carry, x));
                return Scanned{std::move(next), std::move(y)};
            };
            const Scanned made = scan(step, init, xs, length, reverse, name);
            return std::pair(made.carry, made.ys);
        },
        nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(), located);
    module.def(
        "while_loop",
        [](const nb::callable& condition, const nb::callable& step, const Tensors& init) {
            // What cannot be made of placeholders may be made of values.
            const auto called = [](const nb::callable& function, const Tensors& state) {
                try {
                    return function(state);
                } catch (nb::python_error& error) {
                    if (!error.matches(PyExc_NotImplementedError)) throw;
                    throw NotSupported(nb::cast<std::string>(nb::str(error.value())));
                }
            };
            return while_loop(
                [&](const Tensors& state) { return nb::cast<Tensor>(called(condition, state)); },
                [&](const Tensors& state) { return nb::cast<Tensors>(called(step, state)); }, init);
        },
        located);
    module.def(
        "vmap_function",
        [](const Function& function, const Tensors& arguments, nb::sequence in_axes,
           int64_t out_axis) {
            InAxes axes;
            for (nb::handle axis : in_axes)
                axes.push_back(axis.is_none() ? std::nullopt : std::optional(integer_from(axis)));
            return vmap_function(function, arguments, axes, out_axis);
        },
        located);
}

}  // namespace

void bind_execute(nb::module_& module) {
    bind_placement(module);
    nb::class_<Options>(module, "Options")
        .def(
            "__init__",
            [](Options* self, const std::string& backend, int threads, bool fuse,
               bool reuse_buffers, const std::string& cache_folder, int64_t bytes_of_part,
               bool whole_model, std::shared_ptr<const transforms::Pipeline> pipeline,
               const execute::Placement& placement) {
                new (self) Options{.backend = backend,
                                   .threads = threads,
                                   .fuse = fuse,
                                   .reuse_buffers = reuse_buffers,
                                   .cache_folder = cache_folder,
                                   .bytes_of_part = bytes_of_part,
                                   .whole_model = whole_model,
                                   .pipeline = std::move(pipeline),
                                   .placement = placement};
            },
            nb::arg("backend") = "interpreter", nb::arg("threads") = 0, nb::arg("fuse") = true,
            nb::arg("reuse_buffers") = true, nb::arg("cache_folder") = "",
            nb::arg("bytes_of_part") = 0, nb::arg("whole_model") = true,
            nb::arg("pipeline").none() = nb::none(), nb::arg("placement") = execute::Placement())
        .def(
            "on",
            [](const Options& self, const std::string& backend) {
                Options there = self;
                there.backend = backend;
                return there;
            },
            "The same on another back end.")
        .def(
            "waiting",
            [](const Options& self, TruthFlag waits) {
                Options there = self;
                there.waits = waits;
                return there;
            },
            "The same, where a back end's compiler is waited for, or the interpreter answers until "
            "it has ended.")
        .def_ro("backend", &Options::backend)
        .def_ro("threads", &Options::threads)
        .def_ro("fuse", &Options::fuse)
        .def_ro("reuse_buffers", &Options::reuse_buffers)
        .def_ro("cache_folder", &Options::cache_folder)
        .def_ro("bytes_of_part", &Options::bytes_of_part)
        .def_ro("whole_model", &Options::whole_model);
    bind_compiled(module);
    bind_functional(module);
    module.def("evaluate", [](const std::vector<Tensor>& outputs, const Options& options) {
        return computed([&] { return execute::evaluate(outputs, options); });
    });
    module.def(
        "evaluate_and_keep",
        [](const std::vector<Tensor>& tensors, const Options& options) {
            return computed([&] { return execute::evaluate_and_keep(tensors, options); });
        },
        "evaluate, remembered by the nodes (composit/execute/execute.h).");
    module.def(
        "look",
        [](const std::vector<Tensor>& tensors, const Options& options) {
            nb::list values = computed([&] { return eager::look(tensors, options); });
            eager::shorten_history();
            return values;
        },
        "evaluate, remembered (composit/eager/cell.h).");
    module.def("history_bytes", &ir::history_bytes,
               "Bytes of values that are kept although nothing holds them any more.");
    module.def("set_most_history_bytes", &ir::set_most_history_bytes,
               "How many there may be; the oldest are computed again if they are needed.");
    module.def("history_nodes", &eager::history_nodes, "Nodes behind values that were looked at.");
    module.def("set_most_history_nodes", &eager::set_most_history_nodes, nb::arg("nodes"),
               "How many there may be, about; the oldest give way to leaves that know what they "
               "were made of.");
    module.def("default_threads", &execute::default_threads);
    module.def("plan_statistics", [] {
        const execute::PlanStatistics statistics = execute::plan_statistics();
        return nb::make_tuple(statistics.plans, statistics.hits, statistics.misses);
    });
    module.def("clear_plans", &execute::clear_plans);
}

}  // namespace composit::python
