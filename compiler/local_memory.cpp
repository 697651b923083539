#include "compiler/local_memory.hpp"

#include <clang/AST/ParentMap.h>
#include <clang/Analysis/CFG.h>
#include <llvm/ADT/STLExtras.h>

#include <deque>
#include <memory>

namespace cohort::compiler {

using clang::dyn_cast;
using clang::dyn_cast_or_null;
using clang::isa;

namespace {

/// A variable in local memory, or a parameter, which stands for the memory to which it points.
using Key = const clang::VarDecl*;

Key pointed_to(const clang::Expr* pointer);

/// The local-memory object that contains an lvalue; null if it lies in other memory.
Key object(const clang::Expr& lvalue) {
  const clang::Expr* whole = object_of(lvalue);
  if (const auto* name = dyn_cast<clang::DeclRefExpr>(whole)) {
    const auto* variable = dyn_cast<clang::VarDecl>(name->getDecl());
    const bool local =
        variable != nullptr && variable->getType().getAddressSpace() == clang::LangAS::opencl_local;
    return local ? variable : nullptr;
  }
  if (const auto* item = dyn_cast<clang::ArraySubscriptExpr>(whole))
    return pointed_to(item->getBase());
  if (const auto* member = dyn_cast<clang::MemberExpr>(whole); member != nullptr)
    return member->isArrow() ? pointed_to(member->getBase()) : nullptr;
  if (const auto* element = dyn_cast<clang::ExtVectorElementExpr>(whole); element != nullptr)
    return element->isArrow() ? pointed_to(element->getBase()) : nullptr;
  const auto* unary = dyn_cast<clang::UnaryOperator>(whole);
  return unary != nullptr && unary->getOpcode() == clang::UO_Deref ? pointed_to(unary->getSubExpr())
                                                                   : nullptr;
}

Key pointed_to(const clang::Expr* pointer) {
  pointer = pointer->IgnoreParenCasts();
  if (pointer->getType()->isArrayType()) return object(*pointer);
  if (const auto* name = dyn_cast<clang::DeclRefExpr>(pointer)) {
    const auto* parameter = dyn_cast<clang::ParmVarDecl>(name->getDecl());
    if (parameter == nullptr || !parameter->getType()->isPointerType()) return nullptr;
    const clang::LangAS space = parameter->getType()->getPointeeType().getAddressSpace();
    const bool possible = space == clang::LangAS::opencl_local ||
                          space == clang::LangAS::opencl_generic || space == clang::LangAS::Default;
    return possible ? parameter : nullptr;
  }
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(pointer))
    return unary->getOpcode() == clang::UO_AddrOf ? object(*unary->getSubExpr()) : nullptr;
  if (const auto* sum = dyn_cast<clang::BinaryOperator>(pointer); sum != nullptr) {
    if (sum->isAssignmentOp()) return nullptr;
    return pointed_to(sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS());
  }
  return nullptr;
}

/// Reads and writes of one statement, without the statements below it.
struct Effect {
  std::map<Key, clang::SourceLocation> reads;
  std::set<Key> writes;
};

class FunctionMemory;
using Known = std::map<const clang::FunctionDecl*, std::unique_ptr<FunctionMemory>>;

class FunctionMemory {
 public:
  /// Objects read before they are written, each with the place of the read.
  using Reads = std::map<Key, clang::SourceLocation>;

  FunctionMemory(const Program& program, const clang::FunctionDecl& function, Known& known)
      : program_(program), known_(known), body_(function.getBody()), parents_(function.getBody()) {
    clang::CFG::BuildOptions options;
    options.setAllAlwaysAdd();
    graph_ =
        clang::CFG::buildCFG(&function, function.getBody(), &function.getASTContext(), options);
    if (graph_ == nullptr) return;
    find_bypasses();
    solve();
  }

  Reads at_entry() const {
    const auto found = graph_ == nullptr ? before_.end() : before_.find(&graph_->getEntry());
    return found == before_.end() ? Reads{} : found->second;
  }

  Reads after(const clang::Stmt* stmt) const {
    if (graph_ == nullptr) return {};
    for (const clang::CFGBlock* block : *graph_) {
      for (std::size_t i = 0; i < block->size(); ++i) {
        const auto element = (*block)[i].getAs<clang::CFGStmt>();
        if (!element || element->getStmt() != stmt) continue;
        Reads result = at_end(*block);
        for (std::size_t j = block->size(); j > i + 1; --j) apply((*block)[j - 1], result);
        return result;
      }
    }
    return {};
  }

