#include "compiler/compile.hpp"

#include <clang/Basic/SourceManager.h>
#include <clang/Basic/Stack.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/VirtualFileSystem.h>
#include <pthread.h>

#include <exception>

#include "compiler/collect.hpp"
#include "compiler/describe.hpp"
#include "compiler/diagnostics.hpp"
#include "compiler/emit.hpp"
#include "compiler/liveness.hpp"
#include "compiler/local_memory.hpp"
#include "compiler/program.hpp"
#include "compiler/rules.hpp"
#include "compiler/transmit.hpp"
#include "compiler/uniformity.hpp"

namespace cohort::compiler {
namespace {

/// Counts the lines with code in the user's file and its includes. Blank and comment lines do not
/// count.
unsigned lines_of_code(const clang::SourceManager& sources, const clang::LangOptions& language) {
  unsigned count = 0;
  for (unsigned i = 0; i < sources.local_sloc_entry_size(); ++i) {
    const clang::SrcMgr::SLocEntry& entry = sources.getLocalSLocEntry(i);
    if (!entry.isFile() || clang::SrcMgr::isSystem(entry.getFile().getFileCharacteristic()))
      continue;
    const clang::FileID file =
        sources.getFileID(clang::SourceLocation::getFromRawEncoding(entry.getOffset()));
    const auto buffer = sources.getBufferOrNone(file);
    if (!buffer || sources.getFileEntryForID(file) == nullptr) continue;
    if (sources.getFileEntryForID(file)->getName() == prelude_file) continue;
    clang::Lexer lexer{file, *buffer, sources, language};
    std::set<unsigned> lines;
    clang::Token token;
    while (!lexer.LexFromRawLexer(token)) {
      lines.insert(sources.getSpellingLineNumber(token.getLocation()));
    }
    count += static_cast<unsigned>(lines.size());
  }
  return count;
}

/// Limit on nesting, so that the passes do not run out of stack. Clang limits brackets itself.
constexpr unsigned deepest = 100'000;

/// The first statement or expression below `body` that is nested deeper than `deepest`, or null.
/// Does not recurse.
const clang::Stmt* too_deep(const clang::Stmt* body) {
  std::vector<std::pair<const clang::Stmt*, unsigned>> open{{body, 0}};
  while (!open.empty()) {
    const auto [stmt, depth] = open.back();
    open.pop_back();
    if (stmt == nullptr) continue;
    if (depth > deepest) return stmt;
    for (const clang::Stmt* each : stmt->children()) open.emplace_back(each, depth + 1);
  }
  return nullptr;
}

class Passes final : public clang::ASTConsumer {
 public:
  Passes(const CompileOptions& options, CompileResult& result)
      : options_(options), result_(result) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    clang::DiagnosticsEngine& engine = context.getDiagnostics();
    if (engine.hasErrorOccurred()) return;
    Program program{context};
    if (nested_too_deep(context) || !collect(program)) return;
    check_rules(program, options_.output != Output::opencl && options_.output != Output::plain);
    if (engine.hasErrorOccurred()) return;
    for (Kernel& kernel : program.kernels) {
      const unsigned before = engine.getClient()->getNumErrors();
      const std::vector<Facts> facts = check_uniformity(program, kernel);
      // The primitive was reached by only some threads, which has been reported. After it, all
      // values count as different, so further reports would be noise.
      if (engine.hasErrorOccurred() &&
          (options_.verify || engine.getClient()->getNumErrors() > before))
        continue;
      find_live(program, kernel);
      find_local_memory(program, kernel);
      decide_transmission(program, kernel, facts, options_.transmit, options_.remarks);
    }
    const unsigned lines = lines_of_code(context.getSourceManager(), context.getLangOpts());
    for (const Kernel& each : program.kernels) {
      result_.stats.push_back({each.decl->getNameAsString(), each.resizing_barriers,
                               each.resizing_barriers + each.global_barriers, each.kills,
                               each.forks, each.annotated, lines});
    }
    if (engine.hasErrorOccurred()) return;
    result_.description = describe(program, options_.transmit);
    switch (options_.output) {
      case Output::none: break;
      case Output::cpu:
        result_.output = emit_cpp(program, Engine::cpu, options_.transmit, result_.description);
        break;
      case Output::cuda:
        result_.output = emit_cpp(program, Engine::cuda, options_.transmit, result_.description);
        break;
      case Output::opencl: result_.output = emit_opencl(program); break;
      case Output::plain: result_.output = emit_plain(program); break;
    }
  }

