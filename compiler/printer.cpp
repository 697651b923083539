#include "compiler/printer.hpp"

#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <utility>

#include "compiler/collect.hpp"
#include "compiler/liveness.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

// ---- names

std::string Printer::escaped(llvm::StringRef name) const {
  return is_word(name) ? (name + "_").str() : name.str();
}

std::string Printer::unique(const std::string& name) {
  std::string result = name;
  for (unsigned n = 2; taken_.contains(result) || file_names_.contains(result); ++n)
    result = name + "_" + std::to_string(n);
  taken_.insert(result);
  return result;
}

std::string Printer::tag_name(const clang::TagDecl& tag) const {
  const auto found = tags_.find(tag.getCanonicalDecl());
  return found == tags_.end() ? "unknown_type" : found->second;
}

std::string Printer::bind(const clang::VarDecl& variable) {
  const std::string name = unique(escaped(variable.getName()));
  names_[{frames_.back().chain, &variable}] = name;
  return name;
}

std::string Printer::name_of(const Variable& variable) const {
  const auto found = names_.find(variable);
  return found == names_.end() ? escaped(variable.decl->getName()) : found->second;
}

std::string Printer::name_of(const clang::VarDecl& variable) const {
  if (const auto found = constants_.find(&variable); found != constants_.end())
    return found->second;
  return name_of(Variable{frames_.empty() ? Chain{} : frames_.back().chain, &variable});
}

std::string Printer::position(clang::SourceLocation at) const {
  const clang::PresumedLoc place = program_.context.getSourceManager().getPresumedLoc(at);
  if (place.isInvalid()) return "?";
  const llvm::StringRef path = place.getFilename();
  return (path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(place.getLine())).str();
}

void Printer::line(const std::string& text) {
  out_.append(static_cast<std::size_t>(indent_) * 2, ' ');
  out_ += text;
  out_ += '\n';
}

// ---- types

namespace {

std::string builtin_type(clang::QualType of) {
  const auto* known = of->getAs<clang::BuiltinType>();
  if (known == nullptr) return "cohort_unknown_type";
  switch (known->getKind()) {
    case clang::BuiltinType::Void: return "void";
    case clang::BuiltinType::Bool: return "bool";
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::Char_U: return "char";
    case clang::BuiltinType::SChar: return "signed char";
    case clang::BuiltinType::UChar: return "unsigned char";
    case clang::BuiltinType::Short: return "short";
    case clang::BuiltinType::UShort: return "unsigned short";
    case clang::BuiltinType::Int: return "int";
    case clang::BuiltinType::UInt: return "unsigned int";
    case clang::BuiltinType::Long: return "long";
    case clang::BuiltinType::ULong: return "unsigned long";
    case clang::BuiltinType::LongLong: return "long long";
    case clang::BuiltinType::ULongLong: return "unsigned long long";
    case clang::BuiltinType::Float: return "float";
    case clang::BuiltinType::Double: return "double";
    case clang::BuiltinType::Half: return "half";
    default: return "cohort_unknown_type";
  }
}

}  // namespace

std::string Printer::declare(clang::QualType of, const std::string& name) const {
  const clang::QualType plain = of.getCanonicalType();
  std::string quals;
  if (plain.isConstQualified()) quals += "const ";
  if (plain.isVolatileQualified()) quals += "volatile ";
  const std::string before = space(plain.getAddressSpace()) + quals;
  const auto spaced = [&](const std::string& base) {
    return before + base + (name.empty() ? "" : " " + name);
  };
  if (const auto* pointer = plain->getAs<clang::PointerType>()) {
    const clang::QualType target = pointer->getPointeeType();
    std::string inner = before.empty() ? "*" : "* " + before;
    inner += name;
    if (target->isArrayType()) inner = "(" + inner + ")";
    return declare(target, inner);
  }
  if (const auto* array = program_.context.getAsArrayType(plain)) {
    std::string size;
    if (const auto* known = dyn_cast<clang::ConstantArrayType>(array))
      size = llvm::toString(known->getSize(), 10, false);
    return declare(array->getElementType(), name + "[" + size + "]");
  }
  if (const auto* vector = plain->getAs<clang::VectorType>()) {
    return spaced(vector_name(declare(vector->getElementType().getUnqualifiedType(), ""),
                              vector->getNumElements()));
  }
  if (const auto* atomic = plain->getAs<clang::AtomicType>()) {
    return spaced(atomic_name(declare(atomic->getValueType().getUnqualifiedType(), "")));
  }
  if (const auto* tag = plain->getAs<clang::TagType>()) {
    const auto& sources = program_.context.getSourceManager();
    if (sources.isInSystemHeader(tag->getDecl()->getLocation()))
      return spaced("int");  // memory_order and the like
    return spaced(tag_reference(*tag->getDecl()));
  }
  return spaced(builtin_type(plain));
}

