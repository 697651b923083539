#include "random/kernel.hpp"

#include "random/maker.hpp"

namespace cohort::test {
namespace random {

// ---- functions and types

void Maker::make_record() {
  auto record = std::make_shared<Record>();
  record->name = own("s");
  std::string text = "struct " + record->name + " {\n";
  const unsigned count = 2 + below(3);
  for (unsigned i = 0; i < count; ++i) {
    Field field;
    field.name = std::string{"abcde"[i]} + (chance(10) ? "_class" : "");
    field.offset = record->cells;
    const std::uint32_t which = below(100);
    if (which < 60) {
      field.type.kind = scalar_kind();
    } else if (which < 75) {
      field.type = vector_type();
    } else if (which < 85 && !records_.empty()) {
      field.type.record = records_.back();
    } else {
      field.type.kind = integer_kind();
      field.type.extents = {2 + below(3)};
    }
    record->cells += field.type.cells();
    text += "  " + field.type.declare(field.name) + ";\n";
    record->fields.push_back(std::move(field));
  }
  parts_.emplace_back(record->name, text + "};\n");
  records_.push_back(std::move(record));
}

void Maker::make_constant() {
  const std::string name = own("t");
  std::vector<Word> words;
  std::string text;
  for (unsigned i = 0; i < 5; ++i) {
    const auto value = static_cast<std::int16_t>(random_() >> 40);
    words.push_back(value);
    text += (i == 0 ? "" : ", ") + std::to_string(value);
  }
  parts_.emplace_back(name, "constant short " + name + "[5] = {" + text + "};\n");
  constants_.emplace_back(name, std::move(words));
}

/// A named number in program scope.
void Maker::make_number() {
  const std::string name = own("n");
  const auto value = static_cast<std::int16_t>(random_() >> 40);
  Expr e;
  e.text = name;
  e.bits = 15;
  e.value = [value](Env&) { return cell(value); };
  std::string text;
  switch (below(4)) {
    case 0:
      e.kind = pick({Kind::i16, Kind::i32, Kind::i64});
      text = std::string{"constant "} + facts(e.kind).name + " " + name + " = " +
             std::to_string(value) + ";\n";
      break;
    case 1: text = "file_const int " + name + " = " + std::to_string(value) + ";\n"; break;
    case 2: text = "enum { " + name + " = " + std::to_string(value) + " };\n"; break;
    default: {  // a macro without parentheses
      const auto less = static_cast<int>(below(100));
      e.level = facts(Op::sub).level;
      text = "#define " + name + " " + std::to_string(value + less) + " - " + std::to_string(less) +
             "\n";
    }
  }
  parts_.emplace_back(name, text);
  numbers_in_program_.push_back(std::move(e));
}

Type Maker::parameter_type() {
  if (chance(15)) return vector_type();
  if (!records_.empty() && chance(15)) {
    Type type;
    type.record = pick(records_);
    return type;
  }
  return {scalar_kind()};
}

/// Makes a function without points, which may get a pointer to a variable that it changes; or one
/// with points, which may be a kernel.
void Maker::make_function(Makes what) {
  const bool out = what == Makes::out;
  const bool kernel = what == Makes::kernel;
  const bool helper = what == Makes::helper || kernel;
  auto function = std::make_shared<Function>();
  function->name = own(kernel ? "k" : helper ? "g" : out ? "o" : "f");
  function->is_void = out || kernel || (helper && chance(25));
  function->result = {integer_kind()};
  if (!out && !helper && !records_.empty() && chance(25)) {
    function->result = {};
    function->result.record = pick(records_);
  }
  function->result_base = allocate(function->result.cells());
  std::string text = helper ? "global uint *marks, global uint *items, global const uint *table, "
                              "local uint *room, uint n"
                            : "";
  std::vector<Var> outer_vars;
  std::swap(outer_vars, vars_);
  std::string inside;
  std::string* const outer_out = std::exchange(out_, &inside);
  const Here outer = here_;
  here_ = {.points = helper, .uniform = helper, .memory = helper, .returns = true};
  function_ = function.get();
  scope_ = floor_ = 0;
  budget_ = static_cast<std::int32_t>(helper ? 4 + below(6) : 2 + below(5));
  indent_ = 1;
  const unsigned count = 1 + below(3);
  for (unsigned i = 0; i < count; ++i) {
    const bool pointer = out && i == 0;
    Type type = parameter_type();
    if (kernel && (type.record || type.kind == Kind::boolean)) type = {Kind::i16};
    if (pointer && !type.record && type.width == 1 && chance(30)) type.extents = {4};
    const std::string name = std::string{pointer ? "o" : "q"} + number();
    Type target = type;
    target.extents.clear();
    text +=
        (text.empty() ? "" : ", ") + (pointer ? target.name() + " *" + name : type.declare(name));
    Var var;
    var.name = name;
    var.type = type;
    var.pointer = pointer;
    var.constant = kernel;
    var.base = allocate(pointer ? 1 : type.cells());
    vars_.push_back(std::move(var));
  }
  function->parameters = vars_;
  scope_ = 0;
  std::vector<Run> runs;
  if (helper) {
    runs.push_back(statement(2));
    runs.push_back(piece([&] { return point(); }));
  }
  runs.push_back(block(2, out ? 2 : 1));
  if (function->result.record) {
    std::string list;
    const unsigned base = allocate(function->result.cells());
    initialiser(function->result, base, 1, list, runs);
    line(function->result.declare("made") + " = " + list + ";");
    line("return made;");
    runs.push_back([to = function->result_base, base, size = function->result.cells()](Env& env) {
      std::copy_n(env.memory.begin() + base, size, env.memory.begin() + to);
      return Flow::next;
    });
  } else if (!function->is_void) {
    const Expr e = integer(2);
    line("return " + e.text + ";");
    Place place;
    place.type = function->result;
    place.at = [base = function->result_base](Env&) { return base; };
    runs.push_back(write(place, e));
  }
  function->body = sequence(std::move(runs));
  const std::string result = kernel              ? "kernel void"
                             : function->is_void ? "void"
                                                 : function->result.name();
  parts_.emplace_back(function->name,
                      result + " " + function->name + "(" + text + ") {\n" + inside + "}\n");
  std::swap(outer_vars, vars_);
  out_ = outer_out;
  here_ = outer;
  function_ = nullptr;
  (helper ? helpers_ : out ? outs_ : functions_).push_back(std::move(function));
}

RandomKernel Maker::make() {
  RandomKernel kernel;
  kernel.name = name_;
  kernel.a = static_cast<std::int32_t>(random_() >> 32);
  kernel.b = static_cast<std::uint8_t>(random_() >> 32);
  kernel.c = static_cast<std::int64_t>(random_());
  kernel.f = static_cast<float>(below(200)) * 0.25F - 25.0F;
  for (std::uint32_t i = below(3); i > 0; --i) make_record();
  if (chance(40)) make_constant();
  for (std::uint32_t i = below(3); i > 0; --i) make_number();
  for (std::uint32_t i = below(3); i > 0; --i) make_function(Makes::value);
  for (std::uint32_t i = below(2); i > 0; --i) make_function(Makes::out);
  for (std::uint32_t i = below(3); i > 0; --i)
    make_function(chance(25) ? Makes::kernel : Makes::helper);
  if (style_.range) kernel.dimensions = 1 + below(3);

  Env env;
  const auto parameter = [&](const char* name, Kind kind) {
    Var& var = add(name, {kind}, true);
    var.constant = !style_.range;
    return var.base;
  };
  const unsigned a = parameter("a", Kind::i32);
  const unsigned b = parameter("b", Kind::u8);
  const unsigned c = parameter("c", Kind::i64);
  const unsigned f = parameter("f", Kind::f32);
  const unsigned n = parameter("n", Kind::u32);
  vars_.back().constant = true;
  hash_ = parameter("h", Kind::u32);
  vars_.back().constant = true;
  here_ = {.points = !style_.range,
           .kernel = true,
           .uniform = true,
           .memory = true,
           .root = true,
           .returns = true};
  budget_ = static_cast<std::int32_t>(10 + below(20));
  indent_ = 1;
  std::vector<Run> runs;
  for (std::uint32_t i = 0; i < 3; ++i) runs.push_back(declaration());
  runs.push_back(piece([&] { return note(); }));
  runs.push_back(piece([&] { return for_loop(3); }));
  while (budget_ > 0) runs.push_back(statement(3));
  if (!style_.range) runs.push_back(piece([&] { return point(); }));
  runs.push_back(piece([&] { return note(); }));
  const Run run = sequence(std::move(runs));

  env.memory.resize(cells_);
  env.memory[a] = kernel.a;
  env.memory[b] = kernel.b;
  env.memory[c] = kernel.c;
  env.memory[f] = word(kernel.f);
  env.memory[n] = random_items;
  env.memory[hash_] = 1;
  if (run(env) != Flow::returned) env.mark(random_slots - 1, env.memory[hash_]);

  std::string body =
      "kernel void " + name_ +
      "(global uint *marks, global uint *items, global const uint *table, local uint *room, "
      "uint n, int a, uchar b, long c, float f) {\n  " +
      transmit() + "uint h = 1;\n" +
      (text_.find("cells") == std::string::npos ? "" : "  local uint cells[4];\n") + roots_ +
      text_ + "  mark(marks, " + std::to_string(random_slots - 1) + ", h);\n}\n";
  std::string needed;  // only the types and functions that the kernel uses
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    if ((needed + body).find(part->first) != std::string::npos) needed = part->second + needed;
  }
  kernel.text = needed + body;
  kernel.points = env.points;
  kernel.pieces = pieces_;
  kernel.marks = std::move(env.marks);
  kernel.items = std::move(env.items);
  return kernel;
}

}  // namespace random

