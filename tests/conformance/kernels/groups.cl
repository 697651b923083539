// The kernels of groups.hpp in OpenCL C. The dialect has no setup, so the code before the first
// offer takes its place.
#include "words.h"

kernel void numbered(uint groups, uint threads, global uint *marks, uint items, global uint *global_ids, global uint *wrong) {
  uint group = get_group_id();
  uint thread = get_local_id();
  uint id = get_global_id();
  expect(wrong, get_num_groups() == groups);
  expect(wrong, group < groups);
  expect(wrong, get_local_size() == threads);
  expect(wrong, thread < threads);
  expect(wrong, id == group * threads + thread);
  expect(wrong, get_global_size() == groups * threads);
  global_ids[id]++;
  for (uint i = id; i < items; i += get_global_size()) marks[i]++;
  uint mine = 0;
  for (uint i = thread; i < items; i += get_local_size()) mine++;
  expect(wrong, mine == (items + threads - 1 - thread) / threads);
}

kernel void prepared(global uint *table, uint first_groups, global uint *stop, global uint *set_up, global uint *ran,
                     global uint *wrong) {
  transmit uint forker = 0;
  expect(wrong, get_num_groups() == first_groups);
  if (leads()) {
    note(set_up, get_group_id());
    table[get_group_id()] = 1;
  }
  global_barrier();
  uint sum = 0;
  for (uint i = 0; i < first_groups; i++) sum += table[i];
  expect(wrong, sum == first_groups);
  global_barrier();
  if (leads()) table[get_group_id()] = 2;
  global_barrier();
  for (uint i = 0; i < first_groups; i++) expect(wrong, table[i] == 2);
  if (leads()) note(ran, get_group_id());
  while (told(stop) == 0) {
    forker = get_group_id();
    offer_kill();
    request_fork();
    if (forker != get_group_id()) {  // this group has joined
      for (uint i = 0; i < first_groups; i++) expect(wrong, table[i] == 2);
      if (leads()) note(ran, get_group_id());
    }
  }
}

kernel void prepared_steps(global uint *table, global uint *wrong) {
  for (uint i = get_global_id(); i < 100; i += get_global_size()) table[i] = 1;
  global_barrier();
  for (uint i = 0; i < 100; i++) expect(wrong, table[i] == 1);
}