 private:
  static bool nested_too_deep(const clang::ASTContext& context) {
    for (const clang::Decl* each : context.getTranslationUnitDecl()->decls()) {
      const clang::Stmt* body = each->getBody();
      if (const auto* variable = clang::dyn_cast<clang::VarDecl>(each)) body = variable->getInit();
      const clang::Stmt* found = too_deep(body);
      if (found == nullptr) continue;
      report(context.getDiagnostics(), found->getBeginLoc(), Say::unsupported_construct)
          << "nesting more than " + std::to_string(deepest) + " levels deep";
      return true;
    }
    return false;
  }

  const CompileOptions& options_;
  CompileResult& result_;
};

class Action final : public clang::ASTFrontendAction {
 public:
  Action(const CompileOptions& options, CompileResult& result)
      : options_(options), result_(result) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& /*instance*/,
                                                        llvm::StringRef /*file*/) override {
    return std::make_unique<Passes>(options_, result_);
  }

 private:
  const CompileOptions& options_;
  CompileResult& result_;
};

std::vector<std::string> arguments_for(const CompileOptions& options) {
  constexpr const char* resource_headers = COHORT_CLANG_RESOURCES "/include";
  std::vector<std::string> result{"-triple",
                                  "spir64-unknown-unknown",
                                  "-x",
                                  "cl",
                                  "-cl-std=" + options.standard,
                                  "-finclude-default-header",
                                  "-fdeclare-opencl-builtins",
                                  "-resource-dir",
                                  COHORT_CLANG_RESOURCES,
                                  "-internal-isystem",
                                  resource_headers,
                                  "-fsyntax-only",
                                  "-ferror-limit",
                                  "50",
                                  "-include",
                                  prelude_file,
                                  "-D__opencl_c_work_group_collective_functions=1"};
  for (const std::string& each : options.defines) result.push_back("-D" + each);
  for (const std::string& each : options.include_paths) result.push_back("-I" + each);
  for (const std::string& each : options.build_options) result.push_back(each);
  if (options.verify) result.emplace_back("-verify");
  if (options.colour) result.emplace_back("-fcolor-diagnostics");
  result.push_back(options.file);
  return result;
}

/// Runs `work` on a thread with a large stack: each level of nesting takes several stack frames in
/// the passes and in Clang.
template <class Work>
void on_large_stack(const Work& work) {
  struct Errand {
    const Work* work;
    std::exception_ptr error;
  } errand{&work, nullptr};
  const auto start = [](void* given) -> void* {
    auto& mine = *static_cast<Errand*>(given);
    try {
      clang::noteBottomOfStack();
      (*mine.work)();
    } catch (...) {
      mine.error = std::current_exception();
    }
    return nullptr;
  };
  // The system commits only pages that are touched.
  constexpr std::size_t stack_size = std::size_t{1} << 30U;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread{};
  const bool started = pthread_attr_setstacksize(&attributes, stack_size) == 0 &&
                       pthread_create(&thread, &attributes, start, &errand) == 0;
  pthread_attr_destroy(&attributes);
  if (started) {
    pthread_join(thread, nullptr);
  } else {  // the thread could not be started: use the current stack
    start(&errand);
  }
  if (errand.error) std::rethrow_exception(errand.error);
}

CompileResult compile_here(const CompileOptions& options) {
  CompileResult result;
  llvm::raw_string_ostream stream{result.diagnostics};
  const std::vector<std::string> arguments = arguments_for(options);
  std::vector<const char*> raw;
  raw.reserve(arguments.size());
  for (const std::string& each : arguments) raw.push_back(each.c_str());

  clang::IntrusiveRefCntPtr<clang::DiagnosticOptions> how{new clang::DiagnosticOptions};
  clang::DiagnosticsEngine early{new clang::DiagnosticIDs, how,
                                 new clang::TextDiagnosticPrinter{stream, how.get()}};
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, raw, early)) return result;

  clang::CompilerInstance instance;
  instance.setInvocation(invocation);
  instance.setVerboseOutputStream(stream);
  instance.createDiagnostics(
      new clang::TextDiagnosticPrinter{stream, &instance.getDiagnosticOpts()}, true);
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> ours{new llvm::vfs::InMemoryFileSystem};
  ours->addFile(prelude_file, 0, llvm::MemoryBuffer::getMemBuffer(prelude_text));
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> files{
      new llvm::vfs::OverlayFileSystem{llvm::vfs::getRealFileSystem()}};
  if (options.text) {
    llvm::SmallString<256> path{options.file};
    llvm::sys::fs::make_absolute(path);
    ours->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(*options.text));
  }
  files->pushOverlay(ours);
  instance.createFileManager(files);
  Action action{options, result};
  result.fine = instance.ExecuteAction(action);
  stream.flush();
  if (!result.fine) result.output.clear();
  return result;
}

}  // namespace

CompileResult compile(const CompileOptions& options) {
  CompileResult result;
  on_large_stack([&] { result = compile_here(options); });
  return result;
}

}  // namespace cohort::compiler
