// How compiled modules are called: the table that each exports, and the text that makes it.
#pragma once

#include "composit/backends/c_family/kernel_module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::cpp {

// The first index out of bounds that a gather or scatter met; outer is -1 when there was none.
struct Fault {
    int64_t outer = -1, axis = 0, index = 0;
};

// A kernel's function with the pointers in an array. The generated text declares the same struct.
struct Entry {
    void (*run)(int64_t begin, int64_t end, void* const* at, void* scratch, Fault* fault);
    int64_t scratch_bytes;
};

inline constexpr const char* entries_symbol = "composit_kernels";  // const Entry[…]

// How wide the panels are in which a module's products read packed operands; runtime/packing.h.
using PanelWidth = int64_t (*)(bool is_left, int64_t element_bytes, int64_t remaining);
inline constexpr const char* panel_width_symbol = "composit_panel_width";

// Says whom the module asks for the products that are compiled with composit, by the length of
// vectors (runtime/ready_products.h); false: there are none of its length.
using UseProducts = bool (*)(const void* (*find)(int64_t vector_bytes));
inline constexpr const char* use_products_symbol = "composit_use_products";

// Says whom a module's long work asks whether it is to go on (prelude/pieces.h).
using Ask = void (*)(bool (*goes_on)());
inline constexpr const char* ask_symbol = "composit_ask";

// What all files of a program begin with: a large one has hundreds, so it is made once.
std::string head_of(const ir::kernel::Program& program, const std::string& build_command);
// The complete source of one module of a program; `model` (whole_model.h) stands at its end.
std::string source_of(const c_family::Module& module, const std::string& head,
                      const std::string& model = "");
// The symbols that the source of a module defines, beside those of a model.
std::vector<std::string> symbols_of(const c_family::Module& module);
// The complete source of a file that holds nothing but a model.
std::string source_of_model(const std::string& head, const std::string& model);

}  // namespace composit::cpp
