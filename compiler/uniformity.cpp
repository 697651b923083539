#include "compiler/uniformity.hpp"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "compiler/diagnostics.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

namespace {

Fact join(Fact a, Fact b) { return b.level > a.level ? b : a; }

/// Knowledge about a value. If the value is or contains a pointer, this includes knowledge about
/// its target.
struct Value {
  Fact fact;
  std::set<Variable> targets;  // private variables into which it may point
  bool elsewhere = true;       // may also point to memory other than `targets`
  bool local = false;          // the memory elsewhere may be local memory
  bool whole = false;          // points to the target itself, not to a part of it

  /// Whether the value is certainly the address of one particular variable.
  [[nodiscard]] bool exact() const { return whole && !elsewhere && targets.size() == 1; }
  friend bool operator==(const Value& a, const Value& b) {
    return std::tie(a.fact.level, a.targets, a.elsewhere, a.local, a.whole) ==
           std::tie(b.fact.level, b.targets, b.elsewhere, b.local, b.whole);
  }
  friend bool operator<(const Value& a, const Value& b) {
    return std::tie(a.fact.level, a.targets, a.elsewhere, a.local, a.whole) <
           std::tie(b.fact.level, b.targets, b.elsewhere, b.local, b.whole);
  }
};

Value join(Value a, const Value& b) {
  a.fact = join(a.fact, b.fact);
  a.targets.insert(b.targets.begin(), b.targets.end());
  a.elsewhere |= b.elsewhere;
  a.local |= b.local;
  a.whole &= b.whole;
  return a;
}

using Values = std::map<Variable, Value>;

/// Stands for all memory that is not private. Its value describes what is stored there; only the
/// pointers among it matter.
const Variable memory{};

/// Knowledge about the variables at one program point. `dead`: control cannot reach the point.
struct Env {
  Values vars;
  bool dead = false;

  void meet(const Env& other) {
    if (other.dead) return;
    if (dead) {
      *this = other;
      return;
    }
    for (const auto& [variable, value] : other.vars) {
      const auto [mine, added] = vars.try_emplace(variable, value);
      if (!added) mine->second = join(std::move(mine->second), value);
    }
  }
  friend bool operator==(const Env&, const Env&) = default;
};

/// Whether a value of this type may hold an address.
bool holds_address(clang::QualType type) {
  type = type.getCanonicalType();
  if (const auto* atomic = type->getAs<clang::AtomicType>()) type = atomic->getValueType();
  if (const auto* vector = type->getAs<clang::VectorType>()) type = vector->getElementType();
  if (type->isPointerType() || type->isRecordType() || type->isArrayType()) return true;
  const auto* builtin = type->getAs<clang::BuiltinType>();
  return builtin != nullptr && (builtin->getKind() == clang::BuiltinType::Long ||
                                builtin->getKind() == clang::BuiltinType::ULong);
}

bool points_to(clang::QualType type, clang::LangAS space) {
  return type->isPointerType() && type->getPointeeType().getAddressSpace() == space;
}

/// The value converted to this type.
Value as(Value value, clang::QualType type) {
  if (!holds_address(type)) return {value.fact, {}, false, false, false};
  value.local |= points_to(type, clang::LangAS::opencl_local);
  return value;
}

class Run {
 public:
  Run(Program& program, const Kernel& kernel) : program_(program), kernel_(kernel) {}

  std::vector<Facts> run() {
    points_.resize(kernel_.points.size());
    Env env;
    for (const clang::ParmVarDecl* each : kernel_.decl->parameters())
      env.vars[{{}, each}] = as({}, each->getType());
    Call call;
    calls_.push_back(&call);
    execute_body(*kernel_.decl, env);
    calls_.pop_back();
    return points_;
  }

 private:
  /// A loop or switch that `break` can leave.
  struct Breakable {
    Env broken{{}, true};     // state at the breaks, joined
    Env continued{{}, true};  // state at the continues, joined
    Fact left;                // how unevenly threads break, so that only some remain in the loop
    Fact skipped;             // how unevenly threads continue, in this iteration
    bool loop = true;
  };
  /// A function that is being run.
  struct Call {
    std::optional<Value> result;
    Fact returned;  // how unevenly threads return, so that only some remain
    Env at_return{{}, true};
    std::vector<Breakable*> scopes;
    std::map<const clang::LabelDecl*, Env> labels;  // state at the gotos to each label, joined
    Fact forward, back;                             // how unevenly threads take gotos
  };

