#include <clang/AST/Attr.h>

#include <algorithm>
#include <utility>

#include "compiler/collect.hpp"
#include "compiler/liveness.hpp"
#include "compiler/printer.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

// ---- functions

Printer::Marks Printer::mark(const clang::Stmt* stmt) {
  Marks marks;
  if (stmt == nullptr) return marks;
  if (const auto* call = dyn_cast<clang::CallExpr>(stmt)) {
    const clang::FunctionDecl* callee = callee_of(*call);
    if (is_resizing(primitive(*call))) marks.point = true;
    if (callee != nullptr && !is_builtin(*callee) && inlines(definition_of(*callee)))
      marks.point = true;
  }
  for (const clang::Stmt* child : stmt->children()) {
    const Marks inner = mark(child);
    marks.point |= inner.point;
    marks.label |= inner.label;
  }
  if (isa<clang::SwitchCase>(stmt)) marks.label = true;
  if (isa<clang::LabelStmt>(stmt)) marks.point = true;
  if ((isa<clang::CompoundStmt>(stmt) || isa<clang::ForStmt>(stmt)) && (marks.point || marks.label))
    hoisting_.insert(stmt);
  if (isa<clang::SwitchStmt>(stmt)) marks.label = false;
  return marks;
}

void Printer::begin(const clang::FunctionDecl& function) {
  hoisting_.clear();
  hoisted_.clear();
  names_.clear();
  taken_.clear();
  results_.clear();
  labels_ = 0;
  frames_ = {Frame{&function, {}, "", ""}};
  for (const clang::ParmVarDecl* each : function.parameters()) bind(*each);
}

std::string Printer::body_of(const clang::FunctionDecl& function) {
  mark(function.getBody());
  std::string before;
  std::swap(before, out_);
  print_body(*dyn_cast<clang::CompoundStmt>(function.getBody()));
  std::swap(before, out_);
  return before;
}

// ---- statements

const Point* Printer::point_at(const clang::Stmt& stmt) const {
  const clang::CallExpr* call = isa<clang::Expr>(stmt) ? call_of_statement(stmt) : nullptr;
  if (call == nullptr || kernel_ == nullptr || !is_resizing(primitive(*call))) return nullptr;
  Chain chain = frames_.back().chain;
  chain.push_back(call);
  return kernel_->at(chain);
}

namespace {

/// The statements of a block. Labels in front of a statement are listed one by one.
std::vector<const clang::Stmt*> items_of(const clang::CompoundStmt& block) {
  std::vector<const clang::Stmt*> result;
  for (const clang::Stmt* each : block.body()) {
    while (const auto* label = dyn_cast<clang::SwitchCase>(each)) {
      result.push_back(label);
      each = label->getSubStmt();
    }
    result.push_back(each);
  }
  return result;
}

}  // namespace

Printer::Span Printer::span_of(const clang::Stmt* stmt) const {
  Span span;
  if (!skips() || kernel_ == nullptr || stmt == nullptr) return span;
  std::set<const clang::CallExpr*> calls;
  walk(stmt, [&](const clang::Stmt& each) {
    if (const auto* call = dyn_cast<clang::CallExpr>(&each)) calls.insert(call);
    return true;
  });
  const Chain& here = frames_.back().chain;
  for (const Point& point : kernel_->points) {
    if (point.chain.size() <= here.size() ||
        !std::equal(here.begin(), here.end(), point.chain.begin()) ||
        !calls.contains(point.chain[here.size()]))
      continue;
    if (!span.any()) span.first = point.phase;
    span.last = point.phase;
  }
  return span;
}

std::string Printer::unless_skipping(const std::string& condition, const std::string& otherwise) {
  return "cohort_skip == 0 ? (" + condition + ") : (" + otherwise + ")";
}

void Printer::print_body(const clang::CompoundStmt& block) {
  hoist_here_.push_back(hoists(&block));
  print_sequence(items_of(block), span_of(&block).last);
  hoist_here_.pop_back();
}

/// Prints statements in order. `last` is the number of the last point among them. While a group
/// skips to a later point, statements without a point are guarded.
void Printer::print_sequence(const std::vector<const clang::Stmt*>& items, unsigned last) {
  bool passed = last == 0;  // true once no point follows
  bool guarded = false;
  const auto guard = [&](bool on) {
    if (on == guarded) return;
    if (!on) close();
    line(on ? "if (cohort_skip == 0) {" : "}");
    if (on) open();
    guarded = on;
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (const auto* label = dyn_cast<clang::SwitchCase>(items[i])) {
      guard(false);
      print_label(*label);
      continue;
    }
    const Span span = span_of(items[i]);
    guard(!passed && !span.any());
    const Point* first = point_at(*items[i]);
    const Point* second = i + 1 == items.size() ? nullptr : point_at(*items[i + 1]);
    if (first != nullptr && second != nullptr && first->kind == Primitive::offer_kill &&
        second->kind == Primitive::request_fork && merge_points(*first, *second)) {
      ++i;
      passed = passed || second->phase == last;
      continue;
    }
    // A group on its way to a later point skips this whole statement. A statement that is itself a
    // point does this on its own.
    const bool over = span.any() && span.last < last && first == nullptr;
    if (over) {
      line("if (cohort_skip <= " + std::to_string(span.last) + ") {");
      open();
    }
    print_statement(items[i]);
    if (over) {
      close();
      line("}");
    }
    passed = passed || (span.any() && span.last == last);
  }
  guard(false);
}

