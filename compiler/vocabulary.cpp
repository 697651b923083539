#include "compiler/vocabulary.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringSwitch.h>

namespace cohort::compiler {

// get_global_id() and similar functions without an argument refer to dimension 0, as in the paper.
const char* const prelude_text = R"(
#pragma clang system_header
#define transmit __attribute__((annotate("cohort.transmit")))
#define kill_order(order) __attribute__((annotate("cohort.kill_order=" #order)))
#define survivors(who) __attribute__((annotate("cohort.survivors=" #who)))
void __attribute__((convergent)) offer_kill(void);
void __attribute__((convergent)) request_fork(void);
void __attribute__((convergent)) global_barrier(void);
void __attribute__((convergent)) resizing_global_barrier(void);
uint __attribute__((convergent)) query(void);
#define COHORT_ID(name) size_t __attribute__((overloadable)) name(void); size_t __attribute__((overloadable)) name(uint);
COHORT_ID(get_global_id)
COHORT_ID(get_local_id)
COHORT_ID(get_group_id)
COHORT_ID(get_global_size)
COHORT_ID(get_local_size)
COHORT_ID(get_num_groups)
#undef COHORT_ID
#define COHORT 1
)";

bool is_builtin(const clang::FunctionDecl& function) {
  if (function.getBuiltinID() != 0 || function.isImplicit()) return true;
  const auto& sources = function.getASTContext().getSourceManager();
  return function.getLocation().isInvalid() || sources.isInSystemHeader(function.getLocation());
}

const clang::FunctionDecl* callee_of(const clang::CallExpr& call) { return call.getDirectCallee(); }

Own own_memory_of(clang::QualType type) {
  type = type.getCanonicalType();
  // Only the thread that started the copy can wait for it.
  if (type->isEventT()) return Own::of_thread;
  if (const auto* pointer = type->getAs<clang::PointerType>()) {
    const clang::LangAS space = pointer->getPointeeType().getAddressSpace();
    if (space == clang::LangAS::opencl_local) return Own::local;
    return space == clang::LangAS::opencl_private ? Own::of_thread : Own::none;
  }
  if (const auto* array = type->getAsArrayTypeUnsafe())
    return own_memory_of(array->getElementType());
  if (const auto* record = type->getAs<clang::RecordType>()) {
    for (const clang::FieldDecl* field : record->getDecl()->fields()) {
      const Own own = own_memory_of(field->getType());
      if (own != Own::none) return own;
    }
  }
  return Own::none;
}

const clang::Expr* object_of(const clang::Expr& lvalue) {
  const clang::Expr* object = lvalue.IgnoreParens();
  for (;;) {
    const clang::Expr* whole = nullptr;
    if (const auto* member = clang::dyn_cast<clang::MemberExpr>(object)) {
      if (!member->isArrow()) whole = member->getBase();
    } else if (const auto* element = clang::dyn_cast<clang::ExtVectorElementExpr>(object)) {
      if (!element->isArrow()) whole = element->getBase();
    } else if (const auto* item = clang::dyn_cast<clang::ArraySubscriptExpr>(object)) {
      whole = item->getBase()->IgnoreParens();
      if (const auto* decay = clang::dyn_cast<clang::ImplicitCastExpr>(whole);
          decay != nullptr && decay->getCastKind() == clang::CK_ArrayToPointerDecay) {
        whole = decay->getSubExpr();
      } else if (!whole->getType()->isVectorType()) {
        whole = nullptr;
      }
    }
    if (whole == nullptr) return object;
    object = whole->IgnoreParens();
  }
}

const clang::FunctionDecl& definition_of(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = function.getDefinition();
  return definition != nullptr ? *definition : function;
}

namespace {

llvm::StringRef name_of(const clang::FunctionDecl& function) {
  return function.getDeclName().isIdentifier() ? function.getName() : llvm::StringRef{};
}

}  // namespace

Primitive primitive(const clang::CallExpr& call) {
  const clang::FunctionDecl* callee = callee_of(call);
  if (callee == nullptr || !is_builtin(*callee)) return Primitive::none;
  return llvm::StringSwitch<Primitive>(name_of(*callee))
      .Case("offer_kill", Primitive::offer_kill)
      .Case("request_fork", Primitive::request_fork)
      .Case("global_barrier", Primitive::global_barrier)
      .Case("resizing_global_barrier", Primitive::resizing_global_barrier)
      .Case("query", Primitive::query)
      .Default(Primitive::none);
}

bool is_sub_group_function(const clang::FunctionDecl& builtin) {
  return name_of(builtin).startswith("sub_group_");
}

