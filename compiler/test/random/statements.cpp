#include "random/maker.hpp"

namespace cohort::test::random {

// ---- calls

/// Whether there is an argument for each parameter.
bool Maker::callable(const Function& function, std::size_t first) {
  return std::all_of(function.parameters.begin() + static_cast<std::ptrdiff_t>(first),
                     function.parameters.end(), [&](const Var& parameter) {
                       return !parameter.type.record ||
                              choose(false, [&](const Var& each) {
                                return each.type == parameter.type && !each.pointer;
                              }) != nullptr;
                     });
}

/// A call. `before` is the text of the leading arguments. `first` is the value of the first
/// argument if that is a pointer.
Maker::Call Maker::call_of(const Function& function, int depth, const std::string& before,
                           Argument first) {
  std::string text = before;
  std::vector<Argument> values;
  if (first) values.push_back(std::move(first));
  for (std::size_t i = values.size(); i < function.parameters.size(); ++i) {
    const Var& parameter = function.parameters[i];
    text += text.empty() ? "" : ", ";
    if (parameter.type.record) {
      const Var& given = *choose(
          false, [&](const Var& each) { return each.type == parameter.type && !each.pointer; });
      text += given.name;
      values.push_back([base = given.base, size = parameter.type.cells()](Env& env) {
        const auto from = env.memory.begin() + base;
        return Words(from, from + size);
      });
    } else {
      Expr e = of_type(parameter.type, depth);
      text += e.text;
      values.push_back([value = e.value, from = e.kind, to = parameter.type.kind,
                        width = parameter.type.width](Env& env) {
        const Cells cells = value(env);
        Words result;
        for (unsigned at = 0; at < width; ++at) result.push_back(convert(cells[at], from, to));
        return result;
      });
    }
  }
  std::vector<unsigned> bases;
  for (const Var& each : function.parameters) bases.push_back(each.base);
  return {function.name + "(" + text + ")", [values, bases, body = function.body](Env& env) {
            std::vector<Words> all;
            for (const Argument& each : values) all.push_back(each(env));
            for (std::size_t i = 0; i < all.size(); ++i)
              std::copy(all[i].begin(), all[i].end(), env.memory.begin() + bases[i]);
            env.step();
            body(env);
            return Flow::next;
          }};
}

Expr Maker::call(const Function& function, int depth) {
  const Call made = call_of(function, depth);
  Expr e;
  e.text = made.text;
  e.kind = function.result.kind;
  e.bits = facts(e.kind).bits;
  e.value = [run = made.run, base = function.result_base](Env& env) {
    run(env);
    return cell(env.memory[base]);
  };
  return e;
}

// ---- statements

/// A statement that can be left out.
Run Maker::piece(const std::function<Run()>& make) {
  const std::uint32_t mine = pieces_++;
  const std::size_t at = out_->size();
  Run run = make();
  if (!left_out_.contains(mine)) return run;
  out_->resize(at);
  line(";");
  return nothing();
}

Run Maker::statement(int depth) {
  --budget_;
  if (here_.declares && chance(24)) return declaration();
  if (here_.points && chance(22)) {
    if (!helpers_.empty() && chance(35)) {
      // It may declare a variable.
      return here_.declares ? helper_call() : piece([&] { return helper_call(); });
    }
    return piece([&] { return point(); });
  }
  if (depth > 0 && budget_ > 0 && chance(45)) {
    switch (below(9)) {
      case 0:
      case 1: return piece([&] { return branch(depth); });
      case 2:
      case 3: return piece([&] { return for_loop(depth); });
      case 4: return piece([&] { return while_loop(depth); });
      case 5:
      case 6: return piece([&] { return choice(depth); });
      case 7: return piece([&] { return braces(depth); });
      default: return piece([&] { return pointer_block(depth); });
    }
  }
  if (here_.uniform && here_.memory && style_.barriers && chance(18))
    return piece([&] { return item_loop(); });
  if (here_.kernel && chance(8)) return piece([&] { return shared_cell(); });
  if (here_.kernel && chance(5)) return piece([&] { return thread_values(); });
  if (here_.kernel && style_.barriers && !style_.range && chance(5))
    return piece([&] { return read_item(); });
  if (here_.kernel || here_.uniform ? chance(40) : false) return piece([&] { return note(); });
  if ((function_ != nullptr ? !here_.memory : style_.range && here_.kernel) && here_.declares &&
      depth > 0 && chance(10))
    return chance(50) ? jump_back(depth) : jump_ahead(depth);
  if (!outs_.empty() && chance(12)) return piece([&] { return out_call(); });
  if ((here_.breaks || here_.loops || here_.returns) && chance(12))
    return piece([&] { return leaving(); });
  if (chance(12)) return piece([&] { return chain(); });
  return piece([&] { return assignment(); });
}

Run Maker::block(int depth, std::uint32_t least) {
  std::vector<Run> runs;
  for (std::uint32_t left = least + below(3); left > 0; --left) {
    runs.push_back(statement(depth));
    if (budget_ <= 0 && runs.size() >= least) break;
  }
  return sequence(std::move(runs));
}

/// The inside of a block.
Run Maker::body(int depth, bool pointed) {
  const Here outer = here_;
  here_.points &= pointed;
  here_.root = false;
  here_.declares = true;
  const Scope scope = enter();
  ++indent_;
  const unsigned points = points_;
  Run run = block(depth);
  if (here_.points && points_ == points) run = sequence({run, piece([&] { return point(); })});
  --indent_;
  leave(scope, pointed);
  here_ = outer;
  return run;
}

Run Maker::declaration() {
  std::vector<Run> runs;
  if (here_.memory && chance(9)) return table_pointer();
  if (style_.per_thread() && here_.kernel && chance(12)) return thread_variable();
  Type type;
  const std::uint32_t which = below(100);
  if (which < 58) {
    type.kind = scalar_kind();
  } else if (which < 74) {
    type = vector_type();
  } else if (which < 87 && !records_.empty()) {
    type.record = pick(records_);
    if (chance(15)) type.extents = {2 + below(2)};
  } else {
    type.kind = scalar_kind();
    type.extents = {pick({2U, 3U, 4U, 5U, 8U})};
    if (chance(20)) type.extents.push_back(2);
  }
  const bool sent =
      here_.root && type.extents.empty() && (style_.annotated() ? chance(80) : chance(30));
  const bool constant = !sent && type.extents.empty() && chance(12);
  const std::string name = fresh_name();
  const std::string words = std::string{sent ? transmit() : ""} + (constant ? "const " : "");
  const std::string outer_hidden = std::exchange(hidden_, name);
  std::vector<Run> parts;
  const unsigned base = cells_;
  cells_ += type.cells();

  if (type.scalar() && !constant && chance(8)) {  // initialised from a variable that changes
    if (Var* var = choose(true,
                          [](const Var& each) {
                            return each.readable && each.type.scalar() && !each.pointer &&
                                   each.type.kind != Kind::boolean && each.type.kind != Kind::f32 &&
                                   (each.type.kind < Kind::i32 || !facts(each.type.kind).is_signed);
                          });
        var != nullptr && type.kind != Kind::f32) {
      const bool up = chance(50);
      const bool after = chance(50);
      line(words + type.declare(name) + " = " +
           (after ? var->name + (up ? "++" : "--") : (up ? "++" : "--") + var->name) + ";");
      parts.push_back(
          [at = var->base, base, up, after, from = var->type.kind, to = type.kind](Env& env) {
            const Word before = env.memory[at];
            env.memory[at] = wrap(before + (up ? 1 : -1), from);
            env.memory[base] = convert(after ? before : env.memory[at], from, to);
            return Flow::next;
          });
    }
  }
  const bool made = !parts.empty();
  bool known = false;
  std::shared_ptr<Function> maker;
  if (!made && type.record && type.extents.empty() && chance(40)) {
    for (const auto& each : functions_) {
      if (each->result == type && callable(*each)) maker = each;
    }
  }
  if (made) {
  } else if (maker != nullptr) {
    const Call call = call_of(*maker, 1);
    line(words + type.declare(name) + " = " + call.text + ";");
    parts.push_back(call.run);
    parts.push_back([from = maker->result_base, base, size = type.cells()](Env& env) {
      std::copy_n(env.memory.begin() + from, size, env.memory.begin() + base);
      return Flow::next;
    });
  } else if (constant && type.scalar() && type.kind != Kind::f32 && chance(60)) {
    // A constant keeps its value where groups join.
    known = true;
    const Expr e = binary(pick({Op::add, Op::mul, Op::bxor}), literal(below(300), Kind::i32),
                          literal(below(300), Kind::i32));
    line(words + type.declare(name) + " = " + e.text + ";");
    Place place;
    place.type = type;
    place.at = [base](Env&) { return base; };
    parts.push_back(write(place, e));
  } else if (type.scalar() || type.vector()) {
    const Expr e = of_type(type, 2);
    const bool later = !constant && chance(12);
    line(words + type.declare(name) + (later ? "" : " = " + e.text) + ";");
    if (later) line(name + " = " + e.text + ";");
    Place place;
    place.type = type;
    place.at = [base](Env&) { return base; };
    parts.push_back(write(place, e));
  } else {
    std::string text;
    initialiser(type, base, 1, text, parts);
    line(words + type.declare(name) + " = " + text + ";");
  }
  hidden_ = outer_hidden;
  Var var;
  var.name = name;
  var.type = type;
  var.base = base;
  var.constant = constant;
  var.sent = sent || known;
  vars_.push_back(std::move(var));
  return sequence(std::move(parts));
}

/// A pointer into the table, which may be in a structure with an index.
Run Maker::table_pointer() {
  const std::string name = "t" + number();
  const unsigned offset = below(random_table - 7);
  const unsigned index = below(7);
  const bool sent = here_.root && chance(80);
  const bool structure = chance(50);
  const std::string words = sent ? transmit() : "";
  const std::string begin = "table + " + std::to_string(offset);
  if (structure)
    line(words + "struct view " + name + " = {" + begin + ", " + std::to_string(index) + "};");
  else
    line(words + "global const uint *" + name + " = " + begin + ";");
  Var& var = add(name + (structure ? ".from" : ""), {Kind::u32}, sent);
  var.table = var.constant = true;
  const unsigned base = var.base;
  // The next cell is the index.
  if (structure) add(name + ".at", {Kind::u32}, sent).constant = true;
  return [base, structure, offset, index](Env& env) {
    env.memory[base] = offset;
    if (structure) env.memory[base + 1] = index;
    return Flow::next;
  };
}

/// A variable that has another value in each thread, which a thread of a joining group receives
/// from the thread with its number.
Run Maker::thread_variable() {
  const std::string name = "t" + number();
  const Expr e = cast(integer(2), Kind::u32);
  line("uint " + name + " = " + within(e, facts(Op::bxor).level) + " ^ (uint)get_local_id(0);");
  Var& var = add(name, {Kind::u32}, true);
  var.threads = var.constant = true;
  var.readable = false;  // except by thread_values()
  return [base = var.base, value = e.value](Env& env) {
    env.memory[base] = value(env)[0];
    return Flow::next;
  };
}

/// A list in braces for an aggregate. It may cover only the first elements; the rest is zero.
void Maker::initialiser(const Type& type, unsigned base, int depth, std::string& text,
                        std::vector<Run>& runs) {
  if (type.scalar() || type.vector()) {
    const Expr e = of_type(type, depth);
    text += e.text;
    Place place;
    place.type = type;
    place.at = [base](Env&) { return base; };
    runs.push_back(write(place, e));
    return;
  }
  runs.push_back([base, size = type.cells()](Env& env) {
    std::fill_n(env.memory.begin() + base, size, 0);
    return Flow::next;
  });
  text += "{";
  if (!type.extents.empty()) {
    const Type element = type.element();
    const unsigned count = chance(70) ? type.extents[0] : 1 + below(type.extents[0]);
    for (unsigned i = 0; i < count; ++i) {
      if (i > 0) text += ", ";
      initialiser(element, base + i * element.cells(), depth, text, runs);
    }
  } else {
    const auto& fields = type.record->fields;
    const bool named = chance(30);
    const std::size_t count =
        chance(75) ? fields.size() : 1 + below(static_cast<std::uint32_t>(fields.size()));
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) text += ", ";
      if (named) text += "." + fields[i].name + " = ";
      initialiser(fields[i].type, base + fields[i].offset, depth, text, runs);
    }
  }
  text += "}";
}