void Printer::print_label(const clang::SwitchCase& label) {
  if (const auto* value = dyn_cast<clang::CaseStmt>(&label)) {
    line("case " + print(value->getLHS()) + ":;");
    return;
  }
  if (const auto found = default_entries_.find(&label); found != default_entries_.end())
    line("case " + found->second + ":;");
  line("default:;");
}

/// The condition of a switch: its value, or, for a group on its way to a point, the label that
/// leads there.
std::string Printer::print_choice(const clang::SwitchStmt& choice) {
  std::string value = print(choice.getCond());
  const auto* body = dyn_cast<clang::CompoundStmt>(choice.getBody());
  if (body == nullptr || !span_of(body).any()) return value;
  const std::vector<const clang::Stmt*> items = items_of(*body);
  std::int64_t unused = 0;
  for (const clang::Stmt* each : items) {
    const auto* label = dyn_cast<clang::CaseStmt>(each);
    if (label == nullptr) continue;
    const std::int64_t taken =
        label->getLHS()->EvaluateKnownConstInt(program_.context).getExtValue();
    unused = std::max(unused, taken + 1);
  }
  std::string entry;
  std::string from = "0";
  for (const clang::Stmt* each : items) {
    if (const auto* label = dyn_cast<clang::CaseStmt>(each)) from = print(label->getLHS());
    if (isa<clang::DefaultStmt>(each)) from = default_entries_[each] = std::to_string(unused);
    const Span span = span_of(each);
    if (isa<clang::SwitchCase>(each) || !span.any()) continue;
    entry += "cohort_skip <= " + std::to_string(span.last) + " ? " + from + " : ";
  }
  return unless_skipping(value, entry + from);
}

void Printer::print_block(const clang::Stmt* stmt) {
  open();
  if (const auto* block = dyn_cast<clang::CompoundStmt>(stmt)) {
    print_body(*block);
  } else {
    print_statement(stmt);
  }
  close();
}

void Printer::print_block(const clang::Stmt* stmt,
                          std::initializer_list<const clang::Stmt*> evaluated) {
  open();
  for (const clang::Stmt* each : evaluated) after(each);
  close();
  print_block(stmt);
}

