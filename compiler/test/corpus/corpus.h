// Shared by the programs of the corpus. A comment above each program lists the values that it puts
// into its slots. A value counts once, however many groups put it; if a group puts a different
// value, the result shows that.
void put(global int *out, int slot, int value) {
  atomic_max(out + 2 * slot, value);
  atomic_min(out + 2 * slot + 1, value);
}