  const std::set<Key>& writes() const { return writes_in(body_); }

 private:
  Effect effect_of(const clang::Stmt& stmt) const {
    Effect effect;
    const auto read = [&](Key key) {
      if (key != nullptr) effect.reads.emplace(key, stmt.getBeginLoc());
    };
    if (const auto* cast = dyn_cast<clang::ImplicitCastExpr>(&stmt)) {
      if (cast->getCastKind() == clang::CK_LValueToRValue) read(object(*cast->getSubExpr()));
    } else if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt)) {
      if (binary->isCompoundAssignmentOp()) read(object(*binary->getLHS()));
      if (binary->isAssignmentOp()) {
        effect.writes.insert(object(*binary->getLHS()));
        note_pointer(*binary->getRHS(), effect);
      }
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(&stmt)) {
      if (unary->isIncrementDecrementOp()) read(object(*unary->getSubExpr()));
    } else if (const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt)) {
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr && variable->getInit() != nullptr)
          note_pointer(*variable->getInit(), effect);
      }
    } else if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) {
      for (unsigned i = 0; i < call->getNumArgs(); ++i) pass(*call, i, effect);
    }
    effect.writes.erase(nullptr);
    return effect;
  }

  /// Handles a pointer that is stored in a variable. Such pointers are not tracked, so the memory
  /// to which the pointer refers counts as written.
  static void note_pointer(const clang::Expr& value, Effect& effect) {
    if (value.getType()->isPointerType()) effect.writes.insert(pointed_to(&value));
  }

  /// Adds the reads and writes of a function to the memory to which its argument `i` points.
  void pass(const clang::CallExpr& call, unsigned i, Effect& effect) const {
    const clang::Expr* argument = call.getArg(i);
    const clang::FunctionDecl* callee = callee_of(call);
    const Key key = argument->getType()->isPointerType() ? pointed_to(argument) : nullptr;
    if (key == nullptr || callee == nullptr) return;
    if (is_builtin(*callee)) {
      const llvm::StringRef name = callee->getDeclName().isIdentifier() ? callee->getName() : "";
      const bool exchanges = name.startswith("atom") && !name.startswith("atomic_store") &&
                             !name.startswith("atomic_init") && !name.startswith("atomic_flag");
      if (exchanges || argument->getType()->getPointeeType().isConstQualified()) {
        effect.reads.emplace(key, call.getBeginLoc());
      } else {
        effect.writes.insert(key);
      }
      return;
    }
    const clang::FunctionDecl& function = definition_of(*callee);
    auto& memory = known_[&function];
    if (memory == nullptr) memory = std::make_unique<FunctionMemory>(program_, function, known_);
    const Key parameter = function.getParamDecl(i);
    if (memory->at_entry().contains(parameter)) effect.reads.emplace(key, call.getBeginLoc());
    if (memory->writes().contains(parameter)) effect.writes.insert(key);
  }

  const std::set<Key>& writes_in(const clang::Stmt* stmt) const {
    const auto [found, added] = writes_.try_emplace(stmt);
    if (added) {
      std::set<Key> result;
      walk(stmt, [&](const clang::Stmt& each) {
        result.merge(effect_of(each).writes);
        return true;
      });
      writes_[stmt] = std::move(result);
    }
    return writes_[stmt];
  }

  void apply(const clang::CFGElement& element, Reads& reads) const {
    const auto wrapped = element.getAs<clang::CFGStmt>();
    if (!wrapped) return;
    const Effect effect = effect_of(*wrapped->getStmt());
    for (const Key key : effect.writes) reads.erase(key);
    reads.insert(effect.reads.begin(), effect.reads.end());
  }

  /// The loop or the divergent branch to whose condition this block belongs.
  const clang::Stmt* decided_by(const clang::Stmt* terminator) const {
    while (terminator != nullptr && isa<clang::Expr>(terminator))
      terminator = parents_.getParent(const_cast<clang::Stmt*>(terminator));
    if (terminator == nullptr) return nullptr;
    const bool loop = isa<clang::ForStmt>(terminator) || isa<clang::WhileStmt>(terminator);
    return loop || program_.parting.contains(terminator) ? terminator : nullptr;
  }

  /// Records the edges that skip a loop or one side of a branch, with the objects that are written
  /// in the skipped part. Such an edge counts as if those objects had been written.
  void find_bypasses() {
    for (const clang::CFGBlock* block : *graph_) {
      const clang::Stmt* terminator = block->getTerminatorStmt();
      if (terminator == nullptr || decided_by(terminator) != terminator || block->succ_size() != 2)
        continue;
      const auto* branch = dyn_cast<clang::IfStmt>(terminator);
      const auto* loop = dyn_cast<clang::ForStmt>(terminator);
      const auto* simple = dyn_cast<clang::WhileStmt>(terminator);
      const auto keep = [&](const clang::Stmt* writer, const clang::Stmt* other, unsigned around) {
        const auto& passed = *(block->succ_begin() + around);
        if (writer == nullptr || passed == nullptr) return;
        for (const Key key : writes_in(writer)) {
          if (other == nullptr || !writes_in(other).contains(key))
            bypasses_.insert({terminator, passed, key});
        }
      };
      if (branch != nullptr) {
        keep(branch->getThen(), branch->getElse(), 1);
        keep(branch->getElse(), branch->getThen(), 0);
      } else {
        keep(loop != nullptr ? loop->getBody() : simple->getBody(), nullptr, 1);
      }
    }
  }

  Reads at_end(const clang::CFGBlock& block) const {
    Reads result;
    const clang::Stmt* decision =
        block.getTerminatorStmt() == nullptr ? nullptr : decided_by(block.getTerminatorStmt());
    for (const auto& next : block.succs()) {
      const auto found = next == nullptr ? before_.end() : before_.find(next);
      if (found == before_.end()) continue;
      for (const auto& [key, where] : found->second) {
        if (!bypasses_.contains({decision, next, key})) result.emplace(key, where);
      }
    }
    return result;
  }

  void solve() {
    std::deque<const clang::CFGBlock*> open(graph_->begin(), graph_->end());
    while (!open.empty()) {
      const clang::CFGBlock* block = open.front();
      open.pop_front();
      Reads reads = at_end(*block);
      for (std::size_t i = block->size(); i > 0; --i) apply((*block)[i - 1], reads);
      Reads& before = before_[block];
      const std::size_t known = before.size();
      before.merge(reads);  // reads are only added, so the loop ends
      if (before.size() == known) continue;
      for (const auto& previous : block->preds()) {
        if (previous != nullptr) open.push_back(previous);
      }
    }
  }

  const Program& program_;
  Known& known_;
  const clang::Stmt* body_;
  mutable clang::ParentMap parents_;
  std::unique_ptr<clang::CFG> graph_;
  mutable std::map<const clang::Stmt*, std::set<Key>> writes_;
  std::set<std::tuple<const clang::Stmt*, const clang::CFGBlock*, Key>> bypasses_;
  std::map<const clang::CFGBlock*, Reads> before_;
};

}  // namespace

