#include "composit/ir/tracing.h"

#include "composit/ir/node.h"

#include <utility>

namespace composit::ir {
namespace {

thread_local uint64_t begin_of_trace = 0;

}  // namespace

TraceScope::TraceScope() : around_(std::exchange(begin_of_trace, next_time())) {}
TraceScope::~TraceScope() { begin_of_trace = around_; }

uint64_t TraceScope::begin() { return begin_of_trace; }

}  // namespace composit::ir
