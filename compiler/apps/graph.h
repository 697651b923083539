// Graphs as the apps read them: the edges of node i are target[row[i]] to target[row[i + 1] - 1].
#include "atomics.h"

#define UNREACHED 0xffffffffu

// SplitMix64's output for state `id`. No two are equal, because each step of the hash is invertible.
ulong priority_of(uint id) {
  ulong z = id + 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  return z ^ (z >> 31);
}

// Loops over this thread's nodes. Blocks of nodes are dealt round robin to the groups, so that groups do not share cache lines.
#define EACH_NODE(node, nodes)                                                                                    \
  for (uint block = block_of(nodes), from = get_group_id() * block; from < nodes; from += get_num_groups() * block) \
    for (uint node = from + get_local_id(), to = min(from + block, nodes); node < to; node += get_local_size())

uint block_of(uint nodes) {
  uint even = nodes / ((uint)get_num_groups() * 8) / 64 * 64;
  return clamp(even, max(64u, (uint)get_local_size()), 65536u);
}