Run Maker::assignment() {
  const auto usable = [&](const Var& each) {
    return !each.table && (each.readable || (each.type.extents.empty() && !each.type.record));
  };
  Var* var = choose(true, usable);
  if (var == nullptr) {
    line(";");
    return nothing();
  }
  if (var->type.record && var->type.extents.empty() && chance(30)) {
    const Var* from = choose(false, [&](const Var& each) { return each.type == var->type; });
    if (from != nullptr) {
      const Place to_place = whole(*var);
      const Place from_place = whole(*from);
      line(to_place.text + " = " + from_place.text + ";");
      return [to = to_place.at, from = from_place.at, size = var->type.cells()](Env& env) {
        const auto source = env.memory.begin() + from(env);
        const Words copy(source, source + size);
        std::copy(copy.begin(), copy.end(), env.memory.begin() + to(env));
        return Flow::next;
      };
    }
  }
  const bool lost = !var->readable;
  const Place place = lost ? whole(*var) : part_of(*var, false);
  const Kind kind = place.type.kind;
  if (!lost && (place.type.width == 2 || place.type.width == 4) && chance(15)) {
    // All components, in any order. The value may be the vector itself.
    const unsigned width = place.type.width;
    std::vector<unsigned> order{0, 1, 2, 3};
    order.resize(width);
    std::shuffle(order.begin(), order.end(), random_);
    std::string letters;
    for (const unsigned each : order) letters += "xyzw"[each];
    const Expr e = chance(40) ? read(place) : vector(place.type, 1);
    line(within(place.text, place.level, primary) + "." + letters + " = " + e.text + ";");
    return [order, at = place.at, value = e.value](Env& env) {
      const Cells cells = value(env);
      const unsigned base = at(env);
      for (std::size_t i = 0; i < order.size(); ++i) env.memory[base + order[i]] = cells[i];
      return Flow::next;
    };
  }
  if (!lost && place.type.width == 4 && chance(30)) {  // two of its components
    struct Half {
      const char* name;
      unsigned first;
      unsigned second;
    };
    const Half half =
        pick({Half{"xy", 0, 1}, Half{"zw", 2, 3}, Half{"wy", 3, 1}, Half{"xz", 0, 2},
              Half{"lo", 0, 1}, Half{"hi", 2, 3}, Half{"odd", 1, 3}, Half{"even", 0, 2}});
    if (chance(30)) {  // assigns one of the two components
      const bool second = chance(50);
      const Expr e = of_type({kind}, 2);
      line(within(place.text, place.level, primary) + "." + half.name +
           (second ? ".y = " : ".x = ") + e.text + ";");
      Place part;
      part.type = {kind};
      part.at = [at = place.at, i = second ? half.second : half.first](Env& env) {
        return at(env) + i;
      };
      return write(part, e);
    }
    const Expr e = vector({kind, 2}, 1);
    line(within(place.text, place.level, primary) + "." + half.name + " = " + e.text + ";");
    return [half, at = place.at, value = e.value](Env& env) {
      const Cells cells = value(env);
      const unsigned base = at(env);
      env.memory[base + half.first] = cells[0];
      env.memory[base + half.second] = cells[1];
      return Flow::next;
    };
  }
  const bool scalar = place.type.scalar();
  const bool number = scalar && kind != Kind::f32 && kind != Kind::boolean;
  const bool wraps = number && (kind < Kind::i32 || !facts(kind).is_signed);
  if (!lost && wraps && chance(14)) {
    const bool up = chance(50);
    const std::string sign = up ? "++" : "--";
    line(chance(50) ? within(place.text, place.level, primary) + sign + ";"
                    : sign + within(place.text, place.level, prefix) + ";");
    return [at = place.at, up, kind](Env& env) {
      const unsigned target = at(env);
      env.memory[target] = wrap(env.memory[target] + (up ? 1 : -1), kind);
      return Flow::next;
    };
  }
  if (!lost && number && chance(32)) {
    Op op = pick({Op::band, Op::bor, Op::bxor, Op::shr, Op::div, Op::rem});
    if (wraps) op = pick({Op::add, Op::sub, Op::mul, Op::add, op});
    if (wraps && !facts(kind).is_signed && chance(10)) op = Op::shl;
    Expr e = integer(2);
    if (op == Op::div || op == Op::rem) {
      e = literal(1 + below(90), Kind::i32);
    } else if (op == Op::shl || op == Op::shr) {
      e = literal(below(8), Kind::i32);
    } else if (op <= Op::mul) {
      e = shrunk(std::move(e), 13);
    }
    line(place.text + " " + facts(op).text + "= " + within(e, 2) + ";");
    Place target = place;
    target.text = "x";
    const Expr sum = binary(op, read(target), e);
    return write(place, sum);
  }
  const Expr e = of_type(place.type, 3);
  line(place.text + " = " + e.text + ";");
  if (lost) var->readable = true;
  return write(place, e);
}

