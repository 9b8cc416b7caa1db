// Nested tuples, lists and dictionaries, as structure.py sees them: what is neither is a leaf, and
// None is part of the structure.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

class Structure {
  public:
    Structure() = default;
    // That of `value`; appends its leaves.
    Structure(nb::handle value, std::vector<nb::object>& leaves) { collect(value, leaves); }

    // Whether `value` has this structure; if so its leaves are appended.
    bool match(nb::handle value, std::vector<nb::object>& leaves) const;
    // A value of this structure with these leaves.
    nb::object build(const std::vector<nb::object>& leaves) const;

    // visit(object) for every Python object held, until one returns a number that is not 0.
    template <class Visit>
    int visit(Visit&& visit) const {
        for (const Part& part : parts_)
            if (const int stop = part.what.is_valid() ? visit(part.what.ptr()) : 0) return stop;
        return 0;
    }

  private:
    enum class Kind : uint8_t { leaf, none, tuple, list, dictionary, other_sequence };
    struct Part {
        Kind kind;
        Py_ssize_t count = 0;  // of the parts inside, which follow
        nb::object what;       // a dictionary's keys, another sequence's type
    };
    static Kind kind_of(nb::handle value);
    void collect(nb::handle value, std::vector<nb::object>& leaves);
    bool match_part(nb::handle value, size_t& part, std::vector<nb::object>& leaves) const;
    nb::object build_part(size_t& part, const std::vector<nb::object>& leaves, size_t& leaf) const;

    std::vector<Part> parts_;  // containers before what they contain
};

}  // namespace composit::python
