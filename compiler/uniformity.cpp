#include "compiler/uniformity.hpp"

#include <llvm/ADT/STLExtras.h>

#include <algorithm>
#include <optional>

#include "compiler/diagnostics.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

namespace {

Fact join(Fact a, Fact b) { return b.level > a.level ? b : a; }

/// What is known of the variables where control is; nobody gets here when it is dead.
struct Env {
  Facts vars;
  bool dead = false;

  void meet(const Env& other) {
    if (other.dead) return;
    if (dead) {
      *this = other;
      return;
    }
    for (const auto& [variable, fact] : other.vars) {
      Fact& mine = vars[variable];
      mine = join(mine, fact);
    }
  }
  friend bool operator==(const Env& a, const Env& b) {
    return a.dead == b.dead && std::equal(a.vars.begin(), a.vars.end(), b.vars.begin(),
                                          b.vars.end(), [](const auto& x, const auto& y) {
                                            return x.first == y.first &&
                                                   x.second.level == y.second.level;
                                          });
  }
};

class Run {
 public:
  Run(Program& program, const Kernel& kernel) : program_(program), kernel_(kernel) {}

  std::vector<Facts> run() {
    points_.resize(kernel_.points.size());
    find_address_taken(*kernel_.decl);
    Env env;
    Call call;
    calls_.push_back(&call);
    execute(kernel_.decl->getBody(), env);
    calls_.pop_back();
    return points_;
  }

 private:
  /// A loop or switch that `break` leaves.
  struct Breakable {
    Env broken{{}, true};     // joined at each break
    Env continued{{}, true};  // joined at each continue
    Fact left;                // how unevenly threads break: those left behind are fewer
    Fact skipped;             // how unevenly threads continue, in this iteration
    bool loop = true;
  };
  /// A function being run.
  struct Call {
    Fact result;
    Fact returned;  // how unevenly threads return: those left behind are fewer
    Fact touched;   // the most uneven value it has met
    Env at_return{{}, true};
    std::vector<Breakable*> scopes;
  };

  /// How unevenly threads are here.
  Fact control() const {
    Fact result;  // those who left first: they may be why conditions differ
    for (const Call* call : calls_) {
      result = join(result, call->returned);
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
      Fact value = control();
      if (given_back->getRetValue() != nullptr)
        value = join(value, evaluate(given_back->getRetValue(), env));
      call.result = join(call.result, value);
      call.returned = join(call.returned, control());
      call.at_return.meet(env);
      env.dead = true;
    } else if (isa<clang::GotoStmt>(stmt) || isa<clang::LabelStmt>(stmt)) {
      // Only in functions without resizing points; where the jump goes is not followed.
      calls_.back()->returned = join(calls_.back()->returned, control());
      calls_.back()->result = join(calls_.back()->result, control());
      for (const clang::Stmt* child : stmt->children()) execute(child, env);
    } else {
      for (const clang::Stmt* child : stmt->children()) execute(child, env);
    }
  }

  void execute_if(const clang::IfStmt& branch, Env& env) {
    const Fact condition = at(evaluate(branch.getCond(), env), branch.getCond());
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
    for (;;) {  // until nothing gets more uneven; there are three levels, so this is short
      const Env before = head;
      const Fact trips_before = join(trips, scope.left);
      scope.skipped = {};
      scope.continued = {{}, true};
      Env inside = head;
      {
        const Under under{*this, trips};
        if (!body_first && condition != nullptr) {
          trips = join(trips, at(evaluate(condition, inside), condition));
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
          trips = join(trips, at(evaluate(condition, inside), condition));
          exit.meet(inside);
        }
      }
      head.meet(inside);
      if (head == before && join(trips, scope.left).level == trips_before.level) break;
    }
    calls_.back()->scopes.pop_back();
    exit.meet(scope.broken);
    env = exit;
  }

  void execute_switch(const clang::SwitchStmt& choice, Env& env) {
    const Fact condition = at(evaluate(choice.getCond(), env), choice.getCond());
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
    env.meet(entry);  // there may be no case for the value
  }