/// An assignment of an assignment, or of a list of expressions.
Run Maker::chain() {
  const auto fits = [](const Var& each) {
    return each.type.scalar() && !each.table && !each.pointer && each.type.kind != Kind::f32 &&
           each.type.kind != Kind::boolean;
  };
  Var* const outer = choose(true, fits);
  Var* const inner = choose(true, fits);
  if (outer == nullptr || outer == inner) return assignment();
  const Place to = whole(*outer);
  const Place via = whole(*inner);
  const Expr e = integer(2);
  const bool list = chance(40);
  if (list) {
    const Expr last = integer(1);
    line(to.text + " = (" + via.text + " = " + e.text + ", " + within(last, 2) + ");");
    inner->readable = outer->readable = true;
    // The second expression may read what the first one has changed.
    return sequence({write(via, e), write(to, last)});
  }
  line(to.text + " = " + via.text + " = " + e.text + ";");
  inner->readable = outer->readable = true;
  return sequence({write(via, e), write(to, read(via))});
}

Run Maker::note() {
  const Expr e = integer(2);
  const unsigned slot = slots_++ % (random_slots - 1);
  const std::string at = std::to_string(slot);
  if (!here_.kernel) {
    const bool shared = here_.uniform && here_.memory && chance(25);
    const std::string cell = "room + " + std::to_string(below(4));
    line("mark(marks, " + at + ", " + (shared ? "through(" + cell + ", " + e.text + ")" : e.text) +
         ");");
    return [slot, value = e.value](Env& env) {
      env.mark(slot, value(env)[0]);
      return Flow::next;
    };
  }
  line("h = stir(h, " + e.text + ");");
  line("mark(marks, " + at + ", h);");
  return [slot, value = e.value, h = hash_](Env& env) {
    const auto key = static_cast<std::uint32_t>(value(env)[0]);
    env.memory[h] = stir(static_cast<std::uint32_t>(env.memory[h]), key);
    env.mark(slot, env.memory[h]);
    return Flow::next;
  };
}

