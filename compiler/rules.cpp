#include "compiler/rules.hpp"

#include <clang/AST/Attr.h>
#include <llvm/ADT/STLExtras.h>

#include "compiler/builtins.hpp"
#include "compiler/diagnostics.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

namespace {

/// The part of a type that no output format supports; null if there is none.
clang::QualType unsupported_part(clang::QualType type) {
  type = type.getCanonicalType();
  if (const auto* pointer = type->getAs<clang::PointerType>()) {
    return pointer->getPointeeType()->isFunctionType()
               ? type
               : unsupported_part(pointer->getPointeeType());
  }
  if (const auto* array = type->getAsArrayTypeUnsafe()) {
    if (isa<clang::VariableArrayType>(array)) return type;
    return unsupported_part(array->getElementType());
  }
  if (const auto* vector = type->getAs<clang::VectorType>())
    return unsupported_part(vector->getElementType());
  if (const auto* atomic = type->getAs<clang::AtomicType>())
    return unsupported_part(atomic->getValueType());
  if (type->isRecordType() || type->isEnumeralType()) return {};
  if (const auto* builtin = type->getAs<clang::BuiltinType>()) {
    const auto kind = builtin->getKind();
    const bool wide = kind == clang::BuiltinType::Int128 || kind == clang::BuiltinType::UInt128;
    if (builtin->isVoidType() || kind == clang::BuiltinType::OCLEvent ||
        (builtin->isInteger() && !wide) || kind == clang::BuiltinType::Half ||
        kind == clang::BuiltinType::Float || kind == clang::BuiltinType::Double) {
      return {};
    }
    return type;
  }
  return type;
}

bool is_half(clang::QualType type) {
  if (const auto* vector = type->getAs<clang::VectorType>()) type = vector->getElementType();
  return type->isHalfType();
}

/// The statement classes that the printer supports. Others are rejected, since the printer would
/// drop them.
bool is_known(const clang::Stmt& stmt) {
  switch (stmt.getStmtClass()) {
    case clang::Stmt::CompoundStmtClass:
    case clang::Stmt::DeclStmtClass:
    case clang::Stmt::NullStmtClass:
    case clang::Stmt::IfStmtClass:
    case clang::Stmt::WhileStmtClass:
    case clang::Stmt::DoStmtClass:
    case clang::Stmt::ForStmtClass:
    case clang::Stmt::SwitchStmtClass:
    case clang::Stmt::CaseStmtClass:
    case clang::Stmt::DefaultStmtClass:
    case clang::Stmt::LabelStmtClass:
    case clang::Stmt::GotoStmtClass:
    case clang::Stmt::BreakStmtClass:
    case clang::Stmt::ContinueStmtClass:
    case clang::Stmt::ReturnStmtClass:
    case clang::Stmt::AttributedStmtClass:
    case clang::Stmt::DeclRefExprClass:
    case clang::Stmt::IntegerLiteralClass:
    case clang::Stmt::FloatingLiteralClass:
    case clang::Stmt::CharacterLiteralClass:
    case clang::Stmt::StringLiteralClass:
    case clang::Stmt::CXXBoolLiteralExprClass:
    case clang::Stmt::ParenExprClass:
    case clang::Stmt::UnaryOperatorClass:
    case clang::Stmt::BinaryOperatorClass:
    case clang::Stmt::CompoundAssignOperatorClass:
    case clang::Stmt::ConditionalOperatorClass:
    case clang::Stmt::CallExprClass:
    case clang::Stmt::MemberExprClass:
    case clang::Stmt::ArraySubscriptExprClass:
    case clang::Stmt::ExtVectorElementExprClass:
    case clang::Stmt::ImplicitCastExprClass:
    case clang::Stmt::CStyleCastExprClass:
    case clang::Stmt::AsTypeExprClass:
    case clang::Stmt::InitListExprClass:
    case clang::Stmt::DesignatedInitExprClass:
    case clang::Stmt::ImplicitValueInitExprClass:
    case clang::Stmt::CompoundLiteralExprClass:
    case clang::Stmt::UnaryExprOrTypeTraitExprClass:
    case clang::Stmt::ConstantExprClass: return true;
    default: return false;
  }
}

class Rules {
 public:
  Rules(Program& program, bool cpp) : program_(program), cpp_(cpp) {}