  void declare(const clang::VarDecl& variable, Env& env) {
    Fact value;
    if (variable.getInit() != nullptr) value = evaluate(variable.getInit(), env);
    if (variable.getType().getAddressSpace() == clang::LangAS::opencl_local) return;
    set(variable, join(at(value, variable.getLocation()), control()), env);
  }

  // ---- expressions

  static Fact at(Fact fact, clang::SourceLocation where) {
    if (fact.level != Level::kernel) fact.why = where;
    return fact;
  }
  static Fact at(Fact fact, const clang::Expr* where) { return at(fact, where->getExprLoc()); }

  Variable variable(const clang::VarDecl& decl) const {
    for (std::size_t depth = frames_.size(); depth > 0;
         --depth) {  // the frame whose function declares it
      if (frames_[depth - 1].function == decl.getDeclContext()) {
        return {Chain(chain_.begin(),
                      chain_.begin() + static_cast<std::ptrdiff_t>(frames_[depth - 1].calls)),
                &decl};
      }
    }
    return {{}, &decl};
  }
  void set(const clang::VarDecl& decl, Fact fact, Env& env) { env.vars[variable(decl)] = fact; }
  Fact get(const clang::VarDecl& decl, const Env& env) const {
    const auto found = env.vars.find(variable(decl));
    return found == env.vars.end() ? Fact{} : found->second;
  }

  Fact evaluate(const clang::Expr* expression, Env& env) {
    const Fact fact = value_of(expression, env);
    calls_.back()->touched = join(calls_.back()->touched, fact);
    return fact;
  }

  Fact value_of(const clang::Expr* expression, Env& env) {
    if (expression == nullptr) return {};
    if (const auto* name = dyn_cast<clang::DeclRefExpr>(expression)) {
      const auto* decl = dyn_cast<clang::VarDecl>(name->getDecl());
      return decl == nullptr ? Fact{} : get(*decl, env);
    }
    if (const auto* call = dyn_cast<clang::CallExpr>(expression)) return evaluate_call(*call, env);
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(expression)) {
      if (binary->isAssignmentOp()) return assign(*binary, env);
      if (binary->isLogicalOp()) {
        const Fact left = evaluate(binary->getLHS(), env);
        Env right = env;
        const Under under{*this, at(left, binary->getLHS())};
        const Fact result = join(left, evaluate(binary->getRHS(), right));
        env.meet(right);
        return result;
      }
    }
    if (const auto* choice = dyn_cast<clang::ConditionalOperator>(expression)) {
      const Fact condition = evaluate(choice->getCond(), env);
      const Under under{*this, at(condition, choice->getCond())};
      Env otherwise = env;
      const Fact first = evaluate(choice->getTrueExpr(), env);
      const Fact second = evaluate(choice->getFalseExpr(), otherwise);
      env.meet(otherwise);
      return join(condition, join(first, second));
    }
    if (const auto* unary = dyn_cast<clang::UnaryOperator>(expression);
        unary != nullptr && unary->isIncrementDecrementOp()) {
      const Fact value = evaluate(unary->getSubExpr(), env);
      store(unary->getSubExpr(), value, unary->getOperatorLoc(), env);
      return value;
    }
    if (isa<clang::UnaryExprOrTypeTraitExpr>(expression)) return {};
    Fact result;
    for (const clang::Stmt* child : expression->children()) {
      if (const auto* part = dyn_cast_or_null<clang::Expr>(child))
        result = join(result, evaluate(part, env));
    }
    return result;
  }

  Fact assign(const clang::BinaryOperator& assignment, Env& env) {
    Fact value = evaluate(assignment.getRHS(), env);
    if (assignment.isCompoundAssignmentOp())
      value = join(value, evaluate(assignment.getLHS(), env));
    store(assignment.getLHS(), value, assignment.getOperatorLoc(), env);
    return value;
  }

