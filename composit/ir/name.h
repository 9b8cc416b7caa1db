// Name: the name of a node. Equal names are one text, which is freed with the last that says it: a
// loop that names its numbers anew in every step (scalar_0.25, scalar_0.125, …) keeps none of them.
#pragma once

#include "composit/base/ref.h"

#include <string>
#include <string_view>

namespace composit::ir {

class Name {
  public:
    Name() = default;  // the empty one
    explicit Name(std::string_view text);

    const std::string& text() const;

  private:
    class Table;
    static Table& table();

    struct Shared : Counted<Shared> {
        explicit Shared(std::string_view said) : text(said) {}
        const std::string text;
        static void release(const Shared* shared);
    };
    Ref<Shared> shared_;
};

}  // namespace composit::ir
