// Makes the text and the meaning of a random kernel together: each piece is a string and a function
// with the same effect on an Env. Invariant: as in kernel.hpp. In addition, `bits` of an expression
// is never less than its values need.
#pragma once

#include <functional>
#include <random>
#include <set>
#include <utility>

#include "random/kernel.hpp"
#include "random/values.hpp"

namespace cohort::test::random {

// ---- the meaning of a kernel

struct TooLong {};

/// A thread's memory, as cells of one number each, and the memory that all threads see.
struct Env {
  std::vector<Word> memory;
  std::vector<std::uint32_t> marks = first_marks();
  std::vector<std::uint32_t> items = first_items();
  std::uint32_t points = 0;
  std::uint32_t steps = 0;

  void step() {
    if (++steps > 60000) throw TooLong{};
  }
  void mark(unsigned slot, Word value) {
    const auto bits = static_cast<std::uint32_t>(value);
    marks[2 * slot] = std::max(marks[2 * slot], bits);
    marks[2 * slot + 1] = std::min(marks[2 * slot + 1], bits);
  }
};

enum class Flow : std::uint8_t { next, broken, continued, returned };
using Cells = std::array<Word, 8>;  // the components of a scalar or vector
using Value = std::function<Cells(Env&)>;
using At = std::function<unsigned(Env&)>;
using Run = std::function<Flow(Env&)>;

inline Cells cell(Word value) { return {value}; }
inline Run nothing() {
  return [](Env&) { return Flow::next; };
}
inline Run sequence(std::vector<Run> parts) {
  return [parts = std::move(parts)](Env& env) {
    for (const Run& each : parts) {
      env.step();
      if (const Flow flow = each(env); flow != Flow::next) return flow;
    }
    return Flow::next;
  };
}

inline std::uint32_t stir(std::uint32_t item, std::uint32_t key) {
  return item * 1664525U + key * 2654435761U + 1013904223U;
}

// Precedence levels.
constexpr int primary = 15;
constexpr int prefix = 14;

struct Expr {
  std::string text;
  int level = primary;
  Kind kind = Kind::i32;
  unsigned width = 1;
  unsigned bits = 31;  // for an integer: |value| <= 2^bits
  Value value;
  bool literal = false;
};

/// An object that can be read or written.
struct Place {
  std::string text;
  int level = primary;
  Type type;
  At at;
};

struct Var {
  std::string name;
  Type type;             // type of the variable, or of a pointer's target
  unsigned base = 0;     // index of its first cell; for a pointer: of the cell with the address
  bool pointer = false;  // whether it is a pointer into private memory
  bool table = false;    // whether it is a pointer into the table
  bool constant = false;
  bool sent = false;  // whether joining groups receive it
  bool readable = true;
  bool threads = false;  // whether its value is combined with the thread's number by ^
};

struct Function {
  std::string name;
  std::vector<Var> parameters;
  Type result;  // a scalar or a record
  bool is_void = false;
  unsigned result_base = 0;
  Run body;
};

// ---- kernels

class Maker {
 public:
  Maker(std::uint64_t seed, std::string name, const std::set<std::uint32_t>& left_out)
      : random_(seed * 0x9e3779b97f4a7c15U + 1),
        name_(std::move(name)),
        style_(style_of(seed)),
        left_out_(left_out) {}

  RandomKernel make();

 private:
  // ---- random choices

  std::uint32_t below(std::uint32_t end) {
    return static_cast<std::uint32_t>(random_() >> 33) % end;
  }
  bool chance(std::uint32_t percent) { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(static_cast<std::uint32_t>(from.size()))];
  }
  template <class T>
  T pick(std::initializer_list<T> from) {
    return *(from.begin() + below(static_cast<std::uint32_t>(from.size())));
  }
  Kind integer_kind() {
    return pick({Kind::i8, Kind::u8, Kind::i16, Kind::u16, Kind::i32, Kind::i32, Kind::i32,
                 Kind::u32, Kind::u32, Kind::u32, Kind::i64, Kind::u64});
  }
  Kind scalar_kind() { return chance(8) ? Kind::f32 : chance(6) ? Kind::boolean : integer_kind(); }
  Type vector_type() {
    static const std::vector<Type> all{
        {Kind::u32, 4}, {Kind::u32, 2}, {Kind::i32, 4}, {Kind::u8, 4},  {Kind::u16, 8},
        {Kind::u32, 3}, {Kind::i64, 2}, {Kind::i16, 4}, {Kind::f32, 4}, {Kind::f32, 2}};
    return pick(all);
  }

  // ---- text

  void line(const std::string& text) { *out_ += std::string(2 * indent_, ' ') + text + "\n"; }
  std::string number() { return std::to_string(++numbers_); }
  /// The text before the declaration of a variable that joining groups receive.
  const char* transmit() const { return style_.range ? "" : "transmit "; }
  /// Four words in local memory.
  const char* shared_words() { return chance(50) ? "cells" : "room"; }
  std::string own(const std::string& what) { return name_ + "_" + what + number(); }

