// The results of the passes over a source file, which the emitters print: kernels, their resizing
// points, and the variables that each point transmits. Invariant: a point's number is its `phase`
// in the State, counted from 1 in source order.
#pragma once

#include <clang/AST/ASTContext.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/mode.hpp"
#include "compiler/vocabulary.hpp"

namespace cohort::compiler {

/// The calls that lead from the kernel to a statement: inlined functions, outermost first.
using Chain = std::vector<const clang::CallExpr*>;

/// A variable of the kernel, or of one inlined call of a function. `frame` is the chain of calls to
/// that function.
struct Variable {
  Chain frame;
  const clang::VarDecl* decl = nullptr;
  // NOLINTNEXTLINE(modernize-use-nullptr): the check mistakes <=> for a zero
  friend auto operator<=>(const Variable&, const Variable&) = default;
};

/// A variable that is live at a point, and the place of its next read.
struct Live {
  Variable variable;
  /// False if it is read only through a pointer or part by part, which is not tracked.
  bool surely = true;
  clang::SourceLocation read;
};

/// A place where groups may leave or join: offer_kill, request_fork, resizing_global_barrier.
struct Point {
  Primitive kind = Primitive::none;
  Chain chain;         ///< the last call is the primitive itself
  unsigned phase = 0;  ///< where a group with this State continues
  std::vector<Live> live;
  std::vector<Live> local;          ///< local memory that may be read before it is written
  std::vector<Variable> transmits;  ///< in declaration order
  std::vector<Variable> in_scope;
};

/// One kernel.
struct Kernel {
  const clang::FunctionDecl* decl = nullptr;
  std::vector<Point> points;
  std::vector<Variable> state;  ///< all variables that its points transmit, in declaration order
  bool kill_any = false;
  bool may_all_leave = false;
  bool suspendable = true;
  // Numbers of calls; a call in an inlined function counts once per copy.
  unsigned resizing_barriers = 0, global_barriers = 0, kills = 0, forks = 0;
  unsigned annotated = 0;                 ///< variables declared `transmit`
  unsigned dimensions = 1;                ///< number of dimensions that the kernel uses
  const clang::CallExpr* asks = nullptr;  ///< the call that uses the highest dimension

  /// A kernel without resizing points and global barriers. It may run over a range of work-items,
  /// and may assign to its parameters.
  [[nodiscard]] bool plain() const { return points.empty() && global_barriers == 0; }

  [[nodiscard]] bool at_barriers() const { return kills == 0 && forks == 0; }
  /// The point to which these calls lead, or null.
  [[nodiscard]] const Point* at(const Chain& chain) const {
    for (const Point& each : points) {
      if (each.chain == chain) return &each;
    }
    return nullptr;
  }
};

/// One source file.
struct Program {
  explicit Program(clang::ASTContext& with) : context(with) {}

  clang::ASTContext& context;
  std::vector<Kernel> kernels;
  /// Functions defined by the user, except kernels; callees first.
  std::vector<const clang::FunctionDecl*> functions;
  std::vector<const clang::Decl*> declarations;  ///< types and constants, in source order
  /// Functions that contain or call a resizing point. They are inlined.
  std::set<const clang::FunctionDecl*> resizes;
  /// Functions that contain or call a global_barrier or a query.
  std::set<const clang::FunctionDecl*> meets;
  /// Functions that contain or call an id function, a barrier or a primitive.
  std::set<const clang::FunctionDecl*> asks_group;
  /// Branches at which the threads of a group may diverge.
  std::set<const clang::Stmt*> parting;

  [[nodiscard]] clang::DiagnosticsEngine& diagnostics() const { return context.getDiagnostics(); }
};

/// A parameter that points to local memory. The launch sets its size in bytes.
[[nodiscard]] inline bool is_local_pointer(const clang::ParmVarDecl& parameter) {
  return parameter.getType()->isPointerType() &&
         parameter.getType()->getPointeeType().getAddressSpace() == clang::LangAS::opencl_local;
}

/// A struct or vector that is volatile as a whole.
[[nodiscard]] inline bool is_volatile_whole(clang::QualType type) {
  return type.isVolatileQualified() && (type->isRecordType() || type->isVectorType());
}

/// Calls `visit(stmt)` for a statement and everything below it, in source order. `visit` returns
/// whether to descend.
template <class Visit>
void walk(const clang::Stmt* stmt, const Visit& visit) {
  if (stmt == nullptr || !visit(*stmt)) return;
  for (const clang::Stmt* child : stmt->children()) walk(child, visit);
}

}  // namespace cohort::compiler
