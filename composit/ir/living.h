// How many nodes there are.
#pragma once

#include <atomic>
#include <cstdint>

namespace composit::ir {

// In this process now. Those of a program's history are among them, and so are their leaves.
uint64_t living_nodes();

// Nodes count themselves when they end.
std::atomic<uint64_t>& nodes_gone();

}  // namespace composit::ir
