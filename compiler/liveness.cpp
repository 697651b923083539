#include "compiler/liveness.hpp"

#include <clang/AST/ParentMap.h>
#include <clang/Analysis/CFG.h>
#include <clang/Basic/SourceManager.h>

#include <deque>
#include <memory>

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

namespace {

const clang::VarDecl* variable_of(const clang::Expr* expression) {
  const auto* name = dyn_cast<clang::DeclRefExpr>(expression->IgnoreParens());
  return name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
}

/// The effect of one element of the control-flow graph on a variable.
enum class Effect { none, kill, read, perhaps };

/// Liveness analysis of one function.
class FunctionLiveness {
 public:
  explicit FunctionLiveness(const clang::FunctionDecl& function) : parents_(function.getBody()) {
    clang::CFG::BuildOptions options;
    options.setAllAlwaysAdd();
    graph_ =
        clang::CFG::buildCFG(&function, function.getBody(), &function.getASTContext(), options);
    find_partial_writes(function.getBody());
    if (graph_ != nullptr) solve();
  }

  /// Live variables. The value is true if the variable is certainly read before it is written.
  using Set = std::map<const clang::VarDecl*, bool>;

  Set live_after(const clang::Stmt* stmt) const {
    if (graph_ == nullptr) return {};
    for (const clang::CFGBlock* block : *graph_) {
      for (std::size_t i = 0; i < block->size(); ++i) {
        const auto element = (*block)[i].getAs<clang::CFGStmt>();
        if (!element || element->getStmt() != stmt) continue;
        Set live = live_out(*block);
        for (std::size_t j = block->size(); j > i + 1; --j) apply((*block)[j - 1], live);
        walk(target_of(*stmt), [&](const clang::Stmt& part) {
          apply_name(part, live);
          return true;
        });
        return live;
      }
    }
    return {};  // the call is unreachable
  }

  /// The first read of `variable` on some path that starts after `stmt`.
  clang::SourceLocation next_read(const clang::Stmt* stmt, const clang::VarDecl* variable) const {
    if (graph_ == nullptr) return {};
    clang::SourceLocation in_target;
    walk(target_of(*stmt), [&](const clang::Stmt& part) {
      const Effect effect = effect_on(part, variable);
      if (in_target.isInvalid() && (effect == Effect::read || effect == Effect::perhaps))
        in_target = part.getBeginLoc();
      return true;
    });
    if (in_target.isValid()) return in_target;
    std::deque<std::pair<const clang::CFGBlock*, std::size_t>> open;
    for (const clang::CFGBlock* block : *graph_) {
      for (std::size_t i = 0; i < block->size(); ++i) {
        const auto element = (*block)[i].getAs<clang::CFGStmt>();
        if (element && element->getStmt() == stmt) open.emplace_back(block, i + 1);
      }
    }
    std::set<const clang::CFGBlock*> seen;
    while (!open.empty()) {
      const auto [block, first] = open.front();
      open.pop_front();
      bool killed = false;
      for (std::size_t i = first; i < block->size() && !killed; ++i) {
        const auto element = (*block)[i].getAs<clang::CFGStmt>();
        if (!element) continue;
        const Effect effect = effect_on(*element->getStmt(), variable);
        if (effect == Effect::read || effect == Effect::perhaps)
          return element->getStmt()->getBeginLoc();
        killed = effect == Effect::kill;
      }
      if (killed) continue;
      for (const auto& next : block->succs()) {
        if (next != nullptr && seen.insert(next).second) open.emplace_back(next, 0);
      }
    }
    return {};
  }

 private:
  void find_partial_writes(const clang::Stmt* body) {
    walk(body, [&](const clang::Stmt& stmt) {
      const auto* name = dyn_cast<clang::DeclRefExpr>(&stmt);
      if (name == nullptr) return true;
      const auto* variable = dyn_cast<clang::VarDecl>(name->getDecl());
      if (variable == nullptr) return true;
      const clang::Expr* top = lvalue_around(*name);
      const clang::Stmt* parent = parents_.getParentIgnoreParens(top);
      const auto* binary = dyn_cast_or_null<clang::BinaryOperator>(parent);
      const bool written =
          binary != nullptr && binary->isAssignmentOp() && binary->getLHS()->IgnoreParens() == top;
      const auto* unary = dyn_cast_or_null<clang::UnaryOperator>(parent);
      const bool addressed = unary != nullptr && unary->getOpcode() == clang::UO_AddrOf;
      if (addressed || (written && top != name->IgnoreParens()) || name->getType()->isArrayType())
        in_parts_.insert(variable);
      return true;
    });
  }

