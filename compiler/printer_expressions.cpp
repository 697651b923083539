#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>

#include "compiler/printer.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

std::string Printer::print_postfix(const clang::Expr* expression) {
  const std::string text = print(expression);
  const bool simple = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '[' ||
           c == ']';
  });
  return simple || isa<clang::ParenExpr>(expression) ? text : "(" + text + ")";
}

std::string Printer::print_arguments(const clang::CallExpr& call) {
  std::string result;
  for (const clang::Expr* each : call.arguments())
    result += (result.empty() ? "" : ", ") + print(each);
  return result;
}

std::string Printer::print_list(const clang::InitListExpr& list) {
  if (const auto* field = list.getInitializedFieldInUnion()) {
    const std::string value =
        list.getNumInits() == 0 ? zero(field->getType()) : print(list.getInit(0));
    return "{." + escaped(field->getName()) + " = " + value + "}";
  }
  std::string result;
  for (const clang::Expr* each : list.inits()) result += (result.empty() ? "" : ", ") + print(each);
  return "{" + result + "}";
}

std::string Printer::print_integer(const llvm::APSInt& value, clang::QualType of) const {
  const std::string suffix = std::string{of->isUnsignedIntegerType() ? "u" : ""} +
                             (program_.context.getTypeSize(of) == 64 ? "l" : "");
  if (!value.isNegative()) return llvm::toString(value, 10) + suffix;
  // The lowest value of a signed type has no literal of that type.
  if (value.isMinSignedValue()) {
    llvm::APSInt next = value;
    ++next;
    return "(" + llvm::toString(next, 10) + suffix + " - 1" + suffix + ")";
  }
  return "(" + llvm::toString(value, 10) + suffix + ")";
}

std::string Printer::print_literal(const clang::Expr& literal) const {
  if (const auto* number = dyn_cast<clang::IntegerLiteral>(&literal)) {
    const bool is_signed = number->getType()->isSignedIntegerType();
    return print_integer(llvm::APSInt{number->getValue(), !is_signed}, number->getType());
  }
  if (const auto* number = dyn_cast<clang::FloatingLiteral>(&literal)) {
    llvm::SmallString<32> text;
    number->getValue().toString(text);
    std::string result = text.str().str();
    if (result.find_first_of(".eEn") == std::string::npos) result += ".0";
    if (number->getType()->isSpecificBuiltinType(clang::BuiltinType::Float)) result += "f";
    return number->getType()->isHalfType() ? half_literal(result) : result;
  }
  if (const auto* character = dyn_cast<clang::CharacterLiteral>(&literal)) {
    // a character literal is an int in C
    const auto value = static_cast<int>(character->getValue());
    return print_integer(llvm::APSInt::get(value), program_.context.IntTy);
  }
  if (const auto* text = dyn_cast<clang::StringLiteral>(&literal)) {
    std::string result;
    llvm::raw_string_ostream stream{result};
    text->outputString(stream);
    return result;
  }
  return "0";
}

std::string Printer::print_unary(const clang::UnaryOperator& unary) {
  const std::string op = clang::UnaryOperator::getOpcodeStr(unary.getOpcode()).str();
  if (unary.getOpcode() == clang::UO_Extension) return print(unary.getSubExpr());
  const clang::Expr* operand = unary.getSubExpr()->IgnoreParens();
  if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(operand);
      element != nullptr && unary.isIncrementDecrementOp()) {
    const std::string target = print_element(*element, true);
    return unary.isPostfix() ? target + op : op + target;
  }
  if (unary.isPostfix()) return print_postfix(unary.getSubExpr()) + op;
  return op + print_postfix(unary.getSubExpr());
}

/// Prints a long sum in one pass. Printing operand by operand would copy the text once for each.
std::string Printer::print_operands(const clang::BinaryOperator& binary) {
  std::vector<const clang::BinaryOperator*> spine;
  const clang::Expr* first = &binary;
  for (const auto* next = &binary; next != nullptr && !next->isAssignmentOp();
       next = dyn_cast<clang::BinaryOperator>(first)) {
    spine.push_back(next);
    first = next->getLHS();
  }
  std::string result = print(first);
  for (const clang::BinaryOperator* each : llvm::reverse(spine))
    result += " " + each->getOpcodeStr().str() + " " + print_right(*each);
  return result;
}

std::string Printer::print_binary(const clang::BinaryOperator& binary) {
  const std::string op = binary.getOpcodeStr().str();
  if (binary.isAssignmentOp()) {
    const auto* element = dyn_cast<clang::ExtVectorElementExpr>(binary.getLHS()->IgnoreParens());
    std::string target =
        element != nullptr ? print_element(*element, true) : print(binary.getLHS());
    std::string value = print_right(binary);
    if (isa<clang::InitListExpr>(binary.getRHS()))
      value = aggregate(binary.getLHS()->getType(), value);
    if (binary.getOpcode() == clang::BO_Assign && is_volatile_whole(binary.getLHS()->getType()))
      return write_volatile(target, value);
    return target + " " + op + " " + value;
  }
  return print_operands(binary);
}

