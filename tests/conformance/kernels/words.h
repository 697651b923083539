// words.hpp in OpenCL C, for the twins: a twin is the OpenCL C version of a kernel, with the same
// name, parameters and words. A group of the dialect ends inside the offer that removes it. So it
// records before an offer that it leaves, and takes the record back if it stays. A group learns
// from a transmitted variable that it has joined.
#pragma once

bool leads(void) { return get_local_id() == 0; }

/// Counts once per group.
void count(global uint *word) {
  if (leads()) atomic_inc(word);
}
void uncount(global uint *word) {
  if (leads()) atomic_dec(word);
}
void expect(global uint *wrong, bool right) {
  if (!right) atomic_inc(wrong);
}
/// Reads, once for the whole group, a word that the host or other groups change.
uint told(global uint *word) { return work_group_broadcast(*(volatile global uint *)word, 0); }
/// Waits for a condition that is not part of the behaviour under test.
void hold_until(global uint *word, uint least) {
  while (*(volatile global uint *)word < least) {
  }
}
void hold(global uint *word) { hold_until(word, 1); }
/// Lets other groups run, most likely.
void pause_at(global uint *word, uint times) {
  for (uint i = 0; i < times * 100; i++) *(volatile global uint *)word;
}

// The words of Notes: the count, then the numbers.
void note(global uint *notes, uint number) {
  uint at = atomic_inc(notes);
  if (at < 1023) notes[1 + at] = number;
}

// The words of Ids: clashes, groups inside, the largest number inside, the number of holders of
// each id, and a plain word for each id.
#define MOST_IDS 64
void enter(global uint *ids) {
  uint id = get_group_id();
  if (!leads()) return;
  if (id >= MOST_IDS || atomic_inc(ids + 3 + id) != 0) {
    atomic_inc(ids);
    return;
  }
  ids[3 + MOST_IDS + id]++;
  atomic_max(ids + 2, atomic_inc(ids + 1) + 1);
}
void exit_from(global uint *ids) {
  uint id = get_group_id();
  if (!leads() || id >= MOST_IDS) return;
  atomic_dec(ids + 1);
  atomic_dec(ids + 3 + id);
}
