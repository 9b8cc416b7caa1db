#include "axes.h"

#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "shown.h"
#include "values.h"

#include <algorithm>

namespace composit::python {

std::vector<int64_t> places_from(const std::string& function, nb::handle axes, int rank) {
    std::vector<int64_t> places;
    const auto add = [&](nb::handle axis) {
        places.push_back(numpy::normalize_axis(function, integer_from(axis), rank));
    };
    if (PyTuple_Check(axes.ptr()) || PyList_Check(axes.ptr()))
        for (nb::handle axis : axes) add(axis);
    else
        add(axes);
    for (size_t i = 0; i < places.size(); ++i)
        user_check(std::find(places.begin() + static_cast<std::ptrdiff_t>(i) + 1, places.end(),
                             places[i]) == places.end(),
                   function, ": repeated axis in ", Shown{axes}, ". Each is named once.");
    return places;
}

int64_t one_axis_from(const std::string& function, nb::handle axis, int rank) {
    const std::vector<int64_t> places = places_from(function, axis, rank);
    user_check(places.size() == 1, function, ": axis is ", Shown{axis},
               ". One axis is required, not ", places.size(), ".");
    return places[0];
}

}  // namespace composit::python