void find_local_memory(const Program& program, Kernel& kernel) {
  Known known;
  for (Point& point : kernel.points) {
    const clang::FunctionDecl* function = kernel.decl;
    for (std::size_t depth = 0; depth < point.chain.size(); ++depth) {
      auto& memory = known[function];
      if (memory == nullptr) memory = std::make_unique<FunctionMemory>(program, *function, known);
      for (const auto& [read, where] : memory->after(point.chain[depth])) {
        Key key = read;
        // Follow the parameter to its argument, frame by frame.
        for (std::size_t up = depth; up > 0 && key != nullptr; --up) {
          const auto* parameter = dyn_cast<clang::ParmVarDecl>(key);
          if (parameter == nullptr) break;
          key = pointed_to(point.chain[up - 1]->getArg(parameter->getFunctionScopeIndex()));
        }
        if (key == nullptr) continue;
        if (const auto* parameter = dyn_cast<clang::ParmVarDecl>(key);
            parameter != nullptr &&
            parameter->getType()->getPointeeType().getAddressSpace() != clang::LangAS::opencl_local)
          continue;
        const bool noted =
            llvm::any_of(point.local, [&](const Live& each) { return each.variable.decl == key; });
        if (!noted) point.local.push_back({{{}, key}, false, where});
      }
      if (const clang::FunctionDecl* callee = callee_of(*point.chain[depth]); callee != nullptr)
        function = &definition_of(*callee);
    }
  }
}

}  // namespace cohort::compiler
