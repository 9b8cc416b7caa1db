// composit/numpy/random.h.
#include "casters.h"
#include "composit/numpy/random.h"
#include "location.h"
#include "numpy.h"

#include <nanobind/stl/array.h>

namespace composit::python {

using ir::Shape;
using numpy::RandomState;

void bind_numpy_random(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<RandomState>(module, "RandomState", "NumPy's legacy generator, MT19937.")
        .def(nb::init<int64_t>())
        .def(nb::init<const std::vector<uint32_t>&>())
        .def("seed", nb::overload_cast<int64_t>(&RandomState::seed))
        .def("seed_key", nb::overload_cast<const std::vector<uint32_t>&>(&RandomState::seed))
        .def("random", &RandomState::random, located)
        .def("rand", &RandomState::rand, located)
        .def("uniform", &RandomState::uniform, located)
        .def("standard_normal", &RandomState::standard_normal, located)
        .def("randn", &RandomState::randn, located)
        .def("normal", &RandomState::normal, located)
        .def("exponential", &RandomState::exponential, located)
        .def("randint", &RandomState::randint, located)
        .def("permutation", &RandomState::permutation, located)
        .def("get_state",
             [](const RandomState& self) {
                 const RandomState::State& state = self.state();
                 return nb::make_tuple(std::vector<uint32_t>(state.key.begin(), state.key.end()),
                                       state.position, state.has_gauss, state.gauss);
             })
        .def("set_state", [](RandomState& self, const std::array<uint32_t, 624>& key, int position,
                             bool has_gauss,
                             double gauss) { self.set_state({key, position, has_gauss, gauss}); });
}

}  // namespace composit::python
