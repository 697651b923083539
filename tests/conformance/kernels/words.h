// What the twins share: words.hpp in OpenCL C. A twin has the name, the parameters and the words of its kernel in C++.
// A group of the dialect ends where it is taken away, so it notes before an offer that it leaves, and takes that back after
// an offer in which it stays. A group learns that it has joined from a transmitted variable.
#pragma once

bool leads(void) { return get_local_id() == 0; }

/// Once for the group.
void count(global uint *word) {
  if (leads()) atomic_inc(word);
}
void uncount(global uint *word) {
  if (leads()) atomic_dec(word);
}
void expect(global uint *wrong, bool right) {
  if (!right) atomic_inc(wrong);
}
/// A word that the host or other groups change, read once for the whole group.
uint told(global uint *word) { return work_group_broadcast(*(volatile global uint *)word, 0); }
/// Waits for a condition outside the behaviour under test.
void hold_until(global uint *word, uint least) {
  while (*(volatile global uint *)word < least) {
  }
}
void hold(global uint *word) { hold_until(word, 1); }
/// Lets other groups run, most likely.
void pause_at(global uint *word, uint times) {
  for (uint i = 0; i < times * 100; i++) *(volatile global uint *)word;
}

// Notes: how many, then the numbers.
void note(global uint *notes, uint number) {
  uint at = atomic_inc(notes);
  if (at < 1023) notes[1 + at] = number;
}

// Ids: clashes, groups inside, the most there were, the holders of each id, and a plain word of each.
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
