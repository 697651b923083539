#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include "compiler/printer.hpp"

namespace cohort::compiler {

using clang::dyn_cast;

// ---- names

std::string Printer::escaped(llvm::StringRef name) const { return (name + suffix_).str(); }

std::string Printer::unique(const std::string& name) {
  std::string result = name;
  for (unsigned n = 2; taken_.contains(result) || file_names_.contains(result); ++n)
    result = name + "_" + std::to_string(n);
  taken_.insert(result);
  return result;
}

std::string Printer::tag_name(const clang::TagDecl& tag) const {
  const auto found = tags_.find(tag.getCanonicalDecl());
  return found == tags_.end() ? "unknown_type" : found->second;
}

std::string Printer::bind(const clang::VarDecl& variable) {
  const std::string name = unique(escaped(variable.getName()));
  names_[{frames_.back().chain, &variable}] = name;
  return name;
}

std::string Printer::name_of(const Variable& variable) const {
  const auto found = names_.find(variable);
  return found == names_.end() ? escaped(variable.decl->getName()) : found->second;
}

std::string Printer::name_of(const clang::VarDecl& variable) const {
  if (const auto found = constants_.find(&variable); found != constants_.end())
    return found->second;
  return name_of(Variable{frames_.empty() ? Chain{} : frames_.back().chain, &variable});
}

std::string Printer::position(clang::SourceLocation at) const {
  const clang::PresumedLoc place = program_.context.getSourceManager().getPresumedLoc(at);
  if (place.isInvalid()) return "?";
  const llvm::StringRef path = place.getFilename();
  return (path.substr(path.find_last_of('/') + 1) + ":" + std::to_string(place.getLine())).str();
}

void Printer::line(const std::string& text) {
  out_.append(static_cast<std::size_t>(indent_) * 2, ' ');
  out_ += text;
  out_ += '\n';
}

// ---- types

namespace {

std::string builtin_type(clang::QualType of) {
  const auto* known = of->getAs<clang::BuiltinType>();
  if (known == nullptr) return "cohort_unknown_type";
  switch (known->getKind()) {
    case clang::BuiltinType::Void: return "void";
    case clang::BuiltinType::Bool: return "bool";
    case clang::BuiltinType::Char_S:
    case clang::BuiltinType::Char_U: return "char";
    case clang::BuiltinType::SChar: return "signed char";
    case clang::BuiltinType::UChar: return "unsigned char";
    case clang::BuiltinType::Short: return "short";
    case clang::BuiltinType::UShort: return "unsigned short";
    case clang::BuiltinType::Int: return "int";
    case clang::BuiltinType::UInt: return "unsigned int";
    case clang::BuiltinType::Long: return "long";
    case clang::BuiltinType::ULong: return "unsigned long";
    case clang::BuiltinType::LongLong: return "long long";
    case clang::BuiltinType::ULongLong: return "unsigned long long";
    case clang::BuiltinType::Float: return "float";
    case clang::BuiltinType::Double: return "double";
    case clang::BuiltinType::OCLEvent: return "event_t";
    default: return "cohort_unknown_type";
  }
}

}  // namespace

std::string Printer::declare(clang::QualType of, const std::string& name) const {
  const clang::QualType plain = of.getCanonicalType();
  std::string quals;
  if (plain.isConstQualified() || is_const(plain.getAddressSpace())) quals += "const ";
  if (plain.isVolatileQualified()) quals += "volatile ";
  const std::string before = space(plain.getAddressSpace()) + quals;
  const auto spaced = [&](const std::string& base) {
    return before + base + (name.empty() ? "" : " " + name);
  };
  if (const auto* pointer = plain->getAs<clang::PointerType>()) {
    const clang::QualType target = pointer->getPointeeType();
    std::string inner = before.empty() ? "*" : "* " + before;
    inner += name;
    if (target->isArrayType()) inner = "(" + inner + ")";
    return declare(target, inner);
  }
  if (const auto* array = program_.context.getAsArrayType(plain)) {
    std::string size;
    if (const auto* known = dyn_cast<clang::ConstantArrayType>(array))
      size = llvm::toString(known->getSize(), 10, false);
    return declare(array->getElementType(), name + "[" + size + "]");
  }
  if (const auto* vector = plain->getAs<clang::VectorType>()) {
    return spaced(vector_name(declare(vector->getElementType().getUnqualifiedType(), ""),
                              vector->getNumElements()));
  }
  if (const auto* atomic = plain->getAs<clang::AtomicType>()) {
    return spaced(atomic_name(declare(atomic->getValueType().getUnqualifiedType(), "")));
  }
  if (const auto* enumeration = plain->getAs<clang::EnumType>())
    return spaced(builtin_type(enumeration->getDecl()->getIntegerType()));
  if (const auto* tag = plain->getAs<clang::TagType>())
    return spaced(tag_reference(*tag->getDecl()));
  if (plain->isHalfType()) return spaced(half_name());
  return spaced(builtin_type(plain));
}

std::string Printer::alignment(const clang::Decl& declaration) const {
  const clang::ASTContext& context = program_.context;
  std::int64_t bytes = declaration.getMaxAlignment() / 8;
  // a type may demand an alignment as well
  if (const auto* value = dyn_cast<clang::ValueDecl>(&declaration)) {
    const auto demanded = context.getDeclAlign(value).getQuantity();
    const auto natural = context.getTypeAlignInChars(value->getType().getCanonicalType());
    if (demanded > natural.getQuantity()) bytes = demanded;
  }
  const std::string packed =
      declaration.hasAttr<clang::PackedAttr>() ? "__attribute__((packed)) " : "";
  return packed + (bytes == 0 ? "" : "__attribute__((aligned(" + std::to_string(bytes) + "))) ");
}

// ---- declarations

void Printer::print_record(const clang::RecordDecl& record) {
  for (const clang::Decl* each : record.decls()) {
    if (const auto* inner = dyn_cast<clang::RecordDecl>(each);
        inner != nullptr && inner->isThisDeclarationADefinition()) {
      print_record(*inner);
    }
  }
  if (!record.isThisDeclarationADefinition()) return;
  auto& name = tags_[record.getCanonicalDecl()];
  if (name.empty()) {
    const clang::TypedefNameDecl* alias = record.getTypedefNameForAnonDecl();
    const std::string wanted = !record.getName().empty() ? record.getName().str()
                               : alias != nullptr        ? alias->getName().str()
                                                         : "unnamed";
    std::string own = escaped(wanted);
    for (unsigned n = 2; file_names_.contains(own); ++n)
      own = escaped(wanted) + "_" + std::to_string(n);
    file_names_.insert(own);
    name = in_file(own);
  }
  const std::string head = record.isUnion() ? "union " : "struct ";
  line(head + alignment(record) + name + " {");
  open();
  for (const clang::FieldDecl* field : record.fields()) {
    std::string declared = declare(
        field->getType(), field->isAnonymousStructOrUnion() ? "" : escaped(field->getName()));
    if (field->isAnonymousStructOrUnion())
      declared = declare(field->getType(), "unnamed_" + std::to_string(field->getFieldIndex()));
    if (field->isBitField())
      declared += " : " + std::to_string(field->getBitWidthValue(program_.context));
    line(alignment(*field) + declared + ";");
  }
  close();
  line("};");
  after_record(record, name);
}

void Printer::print_declarations() {
  for (const clang::FunctionDecl* each : program_.functions)
    file_names_.insert(escaped(each->getName()));
  for (const Kernel& each : program_.kernels) file_names_.insert(escaped(each.decl->getName()));
  const auto print_constant = [&](const clang::VarDecl& variable) {
    std::string name = escaped(variable.getName());
    for (unsigned n = 2; file_names_.contains(name); ++n)
      name = escaped(variable.getName()) + "_" + std::to_string(n);
    file_names_.insert(name);
    constants_[&variable] = in_file(name);
    line(constant(variable, in_file(name)) + ";");
  };
  for (const clang::Decl* each : program_.declarations) {
    if (const auto* record = dyn_cast<clang::RecordDecl>(each)) print_record(*record);
    if (const auto* variable = dyn_cast<clang::VarDecl>(each);
        variable != nullptr && variable->hasInit())
      print_constant(*variable);
  }
  const auto inside = [&](const clang::FunctionDecl& function) {
    walk(function.getBody(), [&](const clang::Stmt& stmt) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt);
      if (declarations == nullptr) return true;
      for (const clang::Decl* each : declarations->decls()) {
        if (const auto* record = dyn_cast<clang::RecordDecl>(each)) print_record(*record);
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr &&
            variable->getType().getAddressSpace() == clang::LangAS::opencl_constant)
          print_constant(*variable);
      }
      return true;
    });
  };
  for (const clang::FunctionDecl* each : program_.functions) inside(*each);
  for (const Kernel& each : program_.kernels) inside(*each.decl);
}

}  // namespace cohort::compiler