  void run() {
    for (const clang::Decl* each : program_.declarations) check_declaration(*each);
    for (const clang::FunctionDecl* function : program_.functions) {
      if (function->hasAttr<clang::OpenCLKernelAttr>()) continue;  // kernels are checked later
      for (const llvm::StringRef trait : {"kill_order", "survivors"}) {
        if (!trait_of(*function, trait).empty()) {
          complain(function->getLocation(), Say::trait_not_on_kernel) << trait << function;
        }
      }
      check_function(*function, nullptr);
    }
    for (Kernel& kernel : program_.kernels) {
      read_traits(kernel);
      check_function(*kernel.decl, &kernel);
      if (kernel.kill_any) check_any_order(*kernel.decl, {});
      if (!kernel.plain() && kernel.asks != nullptr &&
          !kernel.decl->hasAttr<clang::ReqdWorkGroupSizeAttr>()) {
        complain(kernel.asks->getBeginLoc(), Say::undeclared_dimension)
            << kernel.dimensions - 1 << kernel.decl << kernel.asks->getSourceRange();
      }
    }
  }

 private:
  clang::DiagnosticBuilder complain(clang::SourceLocation at, Say what) {
    return report(program_.diagnostics(), at, what);
  }

  void check_type(clang::SourceLocation at, clang::QualType type) {
    const clang::QualType part = unsupported_part(type);
    if (!part.isNull()) complain(at, Say::unsupported_type) << part.getUnqualifiedType();
  }

  void check_declaration(const clang::Decl& declaration) {
    if (const auto* record = dyn_cast<clang::RecordDecl>(&declaration)) {
      for (const clang::FieldDecl* field : record->fields())
        check_type(field->getLocation(), field->getType());
      if (record->hasAttr<clang::MaxFieldAlignmentAttr>())
        complain(record->getLocation(), Say::unsupported_construct) << "'#pragma pack'";
    }
    const auto* variable = dyn_cast<clang::VarDecl>(&declaration);
    if (variable == nullptr) return;
    if (transmit_of(*variable) != nullptr)
      complain(variable->getLocation(), Say::transmit_scope) << variable;
    if (variable->getType().getAddressSpace() != clang::LangAS::opencl_constant &&
        !is_named_constant(*variable)) {
      complain(variable->getLocation(), Say::program_scope_variable) << variable;
    }
    check_type(variable->getLocation(), variable->getType());
    walk(variable->getInit(),
         [&](const clang::Stmt& stmt) { return check_statement(stmt, false); });
  }

  void read_traits(Kernel& kernel) {
    const clang::FunctionDecl& function = *kernel.decl;
    const llvm::StringRef order = trait_of(function, "kill_order");
    kernel.kill_any = order == "any";
    if (!order.empty() && order != "any" && order != "highest_first") {
      complain(function.getLocation(), Say::unknown_kill_order) << order;
    }
    const llvm::StringRef survivors = trait_of(function, "survivors");
    kernel.may_all_leave = survivors == "may_all_leave";
    if (!survivors.empty() && survivors != "may_all_leave" && survivors != "keep_one") {
      complain(function.getLocation(), Say::unknown_survivors) << survivors;
    }
  }

