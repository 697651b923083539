// Names that mean something to C++, or that the generated code could use itself.
#include "corpus.h"

// = 6
kernel void words_of_cpp(global int *out) {
  transmit int class = 1, new = 2;
  transmit int this = 3;
  resizing_global_barrier();
  put(out, 0, class + new + this);
}

// = 10
kernel void more_words_of_cpp(global int *out) {
  transmit int template = 1, typename = 2, namespace = 3, operator = 4;
  resizing_global_barrier();
  int virtual = template + typename, delete = namespace + operator;
  put(out, 0, virtual + delete);
}

// = 15
kernel void operators_that_are_words(global int *out) {
  transmit int and = 1, or = 2, not = 4, xor = 8;
  resizing_global_barrier();
  put(out, 0, and | or | not | xor);
}

typedef struct { int class; int public; } friend;

// = 9
kernel void words_as_members(global int *out) {
  transmit friend f = {4, 5};
  resizing_global_barrier();
  put(out, 0, f.class + f.public);
}

int try(int catch) { return catch + 1; }

// = 3
kernel void words_as_functions(global int *out) {
  transmit int throw = 2;
  resizing_global_barrier();
  put(out, 0, try(throw));
}

// = 21
kernel void names_of_the_generated_code(global int *out) {
  transmit int phase = 1, State = 2, traits = 3, run = 4, Local = 5, cl = 6;
  resizing_global_barrier();
  put(out, 0, phase + State + traits + run + Local + cl);
}

// = 5 6
kernel void names_of_functions_in_inner_blocks(global int *out) {
  transmit int put_ = 5;
  resizing_global_barrier();
  put(out, 0, put_);
  { int try = 6; put(out, 1, try); }
}

int x(int x) { return x * 2; }

// = 14
kernel void a_parameter_like_its_function(global int *out) {
  transmit int y = 7;
  resizing_global_barrier();
  put(out, 0, x(y));
}

struct x { int x; };

// = 3
kernel void a_struct_like_its_member(global int *out) {
  transmit struct x s = {3};
  resizing_global_barrier();
  put(out, 0, s.x);
}

// = 12
kernel void the_same_name_in_many_blocks(global int *out) {
  transmit int sum = 0, i;
  for (i = 0; i < 2; i++) {
    { int v = 1; sum += v; resizing_global_barrier(); }
    { int v = 2; sum += v; resizing_global_barrier(); }
    { float v = 3; sum += (int)v; }
  }
  put(out, 0, sum);
}

void adds(int *to, int value) {
  int sum = value;
  *to += sum;
}

// = 5
kernel void the_same_name_in_caller_and_function(global int *out) {
  transmit int sum = 2;
  resizing_global_barrier();
  adds(&sum, 3);
  put(out, 0, sum);
}

int picks(int value) {
  int i = value;
  resizing_global_barrier();
  return 2;
}

// = 6
kernel void the_same_name_in_an_inlined_function(global int *out) {
  transmit int i, value = 0;
  for (i = 0; i < 3; i++) {
    int more = picks(value);
    value += more;
  }
  put(out, 0, value);
}

// = 4
kernel void k(global int *out) {
  transmit int k = 4;
  resizing_global_barrier();
  put(out, 0, k);
}

// = 9
kernel void main_(global int *out) {
  transmit int main = 4, std = 5;
  resizing_global_barrier();
  put(out, 0, main + std);
}

// = 3
kernel void unix(global int *out) {
  transmit int linux = 1, errno = 2;
  resizing_global_barrier();
  put(out, 0, linux + errno);
}
