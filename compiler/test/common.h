// Shared by the test programs. One pass changes every item once. A program is right if its passes
// come in the right order.
uint stir(uint item, uint key) { return item * 1664525u + key * 2654435761u + 1013904223u; }

void pass(global uint *out, uint n, uint key) {
  for (uint i = get_global_id(); i < n; i += get_global_size()) out[i] = stir(out[i], key);
}