  /// How unevenly threads reach the current statement.
  Fact control() const {
    Fact result;  // exits come first, because they may be the reason why conditions differ
    for (const Call* call : calls_) {
      result = join(join(result, call->returned), join(call->forward, call->back));
      for (const Breakable* scope : call->scopes)
        result = join(join(result, scope->left), scope->skipped);
    }
    for (const Fact& each : conditions_) result = join(result, each);
    return result;
  }

  class Under {
   public:
    Under(Run& run, Fact condition) : run_(run) { run_.conditions_.push_back(condition); }
    Under(const Under&) = delete;
    Under& operator=(const Under&) = delete;
    ~Under() { run_.conditions_.pop_back(); }

   private:
    Run& run_;
  };

  // ---- statements

  void execute(const clang::Stmt* stmt, Env& env) {
    if (stmt == nullptr) return;
    if (const auto* expression = dyn_cast<clang::Expr>(stmt)) {
      evaluate(expression, env);
    } else if (const auto* block = dyn_cast<clang::CompoundStmt>(stmt)) {
      for (const clang::Stmt* each : block->body()) execute(each, env);
    } else if (const auto* declarations = dyn_cast<clang::DeclStmt>(stmt)) {
      for (const clang::Decl* each : declarations->decls()) {
        if (const auto* variable = dyn_cast<clang::VarDecl>(each)) declare(*variable, env);
      }
    } else if (const auto* branch = dyn_cast<clang::IfStmt>(stmt)) {
      execute_if(*branch, env);
    } else if (const auto* loop = dyn_cast<clang::WhileStmt>(stmt)) {
      execute_loop(nullptr, loop->getCond(), nullptr, loop->getBody(), false, env);
    } else if (const auto* do_loop = dyn_cast<clang::DoStmt>(stmt)) {
      execute_loop(nullptr, do_loop->getCond(), nullptr, do_loop->getBody(), true, env);
    } else if (const auto* for_loop = dyn_cast<clang::ForStmt>(stmt)) {
      execute_loop(for_loop->getInit(), for_loop->getCond(), for_loop->getInc(),
                   for_loop->getBody(), false, env);
    } else if (const auto* choice = dyn_cast<clang::SwitchStmt>(stmt)) {
      execute_switch(*choice, env);
    } else if (const auto* label = dyn_cast<clang::SwitchCase>(stmt)) {
      if (switch_entry_ != nullptr) env.meet(*switch_entry_);
      execute(label->getSubStmt(), env);
    } else if (isa<clang::BreakStmt>(stmt)) {
      Call& call = *calls_.back();
      if (call.scopes.empty()) return;
      Breakable& scope = *call.scopes.back();
      scope.broken.meet(env);
      scope.left = join(scope.left, control());
      env.dead = true;
    } else if (isa<clang::ContinueStmt>(stmt)) {
      Call& call = *calls_.back();
      for (Breakable* const scope : llvm::reverse(call.scopes)) {
        const Fact here = control();
        scope->skipped = join(scope->skipped, here);
        if (!scope->loop) continue;
        scope->continued.meet(env);
        break;
      }
      env.dead = true;
    } else if (const auto* given_back = dyn_cast<clang::ReturnStmt>(stmt)) {
      Call& call = *calls_.back();
      if (const clang::Expr* result = given_back->getRetValue(); result != nullptr) {
        Value value = evaluate(result, env);
        value.fact = join(control(), value.fact);
        call.result = call.result ? join(std::move(*call.result), value) : value;
      }
      call.returned = join(call.returned, control());
      call.at_return.meet(env);
      env.dead = true;
    } else if (const auto* jump = dyn_cast<clang::GotoStmt>(stmt)) {
      Call& call = *calls_.back();
      Fact& jumped =
          jump->getLabel()->getLocation() < jump->getGotoLoc() ? call.back : call.forward;
      jumped = join(jumped, control());
      call.labels.try_emplace(jump->getLabel(), Env{{}, true}).first->second.meet(env);
      env.dead = true;
    } else if (const auto* named = dyn_cast<clang::LabelStmt>(stmt)) {
      const auto& labels = calls_.back()->labels;
      if (const auto found = labels.find(named->getDecl()); found != labels.end())
        env.meet(found->second);
      execute(named->getSubStmt(), env);
    } else {
      for (const clang::Stmt* child : stmt->children()) execute(child, env);
    }
  }

