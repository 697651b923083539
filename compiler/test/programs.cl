// Programs that cover the dialect's control flow, functions, memory and types, run while groups
// join and leave. Each takes (out, n, rounds) and makes passes over `out`; programs_test.cpp knows
// their order.
#include "common.h"

kernel void while_loop(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (r < rounds) {
    pass(out, n, r);
    resizing_global_barrier();
    r++;
  }
}

kernel void for_loop(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    pass(out, n, r);
    resizing_global_barrier();
  }
}

kernel void do_loop(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  do {
    pass(out, n, r);
    resizing_global_barrier();
  } while (++r < rounds);
}

kernel void nested_loops(global uint *out, uint n, uint rounds) {
  transmit uint r, s;
  for (r = 0; r < rounds; r += 4) {
    for (s = 0; s < 4; s++) {
      pass(out, n, r + s);
      resizing_global_barrier();
    }
  }
}

kernel void in_if(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    pass(out, n, r);
    if (r % 3 == 0) {
      resizing_global_barrier();
    } else {
      global_barrier();
    }
  }
}

kernel void both_branches(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    if (r & 1) {
      pass(out, n, r * 2);
      resizing_global_barrier();
      pass(out, n, 1);
    } else {
      pass(out, n, r * 3);
      resizing_global_barrier();
      pass(out, n, 2);
    }
    resizing_global_barrier();
  }
}

kernel void in_switch(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    switch (r % 4) {
      case 0:
        pass(out, n, 100);
        resizing_global_barrier();  // falls through to the next case
      case 1:
        pass(out, n, 101);
        resizing_global_barrier();
        break;
      case 2: {
        uint twice = 2 * r;
        pass(out, n, twice);
        resizing_global_barrier();
        break;
      }
      default:
        pass(out, n, 103);
        resizing_global_barrier();
    }
  }
}

kernel void two_barriers(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (r < rounds) {
    pass(out, n, r);
    resizing_global_barrier();
    r++;
    pass(out, n, r);
    resizing_global_barrier();
  }
}

kernel void in_a_row(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r += 5) {
    pass(out, n, 1);
    resizing_global_barrier();
    pass(out, n, 2);
    resizing_global_barrier();
    pass(out, n, 3);
    resizing_global_barrier();
    pass(out, n, 4);
    resizing_global_barrier();
    pass(out, n, 5);
    resizing_global_barrier();
  }
}

kernel void break_and_continue(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (true) {
    pass(out, n, r);
    resizing_global_barrier();
    r++;
    if (r % 2 == 0) continue;
    if (r > rounds) break;
    pass(out, n, 1000 + r);
    resizing_global_barrier();
  }
}

kernel void early_return(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  for (;;) {
    pass(out, n, r);
    resizing_global_barrier();
    if (++r == rounds) return;
  }
}

// ---- functions

void step_of(global uint *out, uint n, uint key) {
  pass(out, n, key);
  resizing_global_barrier();
}

kernel void in_function(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) step_of(out, n, r);
}

kernel void function_twice(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    step_of(out, n, r);
    step_of(out, n, 7);
  }
}

uint next_of(global uint *out, uint n, uint r) {
  pass(out, n, r);
  resizing_global_barrier();
  return r + 1;
}

kernel void function_value(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (r < rounds) r = next_of(out, n, r);
}

kernel void function_initialises(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (r < rounds) {
    uint next = next_of(out, n, r);
    pass(out, n, next * 3);
    resizing_global_barrier();
    r++;
  }
}

void deeper(global uint *data, uint count, uint key) {
  step_of(data, count, key);
  if (key % 2 == 0) step_of(data, count, 50);
}

kernel void function_in_function(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) deeper(out, n, r);
}

uint returns_early(global uint *out, uint n, uint r) {
  if (r % 3 == 0) {
    step_of(out, n, 30);
    return r + 1;
  }
  pass(out, n, r);
  resizing_global_barrier();
  if (r % 3 == 1) return r + 1;
  step_of(out, n, 32);
  return r + 1;
}

kernel void function_returns_early(global uint *out, uint n, uint rounds) {
  transmit uint r = 0;
  while (r < rounds) r = returns_early(out, n, r);
}

uint with_goto(uint x) {
  uint sum = 0;
again:
  sum += x;
  if (x-- > 1) goto again;
  return sum;
}

kernel void goto_in_function(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    pass(out, n, with_goto(r));
    resizing_global_barrier();
  }
}

// ---- memory

