#include "compiler/collect.hpp"

#include <clang/AST/Attr.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <functional>

#include "compiler/diagnostics.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

const clang::CallExpr* call_of_statement(const clang::Stmt& statement) {
  const clang::Stmt* stmt = &statement;
  if (const auto* given_back = dyn_cast<clang::ReturnStmt>(stmt)) {
    if (given_back->getRetValue() == nullptr) return nullptr;
    return dyn_cast<clang::CallExpr>(given_back->getRetValue()->IgnoreParenImpCasts());
  }
  const auto* expression = dyn_cast<clang::Expr>(stmt);
  if (expression == nullptr) return nullptr;
  expression = expression->IgnoreParenCasts();
  if (const auto* assignment = dyn_cast<clang::BinaryOperator>(expression);
      assignment != nullptr && assignment->isAssignmentOp()) {
    return dyn_cast<clang::CallExpr>(assignment->getRHS()->IgnoreParenImpCasts());
  }
  return dyn_cast<clang::CallExpr>(expression);
}

const clang::CallExpr* call_of_initialiser(const clang::VarDecl& variable) {
  if (variable.getInit() == nullptr) return nullptr;
  return dyn_cast<clang::CallExpr>(variable.getInit()->IgnoreParenImpCasts());
}

namespace {

/// The calls below `body` after which a group can continue. Only such calls may be resizing points
/// or contain them.
std::set<const clang::CallExpr*> continuable(const clang::Stmt* body) {
  std::set<const clang::CallExpr*> result;
  const std::function<void(const clang::Stmt*)> look = [&](const clang::Stmt* stmt) {
    if (stmt == nullptr) return;
    if (const auto* declarations = dyn_cast<clang::DeclStmt>(stmt)) {
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr) result.insert(call_of_initialiser(*variable));
      }
      return;
    }
    if (isa<clang::Expr>(stmt) || isa<clang::ReturnStmt>(stmt)) {
      result.insert(call_of_statement(*stmt));
      return;
    }
    if (const auto* branch = dyn_cast<clang::IfStmt>(stmt)) {
      look(branch->getThen());
      look(branch->getElse());
    } else if (const auto* loop = dyn_cast<clang::WhileStmt>(stmt)) {
      look(loop->getBody());
    } else if (const auto* do_loop = dyn_cast<clang::DoStmt>(stmt)) {
      look(do_loop->getBody());
    } else if (const auto* for_loop = dyn_cast<clang::ForStmt>(stmt)) {
      look(for_loop->getBody());
    } else if (const auto* choice = dyn_cast<clang::SwitchStmt>(stmt)) {
      look(choice->getBody());
    } else if (const auto* label = dyn_cast<clang::SwitchCase>(stmt)) {
      look(label->getSubStmt());
    } else if (const auto* named = dyn_cast<clang::LabelStmt>(stmt)) {
      look(named->getSubStmt());
    } else if (const auto* marked = dyn_cast<clang::AttributedStmt>(stmt)) {
      look(marked->getSubStmt());
    } else if (const auto* block = dyn_cast<clang::CompoundStmt>(stmt)) {
      for (const clang::Stmt* each : block->body()) look(each);
    }
  };
  look(body);
  result.erase(nullptr);
  return result;
}

class Collector {
 public:
  explicit Collector(Program& program) : program_(program) {}

  bool run() {
    const auto& sources = program_.context.getSourceManager();
    for (const clang::Decl* each : program_.context.getTranslationUnitDecl()->decls()) {
      if (each->isImplicit() || each->getLocation().isInvalid() ||
          sources.isInSystemHeader(each->getLocation()))
        continue;
      if (const auto* function = dyn_cast<clang::FunctionDecl>(each)) {
        if (function->isThisDeclarationADefinition()) visit(*function);
      } else if (isa<clang::TagDecl>(each) || isa<clang::VarDecl>(each)) {
        program_.declarations.push_back(each);
      }
    }
    if (!fine_) return false;
    for (const clang::FunctionDecl* function : program_.functions) check_positions(*function);
    for (const clang::FunctionDecl* function : kernels_) {
      check_positions(*function);
      Kernel kernel;
      kernel.decl = function;
      Chain chain;
      points(kernel, *function, chain);
      program_.kernels.push_back(std::move(kernel));
    }
    return fine_;
  }

 private:
  clang::DiagnosticBuilder complain(clang::SourceLocation at, Say what) {
    fine_ = false;
    return report(program_.diagnostics(), at, what);
  }