  /// Runs a function's body. A goto may lead back, so the run repeats until the state at every
  /// label is stable.
  void execute_body(const clang::FunctionDecl& function, Env& env) {
    Call& call = *calls_.back();
    const Env entry = env;
    for (;;) {
      const auto labels = call.labels;
      const Level back = call.back.level;
      call.forward = {};
      execute(function.getBody(), env);
      if (call.labels == labels && call.back.level == back) break;
      env = entry;
    }
    env.meet(call.at_return);
  }

  void execute_if(const clang::IfStmt& branch, Env& env) {
    const Fact condition = at(evaluate(branch.getCond(), env).fact, branch.getCond());
    if (condition.level == Level::thread) program_.parting.insert(&branch);
    const Under under{*this, condition};
    Env otherwise = env;
    execute(branch.getThen(), env);
    execute(branch.getElse(), otherwise);
    env.meet(otherwise);
  }

  void execute_loop(const clang::Stmt* init, const clang::Expr* condition,
                    const clang::Expr* increment, const clang::Stmt* body, bool body_first,
                    Env& env) {
    execute(init, env);
    Breakable scope;
    calls_.back()->scopes.push_back(&scope);
    Env head = env;
    Env exit{{}, true};
    Fact trips;
    for (;;) {  // repeats until a fixed point, which comes soon: there are only three levels
      const Env before = head;
      scope.skipped = {};
      const Level apart_before = join(trips, control()).level;
      scope.continued = {{}, true};
      Env inside = head;
      {
        const Under under{*this, trips};
        if (!body_first && condition != nullptr) {
          trips = join(trips, at(evaluate(condition, inside).fact, condition));
          exit.meet(inside);
        }
      }
      {
        const Under under{*this, trips};
        execute(body, inside);
        inside.meet(scope.continued);
        scope.skipped = {};
        if (increment != nullptr && !inside.dead) evaluate(increment, inside);
        if (body_first && condition != nullptr && !inside.dead) {
          trips = join(trips, at(evaluate(condition, inside).fact, condition));
          exit.meet(inside);
        }
      }
      head.meet(inside);
      if (head == before && join(trips, control()).level == apart_before) break;
    }
    calls_.back()->scopes.pop_back();
    exit.meet(scope.broken);
    env = exit;
  }

  void execute_switch(const clang::SwitchStmt& choice, Env& env) {
    const Fact condition = at(evaluate(choice.getCond(), env).fact, choice.getCond());
    const Under under{*this, condition};
    Breakable scope;
    scope.loop = false;
    calls_.back()->scopes.push_back(&scope);
    const Env entry = env;
    const Env* const outer = switch_entry_;
    switch_entry_ = &entry;
    Env inside{{}, true};
    execute(choice.getBody(), inside);
    switch_entry_ = outer;
    calls_.back()->scopes.pop_back();
    env = inside;
    env.meet(scope.broken);
    env.meet(entry);  // the value may match no case
  }

  void declare(const clang::VarDecl& decl, Env& env) {
    Value value = as({}, decl.getType());
    if (decl.getInit() != nullptr) value = evaluate(decl.getInit(), env);
    if (!is_private(decl)) return;
    value.fact = join(at(value.fact, decl.getLocation()), control());
    env.vars[variable(decl)] = std::move(value);
  }

  // ---- expressions

  static Fact at(Fact fact, clang::SourceLocation where) {
    if (fact.level != Level::kernel) fact.why = where;
    return fact;
  }
  static Fact at(Fact fact, const clang::Expr* where) { return at(fact, where->getExprLoc()); }