std::string Printer::print(const clang::Expr* expression) {
  if (const auto* name = dyn_cast<clang::DeclRefExpr>(expression)) {
    if (const auto* value = dyn_cast<clang::EnumConstantDecl>(name->getDecl()))
      return print_integer(value->getInitVal(), name->getType());
    if (const auto* variable = dyn_cast<clang::VarDecl>(name->getDecl())) return name_of(*variable);
    return in_file(escaped(name->getDecl()->getName()));
  }
  if (isa<clang::IntegerLiteral>(expression) || isa<clang::FloatingLiteral>(expression) ||
      isa<clang::CharacterLiteral>(expression) || isa<clang::StringLiteral>(expression)) {
    return print_literal(*expression);
  }
  if (const auto* parens = dyn_cast<clang::ParenExpr>(expression))
    return "(" + print(parens->getSubExpr()) + ")";
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(expression)) return print_unary(*unary);
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(expression))
    return print_binary(*binary);
  if (const auto* choice = dyn_cast<clang::ConditionalOperator>(expression)) {
    if (choice->getCond()->getType()->isVectorType()) return print_vector_choice(*choice);
    return print(choice->getCond()) + " ? " + print(choice->getTrueExpr()) + " : " +
           print(choice->getFalseExpr());
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(expression)) {
    if (const auto found = results_.find(call); found != results_.end()) return found->second;
    const clang::FunctionDecl& callee = *callee_of(*call);
    if (is_builtin(callee)) return print_builtin(*call, callee);
    std::string arguments = print_arguments(*call);
    if (program_.asks_group.contains(&definition_of(callee)) && !context_argument().empty()) {
      arguments = context_argument() + (arguments.empty() ? "" : ", ") + arguments;
    }
    return in_file(escaped(callee.getName())) + "(" + arguments + ")";
  }
  if (const auto* member = dyn_cast<clang::MemberExpr>(expression)) {
    const auto* field = dyn_cast<clang::FieldDecl>(member->getMemberDecl());
    std::string name = escaped(member->getMemberDecl()->getName());
    if (field != nullptr && field->isAnonymousStructOrUnion())
      name = "unnamed_" + std::to_string(field->getFieldIndex());
    return print_postfix(member->getBase()) + (member->isArrow() ? "->" : ".") + name;
  }
  if (const auto* item = dyn_cast<clang::ArraySubscriptExpr>(expression)) {
    return print_postfix(item->getBase()) + "[" + print(item->getIdx()) + "]";
  }
  if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(expression))
    return print_element(*element, false);
  if (const auto* cast = dyn_cast<clang::CastExpr>(expression)) return print_cast(*cast);
  if (const auto* same = dyn_cast<clang::AsTypeExpr>(expression))
    return print_as(same->getType(), print(same->getSrcExpr()));
  if (const auto* list = dyn_cast<clang::InitListExpr>(expression)) {
    return list->getType()->isVectorType() ? print_vector(*list) : print_list(*list);
  }
  if (isa<clang::ImplicitValueInitExpr>(expression)) return zero(expression->getType());
  if (const auto* literal = dyn_cast<clang::CompoundLiteralExpr>(expression)) {
    const auto* list = dyn_cast<clang::InitListExpr>(literal->getInitializer());
    if (literal->getType()->isVectorType()) return print(literal->getInitializer());
    if (list != nullptr && !literal->getType()->isRecordType() && list->getNumInits() == 1)
      return print(list->getInit(0));
    if (literal->getType()->isArrayType() && !frames_.empty())
      return array_literal(literal->getType(), print(literal->getInitializer()));
    return aggregate(literal->getType(), print(literal->getInitializer()));
  }
  if (const auto* size = dyn_cast<clang::UnaryExprOrTypeTraitExpr>(expression)) {
    if (size->getKind() == clang::UETT_SizeOf) {
      const clang::QualType of =
          size->isArgumentType() ? size->getArgumentType() : size->getArgumentExpr()->getType();
      return "sizeof(" + type(of) + ")";
    }
    clang::Expr::EvalResult value;
    if (size->EvaluateAsInt(value, program_.context)) return llvm::toString(value.Val.getInt(), 10);
  }
  if (const auto* constant_value = dyn_cast<clang::ConstantExpr>(expression))
    return print(constant_value->getSubExpr());
  clang::Expr::EvalResult value;
  if (expression->EvaluateAsInt(value, program_.context))
    return llvm::toString(value.Val.getInt(), 10);
  return "cohort_unsupported_" + std::string{expression->getStmtClassName()};
}

}  // namespace cohort::compiler