  /// The largest lvalue that contains `name`: `s.x[1]` for s.
  const clang::Expr* lvalue_around(const clang::DeclRefExpr& name) const {
    const clang::Expr* top = &name;
    for (;;) {
      const auto* parent = dyn_cast_or_null<clang::Expr>(parents_.getParent(top));
      if (parent == nullptr) return top;
      const auto* cast = dyn_cast<clang::ImplicitCastExpr>(parent);
      const auto* item = dyn_cast<clang::ArraySubscriptExpr>(parent);
      const auto* member = dyn_cast<clang::MemberExpr>(parent);
      const auto* element = dyn_cast<clang::ExtVectorElementExpr>(parent);
      const bool inside =
          isa<clang::ParenExpr>(parent) ||
          (cast != nullptr && cast->getCastKind() == clang::CK_ArrayToPointerDecay) ||
          (item != nullptr && item->getBase() == top && isa<clang::ImplicitCastExpr>(top) &&
           dyn_cast<clang::ImplicitCastExpr>(top)->getCastKind() ==
               clang::CK_ArrayToPointerDecay) ||
          (item != nullptr && item->getBase() == top && top->getType()->isVectorType()) ||
          (member != nullptr && !member->isArrow()) || (element != nullptr && !element->isArrow());
      if (!inside) return top;
      top = parent;
    }
  }

  Effect effect_of_name(const clang::DeclRefExpr& name, const clang::VarDecl* variable) const {
    const clang::Expr* top = lvalue_around(name);
    const clang::Stmt* parent = parents_.getParentIgnoreParens(const_cast<clang::Expr*>(top));
    const auto* binary = dyn_cast_or_null<clang::BinaryOperator>(parent);
    if (binary != nullptr && binary->getOpcode() == clang::BO_Assign &&
        binary->getLHS()->IgnoreParens() == top->IgnoreParens()) {
      return Effect::none;  // a write; the enclosing assignment is the element with Effect::kill
    }
    return in_parts_.contains(variable) ? Effect::perhaps : Effect::read;
  }

  Effect effect_on(const clang::Stmt& stmt, const clang::VarDecl* variable) const {
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt)) {
      for (const clang::Decl* each : declarations->decls()) {
        if (each == variable) return Effect::kill;
      }
    }
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt);
        binary != nullptr && binary->getOpcode() == clang::BO_Assign &&
        variable_of(binary->getLHS()) == variable) {
      return Effect::kill;
    }
    const auto* name = dyn_cast<clang::DeclRefExpr>(&stmt);
    if (name != nullptr && name->getDecl() == variable) return effect_of_name(*name, variable);
    return Effect::none;
  }

  void apply(const clang::CFGElement& element, Set& live) const {
    const auto wrapped = element.getAs<clang::CFGStmt>();
    if (!wrapped) return;
    const clang::Stmt& stmt = *wrapped->getStmt();
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt)) {
      for (const clang::Decl* each : declarations->decls())
        live.erase(dyn_cast<clang::VarDecl>(each));
    } else if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt)) {
      if (binary->getOpcode() == clang::BO_Assign) live.erase(variable_of(binary->getLHS()));
    } else {
      apply_name(stmt, live);
    }
  }

  void apply_name(const clang::Stmt& stmt, Set& live) const {
    const auto* name = dyn_cast<clang::DeclRefExpr>(&stmt);
    const auto* variable = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable == nullptr || !variable->hasLocalStorage()) return;
    const Effect effect = effect_of_name(*name, variable);
    if (effect == Effect::read) live[variable] = true;
    if (effect == Effect::perhaps) live.try_emplace(variable, false);
  }

  /// The target of `x += call`. Clang's graph reads the target before the call, but the output
  /// reads it after the call.
  const clang::Expr* target_of(const clang::Stmt& call) const {
    const auto* value = dyn_cast<clang::Expr>(&call);
    for (;;) {
      const clang::Stmt* outer = parents_.getParent(value);
      const auto* assignment = dyn_cast_or_null<clang::CompoundAssignOperator>(outer);
      if (assignment != nullptr)
        return assignment->getRHS() == value ? assignment->getLHS() : nullptr;
      const auto* around = dyn_cast_or_null<clang::Expr>(outer);
      if (around == nullptr ||
          (!isa<clang::ParenExpr>(around) && !isa<clang::ImplicitCastExpr>(around)))
        return nullptr;
      value = around;
    }
  }

  Set live_out(const clang::CFGBlock& block) const {
    Set result;
    for (const auto& next : block.succs()) {
      if (next == nullptr) continue;
      const auto found = live_in_.find(next);
      if (found == live_in_.end()) continue;
      for (const auto& [variable, surely] : found->second) result[variable] |= surely;
    }
    return result;
  }

  void solve() {
    std::deque<const clang::CFGBlock*> open(graph_->begin(), graph_->end());
    while (!open.empty()) {
      const clang::CFGBlock* block = open.front();
      open.pop_front();
      Set live = live_out(*block);
      for (std::size_t i = block->size(); i > 0; --i) apply((*block)[i - 1], live);
      Set& before = live_in_[block];
      if (before == live) continue;
      before = std::move(live);
      for (const auto& previous : block->preds()) {
        if (previous != nullptr) open.push_back(previous);
      }
    }
  }

  mutable clang::ParentMap parents_;
  std::unique_ptr<clang::CFG> graph_;
  // Arrays, and variables that are written part by part or through their address.
  std::set<const clang::VarDecl*> in_parts_;
  std::map<const clang::CFGBlock*, Set> live_in_;
};