  /// Visits functions depth first, so that callees come before their callers.
  void visit(const clang::FunctionDecl& function) {
    if (!done_.insert(&function).second) return;
    open_.insert(&function);
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) visit_call(function, *call);
      return true;
    });
    open_.erase(&function);
    if (function.hasAttr<clang::OpenCLKernelAttr>()) {
      kernels_.push_back(&function);
    } else {
      program_.functions.push_back(&function);
    }
  }

  void visit_call(const clang::FunctionDecl& caller, const clang::CallExpr& call) {
    const clang::FunctionDecl* callee = callee_of(call);
    if (callee == nullptr) {
      complain(call.getBeginLoc(), Say::indirect_call) << call.getSourceRange();
      return;
    }
    if (is_builtin(*callee)) {
      if (is_resizing(primitive(call))) program_.resizes.insert(&caller);
      if (primitive(call) == Primitive::global_barrier || primitive(call) == Primitive::query)
        program_.meets.insert(&caller);
      if (asks_group(*callee)) program_.asks_group.insert(&caller);
      return;
    }
    const clang::FunctionDecl& target = definition_of(*callee);
    if (!target.hasBody()) {
      complain(call.getBeginLoc(), Say::not_defined) << callee << call.getSourceRange();
      return;
    }
    const bool kernel = target.hasAttr<clang::OpenCLKernelAttr>();
    if (kernel && has_local_memory(target)) {
      complain(call.getBeginLoc(), Say::kernel_called) << &target << call.getSourceRange();
      return;
    }
    // C accepts such a call of a function declared as `int f(x) {...}`
    if (call.getNumArgs() != target.getNumParams()) {
      complain(call.getBeginLoc(), Say::unsupported_construct)
          << "a call without the arguments of its function";
      return;
    }
    if (open_.contains(&target)) {
      complain(call.getBeginLoc(), Say::recursion) << &target << call.getSourceRange();
      return;
    }
    visit(target);
    if (kernel && std::find(program_.functions.begin(), program_.functions.end(), &target) ==
                      program_.functions.end())
      program_.functions.push_back(&target);
    if (program_.resizes.contains(&target)) program_.resizes.insert(&caller);
    if (program_.meets.contains(&target)) program_.meets.insert(&caller);
    if (program_.asks_group.contains(&target)) program_.asks_group.insert(&caller);
  }

  static bool has_local_memory(const clang::FunctionDecl& function) {
    bool found = false;
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt);
      if (declarations == nullptr) return true;
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        found |= variable != nullptr &&
                 variable->getType().getAddressSpace() == clang::LangAS::opencl_local;
      }
      return true;
    });
    return found;
  }

  void check_positions(const clang::FunctionDecl& function) {
    if (!program_.resizes.contains(&function)) return;
    const auto allowed = continuable(function.getBody());
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      if (isa<clang::GotoStmt>(stmt) || isa<clang::LabelStmt>(stmt)) {
        complain(stmt.getBeginLoc(), Say::goto_among_points) << &function;
      }
      const auto* call = dyn_cast<clang::CallExpr>(&stmt);
      if (call == nullptr || allowed.contains(call)) return true;
      if (is_resizing(primitive(*call))) {
        complain(call->getBeginLoc(), Say::primitive_not_a_statement)
            << callee_of(*call) << call->getSourceRange();
      } else if (program_.resizes.contains(&definition_of(*callee_of(*call)))) {
        complain(call->getBeginLoc(), Say::helper_not_a_statement)
            << callee_of(*call) << call->getSourceRange();
      }
      return true;
    });
  }

  /// The dimension argument of a call, if it is a constant.
  unsigned dimension_of(const clang::CallExpr& call) const {
    const clang::FunctionDecl* callee = callee_of(call);
    if (callee == nullptr || !is_builtin(*callee) || call.getNumArgs() != 1 ||
        !callee->getName().startswith("get_"))
      return 0;
    const auto number = call.getArg(0)->getIntegerConstantExpr(program_.context);
    return number && *number < 3 ? static_cast<unsigned>(number->getZExtValue()) : 0;
  }

  void points(Kernel& kernel, const clang::FunctionDecl& function, Chain& chain) {
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      const auto* call = dyn_cast<clang::CallExpr>(&stmt);
      if (call == nullptr) return true;
      const Primitive which = primitive(*call);
      if (which == Primitive::global_barrier) ++kernel.global_barriers;
      if (which == Primitive::resizing_global_barrier) ++kernel.resizing_barriers;
      if (which == Primitive::offer_kill) ++kernel.kills;
      if (which == Primitive::request_fork) ++kernel.forks;
      if (const unsigned dimension = dimension_of(*call); dimension >= kernel.dimensions) {
        kernel.dimensions = dimension + 1;
        kernel.asks = call;
      }
      chain.push_back(call);
      if (is_resizing(which)) {
        Point point;
        point.kind = which;
        point.chain = chain;
        point.phase = static_cast<unsigned>(kernel.points.size()) + 1;
        kernel.points.push_back(std::move(point));
      } else if (const auto* callee = callee_of(*call); callee != nullptr && !is_builtin(*callee)) {
        points(kernel, definition_of(*callee), chain);
      }
      chain.pop_back();
      return true;
    });
  }

  Program& program_;
  std::vector<const clang::FunctionDecl*> kernels_;
  std::set<const clang::FunctionDecl*> done_;
  std::set<const clang::FunctionDecl*> open_;
  bool fine_ = true;
};

}  // namespace

bool collect(Program& program) { return Collector{program}.run(); }

}  // namespace cohort::compiler