// ---- declarations

void Printer::print_tag(const clang::TagDecl& tag) {
  if (const auto* record = dyn_cast<clang::RecordDecl>(&tag)) {
    for (const clang::Decl* each : record->decls()) {
      if (const auto* inner = dyn_cast<clang::TagDecl>(each);
          inner != nullptr && inner->isThisDeclarationADefinition()) {
        print_tag(*inner);
      }
    }
  }
  if (!tag.isThisDeclarationADefinition()) return;
  auto& name = tags_[tag.getCanonicalDecl()];
  if (name.empty()) {
    const clang::TypedefNameDecl* alias = tag.getTypedefNameForAnonDecl();
    const std::string wanted = !tag.getName().empty() ? tag.getName().str()
                               : alias != nullptr     ? alias->getName().str()
                                                      : "unnamed";
    std::string own = escaped(wanted);
    for (unsigned n = 2; file_names_.contains(own); ++n)
      own = escaped(wanted) + "_" + std::to_string(n);
    file_names_.insert(own);
    name = in_file(own);
  }
  const auto* record = dyn_cast<clang::RecordDecl>(&tag);
  if (record == nullptr) {
    const auto* values = dyn_cast<clang::EnumDecl>(&tag);
    line("enum " + name + enum_base(type(values->getIntegerType())) + " {");
    open();
    for (const clang::EnumConstantDecl* each : values->enumerators()) {
      file_names_.insert(escaped(each->getName()));
      line(in_file(each->getName()) + " = " + llvm::toString(each->getInitVal(), 10) + ",");
    }
    close();
    line("};");
    return;
  }
  std::string head = record->isUnion() ? "union " : "struct ";
  if (record->hasAttr<clang::PackedAttr>()) head += "__attribute__((packed)) ";
  if (const auto* aligned = record->getAttr<clang::AlignedAttr>()) {
    head += "__attribute__((aligned(" +
            std::to_string(aligned->getAlignment(program_.context) / 8) + "))) ";
  }
  line(head + name + " {");
  open();
  for (const clang::FieldDecl* field : record->fields()) {
    std::string declared = declare(
        field->getType(), field->isAnonymousStructOrUnion() ? "" : escaped(field->getName()));
    if (field->isAnonymousStructOrUnion())
      declared = declare(field->getType(), "unnamed_" + std::to_string(field->getFieldIndex()));
    if (field->isBitField())
      declared += " : " + std::to_string(field->getBitWidthValue(program_.context));
    line(declared + ";");
  }
  close();
  line("};");
}

void Printer::print_declarations() {
  for (const clang::FunctionDecl* each : program_.functions)
    file_names_.insert(escaped(each->getName()));
  for (const Kernel& each : program_.kernels) file_names_.insert(escaped(each.decl->getName()));
  const auto print_constant = [&](const clang::VarDecl& variable) {
    std::string name = escaped(variable.getName());
    for (unsigned n = 2; file_names_.contains(name); ++n)
      name = escaped(variable.getName()) + "_" + std::to_string(n);
    file_names_.insert(name);
    constants_[&variable] = in_file(name);
    line(constant(variable, in_file(name)) + ";");
  };
  for (const clang::Decl* each : program_.declarations) {
    if (const auto* tag = dyn_cast<clang::TagDecl>(each)) print_tag(*tag);
    if (const auto* variable = dyn_cast<clang::VarDecl>(each);
        variable != nullptr && variable->hasInit())
      print_constant(*variable);
  }
  const auto inside = [&](const clang::FunctionDecl& function) {
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt);
      if (declarations == nullptr) return true;
      for (const clang::Decl* each : declarations->decls()) {
        if (const auto* tag = dyn_cast<clang::TagDecl>(each)) print_tag(*tag);
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr &&
            variable->getType().getAddressSpace() == clang::LangAS::opencl_constant)
          print_constant(*variable);
      }
      return true;
    });
  };
  for (const clang::FunctionDecl* each : program_.functions) inside(*each);
  for (const Kernel& each : program_.kernels) inside(*each.decl);
}

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

/// The statements of a block, and the labels in front of them one by one.
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