Run Maker::point() {
  ++points_;
  const auto pass = [](Env& env) {
    if (++env.points > 150) throw TooLong{};
    return Flow::next;
  };
  if (style_.barriers) {
    line(chance(12) ? "global_barrier();" : "resizing_global_barrier();");
  } else {
    const std::uint32_t which = below(4);
    if (which != 0) line("offer_kill();");
    if (which != 1) line("request_fork();");
  }
  forget();
  return pass;
}

/// A break, continue or return under a condition.
Run Maker::leaving() {
  const Expr test = condition(1);
  std::vector<Flow> ways;
  if (here_.breaks) ways.push_back(Flow::broken);
  if (here_.loops) ways.push_back(Flow::continued);
  if (here_.returns && chance(here_.kernel ? 10 : 50)) ways = {Flow::returned};
  if (ways.empty() && here_.kernel) {
    line(";");
    return nothing();
  }
  if (ways.empty()) ways = {Flow::returned};
  const Flow way = pick(ways);
  std::string word = way == Flow::broken      ? "break;"
                     : way == Flow::continued ? "continue;"
                                              : "return;";
  Run before = nothing();
  const bool returns_value = way == Flow::returned && function_ != nullptr && !function_->is_void;
  if (returns_value && function_->result.scalar()) {
    const Expr e = integer(1);
    word = "return " + e.text + ";";
    Place place;
    place.type = function_->result;
    place.at = [base = function_->result_base](Env&) { return base; };
    before = write(place, e);
  } else if (returns_value) {
    line(";");
    return nothing();
  }
  line("if (" + test.text + ") " + word);
  return [test = test.value, before, way](Env& env) {
    if (test(env)[0] == 0) return Flow::next;
    before(env);
    return way;
  };
}

/// One statement without braces.
Run Maker::simple() {
  const Here outer = here_;
  here_.root = here_.declares = false;
  ++indent_;
  Run run = piece([&] {
    if (here_.points && chance(40)) {
      if (!style_.barriers) {
        line("request_fork();");
        forget();
        return Run{[](Env& env) {
          ++env.points;
          return Flow::next;
        }};
      }
      return point();
    }
    return assignment();
  });
  --indent_;
  here_ = outer;
  return run;
}

Run Maker::branch(int depth) {
  const bool pointed = here_.points && chance(65);
  const Expr test = condition(2);
  const bool bare = chance(25);
  Run yes;
  Run no = nothing();
  const auto part = [&] {
    if (!bare) return body(depth - 1, pointed);
    const Here outer = here_;
    here_.points = pointed;
    const Scope scope = enter();
    Run run = simple();
    leave(scope, pointed);
    here_ = outer;
    return run;
  };
  line("if (" + test.text + ")" + (bare ? "" : " {"));
  yes = part();
  if (chance(50)) {
    line(bare ? "else" : "} else {");
    no = part();
  }
  if (!bare) line("}");
  return [test = test.value, yes, no](Env& env) {
    env.step();
    return test(env)[0] != 0 ? yes(env) : no(env);
  };
}