kernel void local_array(global uint *out, uint n, uint rounds) {
  local uint shared[64];
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    shared[get_local_id()] = r + get_local_id();
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = 0;
    for (uint i = 0; i < get_local_size(); i++) sum += shared[i] - i;
    barrier(CLK_LOCAL_MEM_FENCE);
    pass(out, n, sum / (uint)get_local_size());
    resizing_global_barrier();
  }
}

kernel void local_scalar(global uint *out, uint n, uint rounds) {
  local uint key;
  transmit uint r = 0;
  for (;;) {
    if (get_local_id() == 0) key = r * r;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (key >= rounds * rounds) break;
    pass(out, n, key);
    resizing_global_barrier();
    r++;
  }
}

kernel void group_functions(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    uint mine = (uint)get_local_id() + 1;
    uint size = (uint)get_local_size();
    uint sum = work_group_reduce_add(mine);         // 1 + 2 + ... + size
    uint before = work_group_scan_exclusive_add(mine);
    uint last = work_group_broadcast(before + mine, size - 1);
    uint any = work_group_any(mine == size), all = work_group_all(mine <= size);
    pass(out, n, r + (sum == last) + any + all + (work_group_reduce_max(mine) - size));
    resizing_global_barrier();
  }
}

kernel void swapped_pointers(global uint *out, global uint *other, uint n, uint rounds) {
  transmit global uint *from = out;
  transmit global uint *to = other;
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    for (uint i = get_global_id(); i < n; i += get_global_size()) to[i] = stir(from[i], r);
    global uint *keep = from;
    from = to;
    to = keep;
    resizing_global_barrier();
  }
}

// ---- types

kernel void vectors(global uint *out, uint n, uint rounds) {
  transmit uint4 v = (uint4)(1, 2, 3, 4);
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    uint4 w = v.wzyx + (uint4)(r);
    w.xy += (uint2)(1, 2);
    w.s3 = w.s0 ^ 5u;
    pass(out, n, w.x + w.y * 3 + w.z * 5 + w.w * 7);
    v = w * 3u + v.yzwx;
    resizing_global_barrier();
  }
}

kernel void vector_choice(global uint *out, uint n, uint rounds) {
  transmit int4 v = (int4)(-2, -1, 0, 1);
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    int4 sign = v < 0;
    int4 size = sign ? -v : v;
    size = max(size, (int4)(1)) + select((int4)(0), (int4)(10), v > 5);
    pass(out, n, (uint)(size.x + 10 * size.y + 100 * size.z + 1000 * size.w + any(sign) + 2 * all(sign)));
    v += (int4)(1, -1, 2, -2);
    resizing_global_barrier();
  }
}

struct Task {
  uint first;
  float weight;
  uchar tag[4];
};

kernel void struct_state(global uint *out, uint n, uint rounds) {
  transmit struct Task task = {.first = 3, .weight = 0.5f, .tag = {1, 2}};
  while (task.first < rounds + 3) {
    pass(out, n, task.first + (uint)(task.weight * 4.0f) + task.tag[task.first % 4]);
    task.first++;
    task.weight += 0.25f;
    task.tag[task.first % 4]++;
    resizing_global_barrier();
  }
}

typedef struct {
  uint number;
  struct Task task;
  uint4 four;
  uchar tail[3];
} partly_t;

kernel void partly_initialised(global uint *out, uint n, uint rounds) {
  transmit partly_t p = {.tail = {1}};
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    p.number += 2;
    p.task.first++;
    p.task.tag[3]++;
    p.four.y += 3;
    pass(out, n, p.number + p.task.first + p.task.tag[3] + (uint)p.task.weight + p.four.x + p.four.y + p.tail[0] + p.tail[2]);
    resizing_global_barrier();
  }
}

typedef enum { RED = 1, GREEN, BLUE = 7 } colour_t;
typedef union { uint word; uchar byte[4]; float real; } pun_t;

kernel void enums_and_unions(global uint *out, uint n, uint rounds) {
  transmit colour_t colour = RED;
  transmit pun_t pun = {.word = 0x01020304u};
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    colour = colour == RED ? GREEN : colour == GREEN ? BLUE : RED;
    pun.byte[r % 4] += colour;
    pass(out, n, pun.word + colour);
    resizing_global_barrier();
  }
}

typedef struct { union { uint a; struct { ushort low, high; }; }; uint more; } packed_t;

kernel void anonymous_members(global uint *out, uint n, uint rounds) {
  transmit packed_t p = {{.a = 0x10002u}, 1};
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    p.low += 3;
    p.more++;
    pass(out, n, p.a + p.more * 10000 + (uint)sizeof(packed_t));
    resizing_global_barrier();
  }
}

constant uint table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

