// What the programs share. Each says above itself what it puts into its slots. A value counts once
// however many groups put it, and shows if one of them puts another.
void put(global int *out, int slot, int value) {
  atomic_max(out + 2 * slot, value);
  atomic_min(out + 2 * slot + 1, value);
}