  /// A name for a new variable. Sometimes a C++ keyword, a name of the generated code, or the name
  /// of an outer variable, which it hides.
  std::string fresh_name() {
    static const std::vector<std::string> odd{
        "class",   "new",    "this",  "template", "delete", "typename", "operator",
        "virtual", "i",      "x",     "value",    "phase",  "state",    "group",
        "item",    "result", "catch", "count",    "self",   "local_id"};
    if (chance(25)) {
      const std::string& name = pick(odd);
      const auto same = [&](const Var& each) { return each.name == name; };
      if (std::none_of(vars_.begin() + static_cast<std::ptrdiff_t>(scope_), vars_.end(), same))
        return name;
    }
    return "v" + number();
  }

  // ---- variables

  unsigned allocate(unsigned cells) {
    const unsigned result = cells_;
    cells_ += cells;
    return result;
  }
  bool visible(std::size_t i) const {
    for (std::size_t later = i + 1; later < vars_.size(); ++later) {
      if (vars_[later].name == vars_[i].name) return false;
    }
    return vars_[i].name != hidden_;
  }
  /// A variable that is readable or writable and fits; null if there is none.
  template <class Fits>
  Var* choose(bool written, Fits fits) {
    std::vector<Var*> found;
    for (std::size_t i = written ? floor_ : 0; i < vars_.size(); ++i) {
      Var& each = vars_[i];
      if ((written ? !each.constant : each.readable) && fits(each) && visible(i))
        found.push_back(&each);
    }
    return found.empty() ? nullptr : pick(found);
  }

  struct Scope {
    std::size_t size;
    std::size_t start;
    std::vector<bool> readable;
  };
  Scope enter() {
    Scope result{vars_.size(), scope_, {}};
    for (const Var& each : vars_) result.readable.push_back(each.readable);
    scope_ = vars_.size();
    return result;
  }
  void leave(const Scope& scope, bool pointed) {
    vars_.resize(scope.size);
    scope_ = scope.start;
    for (std::size_t i = 0; i < vars_.size(); ++i) vars_[i].readable = scope.readable[i];
    if (pointed) forget();
  }
  /// After a point, only transmitted variables have a value.
  void forget() {
    if (!style_.annotated()) return;
    for (Var& each : vars_) each.readable &= each.sent;
  }
  Var& add(std::string name, Type type, bool sent = false) {
    Var var;
    var.name = std::move(name);
    var.base = allocate(type.cells());
    var.type = std::move(type);
    var.sent = sent;
    vars_.push_back(std::move(var));
    return vars_.back();
  }

  // ---- places

  static Place whole(const Var& var) {
    const unsigned base = var.base;
    if (!var.pointer) return {var.name, primary, var.type, [base](Env&) { return base; }};
    return {"*" + var.name, prefix, var.type,
            [base](Env& env) { return static_cast<unsigned>(env.memory[base]); }};
  }
  static std::string within(const std::string& text, int level, int least) {
    return level < least ? "(" + text + ")" : text;
  }
  static std::string within(const Expr& e, int least) { return within(e.text, e.level, least); }

  /// A scalar or vector inside the variable.
  Place part_of(const Var& var, bool scalar) {
    Place place = whole(var);
    bool arrow = false;
    if (var.pointer && !var.type.extents.empty()) {  // the pointer points to the first element
      place.text = var.name;
      place.level = primary;
    } else if (var.pointer && var.type.record && chance(70)) {
      place.text = var.name;
      place.level = primary;
      arrow = true;
    }
    for (;;) {
      if (!place.type.extents.empty()) {
        const unsigned extent = place.type.extents[0];
        Type element = place.type.element();
        const Expr index = chance(50) ? literal(below(extent), Kind::i32) : index_below(extent);
        place.text = within(place.text, place.level, primary) + "[" + index.text + "]";
        place.at = [at = place.at, value = index.value, size = element.cells()](Env& env) {
          const auto i = static_cast<unsigned>(value(env)[0]);
          return at(env) + i * size;
        };
        place.level = primary;
        place.type = std::move(element);
      } else if (place.type.record) {
        const Field& field = pick(place.type.record->fields);
        place.text = within(place.text, place.level, primary) + (arrow ? "->" : ".") + field.name;
        place.at = [at = place.at, offset = field.offset](Env& env) { return at(env) + offset; };
        place.level = primary;
        place.type = Type{field.type};
        arrow = false;
      } else if (place.type.width > 1 && (scalar || chance(40))) {
        const unsigned i = below(place.type.width);
        place.text = within(place.text, place.level, primary) +
                     (i < 4 && chance(60) ? std::string{"."} + "xyzw"[i]
                                          : std::string{".s"} + "01234567"[i]);
        place.at = [at = place.at, i](Env& env) { return at(env) + i; };
        place.level = primary;
        place.type = {place.type.kind};
      } else {
        return place;
      }
    }
  }
  static Expr read(const Place& place) {
    Expr e;
    e.text = place.text;
    e.level = place.level;
    e.kind = place.type.kind;
    e.width = place.type.width;
    e.bits = facts(e.kind).bits;
    e.value = [at = place.at, width = e.width](Env& env) {
      Cells result{};
      const unsigned from = at(env);
      for (unsigned i = 0; i < width; ++i) result[i] = env.memory[from + i];
      return result;
    };
    return e;
  }
  static Run write(const Place& place, const Expr& e) {
    return [at = place.at, value = e.value, from = e.kind, to = place.type.kind,
            width = place.type.width](Env& env) {
      const Cells cells = value(env);
      const unsigned target = at(env);
      for (unsigned i = 0; i < width; ++i) env.memory[target + i] = convert(cells[i], from, to);
      return Flow::next;
    };
  }

