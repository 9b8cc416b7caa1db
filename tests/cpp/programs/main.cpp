// Runs the programs on standard input, each of which ends with the line `run`: after what one
// prints comes the line `end`. An argument names a fault (program.h) that all of them run with.
#include "program.h"

#include <cstdio>
#include <iostream>

int main(int count, char** arguments) {
    using namespace composit::tests;
    const Fault fault = fault_named(count > 1 ? arguments[1] : "none");
    std::vector<std::string> lines;
    for (std::string line; std::getline(std::cin, line);) {
        if (line != "run") {
            lines.push_back(std::move(line));
            continue;
        }
        size_t at = 0;
        const std::string printed = Program(fault).run(parse_block(lines, at, 0));
        std::printf("%send\n", printed.c_str());
        std::fflush(stdout);
        lines.clear();
    }
    return 0;
}
