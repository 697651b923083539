#include "compiler/compile.hpp"

#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Lex/Lexer.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "compiler/collect.hpp"
#include "compiler/describe.hpp"
#include "compiler/emit.hpp"
#include "compiler/liveness.hpp"
#include "compiler/program.hpp"
#include "compiler/rules.hpp"
#include "compiler/transmit.hpp"
#include "compiler/uniformity.hpp"

namespace cohort::compiler {
namespace {

/// Lines of the user's files, includes too, with a token on them: comments and blanks left out.
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

class Passes final : public clang::ASTConsumer {
 public:
  Passes(const CompileOptions& options, CompileResult& result)
      : options_(options), result_(result) {}

  void HandleTranslationUnit(clang::ASTContext& context) override {
    clang::DiagnosticsEngine& engine = context.getDiagnostics();
    if (engine.hasErrorOccurred()) return;
    Program program{context};
    if (!collect(program)) return;
    check_rules(program, options_.output != Output::opencl && options_.output != Output::plain);
    if (engine.hasErrorOccurred()) return;
    for (Kernel& kernel : program.kernels) {
      const unsigned before = engine.getClient()->getNumErrors();
      const std::vector<Facts> facts = check_uniformity(program, kernel);
      // Threads that part make values differ everywhere after: one error says it.
      if (engine.hasErrorOccurred() &&
          (options_.verify || engine.getClient()->getNumErrors() > before))
        continue;
      find_live(program, kernel);
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
                                  "-cl-std=CL3.0",
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
  if (options.verify) result.emplace_back("-verify");
  if (options.colour) result.emplace_back("-fcolor-diagnostics");
  result.push_back(options.file);
  return result;
}

}  // namespace

CompileResult compile(const CompileOptions& options) {
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

}  // namespace cohort::compiler