  void store(const clang::Expr* target, Fact value, clang::SourceLocation where, Env& env) {
    value = join(at(value, where), at(control(), where));
    bool whole = true;
    for (;;) {
      target = target->IgnoreParenImpCasts();
      if (const auto* member = dyn_cast<clang::MemberExpr>(target);
          member != nullptr && !member->isArrow()) {
        target = member->getBase();
      } else if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(target);
                 element != nullptr && !element->isArrow()) {
        target = element->getBase();
      } else if (const auto* item = dyn_cast<clang::ArraySubscriptExpr>(target);
                 item != nullptr &&
                 !item->getBase()->IgnoreParenImpCasts()->getType()->isPointerType()) {
        value = join(value, at(evaluate(item->getIdx(), env), where));
        target = item->getBase();
      } else {
        break;
      }
      whole = false;
    }
    if (const auto* name = dyn_cast<clang::DeclRefExpr>(target)) {
      const auto* decl = dyn_cast<clang::VarDecl>(name->getDecl());
      if (decl == nullptr || decl->getType().getAddressSpace() == clang::LangAS::opencl_local)
        return;
      set(*decl, whole ? value : join(get(*decl, env), value), env);
      return;
    }
    value = join(value, at(evaluate(target, env),
                           where));  // through a pointer: whose address differs, or whose value
    const clang::LangAS space = target->getType().getAddressSpace();
    if (space == clang::LangAS::opencl_global || space == clang::LangAS::opencl_local) return;
    for (const Variable& each : address_taken(env)) env.vars[each] = join(env.vars[each], value);
  }

  std::vector<Variable> address_taken(const Env& env) const {
    std::vector<Variable> result;
    for (const auto& [variable, fact] : env.vars) {
      if (address_taken_.contains(variable.decl)) result.push_back(variable);
    }
    return result;
  }

  // ---- calls

  Fact evaluate_call(const clang::CallExpr& call, Env& env) {
    Fact arguments;
    std::vector<Fact> each;
    for (const clang::Expr* argument : call.arguments()) {
      each.push_back(at(evaluate(argument, env), argument));
      arguments = join(arguments, each.back());
    }
    const clang::FunctionDecl* callee = callee_of(call);
    if (callee == nullptr) return {Level::thread, call.getBeginLoc()};
    if (is_builtin(*callee)) return evaluate_builtin(call, *callee, arguments, env);
    const clang::FunctionDecl& function = definition_of(*callee);
    const Fact touched = inline_call(call, function, each, env);
    const Fact result = results_.back();
    results_.pop_back();
    // What the function writes through pointers to variables of ours.
    const Fact written = at(join(join(arguments, touched), control()), call.getBeginLoc());
    for (const clang::Expr* argument : call.arguments()) {
      const auto* address = dyn_cast<clang::UnaryOperator>(argument->IgnoreParenCasts());
      const clang::Expr* target = argument->IgnoreParenCasts();
      if (address != nullptr && address->getOpcode() == clang::UO_AddrOf)
        target = address->getSubExpr()->IgnoreParenImpCasts();
      else if (!target->getType()->isArrayType())
        continue;
      const auto* name = dyn_cast<clang::DeclRefExpr>(target);
      const auto* decl = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
      if (decl == nullptr || decl->getType().getAddressSpace() == clang::LangAS::opencl_local)
        continue;
      set(*decl, join(get(*decl, env), written), env);
    }
    return at(result, call.getBeginLoc());
  }

  /// Runs the function in its caller's place; its result is left on results_. Returns what it has
  /// met.
  Fact inline_call(const clang::CallExpr& call, const clang::FunctionDecl& function,
                   const std::vector<Fact>& arguments, Env& env) {
    const bool resizes = program_.resizes.contains(&function);
    const auto key = [&] {
      std::vector<Level> levels{control().level};
      for (const Fact& each : arguments) levels.push_back(each.level);
      return std::pair{&function, levels};
    }();
    if (!resizes) {
      if (const auto known = known_.find(key); known != known_.end()) {
        results_.push_back(known->second.first);
        return known->second.second;
      }
      find_address_taken(function);
    }
    Env inside = resizes ? env : Env{};
    chain_.push_back(&call);
    frames_.push_back({&function, chain_.size()});
    for (std::size_t i = 0; i < arguments.size() && i < function.getNumParams(); ++i) {
      set(*function.getParamDecl(static_cast<unsigned>(i)), arguments[i], inside);
    }
    Call running;
    calls_.push_back(&running);
    const Env* const outer = switch_entry_;
    switch_entry_ = nullptr;
    execute(function.getBody(), inside);
    switch_entry_ = outer;
    calls_.pop_back();
    frames_.pop_back();
    chain_.pop_back();
    if (resizes) {
      inside.meet(running.at_return);
      env = inside;
    } else {
      known_.emplace(key, std::pair{running.result, running.touched});
    }
    results_.push_back(running.result);
    return running.touched;
  }

  Fact evaluate_builtin(const clang::CallExpr& call, const clang::FunctionDecl& builtin,
                        Fact arguments, Env& env) {
    const Primitive which = primitive(call);
    const Role role = role_of(builtin);
    const bool collective = role == Role::meeting || builtin.getName().startswith("work_group_");
    if (which != Primitive::none || collective) {
      const bool everybody =
          which == Primitive::global_barrier || which == Primitive::resizing_global_barrier;
      check_reached(call, builtin, everybody ? Level::kernel : Level::group);
    }
    if (is_resizing(which)) {
      chain_.push_back(&call);
      if (const Point* point = kernel_.at(chain_)) {
        Facts& facts = points_[point->phase - 1];
        for (const auto& [variable, fact] : env.vars) facts[variable] = join(facts[variable], fact);
      }
      chain_.pop_back();
    }
    // A pointer argument that is written: the result of a compare-exchange, vstore, and the like.
    for (const clang::Expr* argument : call.arguments()) {
      const auto* address = dyn_cast<clang::UnaryOperator>(argument->IgnoreParenCasts());
      if (address == nullptr || address->getOpcode() != clang::UO_AddrOf) continue;
      const auto* name = dyn_cast<clang::DeclRefExpr>(address->getSubExpr()->IgnoreParenImpCasts());
      const auto* decl = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
      if (decl == nullptr || decl->getType().getAddressSpace() == clang::LangAS::opencl_local)
        continue;
      Fact written = join(arguments, control());
      if (role == Role::thread_value) written = {Level::thread, call.getBeginLoc()};
      set(*decl, join(get(*decl, env), at(written, call.getBeginLoc())), env);
    }
    switch (role) {
      case Role::thread_value: return {Level::thread, call.getBeginLoc()};
      case Role::group_value: return {Level::group, call.getBeginLoc()};
      case Role::size_value:
        return kernel_.at_barriers() ? Fact{} : Fact{Level::group, call.getBeginLoc()};
      case Role::meeting:
        return arguments.level == Level::kernel ? Fact{} : Fact{Level::group, call.getBeginLoc()};
      case Role::pure: return arguments;
    }
    return arguments;
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

  /// Notes the variables whose address goes elsewhere than straight into a call.
  void find_address_taken(const clang::FunctionDecl& function) {
    std::set<const clang::Expr*> direct;
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) {
        for (const clang::Expr* argument : call->arguments())
          direct.insert(argument->IgnoreParenCasts());
        if (const auto* callee = callee_of(*call);
            callee != nullptr && program_.resizes.contains(&definition_of(*callee))) {
          find_address_taken(definition_of(*callee));
        }
      }
      const auto* address = dyn_cast<clang::UnaryOperator>(&stmt);
      if (address == nullptr || address->getOpcode() != clang::UO_AddrOf ||
          direct.contains(address))
        return true;
      const auto* name = dyn_cast<clang::DeclRefExpr>(address->getSubExpr()->IgnoreParenImpCasts());
      if (name != nullptr) address_taken_.insert(dyn_cast<clang::VarDecl>(name->getDecl()));
      return true;
    });
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
  std::vector<Fact> results_;
  const Env* switch_entry_ = nullptr;
  std::vector<Facts> points_;
  std::set<const clang::VarDecl*> address_taken_;
  std::set<const clang::CallExpr*> reported_;
  std::map<std::pair<const clang::FunctionDecl*, std::vector<Level>>, std::pair<Fact, Fact>> known_;
};

}  // namespace

std::vector<Facts> check_uniformity(Program& program, const Kernel& kernel) {
  return Run{program, kernel}.run();
}

}  // namespace cohort::compiler