Role role_of(const clang::FunctionDecl& builtin) {
  const llvm::StringRef name = name_of(builtin);
  const auto role = llvm::StringSwitch<Role>(name)
                        .Cases("get_global_id", "get_local_id", "get_global_linear_id",
                               "get_local_linear_id", Role::thread_value)
                        .Cases("get_group_id", "query", Role::group_value)
                        .Cases("get_num_groups", "get_global_size", Role::size_value)
                        .Cases("barrier", "work_group_barrier", "async_work_group_copy",
                               "async_work_group_strided_copy", "wait_group_events", Role::meeting)
                        .Cases("get_sub_group_size", "get_sub_group_id", "get_sub_group_local_id",
                               Role::thread_value)
                        .Default(Role::pure);
  if (role != Role::pure) return role;
  if (name.startswith("work_group_scan_") || is_sub_group_function(builtin))
    return Role::thread_value;
  if (name.startswith("work_group_")) return Role::meeting;
  if (name.startswith("atomic_") || name.startswith("atom_")) {
    const bool plain = name.startswith("atomic_load") || name.startswith("atomic_store") ||
                       name.startswith("atomic_init") || name == "atomic_work_item_fence";
    return plain ? Role::pure : Role::thread_value;
  }
  return Role::pure;
}

bool asks_group(const clang::FunctionDecl& builtin) {
  const llvm::StringRef name = name_of(builtin);
  if (name.startswith("get_") || name.startswith("work_group_") || is_sub_group_function(builtin))
    return true;
  return llvm::StringSwitch<bool>(name)
      .Cases("offer_kill", "request_fork", "global_barrier", "resizing_global_barrier", "query",
             "barrier", "async_work_group_copy", true)
      .Cases("async_work_group_strided_copy", "wait_group_events", true)
      .Default(false);
}

const clang::AnnotateAttr* transmit_of(const clang::VarDecl& variable) {
  for (const auto* each : variable.specific_attrs<clang::AnnotateAttr>()) {
    if (each->getAnnotation() == "cohort.transmit") return each;
  }
  return nullptr;
}

namespace {

/// Whether the expression has one value, the same for all threads and throughout the kernel.
bool is_fixed(const clang::Expr& expression) {
  using clang::dyn_cast;
  using clang::isa;
  const clang::Expr* value = expression.IgnoreParenCasts();
  if (isa<clang::IntegerLiteral>(value) || isa<clang::FloatingLiteral>(value) ||
      isa<clang::CharacterLiteral>(value) || isa<clang::ImplicitValueInitExpr>(value) ||
      isa<clang::UnaryExprOrTypeTraitExpr>(value))
    return true;
  if (const auto* name = dyn_cast<clang::DeclRefExpr>(value)) {
    const auto* variable = dyn_cast<clang::VarDecl>(name->getDecl());
    return variable == nullptr ? isa<clang::EnumConstantDecl>(name->getDecl())
                               : is_named_constant(*variable);
  }
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(value);
      unary != nullptr &&
      (unary->isIncrementDecrementOp() || unary->getOpcode() == clang::UO_AddrOf ||
       unary->getOpcode() == clang::UO_Deref))
    return false;
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(value);
      binary != nullptr && (binary->isAssignmentOp() || binary->isCommaOp()))
    return false;
  if (const auto* call = dyn_cast<clang::CallExpr>(value)) {  // e.g. INFINITY or NAN
    const clang::FunctionDecl* callee = callee_of(*call);
    if (callee == nullptr || callee->getBuiltinID() == 0 ||
        !value->isEvaluatable(callee->getASTContext()))
      return false;
    return true;
  }
  if (!isa<clang::UnaryOperator>(value) && !isa<clang::BinaryOperator>(value) &&
      !isa<clang::ConditionalOperator>(value) && !isa<clang::InitListExpr>(value) &&
      !isa<clang::CompoundLiteralExpr>(value) && !isa<clang::ArraySubscriptExpr>(value) &&
      !isa<clang::ExtVectorElementExpr>(value) && !isa<clang::ConstantExpr>(value) &&
      !isa<clang::AsTypeExpr>(value))
    return false;
  for (const clang::Stmt* each : value->children()) {
    const auto* part = clang::dyn_cast_or_null<clang::Expr>(each);
    if (part == nullptr || !is_fixed(*part)) return false;
  }
  return true;
}

}  // namespace

bool is_named_constant(const clang::VarDecl& variable) {
  const clang::QualType type = variable.getType();
  const clang::LangAS space = type.getAddressSpace();
  const clang::ASTContext& context = variable.getASTContext();
  if (space == clang::LangAS::opencl_local || clang::isa<clang::ParmVarDecl>(variable))
    return false;
  const clang::QualType element = context.getBaseElementType(type);
  return variable.getInit() != nullptr && element.isConstQualified() &&
         !element.isVolatileQualified() && !element->isPointerType() &&
         transmit_of(variable) == nullptr && is_fixed(*variable.getInit());
}

llvm::StringRef trait_of(const clang::FunctionDecl& function, llvm::StringRef name) {
  for (const auto* each : function.specific_attrs<clang::AnnotateAttr>()) {
    llvm::StringRef text = each->getAnnotation();
    if (text.consume_front("cohort.") && text.consume_front(name) && text.consume_front("="))
      return text;
  }
  return {};
}

}  // namespace cohort::compiler