Run Maker::for_loop(int depth) {
  const bool pointed = here_.points && chance(70) && (here_.kernel || !style_.annotated());
  const Scope scope = enter();
  if (pointed) forget();
  const Kind kind = pick({Kind::i32, Kind::i32, Kind::u32, Kind::u8, Kind::i16, Kind::i64});
  const unsigned times = 1 + below(4);
  const unsigned step = chance(20) ? 2 : 1;
  const bool down = chance(20);
  const bool at_root = pointed && style_.annotated();
  const std::string name = at_root ? "r" + number() : fresh_name();
  const Type type{kind};
  if (at_root) roots_ += std::string{"  "} + transmit() + type.declare(name) + " = 0;\n";
  const std::string init = (at_root ? name : type.declare(name)) + " = ";
  const std::string end = std::to_string(times * step);
  std::string text = down ? init + end + "; " + name + " > 0" : init + "0; " + name + " < " + end;
  Var& counter = add(name, type, true);
  counter.constant = true;
  const unsigned at = counter.base;
  Expr also;
  if (chance(18)) {
    also = condition(1);
    text += " && " + within(also, 6);
  }
  const std::string sign = down ? "--" : "++";
  text += "; " + (step == 2    ? name + (down ? " -= 2" : " += 2")
                  : chance(50) ? name + sign
                               : sign + name);
  line("for (" + text + ") {");
  const Here outer = here_;
  here_.breaks = here_.loops = true;
  const Run inside = body(depth - 1, pointed);
  here_ = outer;
  line("}");
  leave(scope, pointed);
  const Word last = static_cast<Word>(times) * step;
  return [at, down, last,
          step = static_cast<Word>(down ? -static_cast<int>(step) : static_cast<int>(step)),
          also = also.value, inside](Env& env) {
    for (env.memory[at] = down ? last : 0; down ? env.memory[at] > 0 : env.memory[at] < last;
         env.memory[at] += step) {
      if (also && also(env)[0] == 0) break;
      env.step();
      const Flow flow = inside(env);
      if (flow == Flow::returned) return flow;
      if (flow == Flow::broken) break;
    }
    return Flow::next;
  };
}

Run Maker::while_loop(int depth) {
  const bool pointed = here_.points && chance(70) && (here_.kernel || !style_.annotated());
  const bool at_root = (pointed && style_.annotated()) || (here_.kernel && !here_.declares);
  const bool braced = !at_root && !here_.declares;
  if (braced) line("{");
  const Scope scope = enter();
  if (pointed) forget();
  const Type type{pick({Kind::i32, Kind::u32, Kind::u8})};
  const unsigned times = 1 + below(3);
  const std::string name = "w" + number();
  if (at_root) {
    roots_ += std::string{"  "} + transmit() + type.declare(name) + " = 0;\n";
    line(name + " = 0;");
  } else {
    line(type.declare(name) + " = 0;");
  }
  Var& counter = add(name, type, true);
  counter.constant = true;
  const unsigned at = counter.base;
  const std::string test = name + " < " + std::to_string(times);
  const std::uint32_t form = below(3);  // while, do, or an endless for
  const Here outer = here_;
  here_.breaks = here_.loops = true;
  Expr also;
  std::string end = "}";
  Run inside;
  if (form == 0) {
    if (chance(20)) also = condition(1);
    line("while (" + test + (also.value ? " && " + within(also, 6) : "") + ") {");
    line("  " + name + "++;");
    inside = body(depth - 1, pointed);
  } else if (form == 1) {
    line("do {");
    line("  " + name + "++;");
    inside = body(depth - 1, pointed);
    if (chance(20)) also = condition(1);
    end = "} while (" + test + (also.value ? " && " + within(also, 6) : "") + ");";
  } else {
    line("for (;;) {");
    line("  if (" + name + "++ == " + std::to_string(times) + ") break;");
    inside = body(depth - 1, pointed);
  }
  here_ = outer;
  line(end);
  leave(scope, pointed);
  if (braced) line("}");
  return [at, form, times, also = also.value, inside](Env& env) {
    const auto more = [&] {
      return env.memory[at] < static_cast<Word>(times) && (!also || also(env)[0] != 0);
    };
    env.memory[at] = 0;
    if (form == 2 && times == 0) return Flow::next;
    while (form == 1 || more()) {
      env.step();
      ++env.memory[at];
      const Flow flow = inside(env);
      if (flow == Flow::returned) return flow;
      if (flow == Flow::broken || (form == 1 && !more())) break;
    }
    return Flow::next;
  };
}