kernel void constants(global uint *out, uint n, uint rounds) {
  constant uint inner[2][2] = {{1, 10}, {100, 1000}};
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    const uint key = table[r % 8] + inner[r / 2 % 2][r % 2];
    pass(out, n, key);
    resizing_global_barrier();
  }
}

kernel void arrays_around_points(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    uint keys[4] = {r, r + 1};
    uint grid[2][2] = {{1, 2}, {3, 4}};
    keys[2] = keys[0] * keys[1];
    pass(out, n, keys[0] + keys[1] + keys[2] + keys[3] + grid[r % 2][1]);
    resizing_global_barrier();
  }
}

// ---- names and expressions

kernel void names(global uint *out, uint n, uint rounds) {
  transmit uint class = 0, phase = 1;
  uint cohort_state = 5;  // only read before the first point
  pass(out, n, cohort_state);
  resizing_global_barrier();
  while (class < rounds) {
    uint template = class + phase;
    {
      uint class = template * 2;  // hides the outer `class`
      pass(out, n, class);
      resizing_global_barrier();
    }
    for (uint this = 0; this < 1; this++) {
      uint new = this + 9;
      pass(out, n, new);
    }
    resizing_global_barrier();
    class++;
    phase *= 3;
  }
}

kernel void expressions(global uint *out, uint n, uint rounds) {
  transmit uint r = 0, k = 1;
  do {
    uint a = (k <<= 1, k ^ r), b = r > 3 ? a++ : ++a;
    a += b -= r * 2, b |= ~a & 0xff;
    k = !a + (a && b) + (a < b) + sizeof(uint4) + (b % 7 ? 1 : -1) + k;
    long wide = (long)a << 20 | b;
    pass(out, n, k + (uint)(wide >> 10) + 'a');
    resizing_global_barrier();
    r++;
  } while (r < rounds);
}

kernel void integer_functions(global uint *out, uint n, uint rounds) {
  transmit uint x = 0x12345678u;
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    int s = (int)x;
    x = rotate(x, 5u) + popcount(x) + clz(x) + ctz(x) + abs(s) + mul_hi(x, 77u) + mad24(r & 255, 3u, 1u);
    x ^= add_sat(x, 0xf0000000u) + sub_sat(r, 5u) + clamp(r, 2u, 9u) + min(r, 3u) + max(r, 4u) + abs_diff(s, 100);
    x += hadd(x, 3u) + bitselect(x, r, 0xffu) + select(1u, 2u, (uint)(r > 4)) + convert_uchar_sat((int)r * 9 - 100);
    pass(out, n, x);
    resizing_global_barrier();
  }
}

kernel void float_functions(global uint *out, uint n, uint rounds) {
  transmit float f = 1.5f;
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    float4 v = (float4)(f, 1.0f, 2.0f, floor(f));
    f = sqrt(dot(v, v)) * 0.5f + fmin(fabs(-f), 2.0f) * 0.25f;
    pass(out, n, as_uint(f) + convert_uint(f * 16.0f) + (uint)isnan(f));
    resizing_global_barrier();
  }
}

// ---- ids

kernel __attribute__((reqd_work_group_size(2, 2, 1))) void two_dimensions(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    uint row = get_global_id(1), column = get_global_id(0);
    for (uint i = row + 2 * column; i < n; i += 2 * get_global_size(0)) out[i] = stir(out[i], r + get_work_dim());
    resizing_global_barrier();
  }
}

kernel void with_dimension(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r++) {
    uint first = get_group_id(0) * get_local_size(0) + get_local_id(0), all = get_num_groups(0) * get_local_size(0);
    for (uint i = first; i < n; i += all) out[i] = stir(out[i], r + get_global_offset(0) + 1);
    resizing_global_barrier();
  }
}

// ---- kill and fork: items are taken from a counter, each once, so the result does not depend on
// which groups are active

kernel void work_queue(global uint *out, global uint *next, uint n) {
  while (true) {
    offer_kill();
    request_fork();
    uint i = atomic_inc(next);
    if (work_group_broadcast(i, 0) >= n) break;
    if (i < n) out[i] = stir(out[i], i);
  }
}

kernel void fork_with_state(global uint *out, global uint *next, uint n) {
  transmit uint round = 0, seed = 11;
  while (round < 40) {
    request_fork();
    uint i = work_group_broadcast(atomic_inc(next), 0);
    if (i >= n) break;
    if (get_local_id() == 0) out[i] = stir(out[i], i + (seed - 11));
    offer_kill();
  }
}

kernel kill_order(any) void any_order(global uint *out, global uint *next, uint n) {
  for (;;) {
    offer_kill();
    request_fork();
    uint i = work_group_broadcast(atomic_add(next, 1u), 0);
    if (i >= n) return;
    if (get_local_id() == 0) out[i] = stir(out[i], i);
  }
}

