// How programs run, as Python's callers say it: options, devices of calls, values given to tensors.
#include "arguments.h"
#include "bindings.h"
#include "casters.h"
#include "composit/execute/execute.h"
#include "composit/functional/given_values.h"
#include "composit/ir/device_names.h"
#include "location.h"
#include "shown.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::python {
namespace {

// Nothing for None. ValueError unless it can be a number of `unit`.
int64_t positive_or_none(const char* name, nb::handle count, const char* unit) {
    if (count.is_none()) return 0;
    int overflow = 0;
    const bool is_integer = PyLong_Check(count.ptr());
    const int64_t number =
        is_integer ? PyLong_AsLongLongAndOverflow(count.ptr(), &overflow) : int64_t{0};
    user_check(is_integer && overflow == 0 && number >= 1 && number < int64_t{1} << 31, name, ": ",
               Shown{count}, " ", unit, ". A positive integer or None is required.");
    return number;
}

execute::Options run_options(nb::handle backend, nb::handle threads, bool fuse, bool reuse_buffers,
                             nb::handle cache_folder, nb::handle bytes_of_part, nb::handle pipeline,
                             const execute::Placement& placement, int usual_threads) {
    const int64_t count = positive_or_none("threads", threads, "threads");
    const int64_t bytes = positive_or_none("bytes_of_part", bytes_of_part, "bytes");
    user_check<TypeError>(PyUnicode_Check(backend.ptr()), "backend: ", Shown{backend},
                          " is not a name. A back end's name is required.");
    if (!cache_folder.is_none() && !PyUnicode_Check(cache_folder.ptr()))
        refuse_argument(cache_folder, "A text");
    std::shared_ptr<const transforms::Pipeline> passes;
    user_check<TypeError>(pipeline.is_none() || nb::isinstance<transforms::Pipeline>(pipeline),
                          "pipeline: ", Shown{pipeline},
                          ". A composit.pipeline.Pipeline is required.");
    if (!pipeline.is_none())
        passes = nb::cast<std::shared_ptr<const transforms::Pipeline>>(pipeline);
    return {.backend = nb::cast<std::string>(backend),
            .threads = static_cast<int>(count == 0 ? usual_threads : count),
            .fuse = fuse,
            .reuse_buffers = reuse_buffers,
            .cache_folder =
                cache_folder.is_none() ? "" : nb::cast<std::string>(nb::borrow(cache_folder)),
            .bytes_of_part = bytes,
            .pipeline = std::move(passes),
            .placement = placement};
}

// What a compiled function is called: as asked for, else as it is.
std::string name_of_compiled(nb::handle function, const std::optional<std::string>& name) {
    if (name && !name->empty()) return *name;
    return nb::str(nb::object(nb::getattr(function, "__name__", nb::str("f")))).c_str();
}

// Where a call with these runs: on the device that was asked for, else on that of its tensors,
// which may be several, of each array one; None: in host memory.
nb::object device_of_call(const std::string& name, nb::handle arrays, nb::handle asked) {
    std::vector<std::string> places;
    std::set<std::string> found;
    for (const nb::handle array : arrays) {
        const bool is_tensor = nb::isinstance<LazyTensor>(array);
        places.push_back(is_tensor
                             ? ir::device_name(nb::cast<const LazyTensor&>(array).cell()->device())
                             : "cpu");
        if (places.back() != "cpu") found.insert(places.back());
    }
    if (asked.is_none()) {
        if (found.empty()) return nb::none();
        return found.size() == 1 ? nb::cast(*found.begin())
                                 : nb::object(nb::tuple(nb::cast(places)));
    }
    const auto device = nb::cast<std::string>(asked);
    size_t place = 0;
    for (const nb::handle array : arrays) {
        const std::string& here = places[place++];
        if (here == "cpu" || here == device) continue;
        const auto called = nb::cast<std::string>(array.attr("name"));
        fail<RuntimeError>(name, ": device= is on ", device, " and '",
                           called.empty() ? "an argument" : called, "' on ", here,
                           ". Arguments of one device are required: move one of them with "
                           ".to(device).");
    }
    return nb::borrow(asked);
}

// evaluate's outputs over values for tensors, and over those that a cache knows.
std::vector<Tensor> with_given(const std::vector<Tensor>& outputs, const nb::dict& inputs) {
    std::vector<Tensor> tensors, values;
    for (const auto& [tensor, value] : inputs) {
        user_check<TypeError>(nb::isinstance<LazyTensor>(tensor), "evaluate: ", Shown{tensor},
                              " is given a value. A tensor is required.");
        tensors.push_back(tensor_from(tensor));
        values.push_back(tensor_from(numpy_attribute("asarray")(value)));
    }
    return functional::with_given_values(outputs, tensors, values);
}

}  // namespace

void bind_run_options(nb::module_& module) {
    using namespace nb::literals;
    module.def("run_options", &run_options, "backend"_a.none(), "threads"_a.none(), "fuse"_a,
               "reuse_buffers"_a, "cache_folder"_a.none(), "bytes_of_part"_a.none(),
               "pipeline"_a.none(), "placement"_a, "usual_threads"_a);
    module.def("device_of_call", &device_of_call, "name"_a, "arrays"_a, "asked"_a.none(),
               nb::call_guard<Located>());
    module.def("name_of_compiled", &name_of_compiled, "function"_a, "name"_a.none());
    module.def("with_given", &with_given, "outputs"_a, "inputs"_a, nb::call_guard<Located>());
}

}  // namespace composit::python
