// composit/transforms/pipeline.h and composit/target/target.h: passes that users write in Python.
#include "composit/transforms/pipeline.h"

#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/runtime/backend.h"
#include "held.h"
#include "interpreter_lock.h"
#include "location.h"

#include <nanobind/stl/shared_ptr.h>

namespace composit::python {
namespace {

using ir::kernel::Program;
using transforms::Pipeline;

// A function of a stage in Python, called by a name; what it makes is a `Result`.
template <class Result>
struct PythonPass {
    std::string name;
    std::shared_ptr<nb::object> function;
    const char* wanted;

    template <class... Arguments>
    Result operator()(Arguments&&... arguments) const {
        const Acquired acquired;
        const nb::object made = (*function)(nb::cast(std::forward<Arguments>(arguments))...);
        try {
            return nb::cast<Result>(made);
        } catch (const std::exception&) {  // of the caster, which knows nothing of passes
            fail<TypeError>("pipeline: pass '", name, "' made ", nb::repr(made).c_str(), ". ",
                            wanted, " is required.");
        }
    }
};

std::shared_ptr<const Pipeline> with_pass(const Pipeline& pipeline, const std::string& name,
                                          nb::object function, const std::string& stage,
                                          const std::string& before) {
    const std::shared_ptr<nb::object> kept = held(std::move(function));
    const PythonPass<Program> of_program{name, kept, "A program"};
    Pipeline changed;
    if (stage == "graph") {
        const PythonPass<std::vector<ir::Tensor>> of_graph{name, kept, "A list of tensors"};
        changed = pipeline.with(transforms::GraphPass{name, of_graph}, before);
    } else if (stage == "program") {
        changed = pipeline.with(transforms::ProgramPass{name, of_program}, before);
    } else {
        user_check<ValueError>(stage == "schedule", "pipeline: the stage of '", name, "' is '",
                               stage, "'. graph, program or schedule is required.");
        changed = pipeline.with(transforms::SchedulePass{name, of_program}, before);
    }
    return std::make_shared<const Pipeline>(std::move(changed));
}

}  // namespace

void bind_pipeline(nb::module_& module) {
    nb::class_<Target>(module, "Target")
        .def_ro("part_bytes", &Target::part_bytes)
        .def_ro("near_bytes", &Target::near_bytes)
        .def_ro("group_bytes", &Target::group_bytes)
        .def_ro("least_row_bytes", &Target::least_row_bytes)
        .def_ro("enough_row_bytes", &Target::enough_row_bytes)
        .def_ro("column_part_bytes", &Target::column_part_bytes)
        .def_ro("least_packed_bytes", &Target::least_packed_bytes)
        .def_ro("enough_parts", &Target::enough_parts)
        .def_ro("few_parts", &Target::few_parts)
        .def_ro("least_columns", &Target::least_columns)
        .def_ro("tile_columns", &Target::tile_columns)
        .def_ro("least_product", &Target::least_product)
        .def_ro("most_decoded_rows", &Target::most_decoded_rows)
        .def_ro("depth_of_map", &Target::depth_of_map)
        .def_ro("most_narrow", &Target::most_narrow)
        .def_ro("least_block_rows", &Target::least_block_rows)
        .def_ro("enough_block_rows", &Target::enough_block_rows)
        .def_ro("most_block_rows", &Target::most_block_rows)
        .def_ro("most_inputs", &Target::most_inputs)
        .def_ro("most_outputs", &Target::most_outputs)
        .def_ro("most_operations", &Target::most_operations)
        .def("with_part_bytes", &Target::with_part_bytes);
    const nb::call_guard<Located> located;
    nb::class_<Pipeline>(module, "Pipeline", "A list of passes; changes make another one.")
        .def_prop_ro(
            "names", [](const Pipeline& self) { return self.names(); }, "All passes, in order.")
        .def(
            "without",
            [](const Pipeline& self, const std::string& name) {
                return std::make_shared<const Pipeline>(self.without(name));
            },
            nb::arg("name"), located,
            "Without the pass of that name. KeyError where there is none; ValueError for `lower` "
            "and `plan_buffers`, without which nothing runs.")
        .def("with_pass", &with_pass, nb::arg("name"), nb::arg("function"), nb::kw_only(),
             nb::arg("stage"), nb::arg("before") = "", located,
             "With one more pass: before the one of that name in its stage, else at the stage's "
             "end. ValueError for a name that is there; KeyError where the stage has none called "
             "`before`.")
        .def("__repr__",
             [](const Pipeline& self) { return "Pipeline(" + join(self.names()) + ")"; });
    module.def(
        "standard_pipeline",
        [] { return std::make_shared<const Pipeline>(transforms::standard_pipeline()); },
        "The passes that run where nobody asks for others.");
    module.def(
        "target_of", [](const std::string& backend) { return runtime::backend(backend)->target(); },
        nb::arg("backend") = "interpreter", located,
        "The Target of a back end. KeyError for a name that is none.");
    module.def("merge_maps", &transforms::merge_maps);
    module.def("fuse_rows", &transforms::fuse_rows);
    module.def("finish_products", &transforms::finish_products);
    module.def("pack_constants", &transforms::pack_constants);
    module.def("inline_calls", [](const std::vector<ir::Tensor>& tensors) {
        return transforms::inline_calls(tensors);
    });
    module.def("simplify", &transforms::simplify);
}

}  // namespace composit::python