  // ---- expressions (below)

  Expr literal(std::uint64_t value, Kind kind);
  Expr index_below(unsigned extent);
  Expr binary(Op op, const Expr& a, const Expr& b);
  Expr shrunk(Expr e, unsigned bits);
  Expr cast(const Expr& e, Kind to);
  Expr exactly(const Expr& e, Kind kind);
  Expr leaf();
  Expr table_element();
  Expr integer(int depth);
  Expr arithmetic(int depth);
  Expr condition(int depth);
  Expr builtin(int depth);
  Expr conversion(int depth);
  Expr reinterpreted(int depth);
  Expr real_number(int depth);
  Expr real_function(int depth);
  Expr real_vector(const Type& type, int depth);
  Expr vector(Type type, int depth);
  Expr component(int depth);
  Expr call(const Function& function, int depth);
  Expr of_type(const Type& type, int depth);

  // ---- statements (below)

  Run piece(const std::function<Run()>& make);
  Run statement(int depth);
  Run simple();
  Run block(int depth, std::uint32_t least = 1);
  Run body(int depth, bool pointed);
  Run declaration();
  Run table_pointer();
  Run thread_variable();
  void initialiser(const Type& type, unsigned base, int depth, std::string& text,
                   std::vector<Run>& runs);
  Run assignment();
  Run chain();
  Run note();
  Run point();
  Run branch(int depth);
  Run for_loop(int depth);
  Run while_loop(int depth);
  Run choice(int depth);
  Run braces(int depth);
  Run pointer_block(int depth);
  Run item_loop();
  Run shared_cell();
  Run thread_values();
  Run read_item();
  Run jump_back(int depth);
  Run jump_ahead(int depth);
  Run helper_call();
  Run out_call();
  Run leaving();

  // ---- functions (below)

  using Words = std::vector<Word>;
  using Argument = std::function<Words(Env&)>;
  struct Call {
    std::string text;
    Run run;  // stores the result
  };
  bool callable(const Function& function, std::size_t first = 0);
  Call call_of(const Function& function, int depth, const std::string& before = "",
               Argument first = {});
  void make_record();
  void make_constant();
  void make_number();
  enum class Makes : std::uint8_t { value, out, helper, kernel };
  void make_function(Makes what);
  Type parameter_type();

  std::mt19937_64 random_;
  std::string name_;
  RandomStyle style_;
  const std::set<std::uint32_t>& left_out_;

  std::string text_;  // the text made so far
  std::string* out_ = &text_;
  unsigned indent_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t pieces_ = 0;

  // Names and texts of the types and functions in front of the kernel.
  std::vector<std::pair<std::string, std::string>> parts_;
  std::string roots_;  // declarations at the kernel's start
  std::vector<Run> root_runs_;
  std::vector<std::shared_ptr<const Record>> records_;
  std::vector<std::pair<std::string, std::vector<Word>>> constants_;
  std::vector<Expr> numbers_in_program_;              // scalar constants, enumerators and macros
  std::vector<std::shared_ptr<Function>> functions_;  // without points
  std::vector<std::shared_ptr<Function>> outs_;       // their first parameter is a pointer
  std::vector<std::shared_ptr<Function>> helpers_;    // with points

  std::vector<Var> vars_;
  unsigned cells_ = 0;
  std::size_t scope_ = 0;  // the first variable of the innermost block
  std::size_t floor_ = 0;  // the first variable that may be written here
  std::string hidden_;     // a variable whose declaration is being made

  /// What is allowed at the current position.
  struct Here {
    bool points = false;   // resizing points
    bool kernel = false;   // position is in the kernel itself
    bool uniform = false;  // all threads get here
    bool memory = false;   // the kernel's pointers have the same names here
    bool root = false;     // transmitted variables
    bool declares = true;  // declarations
    bool returns = false;  // a return: in functions, where the threads that get here may return
    bool breaks = false;   // a break
    bool loops = false;    // a continue
  };
  Here here_;
  Function* function_ = nullptr;  // the function being made
  unsigned hash_ = 0;             // the cell of `h`
  unsigned slots_ = 0;
  unsigned points_ = 0;
  std::int32_t budget_ = 0;
  unsigned leaves_ = 0;  // calls of leaf() in progress
  unsigned calls_ = 0;
};

}  // namespace cohort::test::random