void Printer::print_statement(const clang::Stmt* stmt) {
  if (stmt == nullptr) return;
  if (const auto* block = dyn_cast<clang::CompoundStmt>(stmt)) {
    line("{");
    open();
    print_body(*block);
    close();
    line("}");
  } else if (const auto* expression = dyn_cast<clang::Expr>(stmt)) {
    const clang::CallExpr* call = call_of_statement(*stmt);
    if (call != nullptr && is_resizing(primitive(*call))) {
      if (const Point* point = point_at(*stmt)) print_point(*point);
      return;
    }
    if (inlined_call(call) != nullptr) {
      print_inlined(*call);
      const auto* assignment = dyn_cast<clang::BinaryOperator>(expression->IgnoreParens());
      if (assignment == nullptr) return;
    }
    line(print(expression) + ";");
    after(stmt);
  } else if (const auto* declarations = dyn_cast<clang::DeclStmt>(stmt)) {
    for (const clang::Decl* each : declarations->decls()) {
      if (const auto* variable = dyn_cast<clang::VarDecl>(each))
        print_variable(*variable, hoist_here_.back());
    }
    after(stmt);
  } else if (const auto* branch = dyn_cast<clang::IfStmt>(stmt)) {
    const Span span = span_of(branch);
    const std::string condition = print(branch->getCond());
    line("if (" +
         (span.any()
              ? unless_skipping(condition,
                                "cohort_skip <= " + std::to_string(span_of(branch->getThen()).last))
              : condition) +
         ") {");
    print_block(branch->getThen(), {branch->getCond()});
    if (branch->getElse() != nullptr) {
      line("} else {");
      print_block(branch->getElse(), {branch->getCond()});
    }
    line("}");
    if (branch->getElse() == nullptr) after(branch->getCond());
  } else if (const auto* loop = dyn_cast<clang::WhileStmt>(stmt)) {
    const std::string condition = print(loop->getCond());
    begin_loop("while (" +
               (span_of(loop).any() ? "cohort_skip != 0 || (" + condition + ")" : condition) +
               ") {");
    print_block(loop->getBody(), {loop->getCond()});
    line("}");
    after(loop->getCond());
  } else if (const auto* do_loop = dyn_cast<clang::DoStmt>(stmt)) {
    begin_loop("do {");
    print_block(do_loop->getBody(), {do_loop->getCond()});
    line("} while (" + print(do_loop->getCond()) + ");");
    after(do_loop->getCond());
  } else if (const auto* for_loop = dyn_cast<clang::ForStmt>(stmt)) {
    line("{");
    open();
    const bool skipping = span_of(for_loop).any();
    hoist_here_.push_back(hoists(for_loop));
    if (skipping && for_loop->getInit() != nullptr) {
      line("if (cohort_skip == 0) {");
      print_block(for_loop->getInit());
      line("}");
    } else {
      print_statement(for_loop->getInit());
    }
    hoist_here_.pop_back();
    std::string condition = for_loop->getCond() == nullptr ? "" : print(for_loop->getCond());
    if (skipping && !condition.empty()) condition = "cohort_skip != 0 || (" + condition + ")";
    begin_loop("for (; " + condition + "; " +
               (for_loop->getInc() == nullptr ? "" : print(for_loop->getInc())) + ") {");
    print_block(for_loop->getBody(), {for_loop->getCond(), for_loop->getInc()});
    line("}");
    if (for_loop->getCond() != nullptr) after(for_loop->getCond());
    close();
    line("}");
  } else if (const auto* choice = dyn_cast<clang::SwitchStmt>(stmt)) {
    line("switch (" + print_choice(*choice) + ") {");
    print_block(choice->getBody());
    line("}");
  } else if (const auto* label = dyn_cast<clang::SwitchCase>(stmt)) {
    print_label(*label);
    print_statement(label->getSubStmt());
  } else if (const auto* named = dyn_cast<clang::LabelStmt>(stmt)) {
    line(std::string{named->getName()} + "_label:;");
    print_statement(named->getSubStmt());
  } else if (const auto* jump = dyn_cast<clang::GotoStmt>(stmt)) {
    line("goto " + jump->getLabel()->getNameAsString() + "_label;");
  } else if (isa<clang::BreakStmt>(stmt)) {
    line("break;");
  } else if (isa<clang::ContinueStmt>(stmt)) {
    line("continue;");
  } else if (const auto* given_back = dyn_cast<clang::ReturnStmt>(stmt)) {
    const clang::Expr* value = given_back->getRetValue();
    if (const clang::CallExpr* call = inlined_call(call_of_statement(*stmt))) {
      print_inlined(*call);
      if (call->getType()->isVoidType()) value = nullptr;
    }
    const Frame& frame = frames_.back();
    if (frame.end.empty()) {
      line(value == nullptr ? "return;" : "return " + print(value) + ";");
    } else {
      if (value != nullptr && !frame.result.empty())
        line(frame.result + " = " + print(value) + ";");
      line("goto " + frame.end + ";");
    }
  } else if (const auto* marked = dyn_cast<clang::AttributedStmt>(stmt)) {
    note_unrolling(*marked);
    print_statement(marked->getSubStmt());
    unrolling_.clear();
  } else if (isa<clang::NullStmt>(stmt)) {
    line(";");
  }
}

/// Records that the source wants a loop unrolled, by OpenCL's attribute or by a pragma.
void Printer::note_unrolling(const clang::AttributedStmt& marked) {
  for (const clang::Attr* attribute : marked.getAttrs()) {
    if (const auto* hint = dyn_cast<clang::OpenCLUnrollHintAttr>(attribute)) {
      unrolling_ = unrolling(hint->getUnrollHint());
    } else if (const auto* pragma = dyn_cast<clang::LoopHintAttr>(attribute)) {
      if (pragma->getOption() == clang::LoopHintAttr::UnrollCount) {
        const auto times = pragma->getValue()->EvaluateKnownConstInt(program_.context);
        unrolling_ = unrolling(static_cast<unsigned>(times.getZExtValue()));
      } else if (pragma->getOption() == clang::LoopHintAttr::Unroll &&
                 pragma->getState() != clang::LoopHintAttr::Disable) {
        unrolling_ = unrolling(0);
      }
    }
  }
}

/// Prints the line that begins a loop.
void Printer::begin_loop(const std::string& words) {
  if (!unrolling_.empty()) line(std::exchange(unrolling_, {}));
  line(words);
}