Run Maker::choice(int depth) {
  const bool pointed = here_.points && chance(65);
  Expr value = integer(1);
  const bool is_signed = facts(promoted(value.kind)).is_signed && chance(40);
  value = is_signed ? binary(Op::rem, value, literal(3, Kind::i32))
                    : binary(Op::band, value, literal(3, Kind::i32));
  std::vector<Word> labels{is_signed ? -1 : 3, 0, 1, 2};
  std::shuffle(labels.begin(), labels.end(), random_);
  labels.resize(1 + below(4));
  const std::size_t otherwise =
      chance(70) ? below(static_cast<std::uint32_t>(labels.size() + 1)) : ~0U;

  struct Part {
    std::vector<Word> labels;
    bool otherwise = false;
    Run run;
    bool ends = false;
  };
  std::vector<Part> parts;
  const Scope scope = enter();
  // A case may transmit a value that the next case, into which it falls, does not transmit.
  if (pointed) forget();
  line("switch (" + value.text + ") {");
  const Here outer = here_;
  here_.breaks = true;
  here_.root = false;
  here_.points &= pointed;
  ++indent_;
  for (std::size_t i = 0; i <= labels.size(); ++i) {
    Part part;
    if (i == otherwise) part.otherwise = true;
    if (i < labels.size()) part.labels.push_back(labels[i]);
    if (part.labels.empty() && !part.otherwise) continue;
    if (part.otherwise) line("default:");
    for (const Word each : part.labels) line("case " + std::to_string(each) + ":");
    if (chance(12) && i + 1 < labels.size()) {  // a second label at the same place
      ++i;
      if (i == otherwise) {
        part.otherwise = true;
        line("default:");
      }
      part.labels.push_back(labels[i]);
      line("case " + std::to_string(labels[i]) + ":");
    }
    const bool braced = chance(50);
    if (braced) {
      line("{");
      part.run = body(depth - 1, pointed);
      line("}");
    } else {
      const Scope inside = enter();
      here_.declares = false;
      ++indent_;
      part.run = block(depth - 1);
      --indent_;
      leave(inside, pointed);
    }
    part.ends = chance(70);
    if (part.ends)
      line("  break;");
    else
      line("  ;");
    parts.push_back(std::move(part));
  }
  --indent_;
  here_ = outer;
  line("}");
  leave(scope, pointed);
  return [value = value.value, kind = value.kind, parts](Env& env) {
    env.step();
    const Word wanted = value(env)[0];
    std::size_t at = parts.size();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (const Word each : parts[i].labels) {
        if (convert(each, Kind::i32, kind) == wanted) at = i;
      }
    }
    for (std::size_t i = 0; at == parts.size() && i < parts.size(); ++i) {
      if (parts[i].otherwise) at = i;
    }
    for (; at < parts.size(); ++at) {
      const Flow flow = parts[at].run(env);
      if (flow == Flow::broken) return Flow::next;
      if (flow != Flow::next) return flow;
      if (parts[at].ends) break;
    }
    return Flow::next;
  };
}

Run Maker::braces(int depth) {
  line("{");
  Run run = body(depth - 1, here_.points);
  line("}");
  return run;
}

/// A block that uses a pointer to a variable or into one.
Run Maker::pointer_block(int depth) {
  Var* var = choose(true, [](const Var& each) {
    return each.readable && !each.pointer && !each.table && each.type.extents.size() < 2;
  });
  if (var == nullptr) {
    line(";");
    return nothing();
  }
  Type to = var->type;
  std::string from = "&" + var->name;
  unsigned base = var->base;
  if (!to.extents.empty()) {
    from = var->name;
    if (to.extents[0] > 2 && chance(40)) {
      base += to.element().cells();
      --to.extents[0];
      from = chance(50) ? from + " + 1" : "&" + from + "[1]";
    }
  } else if (to.record && chance(50)) {
    const Field& field = pick(to.record->fields);
    if (field.type.extents.size() < 2) {
      from = (field.type.extents.empty() ? "&" : "") + var->name + "." + field.name;
      base += field.offset;
      to = Type{field.type};
    }
  }
  line("{");
  const Here outer = here_;
  here_.points = here_.root = false;
  const Scope scope = enter();
  ++indent_;
  const std::string name = "p" + number();
  Type target = to;
  target.extents.clear();
  line(target.name() + " *" + name + " = " + from + ";");
  Var pointer;
  pointer.name = name;
  pointer.type = to;
  pointer.base = allocate(1);
  pointer.pointer = true;
  const unsigned at = pointer.base;
  vars_.push_back(std::move(pointer));
  std::vector<Run> runs;
  runs.push_back([at, base](Env& env) {
    env.memory[at] = base;
    return Flow::next;
  });
  for (std::uint32_t i = 0; i < 2; ++i) {
    runs.push_back(piece([&] {
      const Place place = part_of(vars_[scope.size], false);
      const Expr e = of_type(place.type, 2);
      line(place.text + " = " + e.text + ";");
      return write(place, e);
    }));
  }
  here_.declares = true;
  runs.push_back(block(depth - 1));
  --indent_;
  leave(scope, false);
  here_ = outer;
  line("}");
  return sequence(std::move(runs));
}

/// A loop over the items. Each item is changed by the thread that it belongs to.
Run Maker::item_loop() {
  const Here outer = here_;
  const std::size_t floor = floor_;
  here_ = {.memory = true};
  floor_ = vars_.size();
  const Scope scope = enter();
  const std::string index = "i" + number();
  const std::string item = "x" + number();
  const std::string dimension = chance(50) ? "0" : "";
  std::string first = "get_global_id(" + dimension + ")";
  std::string stride = "get_global_size(" + dimension + ")";
  if (style_.range) {
    first = chance(50) ? "get_global_linear_id()"
                       : "(get_global_id(2) * get_global_size(1) + get_global_id(1)) * "
                         "get_global_size(0) + get_global_id(0)";
    stride = "get_global_size(0) * get_global_size(1) * get_global_size(2)";
  }
  line("for (uint " + index + " = " + first + "; " + index + " < n; " + index + " += " + stride +
       ") {");
  ++indent_;
  Var& counter = add(index, {Kind::u32});
  counter.constant = true;
  const unsigned i = counter.base;
  line("uint " + item + " = items[" + index + "];");
  const unsigned x = add(item, {Kind::u32}).base;
  std::vector<Run> runs;
  const std::int32_t budget = std::exchange(budget_, std::min(budget_, 4));
  runs.push_back(block(1));
  budget_ = budget;
  const Expr e = integer(2);
  line("items[" + index + "] = stir(" + item + ", " + e.text + ");");
  --indent_;
  line("}");
  leave(scope, false);
  floor_ = floor;
  here_ = outer;
  return [i, x, inside = sequence(std::move(runs)), value = e.value](Env& env) {
    for (std::uint32_t at = 0; at < random_items; ++at) {
      env.memory[i] = at;
      env.memory[x] = env.items[at];
      env.step();
      inside(env);
      const auto key = static_cast<std::uint32_t>(value(env)[0]);
      env.items[at] = stir(static_cast<std::uint32_t>(env.memory[x]), key);
    }
    return Flow::next;
  };
}