/// Statements one after another, of which the last point is that one. What has no point is passed
/// over on the way to a later one.
void Printer::print_sequence(const std::vector<const clang::Stmt*>& items, unsigned last) {
  bool passed = last == 0;  // no point follows
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
    // A point by itself lets those pass who are on their way to a later one.
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

/// What a switch looks at: its value, or the label from which a point is reached.
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
  } else if (const auto* loop = dyn_cast<clang::WhileStmt>(stmt)) {
    const std::string condition = print(loop->getCond());
    begin_loop("while (" +
               (span_of(loop).any() ? "cohort_skip != 0 || (" + condition + ")" : condition) +
               ") {");
    print_block(loop->getBody(), {loop->getCond()});
    line("}");
  } else if (const auto* do_loop = dyn_cast<clang::DoStmt>(stmt)) {
    begin_loop("do {");
    print_block(do_loop->getBody(), {do_loop->getCond()});
    line("} while (" + print(do_loop->getCond()) + ");");
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

/// Whether the author wants the loop unrolled: by OpenCL's attribute, or by a pragma.
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

/// The line with which a loop begins.
void Printer::begin_loop(const std::string& words) {
  if (!unrolling_.empty()) line(std::exchange(unrolling_, {}));
  line(words);
}

void Printer::print_variable(const clang::VarDecl& variable, bool hoist) {
  const clang::LangAS space = variable.getType().getAddressSpace();
  if (space == clang::LangAS::opencl_constant) return;  // written at the top of the file
  if (space == clang::LangAS::opencl_local) {
    names_[{frames_.back().chain, &variable}] = local_variable(variable);
    return;
  }
  const clang::CallExpr* call = inlined_call(call_of_initialiser(variable));
  if (call != nullptr) print_inlined(*call);
  const clang::QualType unqualified = variable.getType().getUnqualifiedType();
  if (!hoist) {
    const std::string value =
        variable.hasInit() ? " = " + print(variable.getInit()) : "";  // before its name is taken
    const std::string name = bind(variable);
    line(declare(variable.getType(), name) + value + ";");
    return;
  }
  const std::string name = bind(variable);
  hoisted_.push_back(declare(unqualified, name) + ";");
  if (variable.hasInit()) initialise(variable, name);
}

void Printer::initialise(const clang::VarDecl& variable, const std::string& name) {
  const clang::QualType unqualified = variable.getType().getUnqualifiedType();
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
      names_[{frame.chain, parameter}] = value;
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

// ---- expressions

std::string Printer::print_postfix(const clang::Expr* expression) {
  const std::string text = print(expression);
  const bool simple = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']';
  });
  return simple || isa<clang::ParenExpr>(expression) ? text : "(" + text + ")";
}

std::string Printer::print_arguments(const clang::CallExpr& call) {
  std::string result;
  for (const clang::Expr* each : call.arguments())
    result += (result.empty() ? "" : ", ") + print(each);
  return result;
}

std::string Printer::print_list(const clang::InitListExpr& list) {
  if (const auto* field = list.getInitializedFieldInUnion()) {
    const std::string value = list.getNumInits() == 0 ? "{}" : print(list.getInit(0));
    return "{." + escaped(field->getName()) + " = " + value + "}";
  }
  std::string result;
  for (const clang::Expr* each : list.inits()) result += (result.empty() ? "" : ", ") + print(each);
  return "{" + result + "}";
}

std::string Printer::print_literal(const clang::Expr& literal) const {
  if (const auto* number = dyn_cast<clang::IntegerLiteral>(&literal)) {
    const bool is_signed = number->getType()->isSignedIntegerType();
    std::string text = llvm::toString(number->getValue(), 10, is_signed);
    if (!is_signed) text += "u";
    if (program_.context.getTypeSize(number->getType()) == 64) text += "l";
    return text;
  }
  if (const auto* number = dyn_cast<clang::FloatingLiteral>(&literal)) {
    llvm::SmallString<32> text;
    number->getValue().toString(text);
    std::string result = text.str().str();
    if (result.find_first_of(".eEn") == std::string::npos) result += ".0";
    if (number->getType()->isSpecificBuiltinType(clang::BuiltinType::Float)) result += "f";
    return result;
  }
  if (const auto* character = dyn_cast<clang::CharacterLiteral>(&literal))
    return std::to_string(character->getValue());
  if (const auto* text = dyn_cast<clang::StringLiteral>(&literal)) {
    std::string result;
    llvm::raw_string_ostream stream{result};
    text->outputString(stream);
    return result;
  }
  return "0";
}

std::string Printer::print_unary(const clang::UnaryOperator& unary) {
  const std::string op = clang::UnaryOperator::getOpcodeStr(unary.getOpcode()).str();
  if (unary.getOpcode() == clang::UO_Extension) return print(unary.getSubExpr());
  if (unary.isPostfix()) return print_postfix(unary.getSubExpr()) + op;
  return op + print_postfix(unary.getSubExpr());
}

