// Identifiers for generated code: the user's names, made valid and distinct.
#pragma once

#include "composit/backends/c_family/taken_names.h"

#include <set>
#include <string>
#include <string_view>

namespace composit::c_family {

// `wish` with everything that C++ does not allow in an identifier replaced; "x" when nothing is
// left.
std::string identifier(std::string_view wish);

// Names of one scope.
class Names {
  public:
    explicit Names(std::set<std::string> taken = {}) : taken_(std::move(taken)) {}
    // Names of a scope inside: those claimed in it leave `outer`, which outlives it, as it is.
    static Names within(const Names& outer) {
        Names inner;
        inner.taken_ = TakenNames::within(outer.taken_);
        return inner;
    }

    // A valid identifier like `wish` that nobody has claimed and that no keyword is.
    std::string claim(std::string_view wish);
    TakenNames& taken() { return taken_; }

  private:
    TakenNames taken_;
};

// Names that C++ code declares outside functions, classes and parameter lists, and its macros. Some
// that it merely uses there may be among them.
std::set<std::string> declared_names(std::string_view code);

}  // namespace composit::c_family
