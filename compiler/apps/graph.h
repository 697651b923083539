// Graphs as the apps read them: the edges of node i are target[row[i]] .. target[row[i + 1] - 1].
#define UNREACHED 0xffffffffu

// SplitMix64's output for state `id`: priorities that are distinct up to ties, which ids break.
ulong priority_of(uint id) {
  ulong z = id + 0x9E3779B97F4A7C15ul;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
  return z ^ (z >> 31);
}

bool is_higher(uint a, uint b) {
  ulong pa = priority_of(a), pb = priority_of(b);
  return pa > pb || (pa == pb && a > b);
}