void Printer::print_variable(const clang::VarDecl& variable, bool hoist) {
  const clang::LangAS space = variable.getType().getAddressSpace();
  // Constants are printed at the top of the file.
  if (space == clang::LangAS::opencl_constant) return;
  if (space == clang::LangAS::opencl_local) {
    names_[{frames_.back().chain, &variable}] = local_variable(variable);
    return;
  }
  const clang::CallExpr* call = inlined_call(call_of_initialiser(variable));
  if (call != nullptr) print_inlined(*call);
  const clang::QualType unqualified = unqualified_of(variable);
  if (!hoist) {
    const std::string value =
        // Printed before the variable's name is taken.
        variable.hasInit() ? " = " + print(variable.getInit()) : "";
    const std::string name = bind(variable);
    line(alignment(variable) + declare(variable.getType(), name) + value + ";");
    return;
  }
  // Keeps its initialiser, so that joining groups have the value too.
  if (is_named_constant(variable)) {
    const std::string value = print(variable.getInit());
    hoisted_.push_back(alignment(variable) + declare(variable.getType(), bind(variable)) + " = " +
                       value + ";");
    return;
  }
  const std::string name = bind(variable);
  hoisted_.push_back(alignment(variable) + declare(unqualified, name) + ";");
  if (variable.hasInit()) initialise(variable, name);
}

clang::QualType Printer::unqualified_of(const clang::VarDecl& variable) const {
  clang::Qualifiers ignored;
  const clang::QualType type = variable.getType();
  return type->isArrayType() ? program_.context.getUnqualifiedArrayType(type, ignored)
                             : type.getUnqualifiedType();
}

void Printer::initialise(const clang::VarDecl& variable, const std::string& name) {
  const clang::QualType unqualified = unqualified_of(variable);
  const clang::Expr* init = variable.getInit();
  if (unqualified->isArrayType()) {
    line("{");
    open();
    line(declare(unqualified, "cohort_from") + " = " + print(init) + ";");
    line(copy_array(name, "cohort_from"));
    close();
    line("}");
  } else if (const auto* list = dyn_cast<clang::InitListExpr>(init);
             list != nullptr && !unqualified->isVectorType()) {
    line(name + " = " +
         (unqualified->isRecordType() ? aggregate(unqualified, print(init))
                                      : print(list->getInit(0))) +
         ";");
  } else {
    line(name + " = " + print(init) + ";");
  }
}

const clang::CallExpr* Printer::inlined_call(const clang::CallExpr* call) const {
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : callee_of(*call);
  return callee != nullptr && !is_builtin(*callee) && inlines(definition_of(*callee)) ? call
                                                                                      : nullptr;
}

/// The text for an aliased parameter of an inlined function: the argument as a value of the
/// parameter's type, so it may stand in any expression.
std::string Printer::alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call,
                           const std::string& value) const {
  const clang::QualType to = parameter.getType().getCanonicalType().getUnqualifiedType();
  const clang::Expr* argument = call.getArg(parameter.getFunctionScopeIndex());
  const clang::Expr* name = argument->IgnoreParenImpCasts();
  const bool same = isa<clang::DeclRefExpr>(name) &&
                    name->getType().getCanonicalType().getUnqualifiedType() == to;
  return same ? value : "((" + type(to) + ")(" + value + "))";
}

bool Printer::print_inlined(const clang::CallExpr& call) {
  const clang::FunctionDecl& function = definition_of(*callee_of(call));
  Frame frame;
  frame.function = &function;
  frame.chain = frames_.back().chain;
  frame.chain.push_back(&call);
  frame.end = "cohort_end_" + std::to_string(++labels_);
  if (!function.getReturnType()->isVoidType()) {
    frame.result = unique("cohort_result");
    hoisted_.push_back(declare(function.getReturnType().getUnqualifiedType(), frame.result) + ";");
    results_[&call] = frame.result;
  }
  line("{  // " + function.getNameAsString() + ", called at " + position(call.getBeginLoc()));
  open();
  std::vector<std::pair<const clang::ParmVarDecl*, std::string>> values;
  for (const clang::ParmVarDecl* parameter : function.parameters()) {
    values.emplace_back(parameter, print(call.getArg(parameter->getFunctionScopeIndex())));
  }
  frames_.push_back(frame);
  const bool skipping = span_of(function.getBody()).any();
  if (skipping) line("if (cohort_skip == 0) {");
  for (const auto& [parameter, value] : values) {
    if (is_alias(*parameter, call)) {
      names_[{frame.chain, parameter}] = alias(*parameter, call, value);
      continue;
    }
    const std::string name = bind(*parameter);
    hoisted_.push_back(declare(parameter->getType().getUnqualifiedType(), name) + ";");
    line(name + " = " + value + ";");
  }
  if (skipping) line("}");
  mark(function.getBody());
  print_body(*dyn_cast<clang::CompoundStmt>(function.getBody()));
  frames_.pop_back();
  close();
  line("}");
  line(frame.end + ":;");
  return true;
}

}  // namespace cohort::compiler
