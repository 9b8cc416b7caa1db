// Uses a header and a function of the installed library.
#include "composit/ir/dtype.h"
#include "composit/version.h"

#include <cstdio>

int main() {
    std::printf("composit %s\n", composit::version);
    return composit::ir::size_of(composit::ir::DType::float32) == 4 ? 0 : 1;
}