/// Passes a value to all threads of a group through local memory or by a group function.
Run Maker::shared_cell() {
  const Expr e = cast(integer(2), Kind::u32);
  const unsigned at = below(4);
  const std::string words = shared_words();
  const std::string target = words + "[" + std::to_string(at) + "]";
  switch (below(8)) {
    case 0:
    case 1:
      line("barrier(CLK_LOCAL_MEM_FENCE);");
      line("if (get_local_id(0) == 0) " + target + " = " + e.text + ";");
      line("barrier(CLK_LOCAL_MEM_FENCE);");
      line("h = stir(h, " + target + ");");
      break;
    case 2: line("h = stir(h, work_group_broadcast(" + e.text + ", 0));"); break;
    case 3: line("h = stir(h, work_group_reduce_max(" + e.text + "));"); break;
    case 4: {  // assigns through a pointer into the middle
      const std::string pointer = "l" + number();
      const unsigned from = below(at + 1);
      const std::string item = pointer + "[" + std::to_string(at - from) + "]";
      line("{");
      line("  local uint *" + pointer + " = " + words + " + " + std::to_string(from) + ";");
      line("  barrier(CLK_LOCAL_MEM_FENCE);");
      line("  if (get_local_id(0) == 0) " + (at == from ? "*" + pointer : item) + " = " + e.text +
           ";");
      line("  barrier(CLK_LOCAL_MEM_FENCE);");
      line("  h = stir(h, " + (chance(30) ? "peek(&" + item + ")" : item) + ");");
      line("}");
      break;
    }
    case 5: line("h = stir(h, through(&" + target + ", " + e.text + "));"); break;
    case 6: {
      const std::string event = "e" + number();
      const unsigned from = below(random_table - 3);
      line("{");
      line("  barrier(CLK_LOCAL_MEM_FENCE);");
      line("  event_t " + event + " = async_work_group_copy(" + words + ", table + " +
           std::to_string(from) + ", 4, 0);");
      line("  wait_group_events(1, &" + event + ");");
      line("  h = stir(h, " + target + ");");
      line("}");
      return [key = table_words()[from + at], h = hash_](Env& env) {
        env.memory[h] = stir(static_cast<std::uint32_t>(env.memory[h]), key);
        return Flow::next;
      };
    }
    default:
      line("h = stir(h, work_group_any(" + e.text + " % 3 == 1));");
      return [value = e.value, h = hash_](Env& env) {
        const auto key = static_cast<std::uint32_t>(value(env)[0] % 3 == 1 ? 1 : 0);
        env.memory[h] = stir(static_cast<std::uint32_t>(env.memory[h]), key);
        return Flow::next;
      };
  }
  return [value = e.value, h = hash_](Env& env) {
    const auto key = static_cast<std::uint32_t>(value(env)[0]);
    env.memory[h] = stir(static_cast<std::uint32_t>(env.memory[h]), key);
    return Flow::next;
  };
}

/// Each thread computes with its own number, or the sub-groups with a value. The compiler assumes
/// that the result differs between groups, so it is marked at once.
Run Maker::thread_values() {
  const unsigned slot = slots_++ % (random_slots - 1);
  const auto mark = [&](const std::string& text) {
    line("mark(marks, " + std::to_string(slot) + ", " + text + ");");
  };
  const std::string own = " ^ (uint)get_local_id(0)";
  for (std::size_t i = vars_.size(); i > 0; --i) {
    const Var& kept = vars_[i - 1];
    if (!kept.threads || !visible(i - 1) || chance(30)) continue;
    mark("work_group_reduce_max(" + kept.name + own + ")");
    return [base = kept.base, slot](Env& env) {
      env.mark(slot, env.memory[base]);
      return Flow::next;
    };
  }
  const Expr e = cast(integer(2), Kind::u32);
  const Run marks = [value = e.value, slot](Env& env) {
    env.mark(slot, value(env)[0]);
    return Flow::next;
  };
  switch (below(5)) {
    case 0: mark("sub_group_reduce_min(" + e.text + ")"); return marks;
    case 1: mark("sub_group_broadcast(" + e.text + ", 0)"); return marks;
    case 2:
      mark("sub_group_all(" + e.text + " % 3 == 1)");
      return [value = e.value, slot](Env& env) {
        env.mark(slot, value(env)[0] % 3 == 1 ? 1 : 0);
        return Flow::next;
      };
    default: break;
  }
  const std::string name = "t" + number();
  const std::string more = std::to_string(below(1000)) + "u";
  line("{");
  line("  uint " + name + " = " + within(e, facts(Op::bxor).level) + own + ";");
  line("  if (" + name + " % 2 == 1) " + name + " += 2 * " + more + ";");
  line("  else " + name + " -= " + more + ";");
  if (chance(50)) line("  barrier(CLK_LOCAL_MEM_FENCE);");
  line("  if (" + name + " - 2 * " + more + " == (" + e.text + own + ")) " + name + " -= 3 * " +
       more + ";");
  ++indent_;
  mark("work_group_reduce_max((" + name + " + " + more + ")" + own + ")");
  --indent_;
  line("}");
  return marks;
}

