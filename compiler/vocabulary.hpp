// The vocabulary of the dialect: which functions are primitives, ids or group functions, and which
// variables are transmitted. Invariant: a name counts only if the prelude or Clang declares it. A
// user's function of the same name is an ordinary function.
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

/// What the value of a built-in function depends on, and which threads must reach the call.
enum class Role {
  pure,          ///< only its arguments
  thread_value,  ///< differs between threads: local and global ids, atomic read-modify-writes,
                 ///< scans
  group_value,   ///< the same in all threads of a group, but not in all groups: get_group_id
  size_value,    ///< M, which is the same everywhere between resizing points
  meeting,       ///< all threads of a group must reach it, and all get the same value
};

/// The prelude's file name, as Clang sees it.
inline constexpr char prelude_file[] = "/cohort/prelude.h";
/// The text that is compiled before every program.
extern const char* const prelude_text;

/// True if Clang or the prelude declares the function, not the user.
[[nodiscard]] bool is_builtin(const clang::FunctionDecl& function);
[[nodiscard]] Primitive primitive(const clang::CallExpr& call);
/// Kill, fork and resizing barrier: groups may leave or join there, so the kernel must be
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
/// Whether the built-in depends on the group: ids, sizes, barriers and primitives.
[[nodiscard]] bool asks_group(const clang::FunctionDecl& builtin);
/// The `transmit` annotation of a variable, or null.
[[nodiscard]] const clang::AnnotateAttr* transmit_of(const clang::VarDecl& variable);
/// Whether a variable is only a name for a compile-time constant. All threads know such a value, so
/// it is never transmitted.
[[nodiscard]] bool is_named_constant(const clang::VarDecl& variable);
/// The x of the annotation `name(x)` on a kernel, for kill_order and survivors; empty if there is
/// none.
[[nodiscard]] llvm::StringRef trait_of(const clang::FunctionDecl& function, llvm::StringRef name);
/// The callee of a direct call; null for other calls.
[[nodiscard]] const clang::FunctionDecl* callee_of(const clang::CallExpr& call);
/// Memory that belongs to one group or to one thread.
enum class Own { none, of_thread, local };
/// The kind of such memory to which a value of this type points, as far as the type tells. Also
/// looks into structs and arrays.
[[nodiscard]] Own own_memory_of(clang::QualType type);
/// The object that contains an lvalue: x for `x.field[2]`; x for x itself.
[[nodiscard]] const clang::Expr* object_of(const clang::Expr& lvalue);
/// The definition of a user's function, or its declaration if there is none.
[[nodiscard]] const clang::FunctionDecl& definition_of(const clang::FunctionDecl& function);

}  // namespace cohort::compiler
