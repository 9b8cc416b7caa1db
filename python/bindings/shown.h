// Python's values in messages of errors: their texts are made where there is an error.
#pragma once

#include <nanobind/nanobind.h>

#include <ostream>

namespace composit::python {

// repr(value)
struct Shown {
    nanobind::handle value;
    friend std::ostream& operator<<(std::ostream& out, const Shown& shown) {
        return out << nanobind::repr(shown.value).c_str();
    }
};
// str(value)
struct Said {
    nanobind::handle value;
    friend std::ostream& operator<<(std::ostream& out, const Said& said) {
        return out << nanobind::str(said.value).c_str();
    }
};
// type(value).__name__
struct KindOf {
    nanobind::handle value;
    friend std::ostream& operator<<(std::ostream& out, const KindOf& kind) {
        const nanobind::object name = kind.value.type().attr("__name__");
        return out << nanobind::str(name).c_str();
    }
};

}  // namespace composit::python