uint take(global uint *next) {
  offer_kill();
  request_fork();
  return work_group_broadcast(atomic_inc(next), 0);
}

kernel void kill_in_function(global uint *out, global uint *next, uint n) {
  for (;;) {
    uint i = take(next);
    if (i >= n) break;
    if (get_local_id() == 0) out[i] = stir(out[i], i);
  }
}

kernel void atomic_types(global uint *out, global atomic_uint *next, uint n) {
  local uint mine;
  for (;;) {
    offer_kill();
    request_fork();
    if (get_local_id() == 0) {
      uint seen = atomic_load_explicit(next, memory_order_relaxed, memory_scope_device);
      while (!atomic_compare_exchange_weak_explicit(next, &seen, seen + 1, memory_order_acq_rel, memory_order_relaxed)) {
      }
      mine = seen;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n) break;
    uint wanted = query();
    if (get_local_id() == 0) out[i] = stir(out[i], i + wanted * 0);
  }
}

// ---- constructs that a compiler easily gets wrong

uint twice(uint x) {
  resizing_global_barrier();
  return x * 2;
}
uint quarters(float x) {
  resizing_global_barrier();
  return (uint)(x / 2 * 4);
}
uint low(uchar x) {
  resizing_global_barrier();
  return x + 1u;
}
uint byte_of(char c) {
  resizing_global_barrier();
  return (uint)(c + 200);
}

kernel void constant_arguments(global uint *out, uint n, uint rounds) {
  transmit uint r;
  for (r = 0; r < rounds; r += 4) {
    uint key = twice(1 + 2);
    pass(out, n, key);
    key = quarters(3);
    pass(out, n, key);
    key = low(300);
    pass(out, n, key);
    key = byte_of('\xff');
    pass(out, n, key);
  }
}

typedef struct {
  uint word[2];
} pair;

uint changes_its_own(global uint *out, uint n, pair mine) {
  mine.word[0] += 100;
  pass(out, n, mine.word[0]);
  resizing_global_barrier();
  return 7;
}

// A helper's parameter is a variable of the helper, elements of its arrays included.
kernel void own_parameters(global uint *out, uint n, uint rounds) {
  transmit pair both = {{0, 0}};
  for (; both.word[0] < rounds; both.word[0]++) {
    uint key = changes_its_own(out, n, both);
    pass(out, n, both.word[0] + key);
    global_barrier();
  }
}

// Names that the generated code or its headers use.
typedef struct {
  uint Local;
} State;
enum flag { low_flag = 1, high_flag = 4, lowest = -2147483647 - 1 };

uint taken_names_kernel(uint x) { return x; }
uint taken_names_run(uint x) { return x + 1; }
uint taken_names_enter(uint linux) { return linux + 2; }
uint taken_names_state(uint stdin) { return stdin + 3; }
uint min_(uint errno) { return errno; }
float4 normalised(float4 cl) { return cl; }
uint length_(float4 v) { return (uint)length(normalised(v)); }

kernel void taken_names(global uint *out, uint n, uint rounds) {
  local uint sa_handler;
  transmit uint Group = 0, Item = 1;
  transmit State traits = {3};
  transmit enum flag EOF_ = low_flag;
  for (; Group < rounds; Group++) {
    uint run = taken_names_kernel(Group) + taken_names_run(Item) + taken_names_enter(traits.Local), M_PI_2_ = min_(1);
    if (get_local_id() == 0) sa_handler = run;
    barrier(CLK_LOCAL_MEM_FENCE);
    pass(out, n, sa_handler + taken_names_state(M_PI_2_) + length_((float4)(3.0f, 4.0f, 0.0f, 0.0f)) + EOF_ + (uint)(lowest + 5));
    EOF_++;
    EOF_ |= high_flag;
    if (EOF_ > 90) EOF_ = low_flag;
    traits.Local += Item++;
    resizing_global_barrier();
  }
}

// The result of a function with resizing points is added to a variable, to an element, and to a
// component of a vector.
uint next_key(global uint *out, uint n, uint r) {
  pass(out, n, r);
  resizing_global_barrier();
  return r * 3;
}
kernel void added_to(global uint *out, uint n, uint rounds) {
  transmit uint r, sum = 1;
  transmit uint4 parts = (uint4)(0, 1, 2, 3);
  const uint steps[2] = {1, sizeof(uint) / 4};  // constants need no transmit
  for (r = 0; r < rounds; r += steps[r % 2]) {
    sum += next_key(out, n, r);
    parts.y ^= next_key(out, n, r);
    pass(out, n, sum + parts.y);
    resizing_global_barrier();
  }
}