std::string Printer::print_binary(const clang::BinaryOperator& binary) {
  const std::string op = binary.getOpcodeStr().str();
  if (binary.isAssignmentOp()) {
    const auto* element = dyn_cast<clang::ExtVectorElementExpr>(binary.getLHS()->IgnoreParens());
    std::string target =
        element != nullptr ? print_element(*element, true) : print(binary.getLHS());
    std::string value = print(binary.getRHS());
    if (isa<clang::InitListExpr>(binary.getRHS()))
      value = aggregate(binary.getLHS()->getType(), value);
    return target + " " + op + " " + value;
  }
  return print(binary.getLHS()) + " " + op + " " + print(binary.getRHS());
}

std::string Printer::print(const clang::Expr* expression) {
  if (const auto* name = dyn_cast<clang::DeclRefExpr>(expression)) {
    if (const auto* value = dyn_cast<clang::EnumConstantDecl>(name->getDecl())) {
      const auto& sources = program_.context.getSourceManager();
      if (sources.isInSystemHeader(value->getLocation()))
        return llvm::toString(value->getInitVal(), 10);
      return in_file(value->getName());
    }
    if (const auto* variable = dyn_cast<clang::VarDecl>(name->getDecl())) return name_of(*variable);
    return in_file(name->getDecl()->getName());
  }
  if (isa<clang::IntegerLiteral>(expression) || isa<clang::FloatingLiteral>(expression) ||
      isa<clang::CharacterLiteral>(expression) || isa<clang::StringLiteral>(expression)) {
    return print_literal(*expression);
  }
  if (const auto* parens = dyn_cast<clang::ParenExpr>(expression))
    return "(" + print(parens->getSubExpr()) + ")";
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(expression)) return print_unary(*unary);
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(expression))
    return print_binary(*binary);
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(expression)) {
    if (choice->getCond()->getType()->isVectorType()) return print_vector_choice(*choice);
    return print(choice->getCond()) + " ? " + print(choice->getTrueExpr()) + " : " +
           print(choice->getFalseExpr());
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(expression)) {
    if (const auto found = results_.find(call); found != results_.end()) return found->second;
    const clang::FunctionDecl& callee = *callee_of(*call);
    if (is_builtin(callee)) return print_builtin(*call, callee);
    std::string arguments = print_arguments(*call);
    if (program_.asks_group.contains(&definition_of(callee)) && !context_argument().empty()) {
      arguments = context_argument() + (arguments.empty() ? "" : ", ") + arguments;
    }
    return in_file(callee.getName()) + "(" + arguments + ")";
  }
  if (const auto* member = dyn_cast<clang::MemberExpr>(expression)) {
    const auto* field = dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    std::string name = escaped(member->getMemberDecl()->getName());
    if (field != nullptr && field->isAnonymousStructOrUnion())
      name = "unnamed_" + std::to_string(field->getFieldIndex());
    return print_postfix(member->getBase()) + (member->isArrow() ? "->" : ".") + name;
  }
  if (const auto* item = dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    return print_postfix(item->getBase()) + "[" + print(item->getIdx()) + "]";
  }
  if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(expression))
    return print_element(*element, false);
  if (const auto* cast = dyn_cast<clang::CastExpr>(expression)) return print_cast(*cast);
  if (const auto* same = dyn_cast<clang::AsTypeExpr>(expression))
    return print_as(same->getType(), print(same->getSrcExpr()));
  if (const auto* list = dyn_cast<clang::InitListExpr>(expression)) {
    return list->getType()->isVectorType() ? print_vector(*list) : print_list(*list);
  }
  if (isa<clang::ImplicitValueInitExpr>(expression)) return "{}";
  if (const auto* literal = dyn_cast<clang::CompoundLiteralExpr>(expression)) {
    const auto* list = dyn_cast<clang::InitListExpr>(literal->getInitializer());
    if (literal->getType()->isVectorType()) return print(literal->getInitializer());
    if (list != nullptr && !literal->getType()->isRecordType() && list->getNumInits() == 1)
      return print(list->getInit(0));
    return aggregate(literal->getType(), print(literal->getInitializer()));
  }
  if (const auto* size = dyn_cast<clang::UnaryExprOrTypeTraitExpr>(expression)) {
    if (size->getKind() == clang::UETT_SizeOf) {
      const clang::QualType of =
          size->isArgumentType() ? size->getArgumentType() : size->getArgumentExpr()->getType();
      return "sizeof(" + type(of) + ")";
    }
    clang::Expr::EvalResult value;
    if (size->EvaluateAsInt(value, program_.context)) return llvm::toString(value.Val.getInt(), 10);
  }
  if (const auto* constant_value = dyn_cast<clang::ConstantExpr>(expression))
    return print(constant_value->getSubExpr());
  clang::Expr::EvalResult value;
  if (expression->EvaluateAsInt(value, program_.context))
    return llvm::toString(value.Val.getInt(), 10);
  return "cohort_unsupported_" + std::string{expression->getStmtClassName()};
}

}  // namespace cohort::compiler
