// What the passes find out about a source file, and the emitters write down: kernels, their
// resizing points, and what each point transmits. Invariant: a point's number is its `phase` in the
// State, counted from 1 in source order.
#pragma once

#include <clang/AST/ASTContext.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/mode.hpp"
#include "compiler/vocabulary.hpp"

namespace cohort::compiler {

/// The calls that lead from the kernel to a place: inlined functions, outermost first.
using Chain = std::vector<const clang::CallExpr*>;

/// A variable of the kernel, or of one inlining of a function: whose calls are its frame.
struct Variable {
  Chain frame;
  const clang::VarDecl* decl = nullptr;
  // NOLINTNEXTLINE(modernize-use-nullptr): it mistakes <=> for a zero
  friend auto operator<=>(const Variable&, const Variable&) = default;
};

/// A variable that is live at a point, and where it is read next.
struct Live {
  Variable variable;
  bool surely = true;  ///< else only through a pointer or part by part, which is not followed
  clang::SourceLocation read;
};

/// A place where groups may leave or join: offer_kill, request_fork, resizing_global_barrier.
struct Point {
  Primitive kind = Primitive::none;
  Chain chain;         ///< its last element is the primitive itself
  unsigned phase = 0;  ///< where a group with this State continues
  std::vector<Live> live;
  std::vector<Live> local;          ///< local memory that is read without being written
  std::vector<Variable> transmits;  ///< in the order of declaration
  std::vector<Variable> in_scope;
};

/// One kernel.
struct Kernel {
  const clang::FunctionDecl* decl = nullptr;
  std::vector<Point> points;
  std::vector<Variable> state;  ///< all that any point transmits, in the order of declaration
  bool kill_any = false;
  bool may_all_leave = false;
  bool suspendable = true;
  unsigned resizing_barriers = 0, global_barriers = 0, kills = 0,
           forks = 0;                     ///< calls, each inlining counted
  unsigned annotated = 0;                 ///< variables declared `transmit`
  unsigned dimensions = 1;                ///< those that it asks about by number
  const clang::CallExpr* asks = nullptr;  ///< about the last of them

  /// Groups do not meet and come and go nowhere in it, so it may run over a range of work-items,
  /// and may assign its parameters.
  [[nodiscard]] bool plain() const { return points.empty() && global_barriers == 0; }

  [[nodiscard]] bool at_barriers() const { return kills == 0 && forks == 0; }
  /// The point that these calls lead to, or null.
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
  std::vector<const clang::FunctionDecl*>
      functions;  ///< defined by the user, without the kernels, callees first
  std::vector<const clang::Decl*> declarations;  ///< types and constants, in source order
  std::set<const clang::FunctionDecl*>
      resizes;  ///< functions that reach a resizing point: they are inlined
  std::set<const clang::FunctionDecl*> meets;  ///< functions that reach a global_barrier or a query
  std::set<const clang::FunctionDecl*>
      asks_group;                        ///< functions that reach an id, a barrier or a primitive
  std::set<const clang::Stmt*> parting;  ///< branches that threads of a group take differently

  [[nodiscard]] clang::DiagnosticsEngine& diagnostics() const { return context.getDiagnostics(); }
};

/// A parameter that points to local memory: the launch says how many bytes it gets.
[[nodiscard]] inline bool is_local_pointer(const clang::ParmVarDecl& parameter) {
  return parameter.getType()->isPointerType() &&
         parameter.getType()->getPointeeType().getAddressSpace() == clang::LangAS::opencl_local;
}

/// A structure or vector that is volatile as a whole.
[[nodiscard]] inline bool is_volatile_whole(clang::QualType type) {
  return type.isVolatileQualified() && (type->isRecordType() || type->isVectorType());
}

/// Calls `visit(stmt)` for a statement and everything below it, in source order; it returns whether
/// to go deeper.
template <class Visit>
void walk(const clang::Stmt* stmt, const Visit& visit) {
  if (stmt == nullptr || !visit(*stmt)) return;
  for (const clang::Stmt* child : stmt->children()) walk(child, visit);
}

}  // namespace cohort::compiler
