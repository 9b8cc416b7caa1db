// The header of a safetensors file: which tensors, where. Nothing of it is believed unchecked.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::nn {

struct StoredTensor {
    std::string name;
    ir::DType dtype;
    ir::Shape shape;
    uint64_t begin = 0, end = 0;  // bytes behind the header
};
struct SafetensorsHeader {
    std::vector<StoredTensor> tensors;  // in the order of their bytes
    std::map<std::string, std::string> metadata;
};

// The header that `text` is, for a file with `bytes` behind it. ValueError, which begins with
// `where`: no JSON of the format, names that come twice, shapes that do not fit their bytes, bytes
// that belong to two tensors or to none. NotSupported: a dtype that composit does not have.
SafetensorsHeader parse_safetensors_header(std::string_view where, std::string_view text,
                                           uint64_t bytes);

// The reverse, in the library's own form, filled up to a multiple of eight bytes. NotSupported for
// complex128, ValueError for names that are no UTF-8 or "__metadata__".
std::string safetensors_header_text(std::string_view where, const SafetensorsHeader& header);

// The order in which the library stores dtypes, widest first.
int safetensors_rank(ir::DType dtype);

}  // namespace composit::nn