/// All threads read an item that other threads have changed.
Run Maker::read_item() {
  const unsigned at = below(random_items);
  const bool pointed = here_.points && chance(60);
  line(pointed ? "resizing_global_barrier();" : "global_barrier();");
  if (pointed) forget();
  line("h = stir(h, items[" + std::to_string(at) + "]);");
  line("global_barrier();");
  return [at, h = hash_, pointed](Env& env) {
    if (pointed && ++env.points > 150) throw TooLong{};
    env.memory[h] = stir(static_cast<std::uint32_t>(env.memory[h]), env.items[at]);
    return Flow::next;
  };
}

/// A loop made of a label and a backward goto.
Run Maker::jump_back(int depth) {
  const std::string label = "again" + number();
  const std::string name = "w" + number();
  const unsigned times = 1 + below(3);
  line("uint " + name + " = " + std::to_string(times) + ";");
  Var& counter = add(name, {Kind::u32});
  counter.constant = true;
  const unsigned at = counter.base;
  line(label + ":;");
  line("{");
  const Here outer = here_;
  here_.breaks = here_.loops = false;
  const Run inside = body(depth - 1, false);
  here_ = outer;
  line("}");
  line("if (--" + name + " > 0) goto " + label + ";");
  return [at, times, inside](Env& env) {
    for (unsigned i = times; i > 0; --i) {
      env.step();
      env.memory[at] = i;
      if (const Flow flow = inside(env); flow != Flow::next) return flow;
    }
    env.memory[at] = 0;
    return Flow::next;
  };
}

/// A forward goto past statements, sometimes out of a loop.
Run Maker::jump_ahead(int depth) {
  const std::string label = "done" + number();
  const Expr test = condition(1);
  const bool in_loop = chance(40);
  const Scope scope = enter();
  std::vector<Run> parts;
  const std::string jump = "if (" + test.text + ") goto " + label + ";";
  if (in_loop) {
    line("for (int once = 0; once < 2; once++) {");
    line("  " + jump);
  } else {
    line(jump);
    line("{");
  }
  const Here outer = here_;
  here_.breaks = here_.loops = in_loop;
  const Run inside = body(depth - 1, false);
  here_ = outer;
  line("}");
  line(label + ":;");
  leave(scope, false);
  return [test = test.value, in_loop, inside](Env& env) {
    for (int once = 0; once < (in_loop ? 2 : 1); ++once) {
      env.step();
      if (test(env)[0] != 0) break;
      const Flow flow = inside(env);
      if (flow == Flow::returned || !in_loop) return flow;
      if (flow == Flow::broken) break;
    }
    return Flow::next;
  };
}

Run Maker::helper_call() {
  const std::shared_ptr<Function> helper = pick(helpers_);
  if (helper.get() == function_ || !callable(*helper)) return piece([&] { return point(); });
  ++points_;
  const std::string memory = "marks, items, table, room, n";
  const auto result = [&](unsigned to, Kind kind) -> Run {
    return [from = helper->result_base, to, given = helper->result.kind, kind](Env& env) {
      env.memory[to] = convert(env.memory[from], given, kind);
      return Flow::next;
    };
  };
  const std::uint32_t form = helper->is_void ? 0 : below(3);
  if (form == 1 && here_.declares) {
    const Kind kind = integer_kind();
    const bool sent = here_.root && chance(70);
    const std::string name = "v" + number();
    const Call call = call_of(*helper, 2, memory);
    line((sent ? transmit() : "") + Type{kind}.declare(name) + " = " + call.text + ";");
    forget();
    const unsigned at = add(name, {kind}, sent).base;
    return sequence({call.run, result(at, kind)});
  }
  return piece([&] {
    Var* var = form == 0 ? nullptr : choose(true, [](const Var& each) {
      return each.type.scalar() && !each.table && !each.pointer && each.type.kind != Kind::f32;
    });
    const Call call = call_of(*helper, 2, memory);
    const bool changes = var != nullptr && var->readable && (var->sent || !style_.annotated()) &&
                         var->type.kind != Kind::boolean && chance(40);
    const bool wraps = changes && !facts(common(var->type.kind, helper->result.kind)).is_signed;
    const Op op = wraps ? pick({Op::add, Op::sub, Op::bxor}) : pick({Op::bxor, Op::bor, Op::band});
    const std::string sign = changes ? std::string{" "} + facts(op).text + "= " : " = ";
    line((var == nullptr ? "" : var->name + sign) + call.text + ";");
    forget();
    if (var == nullptr) return call.run;
    if (changes) {
      Expr given;
      given.text = "x";
      given.kind = helper->result.kind;
      given.bits = facts(given.kind).bits;
      given.value = [from = helper->result_base](Env& env) { return cell(env.memory[from]); };
      const Place place = whole(*var);
      return sequence({call.run, write(place, binary(op, read(place), given))});
    }
    var->readable = true;
    return sequence({call.run, result(var->base, var->type.kind)});
  });
}

Run Maker::out_call() {
  const std::shared_ptr<Function> out = pick(outs_);
  Var* var = choose(true, [&](const Var& each) {
    return each.readable && !each.table && each.type == out->parameters[0].type;
  });
  if (var == nullptr || out.get() == function_ || !callable(*out, 1)) return assignment();
  const bool array = !var->type.extents.empty();
  const std::string pointer = var->pointer || array ? var->name : "&" + var->name;
  const Call call = call_of(*out, 1, pointer, [at = whole(*var).at](Env& env) {
    return Words{static_cast<Word>(at(env))};
  });
  line(call.text + ";");
  return call.run;
}

}  // namespace cohort::test::random