  Variable variable(const clang::VarDecl& decl) const {
    for (std::size_t depth = frames_.size(); depth > 0;
         --depth) {  // find the frame whose function declares it
      if (frames_[depth - 1].function == decl.getDeclContext()) {
        return {Chain(chain_.begin(),
                      chain_.begin() + static_cast<std::ptrdiff_t>(frames_[depth - 1].calls)),
                &decl};
      }
    }
    return {{}, &decl};
  }
  static bool is_private(const clang::VarDecl& decl) {
    const clang::LangAS space = decl.getType().getAddressSpace();
    return space != clang::LangAS::opencl_local && space != clang::LangAS::opencl_constant &&
           space != clang::LangAS::opencl_global;
  }

  /// The address of an lvalue, as far as it is known.
  Value locate(const clang::Expr* lvalue, Env& env) {
    lvalue = lvalue->IgnoreParens();
    if (!lvalue->isGLValue()) return evaluate(lvalue, env);
    if (const auto* name = dyn_cast<clang::DeclRefExpr>(lvalue)) {
      const auto* decl = dyn_cast<clang::VarDecl>(name->getDecl());
      if (decl != nullptr && is_private(*decl)) return {{}, {variable(*decl)}, false, false, true};
      const bool local =
          decl != nullptr && decl->getType().getAddressSpace() == clang::LangAS::opencl_local;
      return {{}, {}, true, local, false};
    }
    Value where;
    if (const auto* member = dyn_cast<clang::MemberExpr>(lvalue)) {
      where = member->isArrow() ? evaluate(member->getBase(), env) : locate(member->getBase(), env);
    } else if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(lvalue)) {
      where =
          element->isArrow() ? evaluate(element->getBase(), env) : locate(element->getBase(), env);
    } else if (const auto* item = dyn_cast<clang::ArraySubscriptExpr>(lvalue)) {
      where = item->getBase()->getType()->isVectorType() ? locate(item->getBase(), env)
                                                         : evaluate(item->getBase(), env);
      where.fact = join(where.fact, evaluate(item->getIdx(), env).fact);
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(lvalue);
               unary != nullptr && unary->getOpcode() == clang::UO_Deref) {
      return evaluate(unary->getSubExpr(), env);
    } else if (const auto* literal = dyn_cast<clang::CompoundLiteralExpr>(lvalue)) {
      return locate_literal(*literal, env);
    } else if (const auto* cast = dyn_cast<clang::CastExpr>(lvalue)) {
      where = locate(cast->getSubExpr(), env);
    } else if (!isa<clang::StringLiteral>(lvalue)) {
      where = of_children(lvalue, env);
    }
    where.whole = false;
    return where;
  }

  /// Treats a compound literal as a variable without a name.
  Value locate_literal(const clang::CompoundLiteralExpr& literal, Env& env) {
    clang::VarDecl*& decl = literals_[&literal];
    if (decl == nullptr) {
      const clang::FunctionDecl* function =
          frames_.empty() ? kernel_.decl : frames_.back().function;
      decl = clang::VarDecl::Create(program_.context, const_cast<clang::FunctionDecl*>(function),
                                    literal.getBeginLoc(), literal.getBeginLoc(), nullptr,
                                    literal.getType(), nullptr, clang::SC_None);
    }
    Value value = evaluate(literal.getInitializer(), env);
    value.fact = join(value.fact, control());
    const Variable target = variable(*decl);
    env.vars[target] = std::move(value);
    return {{}, {target}, false, false, true};
  }

  /// The value read from this address, converted to this type.
  static Value load(const Value& where, clang::QualType type, const Env& env) {
    Value result{where.fact, {}, where.elsewhere, false, where.exact()};
    const auto add = [&](const Variable& source) {
      const auto found = env.vars.find(source);
      Value value = found == env.vars.end() ? Value{} : found->second;
      if (&source == &memory) value.fact = {};
      const bool whole = result.whole && value.whole;
      result = join(std::move(result), value);
      result.whole = whole;
    };
    for (const Variable& each : where.targets) add(each);
    if (where.elsewhere && env.vars.contains(memory)) add(memory);
    return as(std::move(result), type);
  }

  void store(const Value& where, Value value, clang::SourceLocation place, Env& env) const {
    value.fact = join(join(at(value.fact, place), at(control(), place)), at(where.fact, place));
    if (where.elsewhere && (!value.targets.empty() || value.local)) {
      Value& kept = env.vars[memory];
      kept = join(std::move(kept), value);
      kept.fact = {};
    }
    for (const Variable& target : where.targets) {
      const auto [mine, added] = env.vars.try_emplace(target, value);
      if (!added) mine->second = where.exact() ? value : join(std::move(mine->second), value);
    }
  }

