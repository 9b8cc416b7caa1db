// The spellings in which OpenCL C and CUDA C++ differ. Kernels are printed once (kernel_text.h), in
// what both languages have in common: C with explicit fma, in the order that kernels say.
#pragma once

#include "composit/backends/c_family/scalar_spelling.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace composit::simt {

struct Dialect {
    std::string_view name;           // "OpenCL C 1.2"
    std::string_view prelude;        // types and functions that every text begins with
    std::string_view fault_text;     // behind it where indices may be out of bounds: fault.h
    std::string_view counter_text;   // the function set_counter(an int64's address, number)
    std::string_view kernel_start;   // "__kernel void "
    std::string_view global;         // before the type that a pointer to device memory points to
    std::string_view local;          // before an array that the threads of a group share
    std::string_view local_pointer;  // before the type that a pointer to such an array points to
    std::string_view restricted;     // behind the star of a pointer: nothing else points there
    std::string_view group[2];       // the group's number along x and y, an int
    std::string_view thread;         // the thread's number in its group, an int
    std::string_view global_thread;  // the thread's number along x among those of all groups
    // Statements: the group's threads wait for one another, and see what they wrote into memory
    // that they share; into any memory.
    std::string_view barrier, barrier_of_all;
    // Before a function's name: how many threads a group has, and how many groups a processor
    // should have room for.
    std::string (*bounds)(int64_t threads, int64_t groups);
    // An address is a pair of parameters, "x_memory" and "x_start" in bytes; else one pointer.
    bool has_starts = false;
    // Threads of a warp can read one another's registers: lane_below(x, 16) is x of the thread 16
    // places further in 32.
    bool has_warps = false;
    // The device is a CPU, whose threads take groups one after the other: a group of one thread,
    // with loops that the compiler makes vectors of, is what it is good at.
    bool threads_are_loops = false;
    c_family::ScalarSpelling scalars;

    // Words that no name of a user may be: keywords, types and functions of both languages.
    static const std::set<std::string>& words();
};

const Dialect& opencl();
const Dialect& opencl_of_cpus();
const Dialect& cuda();

}  // namespace composit::simt