/// The variables in scope at `call`: those declared before it in the enclosing blocks.
std::vector<const clang::VarDecl*> scope_at(const clang::FunctionDecl& function,
                                            const clang::CallExpr& call) {
  const auto& sources = function.getASTContext().getSourceManager();
  clang::ParentMap parents{function.getBody()};
  std::vector<const clang::VarDecl*> result;
  for (const clang::Stmt* inner = &call; inner != nullptr;
       inner = parents.getParent(const_cast<clang::Stmt*>(inner))) {
    const clang::Stmt* outer = parents.getParent(const_cast<clang::Stmt*>(inner));
    if (outer == nullptr) break;
    const auto add = [&](const clang::Stmt* stmt) {
      const auto* declarations = dyn_cast_or_null<clang::DeclStmt>(stmt);
      if (declarations == nullptr) return;
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr &&
            sources.isBeforeInTranslationUnit(variable->getLocation(), call.getBeginLoc())) {
          result.push_back(variable);
        }
      }
    };
    if (const auto* block = dyn_cast<clang::CompoundStmt>(outer)) {
      for (const clang::Stmt* each : block->body()) add(each);
    } else if (const auto* loop = dyn_cast<clang::ForStmt>(outer)) {
      add(loop->getInit());
    }
  }
  for (const clang::ParmVarDecl* each : function.parameters()) result.push_back(each);
  return result;
}

/// Uses of a variable besides plain reads.
struct Uses {
  bool written = false;
  bool exposed = false;  // its address may be known elsewhere
};

Uses uses_of(const clang::VarDecl& variable) {
  Uses uses;
  const auto* function = dyn_cast<clang::FunctionDecl>(variable.getDeclContext());
  if (function == nullptr) return {true, true};
  std::set<const clang::Expr*> by_name;
  walk(function->getBody(), [&](const clang::Stmt& stmt) {
    if (const auto* cast = dyn_cast<clang::ImplicitCastExpr>(&stmt);
        cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue) {
      by_name.insert(object_of(*cast->getSubExpr()));
    }
    const clang::Expr* target = nullptr;
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt);
        binary != nullptr && binary->isAssignmentOp()) {
      target = object_of(*binary->getLHS());
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(&stmt);
               unary != nullptr && unary->isIncrementDecrementOp()) {
      target = object_of(*unary->getSubExpr());
    }
    const auto* written = dyn_cast_or_null<clang::DeclRefExpr>(target);
    uses.written |= written != nullptr && written->getDecl() == &variable;
    by_name.insert(target);
    const auto* name = dyn_cast<clang::DeclRefExpr>(&stmt);
    if (name != nullptr && name->getDecl() == &variable) uses.exposed |= !by_name.contains(name);
    return true;
  });
  return uses;
}

/// Whether the argument can replace the parameter because it has the same value wherever it is
/// evaluated.
bool is_constant(const clang::Expr& argument, const clang::ASTContext& context) {
  const clang::QualType type = argument.getType();
  return (type->isScalarType() || type->isVectorType()) && argument.isEvaluatable(context);
}

}  // namespace