  Value of_children(const clang::Expr* expression, Env& env) {
    Value result{{}, {}, false, false, false};
    for (const clang::Stmt* child : expression->children()) {
      if (const auto* part = dyn_cast_or_null<clang::Expr>(child))
        result = join(std::move(result), evaluate(part, env));
    }
    return as(std::move(result), expression->getType());
  }

  Value evaluate(const clang::Expr* expression, Env& env) {
    const Value nothing{{}, {}, false, false, false};
    if (expression == nullptr) return nothing;
    expression = expression->IgnoreParens();
    if (expression->isGLValue() && !isa<clang::CallExpr>(expression))
      return load(locate(expression, env), expression->getType(), env);
    if (const auto* cast = dyn_cast<clang::CastExpr>(expression)) return of_cast(*cast, env);
    if (const auto* call = dyn_cast<clang::CallExpr>(expression)) return evaluate_call(*call, env);
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(expression)) {
      if (binary->isAssignmentOp()) return assign(*binary, env);
      if (binary->isLogicalOp()) return of_logical(*binary, env);
      if (binary->isCommaOp()) {
        evaluate(binary->getLHS(), env);
        return evaluate(binary->getRHS(), env);
      }
      Value result = of_children(binary, env);
      if (binary->getLHS()->getType()->isPointerType() &&
          binary->getRHS()->getType()->isPointerType())
        return {result.fact, {}, false, false, false};
      result.whole = false;
      return result;
    }
    if (const auto* choice = dyn_cast<clang::ConditionalOperator>(expression)) {
      const Fact condition = evaluate(choice->getCond(), env).fact;
      const Under under{*this, at(condition, choice->getCond())};
      Env otherwise = env;
      const Value first = evaluate(choice->getTrueExpr(), env);
      Value result = join(evaluate(choice->getFalseExpr(), otherwise), first);
      env.meet(otherwise);
      result.fact = join(condition, result.fact);
      return result;
    }
    if (const auto* unary = dyn_cast<clang::UnaryOperator>(expression)) {
      if (unary->getOpcode() == clang::UO_AddrOf) return locate(unary->getSubExpr(), env);
      if (unary->isIncrementDecrementOp()) {
        const Value where = locate(unary->getSubExpr(), env);
        Value value = load(where, unary->getType(), env);
        value.whole = false;
        store(where, value, unary->getOperatorLoc(), env);
        return value;
      }
    }
    if (isa<clang::UnaryExprOrTypeTraitExpr>(expression)) return nothing;
    return of_children(expression, env);
  }

  Value of_cast(const clang::CastExpr& cast, Env& env) {
    const clang::Expr* from = cast.getSubExpr();
    switch (cast.getCastKind()) {
      case clang::CK_LValueToRValue: {
        const auto* literal = dyn_cast<clang::CompoundLiteralExpr>(from->IgnoreParens());
        if (literal != nullptr) return evaluate(literal->getInitializer(), env);
        return load(locate(from, env), cast.getType(), env);
      }
      case clang::CK_ArrayToPointerDecay: {
        Value where = locate(from, env);
        where.whole = false;
        return where;
      }
      case clang::CK_NullToPointer: return {{}, {}, false, false, false};
      case clang::CK_NoOp: return as(evaluate(from, env), cast.getType());
      default: break;
    }
    const bool was_pointer = from->getType()->isPointerType();
    Value value = evaluate(from, env);
    value.whole &= was_pointer && cast.getType()->isPointerType() &&
                   program_.context.hasSameUnqualifiedType(from->getType()->getPointeeType(),
                                                           cast.getType()->getPointeeType());
    if (cast.getType()->isPointerType() && !was_pointer) value.elsewhere = true;
    return as(std::move(value), cast.getType());
  }

  Value of_logical(const clang::BinaryOperator& binary, Env& env) {
    const Fact left = evaluate(binary.getLHS(), env).fact;
    Env right = env;
    const Under under{*this, at(left, binary.getLHS())};
    const Fact result = join(left, evaluate(binary.getRHS(), right).fact);
    env.meet(right);
    return {result, {}, false, false, false};
  }

  Value assign(const clang::BinaryOperator& assignment, Env& env) {
    Value value = evaluate(assignment.getRHS(), env);
    const Value where = locate(assignment.getLHS(), env);
    if (assignment.isCompoundAssignmentOp()) {
      value = join(std::move(value), load(where, assignment.getLHS()->getType(), env));
      value.whole = false;
    }
    value = as(std::move(value), assignment.getType());
    store(where, value, assignment.getOperatorLoc(), env);
    return value;
  }

  // ---- calls

  Value evaluate_call(const clang::CallExpr& call, Env& env) {
    std::vector<Value> arguments;
    for (const clang::Expr* argument : call.arguments()) {
      Value value = evaluate(argument, env);
      value.fact = at(value.fact, argument);
      arguments.push_back(std::move(value));
    }
    const clang::FunctionDecl* callee = callee_of(call);
    if (callee == nullptr) return {{Level::thread, call.getBeginLoc()}, {}, true, false, false};
    if (is_builtin(*callee)) return evaluate_builtin(call, *callee, arguments, env);
    const clang::FunctionDecl& function = definition_of(*callee);
    Value result = program_.resizes.contains(&function)
                       ? enter(call, function, arguments, env)
                       : enter_known(call, function, arguments, env);
    result.fact = at(result.fact, call.getBeginLoc());
    return as(std::move(result), call.getType());
  }

  /// Runs the callee as part of its caller.
  Value enter(const clang::CallExpr& call, const clang::FunctionDecl& function,
              const std::vector<Value>& arguments, Env& env) {
    chain_.push_back(&call);
    frames_.push_back({&function, chain_.size()});
    for (std::size_t i = 0; i < arguments.size() && i < function.getNumParams(); ++i) {
      const clang::ParmVarDecl& parameter = *function.getParamDecl(static_cast<unsigned>(i));
      env.vars[variable(parameter)] = as(arguments[i], parameter.getType());
    }
    Call running;
    calls_.push_back(&running);
    const Env* const outer = switch_entry_;
    switch_entry_ = nullptr;
    execute_body(function, env);
    switch_entry_ = outer;
    calls_.pop_back();
    frames_.pop_back();
    chain_.pop_back();
    return running.result.value_or(Value{});
  }

  /// Runs a function without points. The run sees only the variables that the function can reach,
  /// and is remembered for calls with the same input.
  Value enter_known(const clang::CallExpr& call, const clang::FunctionDecl& function,
                    const std::vector<Value>& arguments, Env& env) {
    Env inside;
    std::vector<Variable> open;
    const auto reach = [&](const Value& pointer) {
      open.insert(open.end(), pointer.targets.begin(), pointer.targets.end());
    };
    for (const Value& each : arguments) reach(each);
    open.push_back(memory);
    while (!open.empty()) {
      const Variable next = std::move(open.back());
      open.pop_back();
      const auto found = env.vars.find(next);
      if (found == env.vars.end() || !inside.vars.insert(*found).second) continue;
      reach(found->second);
    }
    const Visit visit{&function, control().level, arguments, inside.vars};
    auto known = known_.find(visit);
    if (known == known_.end()) {
      std::set<Variable> ours{memory};
      for (const Value& each : arguments) ours.insert(each.targets.begin(), each.targets.end());
      for (const auto& [variable, value] : inside.vars) {
        ours.insert(variable);
        ours.insert(value.targets.begin(), value.targets.end());
      }
      Value result = enter(call, function, arguments, inside);
      std::erase_if(inside.vars, [&](const auto& each) { return !ours.contains(each.first); });
      known = known_.emplace(visit, std::pair{std::move(result), std::move(inside)}).first;
    }
    const auto& [result, after] = known->second;
    if (!after.dead) {
      for (const auto& [variable, value] : after.vars) {
        Value& mine = env.vars[variable];
        const bool changed = mine.fact.level != value.fact.level;
        mine = value;
        if (changed) mine.fact = at(mine.fact, call.getBeginLoc());
      }
    }
    return result;
  }

  Value evaluate_builtin(const clang::CallExpr& call, const clang::FunctionDecl& builtin,
                         const std::vector<Value>& arguments, Env& env) {
    const Primitive which = primitive(call);
    const Role role = role_of(builtin);
    const bool collective = role == Role::meeting || builtin.getName().startswith("work_group_") ||
                            is_sub_group_function(builtin);
    if (which != Primitive::none || collective) {
      const bool everybody =
          which == Primitive::global_barrier || which == Primitive::resizing_global_barrier;
      check_reached(call, builtin, everybody ? Level::kernel : Level::group);
    }
    if (is_resizing(which)) note_point(call, env);
    // Joins the arguments and the values that they point to.
    Value result{{}, {}, false, false, false};
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const clang::QualType type = call.getArg(static_cast<unsigned>(i))->getType();
      if (!type->isPointerType() || call.getType()->isPointerType()) {
        result = join(std::move(result), arguments[i]);
      } else {
        result = join(std::move(result), load(arguments[i], type->getPointeeType(), env));
      }
    }
    switch (role) {
      case Role::thread_value: result.fact = {Level::thread, call.getBeginLoc()}; break;
      case Role::group_value: result.fact = {Level::group, call.getBeginLoc()}; break;
      case Role::size_value:
        result.fact = kernel_.at_barriers() ? Fact{} : Fact{Level::group, call.getBeginLoc()};
        break;
      case Role::meeting:
        if (result.fact.level != Level::kernel) result.fact = {Level::group, call.getBeginLoc()};
        break;
      case Role::pure: break;
    }
    // A built-in may write through its pointer arguments (compare-exchange, vstore and others).
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const clang::QualType type = call.getArg(static_cast<unsigned>(i))->getType();
      if (!type->isPointerType() || type->getPointeeType().isConstQualified()) continue;
      Value where = arguments[i];
      where.whole = false;
      store(where, as(result, type->getPointeeType()), call.getBeginLoc(), env);
    }
    return as(std::move(result), call.getType());
  }

  /// Records the knowledge about the variables at this point.
  void note_point(const clang::CallExpr& call, const Env& env) {
    chain_.push_back(&call);
    if (const Point* point = kernel_.at(chain_)) {
      Facts& facts = points_[point->phase - 1];
      for (const auto& [variable, value] : env.vars) {
        Fact& fact = facts[variable];
        const bool to_private = fact.to_private || !value.targets.empty();
        const bool to_local = fact.to_local || value.local;
        fact = join(fact, value.fact);
        fact.to_private = to_private;
        fact.to_local = to_local;
      }
    }
    chain_.pop_back();
  }

  void check_reached(const clang::CallExpr& call, const clang::FunctionDecl& builtin,
                     Level allowed) {
    const Fact here = control();
    if (here.level <= allowed || !reported_.insert(&call).second) return;
    auto& engine = program_.diagnostics();
    const bool thread = here.level == Level::thread;
    report(engine, call.getBeginLoc(),
           thread ? Say::divergent_primitive : Say::group_divergent_primitive)
        << &builtin << call.getSourceRange();
    report(engine, here.why, thread ? Say::depends_on_thread_here : Say::depends_on_group_here);
    for (const auto* step : llvm::reverse(chain_)) {
      report(engine, step->getBeginLoc(), Say::called_here) << callee_of(*step);
    }
  }

  struct Frame {
    const clang::FunctionDecl* function;
    std::size_t calls;
  };

  Program& program_;
  const Kernel& kernel_;
  Chain chain_;
  std::vector<Frame> frames_;
  std::vector<Call*> calls_;
  std::vector<Fact> conditions_;
  const Env* switch_entry_ = nullptr;
  std::vector<Facts> points_;
  std::set<const clang::CallExpr*> reported_;
  std::map<const clang::CompoundLiteralExpr*, clang::VarDecl*> literals_;
  /// Everything that the outcome of a function's run depends on.
  using Visit = std::tuple<const clang::FunctionDecl*, Level, std::vector<Value>, Values>;
  std::map<Visit, std::pair<Value, Env>> known_;
};

}  // namespace

std::vector<Facts> check_uniformity(Program& program, const Kernel& kernel) {
  return Run{program, kernel}.run();
}

}  // namespace cohort::compiler