std::vector<std::uint32_t> first_marks() {
  std::vector<std::uint32_t> result(std::size_t{2} * random_slots);
  for (std::size_t slot = 0; slot < random_slots; ++slot) result[2 * slot + 1] = ~0U;
  return result;
}

std::vector<std::uint32_t> first_items() {
  std::vector<std::uint32_t> result(random_items);
  for (std::uint32_t i = 0; i < random_items; ++i) result[i] = i * 40503U;
  return result;
}

std::vector<std::uint32_t> table_words() {
  std::vector<std::uint32_t> result(random_table);
  for (std::uint32_t i = 0; i < random_table; ++i) result[i] = i * 2654435761U >> (i % 20);
  return result;
}

std::optional<RandomKernel> random_kernel(std::uint64_t seed, const std::string& name,
                                          const std::set<std::uint32_t>& left_out) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t with = seed + (attempt << 40);
    const auto made = [&](const std::set<std::uint32_t>& without) -> std::optional<RandomKernel> {
      try {
        return random::Maker{with, name, without}.make();
      } catch (const random::TooLong&) {
        return {};
      }
    };
    const std::optional<RandomKernel> kernel = made({});
    if (!kernel || (kernel->dimensions == 0 && kernel->points < 2)) continue;
    return left_out.empty() ? kernel : made(left_out);
  }
}

}  // namespace cohort::test
