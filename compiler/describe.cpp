#include "compiler/describe.hpp"

#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>

#include <nlohmann/json.hpp>

namespace cohort::compiler {
namespace {

using Json = nlohmann::json;

const char* name_of(Primitive which) {
  switch (which) {
    case Primitive::offer_kill: return "offer_kill";
    case Primitive::request_fork: return "request_fork";
    case Primitive::resizing_global_barrier: return "resizing_global_barrier";
    case Primitive::global_barrier: return "global_barrier";
    case Primitive::query: return "query";
    case Primitive::none: break;
  }
  return "none";
}

const char* name_of(Transmit mode) {
  switch (mode) {
    case Transmit::annotated: return "annotated";
    case Transmit::live: return "live";
    case Transmit::all: return "all";
    case Transmit::per_thread: return "per-thread";
  }
  return "annotated";
}

/// The scalar type of a buffer's elements or of a value: "int32", "uint64", "float32". Empty for
/// structs and other types.
std::string scalar(const clang::ASTContext& context, clang::QualType type) {
  if (const auto* vector = type->getAs<clang::VectorType>()) type = vector->getElementType();
  if (const auto* atomic = type->getAs<clang::AtomicType>()) type = atomic->getValueType();
  const std::string bits =
      type->isIncompleteType() ? "" : std::to_string(context.getTypeSize(type));
  if (type->isRealFloatingType()) return "float" + bits;
  if (type->isUnsignedIntegerOrEnumerationType()) return "uint" + bits;
  if (type->isSignedIntegerOrEnumerationType()) return "int" + bits;
  return "";
}

std::int64_t bytes(const clang::ASTContext& context, clang::QualType type) {
  return type->isIncompleteType() || type->isFunctionType()
             ? 0
             : context.getTypeSizeInChars(type).getQuantity();
}

Json parameter(const clang::ASTContext& context, const clang::ParmVarDecl& decl) {
  const clang::QualType type = decl.getType().getUnqualifiedType();
  Json result{{"name", decl.getName().str()},
              {"type", type.getAsString(context.getPrintingPolicy())},
              {"size", bytes(context, type)}};
  if (type->isPointerType()) {
    const clang::QualType element = type->getPointeeType();
    result["kind"] = is_local_pointer(decl)                                        ? "local"
                     : element.getAddressSpace() == clang::LangAS::opencl_constant ? "constant"
                                                                                   : "global";
    if (is_local_pointer(decl)) result["size"] = 4;  // the argument is the size of the local memory
    result["element"] = scalar(context, element);
    result["element_size"] = bytes(context, element);
    result["const"] = element.isConstQualified();
  } else {
    result["kind"] = "value";
    result["element"] = type->isVectorType() ? "" : scalar(context, type);
  }
  return result;
}

Json state(const clang::ASTContext& context, const Kernel& kernel, Transmit mode) {
  auto fields = Json::array();
  std::int64_t offset = 0;
  std::int64_t alignment = 1;
  const auto add = [&](llvm::StringRef name, clang::QualType type) {
    const std::int64_t align = context.getTypeAlignInChars(type).getQuantity();
    offset = (offset + align - 1) / align * align;
    alignment = std::max(alignment, align);
    fields.push_back(
        Json{{"name", name.str()},
             {"type", type.getUnqualifiedType().getAsString(context.getPrintingPolicy())},
             {"offset", offset},
             {"size", bytes(context, type)}});
    offset += bytes(context, type);
  };
  add("phase", context.UnsignedIntTy);
  for (const Variable& each : kernel.state) add(each.decl->getName(), each.decl->getType());
  const std::int64_t size = (offset + alignment - 1) / alignment * alignment;
  Json result{{"fields", std::move(fields)}, {"mode", name_of(mode)}};
  // With one State per thread, the layout depends on the size of the largest group.
  if (mode != Transmit::per_thread) result["size"] = size;
  return result;
}

Json describe(const clang::ASTContext& context, const Kernel& kernel, Transmit mode) {
  const auto& sources = context.getSourceManager();
  auto parameters = Json::array();
  std::int64_t offset = 0;  // in the OpenCL output's struct of all parameters
  const auto place = [&](std::int64_t align) { offset = (offset + align - 1) / align * align; };
  for (const clang::ParmVarDecl* each : kernel.decl->parameters()) {
    Json described = parameter(context, *each);
    const bool local = is_local_pointer(*each);
    place(local ? 4 : context.getTypeAlignInChars(each->getType()).getQuantity());
    described["offset"] = offset;
    offset += local ? 4 : bytes(context, each->getType());
    parameters.push_back(std::move(described));
  }
  auto points = Json::array();
  for (const Point& point : kernel.points) {
    const clang::PresumedLoc at = sources.getPresumedLoc(point.chain.back()->getBeginLoc());
    auto transmits = Json::array();
    for (const Variable& each : point.transmits) transmits.push_back(each.decl->getName().str());
    auto through = Json::array();
    for (std::size_t i = 0; i + 1 < point.chain.size(); ++i)
      through.push_back(callee_of(*point.chain[i])->getName().str());
    points.push_back(Json{{"phase", point.phase},
                          {"kind", name_of(point.kind)},
                          {"line", at.getLine()},
                          {"column", at.getColumn()},
                          {"through", std::move(through)},
                          {"transmits", std::move(transmits)}});
  }
  Json local_size = nullptr;
  if (const auto* required = kernel.decl->getAttr<clang::ReqdWorkGroupSizeAttr>()) {
    local_size = {required->getXDim(), required->getYDim(), required->getZDim()};
  }
  place(8);
  const Json range = kernel.plain() ? Json(offset) : Json(nullptr);
  return {{"name", kernel.decl->getName().str()},
          {"parameters", std::move(parameters)},
          {"state", state(context, kernel, mode)},
          {"points", std::move(points)},
          {"kill_order", kernel.kill_any ? "any" : "highest_first"},
          {"survivors", kernel.may_all_leave ? "may_all_leave" : "keep_one"},
          {"resizes", kernel.at_barriers() && !kernel.plain() ? "at_barriers" : "anywhere"},
          {"range", range},  // index of the range argument, if the kernel takes one
          {"dimensions", kernel.dimensions},
          {"suspendable", kernel.suspendable},
          {"required_local_size", std::move(local_size)}};
}

}  // namespace

std::string describe(const Program& program, Transmit mode) {
  auto kernels = Json::array();
  for (const Kernel& each : program.kernels)
    kernels.push_back(describe(program.context, each, mode));
  return Json{{"format", 1}, {"kernels", std::move(kernels)}}.dump(2) + "\n";
}

}  // namespace cohort::compiler
