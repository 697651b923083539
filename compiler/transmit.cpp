#include "compiler/transmit.hpp"

#include <clang/AST/Attr.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>

#include "compiler/diagnostics.hpp"

namespace cohort::compiler {

using clang::dyn_cast;
using clang::isa;

namespace {

const char* name_of(Primitive which) {
  switch (which) {
    case Primitive::request_fork: return "request_fork";
    case Primitive::resizing_global_barrier: return "resizing_global_barrier";
    case Primitive::offer_kill: return "offer_kill";
    default: return "primitive";
  }
}

class Decision {
 public:
  Decision(Program& program, Kernel& kernel, const std::vector<Facts>& facts, Transmit mode,
           bool remarks)
      : program_(program), kernel_(kernel), facts_(facts), mode_(mode), remarks_(remarks) {}

  void run() {
    find_annotated();
    for (Point& point : kernel_.points) {
      choose(point);
      if (is_joining(point.kind)) {
        check_missing(point);
        for (const Variable& each : point.transmits) check_sent(point, each);
      }
    }
    for (Point& point : kernel_.points) {
      if (point.kind == Primitive::offer_kill) check_suspendable(point);
    }
    if (!kernel_.suspendable) {
      for (Point& point : kernel_.points) {
        if (point.kind == Primitive::offer_kill) point.transmits.clear();
      }
    }
    gather_state();
    warn_unused();
    if (remarks_ || mode_ == Transmit::live || mode_ == Transmit::per_thread) remark();
  }

 private:
  clang::DiagnosticBuilder say(clang::SourceLocation at, Say what) {
    return report(program_.diagnostics(), at, what);
  }

  void find_annotated() {
    walk(kernel_.decl->getBody(), [&](const clang::Stmt& stmt) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(&stmt);
      if (declarations == nullptr) return true;
      for (const clang::Decl* each : declarations->decls()) {
        const auto* variable = dyn_cast<clang::VarDecl>(each);
        if (variable != nullptr && transmit_of(*variable) != nullptr)
          annotated_.push_back(variable);
      }
      return true;
    });
    kernel_.annotated = static_cast<unsigned>(annotated_.size());
  }

  static bool can_be_sent(const Variable& variable) {
    const clang::QualType type = variable.decl->getType();
    if (!type->isPointerType()) return true;
    const clang::LangAS space = type->getPointeeType().getAddressSpace();
    return space != clang::LangAS::opencl_local && space != clang::LangAS::opencl_private;
  }

  bool annotated(const Variable& variable) const {
    return variable.frame.empty() &&
           std::find(annotated_.begin(), annotated_.end(), variable.decl) != annotated_.end();
  }

  void choose(Point& point) const {
    for (const Variable& each : point.in_scope) {
      const bool live = std::any_of(point.live.begin(), point.live.end(),
                                    [&](const Live& l) { return l.variable == each; });
      bool wanted = annotated(each) && live;
      if (mode_ == Transmit::live || mode_ == Transmit::per_thread) wanted |= live;
      if (mode_ == Transmit::all) wanted = live || can_be_sent(each);
      if (mode_ == Transmit::all && each.decl->getType()->isArrayType()) wanted = live;
      if (wanted) point.transmits.push_back(each);
    }
  }

  Fact fact(const Point& point, const Variable& variable) const {
    const Facts& facts = facts_[point.phase - 1];
    const auto found = facts.find(variable);
    return found == facts.end() ? Fact{} : found->second;
  }

  void check_missing(const Point& point) {
    const clang::CallExpr& call = *point.chain.back();
    for (const Live& live : point.live) {
      const Variable& variable = live.variable;
      const bool sent = std::find(point.transmits.begin(), point.transmits.end(), variable) !=
                        point.transmits.end();
      if (sent) continue;
      const bool surely = live.surely;
      say(call.getBeginLoc(), surely ? Say::not_transmitted : Say::maybe_not_transmitted)
          << variable.decl << name_of(point.kind) << call.getSourceRange();
      if (live.read.isValid()) say(live.read, Say::read_here);
      const Fact known = fact(point, variable);
      if (known.level != Level::kernel) {
        say(variable.decl->getLocation(), Say::compute_again)
            << variable.decl << (known.level == Level::group ? 1 : 0) << name_of(point.kind);
      } else if (!variable.frame.empty()) {
        say(variable.decl->getLocation(), Say::in_helper) << variable.decl;
      } else if (in_root(*variable.decl)) {
        say(variable.decl->getLocation(), Say::declare_transmit)
            << variable.decl
            << clang::FixItHint::CreateInsertion(variable.decl->getBeginLoc(), "transmit ");
      } else {
        say(variable.decl->getLocation(), Say::not_root_scope) << variable.decl;
      }
    }
  }

  bool in_root(const clang::VarDecl& variable) const {
    const auto* body = dyn_cast<clang::CompoundStmt>(kernel_.decl->getBody());
    return std::any_of(body->body_begin(), body->body_end(), [&](const clang::Stmt* stmt) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(stmt);
      return declarations != nullptr &&
             std::find(declarations->decl_begin(), declarations->decl_end(), &variable) !=
                 declarations->decl_end();
    });
  }

