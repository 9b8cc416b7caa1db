#include "instances.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <nb_internals.h>  // private to nanobind: nothing public says how full its tables are

namespace composit::python {
namespace {

constexpr size_t most_of_a_call = 512;

template <class Table>
void make_room(Table& table) {
    const auto most =
        static_cast<size_t>(static_cast<float>(table.bucket_count()) * table.max_load_factor());
    const size_t wanted = table.size() + most_of_a_call;
    if (wanted > most) [[unlikely]]
        table.reserve(std::max(wanted, most + 1));  // doubles, as the table does by itself
}

}  // namespace

void make_room_for_instances() {
#if !defined(NB_FREE_THREADED)
    nanobind::detail::nb_shard& tables = nanobind::detail::internals->shards[0];
    make_room(tables.inst_c2p);
    make_room(tables.keep_alive);
#endif
}

}  // namespace composit::python
