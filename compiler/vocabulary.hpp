// The words of the dialect: which function is a primitive, an id, a group function; which variable
// is transmitted. Invariant: a word counts only as the prelude or Clang declares it, so a user's
// function of that name is just his own.
#pragma once

#include <clang/AST/Attr.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

namespace cohort::compiler {

/// The primitives of the paper (section 3.1), and the query of section 4.2.
enum class Primitive {
  none,
  offer_kill,
  request_fork,
  global_barrier,
  resizing_global_barrier,
  query
};

/// What a built-in function's value depends on, and whom it must be reached by.
enum class Role {
  pure,          ///< its arguments only
  thread_value,  ///< differs between threads: local and global ids, atomic read-modify-writes,
                 ///< scans
  group_value,   ///< the same in a group, but not in all: get_group_id
  size_value,    ///< M: the same everywhere between resizing points
  meeting,       ///< all threads of a group must reach it; nobody gets a value of his own
};

/// Where the prelude lies, as far as Clang is concerned.
inline constexpr char prelude_file[] = "/cohort/prelude.h";
/// What every program is compiled after.
extern const char* const prelude_text;

/// True if Clang or the prelude declares it, rather than the user.
[[nodiscard]] bool is_builtin(const clang::FunctionDecl& function);
[[nodiscard]] Primitive primitive(const clang::CallExpr& call);
/// Kill, fork and resizing barrier: groups may go or come there, so the kernel must be
/// re-enterable.
[[nodiscard]] constexpr bool is_resizing(Primitive which) {
  return which == Primitive::offer_kill || which == Primitive::request_fork ||
         which == Primitive::resizing_global_barrier;
}
/// Fork and resizing barrier: groups may join there.
[[nodiscard]] constexpr bool is_joining(Primitive which) {
  return which == Primitive::request_fork || which == Primitive::resizing_global_barrier;
}
/// Barriers and collectives of a sub-group.
[[nodiscard]] bool is_sub_group_function(const clang::FunctionDecl& builtin);
[[nodiscard]] Role role_of(const clang::FunctionDecl& builtin);
/// Ids, sizes, barriers and primitives: whatever asks the group.
[[nodiscard]] bool asks_group(const clang::FunctionDecl& builtin);
/// The `transmit` on a variable, or null.
[[nodiscard]] const clang::AnnotateAttr* transmit_of(const clang::VarDecl& variable);
/// Whether a variable is a name for a value that is known when it compiles: everybody has it, so it
/// is never transmitted.
[[nodiscard]] bool is_named_constant(const clang::VarDecl& variable);
/// The x of `name(x)` on a kernel, for the annotations kill_order and survivors; empty if there is
/// none.
[[nodiscard]] llvm::StringRef trait_of(const clang::FunctionDecl& function, llvm::StringRef name);
/// The callee of a direct call; null for others.
[[nodiscard]] const clang::FunctionDecl* callee_of(const clang::CallExpr& call);
/// Memory that each group, or each thread, has of its own.
enum class Own { none, of_thread, local };
/// Which of it a value of this type says that it points to; in structures and arrays too.
[[nodiscard]] Own own_memory_of(clang::QualType type);
/// The object that contains an lvalue: x for `x.field[2]`; x for x itself.
[[nodiscard]] const clang::Expr* object_of(const clang::Expr& lvalue);
/// The definition of a user's function, or what is declared of it.
[[nodiscard]] const clang::FunctionDecl& definition_of(const clang::FunctionDecl& function);

}  // namespace cohort::compiler