  void check_sent(const Point& point, const Variable& variable) {
    const clang::CallExpr& call = *point.chain.back();
    if (!can_be_sent(variable)) {
      if (annotated(variable)) return;  // reported where it is declared
      say(call.getBeginLoc(), Say::not_transmittable)
          << variable.decl << name_of(point.kind) << call.getSourceRange();
      say(variable.decl->getLocation(), Say::declared_here) << variable.decl;
      return;
    }
    const Fact known = fact(point, variable);
    if (known.level == Level::kernel || !complained_.insert(variable).second) return;
    if (known.level == Level::thread) {
      if (mode_ == Transmit::per_thread) return;
      if (mode_ == Transmit::all &&
          std::none_of(point.live.begin(), point.live.end(),
                       [&](const Live& each) { return each.variable == variable; })) {
        complained_.erase(variable);
        return;
      }
    }
    say(call.getBeginLoc(),
        known.level == Level::thread ? Say::transmit_not_uniform : Say::transmit_group_dependent)
        << variable.decl << call.getSourceRange();
    if (known.why.isValid()) say(known.why, Say::becomes_so_here) << variable.decl;
  }

  /// A group taken at an offer_kill continues there after a suspend, if everything it needs is in
  /// the State.
  void check_suspendable(const Point& point) {
    for (const Live& live : point.live) {
      const bool sent = std::find(point.transmits.begin(), point.transmits.end(), live.variable) !=
                        point.transmits.end();
      const bool fits =
          sent && can_be_sent(live.variable) &&
          (fact(point, live.variable).level == Level::kernel || mode_ == Transmit::per_thread);
      if (fits) continue;
      if (kernel_.suspendable && remarks_) {
        say(point.chain.back()->getBeginLoc(), Say::not_suspendable)
            << kernel_.decl << live.variable.decl;
      }
      kernel_.suspendable = false;
    }
  }

  void gather_state() {
    for (const Point& point : kernel_.points) {
      for (const Variable& each : point.transmits) {
        if (std::find(kernel_.state.begin(), kernel_.state.end(), each) == kernel_.state.end())
          kernel_.state.push_back(each);
      }
    }
    const auto& sources = program_.context.getSourceManager();
    std::stable_sort(
        kernel_.state.begin(), kernel_.state.end(), [&](const Variable& a, const Variable& b) {
          if (a.frame.size() != b.frame.size()) return a.frame.size() < b.frame.size();
          return sources.isBeforeInTranslationUnit(a.decl->getLocation(), b.decl->getLocation());
        });
  }

  void warn_unused() {
    const bool joins = std::any_of(kernel_.points.begin(), kernel_.points.end(),
                                   [](const Point& p) { return is_joining(p.kind); });
    for (const clang::VarDecl* each : annotated_) {
      const bool used =
          std::any_of(kernel_.points.begin(), kernel_.points.end(), [&](const Point& point) {
            return is_joining(point.kind) &&
                   std::any_of(point.live.begin(), point.live.end(), [&](const Live& live) {
                     return live.variable == Variable{{}, each};
                   });
          });
      if (used) continue;
      if (joins) {
        say(each->getLocation(), Say::transmit_unused) << each << removal(*each);
      } else {
        say(each->getLocation(), Say::transmit_no_points) << each << kernel_.decl << removal(*each);
      }
    }
  }

  /// A fix-it that takes the word `transmit` away.
  clang::FixItHint removal(const clang::VarDecl& variable) const {
    const auto& sources = program_.context.getSourceManager();
    const clang::SourceLocation word =
        sources.getExpansionLoc(transmit_of(variable)->getLocation());
    const unsigned length =
        clang::Lexer::MeasureTokenLength(word, sources, program_.context.getLangOpts());
    return clang::FixItHint::CreateRemoval(clang::CharSourceRange::getCharRange(
        word, word.getLocWithOffset(static_cast<int>(length) + 1)));
  }

  void remark() {
    if (kernel_.points.empty()) return;
    std::string list;
    for (const Variable& each : kernel_.state)
      list += (list.empty() ? "" : ", ") + each.decl->getNameAsString();
    if (list.empty()) {
      say(kernel_.decl->getLocation(), Say::live_transmits_nothing) << kernel_.decl;
    } else {
      say(kernel_.decl->getLocation(), Say::live_transmits) << kernel_.decl << list;
    }
  }

  Program& program_;
  Kernel& kernel_;
  const std::vector<Facts>& facts_;
  Transmit mode_;
  bool remarks_;
  std::vector<const clang::VarDecl*> annotated_;
  std::set<Variable> complained_;
};

}  // namespace

void decide_transmission(Program& program, Kernel& kernel, const std::vector<Facts>& facts,
                         Transmit mode, bool remarks) {
  Decision{program, kernel, facts, mode, remarks}.run();
}

}  // namespace cohort::compiler
