// The back end "cpp": prints a program as C++, compiles it with the system's compiler and loads it.
#pragma once

#include "composit/runtime/backend.h"

namespace composit::cpp {

class CppBackend : public runtime::Backend {
  public:
    std::string name() const override { return "cpp"; }
    Target target() const override {
        return {.part_bytes = 64 << 10, .near_bytes = 1 << 20, .most_decoded_rows = 8};
    }
    // Dtypes for which C++ code does not exist yet.
    bool compiles_for_long() const override { return true; }
    std::optional<std::string> refuses(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program) const override;
    // Throws NotSupported for what it refuses, and CompilationUnavailable (unavailable.h) when this
    // machine cannot compile. The compiled code is cached on disk (cache.h).
    std::shared_ptr<runtime::Executable> compile(const ir::kernel::Program& program,
                                                 const runtime::CompileOptions& options) override;
};

}  // namespace composit::cpp