bool is_alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call) {
  if (parameter.getFunctionScopeIndex() >= call.getNumArgs()) return false;
  const Uses uses = uses_of(parameter);
  if (uses.written || uses.exposed) return false;
  const clang::Expr* argument = call.getArg(parameter.getFunctionScopeIndex());
  if (is_constant(*argument, parameter.getASTContext())) return true;
  const auto* name = dyn_cast<clang::DeclRefExpr>(argument->IgnoreParenImpCasts());
  const auto* variable = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
  if (variable == nullptr) return false;
  const auto plain = [](clang::QualType type) {
    type = type.getCanonicalType().getUnqualifiedType();
    return type->isPointerType() ? type->getPointeeType().getUnqualifiedType() : type;
  };
  // The call converts the argument.
  if (plain(variable->getType()) != plain(parameter.getType())) return false;
  return !uses_of(*variable).exposed;
}

Variable resolve(Variable variable) {
  while (!variable.frame.empty()) {
    const auto* parameter = dyn_cast<clang::ParmVarDecl>(variable.decl);
    const clang::CallExpr* call = variable.frame.back();
    if (parameter == nullptr || !is_alias(*parameter, *call)) break;
    variable.frame.pop_back();
    const clang::Expr* argument = call->getArg(parameter->getFunctionScopeIndex());
    const auto* name = dyn_cast<clang::DeclRefExpr>(argument->IgnoreParenImpCasts());
    const auto* outer = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
    if (outer == nullptr || is_constant(*argument, parameter->getASTContext())) return {};
    variable.decl = outer;
  }
  return variable;
}

void find_live(Program& program, Kernel& kernel) {
  std::map<const clang::FunctionDecl*, std::unique_ptr<FunctionLiveness>> known;
  const auto& sources = program.context.getSourceManager();
  for (Point& point : kernel.points) {
    const clang::FunctionDecl* function = kernel.decl;
    Chain frame;
    for (const clang::CallExpr* call : point.chain) {
      auto& liveness = known[function];
      if (liveness == nullptr) liveness = std::make_unique<FunctionLiveness>(*function);
      for (const auto& [decl, surely] : liveness->live_after(call)) {
        if (decl->getType().getAddressSpace() == clang::LangAS::opencl_local) continue;
        if (decl->getType().getAddressSpace() == clang::LangAS::opencl_constant) continue;
        if (is_named_constant(*decl)) continue;
        const Variable variable = resolve({frame, decl});
        if (variable.decl == nullptr) continue;
        if (variable.frame.empty() && isa<clang::ParmVarDecl>(variable.decl))
          continue;  // the kernel's parameters are immutable
        point.live.push_back({variable, surely, liveness->next_read(call, decl)});
      }
      for (const clang::VarDecl* decl : scope_at(*function, *call)) {
        const clang::LangAS space = decl->getType().getAddressSpace();
        if (space == clang::LangAS::opencl_local || space == clang::LangAS::opencl_constant ||
            is_named_constant(*decl))
          continue;
        const Variable variable = resolve({frame, decl});
        if (variable.decl == nullptr ||
            (variable.frame.empty() && isa<clang::ParmVarDecl>(variable.decl)))
          continue;
        point.in_scope.push_back(variable);
      }
      frame.push_back(call);
      if (const clang::FunctionDecl* callee = callee_of(*call); callee != nullptr)
        function = &definition_of(*callee);
    }
    const auto earlier = [&](const Variable& a, const Variable& b) {
      if (a.frame.size() != b.frame.size()) return a.frame.size() < b.frame.size();
      return sources.isBeforeInTranslationUnit(a.decl->getLocation(), b.decl->getLocation());
    };
    std::stable_sort(point.live.begin(), point.live.end(),
                     [&](const Live& a, const Live& b) { return earlier(a.variable, b.variable); });
    std::stable_sort(point.in_scope.begin(), point.in_scope.end(), earlier);
    point.in_scope.erase(std::unique(point.in_scope.begin(), point.in_scope.end()),
                         point.in_scope.end());
    for (auto live = point.live.begin();
         live != point.live.end();) {  // merge each alias with the variable that it stands for
      const auto same = std::find_if(point.live.begin(), live, [&](const Live& each) {
        return each.variable == live->variable;
      });
      if (same == live) {
        ++live;
        continue;
      }
      same->surely |= live->surely;
      live = point.live.erase(live);
    }
  }
}

}  // namespace cohort::compiler