  void check_function(const clang::FunctionDecl& function, const Kernel* kernel) {
    for (const clang::ParmVarDecl* parameter : function.parameters()) {
      check_type(parameter->getLocation(), parameter->getType());
      if (transmit_of(*parameter) != nullptr)
        complain(parameter->getLocation(), Say::transmit_parameter) << parameter;
    }
    check_type(function.getLocation(), function.getReturnType());
    if (function.isVariadic()) {
      complain(function.getLocation(), Say::unsupported_construct) << "a variadic function";
    }
    const auto* body = dyn_cast<clang::CompoundStmt>(function.getBody());
    std::set<const clang::VarDecl*> root;
    if (kernel != nullptr && body != nullptr) {
      for (const clang::Stmt* stmt : body->body()) {
        if (const auto* declarations = dyn_cast<clang::DeclStmt>(stmt)) {
          for (const clang::Decl* each : declarations->decls()) {
            if (const auto* variable = dyn_cast<clang::VarDecl>(each)) root.insert(variable);
          }
        }
      }
    }
    std::set<const clang::Expr*> by_value;
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      check_constant_use(stmt, by_value);
      if (const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt)) {
        for (const clang::Decl* each : declarations->decls()) {
          if (const auto* variable = dyn_cast<clang::VarDecl>(each))
            check_variable(*variable, root.contains(variable));
          if (const auto* record = dyn_cast<clang::RecordDecl>(each)) check_declaration(*record);
        }
      }
      return check_statement(stmt, kernel != nullptr && !kernel->plain());
    });
  }

  /// Reports the use of a program-scope constant's address, unless the constant is declared
  /// 'constant': otherwise it has no address in the OpenCL outputs.
  void check_constant_use(const clang::Stmt& stmt, std::set<const clang::Expr*>& by_value) {
    if (const auto* cast = dyn_cast<clang::ImplicitCastExpr>(&stmt);
        cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue)
      by_value.insert(object_of(*cast->getSubExpr()));
    const auto* name = dyn_cast<clang::DeclRefExpr>(&stmt);
    const auto* variable = name == nullptr ? nullptr : dyn_cast<clang::VarDecl>(name->getDecl());
    if (variable == nullptr || !variable->isFileVarDecl() || by_value.contains(name) ||
        variable->getType().getAddressSpace() == clang::LangAS::opencl_constant)
      return;
    complain(stmt.getBeginLoc(), Say::constant_address) << variable << stmt.getSourceRange();
    report(program_.diagnostics(), variable->getLocation(), Say::declared_here) << variable;
  }

  void check_variable(const clang::VarDecl& variable, bool root) {
    check_type(variable.getLocation(), variable.getType());
    if (transmit_of(variable) == nullptr) return;
    const clang::QualType type = variable.getType();
    if (!root) {
      complain(variable.getLocation(), Say::transmit_scope) << &variable;
    } else if (type.getAddressSpace() == clang::LangAS::opencl_local) {
      complain(variable.getLocation(), Say::transmit_local_memory) << &variable;
    } else if (type->isEventT()) {
      complain(variable.getLocation(), Say::transmit_event) << &variable;
    } else if (type->isArrayType()) {
      complain(variable.getLocation(), Say::transmit_array) << &variable;
    } else if (own_memory_of(type) == Own::local) {
      complain(variable.getLocation(), Say::transmit_local_pointer) << &variable;
    } else if (own_memory_of(type) == Own::of_thread) {
      complain(variable.getLocation(), Say::transmit_private_pointer) << &variable;
    }
  }

  bool check_statement(const clang::Stmt& stmt, bool immutable_parameters) {
    if (immutable_parameters) check_parameter_use(stmt);
    const auto construct = [&](const char* what) {
      complain(stmt.getBeginLoc(), Say::unsupported_construct) << what << stmt.getSourceRange();
      return false;
    };
    if (isa<clang::BlockExpr>(stmt)) return construct("a block");
    if (isa<clang::StmtExpr>(stmt)) return construct("a statement in an expression");
    if (isa<clang::AsmStmt>(stmt)) return construct("assembly");
    if (isa<clang::AddrLabelExpr>(stmt) || isa<clang::IndirectGotoStmt>(stmt))
      return construct("a computed goto");
    if (isa<clang::AtomicExpr>(stmt)) return construct("an atomic operation of Clang's own");
    if (isa<clang::BinaryConditionalOperator>(stmt))
      return construct("?: without a middle operand");
    if (!is_known(stmt))
      return construct(isa<clang::Expr>(stmt) ? "this expression" : "this statement");
    if (cpp_ && changes_volatile(stmt)) return construct("this change of a volatile vector");
    if (changes_indexed_swizzle(stmt))
      return construct("a change of a component by its number in a choice of components");
    if (const auto* range = dyn_cast<clang::CaseStmt>(&stmt);
        range != nullptr && range->caseStmtIsGNURange()) {
      return construct("a range of cases");
    }
    if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) {
      const clang::FunctionDecl* callee = callee_of(*call);
      if (cpp_ && callee != nullptr && is_builtin(*callee) && callee->getName() == "printf") {
        for (const clang::Expr* each : call->arguments()) {
          if (each->getType()->isVectorType()) return construct("printing a vector");
        }
      }
      if (cpp_ && callee != nullptr && is_builtin(*callee) && !takes_half(callee->getName()) &&
          (is_half(call->getType()) || llvm::any_of(call->arguments(), [](const clang::Expr* each) {
             return is_half(each->getType());
           })))
        return construct("a built-in function of half values");
      if (callee != nullptr && is_builtin(*callee) && !has_builtin(callee->getName())) {
        // The OpenCL outputs pass unknown built-ins on to the OpenCL compiler.
        const bool types = !unsupported_part(call->getType()).isNull() ||
                           llvm::any_of(call->arguments(), [](const clang::Expr* each) {
                             return !unsupported_part(each->getType()).isNull();
                           });
        if (cpp_ || types)
          complain(call->getBeginLoc(), Say::unsupported_builtin)
              << callee << call->getSourceRange();
      }
    }
    return true;
  }

  /// The object that the statement assigns to or counts up or down; null if it does neither.
  static const clang::Expr* target_of(const clang::Stmt& stmt) {
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt))
      return binary->isAssignmentOp() ? binary->getLHS()->IgnoreParens() : nullptr;
    const auto* unary = dyn_cast<clang::UnaryOperator>(&stmt);
    return unary != nullptr && unary->isIncrementDecrementOp() ? unary->getSubExpr()->IgnoreParens()
                                                               : nullptr;
  }

  /// Whether the statement changes `v.xz[i]`. Clang itself gets this wrong.
  static bool changes_indexed_swizzle(const clang::Stmt& stmt) {
    const auto* item = clang::dyn_cast_or_null<clang::ArraySubscriptExpr>(target_of(stmt));
    return item != nullptr &&
           isa<clang::ExtVectorElementExpr>(item->getBase()->IgnoreParenImpCasts()) &&
           item->getBase()->getType()->isVectorType();
  }

  /// Whether the statement changes a volatile struct or vector in any way other than by assigning
  /// the whole. `write_volatile` supports only that form.
  static bool changes_volatile(const clang::Stmt& stmt) {
    const clang::Expr* target = target_of(stmt);
    const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt);
    const bool whole = binary != nullptr && binary->getOpcode() == clang::BO_Assign &&
                       !llvm::isa_and_nonnull<clang::ExtVectorElementExpr>(target);
    if (target == nullptr || whole) return false;
    const auto* element = dyn_cast<clang::ExtVectorElementExpr>(target->IgnoreParens());
    if (element == nullptr) return is_volatile_whole(target->getType());
    const clang::QualType of = element->getBase()->getType();
    return element->getType()->isVectorType() &&
           is_volatile_whole(element->isArrow() ? of->getPointeeType() : of);
  }

  void check_parameter_use(const clang::Stmt& stmt) {
    const clang::Expr* target = nullptr;
    Say what = Say::parameter_assigned;
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt);
        binary != nullptr && binary->isAssignmentOp()) {
      target = binary->getLHS();
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(&stmt)) {
      if (unary->isIncrementDecrementOp()) target = unary->getSubExpr();
      if (unary->getOpcode() == clang::UO_AddrOf) {
        target = unary->getSubExpr();
        what = Say::parameter_address;
      }
    }
    if (target == nullptr) return;
    const auto* name = dyn_cast<clang::DeclRefExpr>(object_of(*target));
    if (name == nullptr || !isa<clang::ParmVarDecl>(name->getDecl())) return;
    complain(stmt.getBeginLoc(), what) << name->getDecl() << stmt.getSourceRange();
    report(program_.diagnostics(), name->getDecl()->getLocation(), Say::declared_here)
        << name->getDecl();
  }

  void check_any_order(const clang::FunctionDecl& function,
                       const std::set<const clang::FunctionDecl*>& above) {
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      const auto* call = dyn_cast<clang::CallExpr>(&stmt);
      const clang::FunctionDecl* callee = call == nullptr ? nullptr : callee_of(*call);
      if (callee == nullptr) return true;
      if (!is_builtin(*callee)) {
        auto path = above;
        if (path.insert(&definition_of(*callee)).second)
          check_any_order(definition_of(*callee), path);
        return true;
      }
      const Primitive which = primitive(*call);
      if (which == Primitive::global_barrier || which == Primitive::resizing_global_barrier) {
        complain(call->getBeginLoc(), Say::any_order_barrier) << callee << call->getSourceRange();
      } else if (callee->getName() == "get_global_size") {
        complain(call->getBeginLoc(), Say::any_order_stride) << callee << call->getSourceRange();
      }
      return true;
    });
  }

  Program& program_;
  bool cpp_;
};

}  // namespace

void check_rules(Program& program, bool cpp) { Rules{program, cpp}.run(); }

}  // namespace cohort::compiler
