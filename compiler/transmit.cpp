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
    for (Point& point : kernel_.points) choose(point);
    check_missing();
    for (const Point& point : kernel_.points) {
      if (!is_joining(point.kind)) continue;
      for (const Variable& each : point.transmits) check_sent(point, each);
    }
    warn_of_local_memory();
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

  /// Which private memory, of a group or a thread, a variable points to at this point.
  Own own_memory(const Point& point, const Variable& variable) const {
    const Fact known = fact(point, variable);
    if (known.to_local) return Own::local;
    if (known.to_private) return Own::of_thread;
    return own_memory_of(variable.decl->getType());
  }

  bool can_be_sent(const Point& point, const Variable& variable) const {
    return own_memory(point, variable) == Own::none;
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
      if (mode_ == Transmit::all) wanted = live || can_be_sent(point, each);
      if (mode_ == Transmit::all && each.decl->getType()->isArrayType()) wanted = live;
      if (wanted) point.transmits.push_back(each);
    }
  }

  Fact fact(const Point& point, const Variable& variable) const {
    const Facts& facts = facts_[point.phase - 1];
    const auto found = facts.find(variable);
    return found == facts.end() ? Fact{} : found->second;
  }

  /// A variable that joining groups would miss, with the points where they join and the reads.
  struct Missing {
    Variable variable;
    std::vector<std::pair<const Point*, const Live*>> at;
  };
  using Select = const std::vector<Live> Point::*;

  /// Collects missing variables, ordered by their first points. Variables that are certainly read
  /// come first.
  template <class Concerns>
  std::vector<Missing> collect(Select which, const Concerns& concerns) const {
    std::vector<Missing> result;
    for (const bool surely : {true, false}) {
      for (const Point& point : kernel_.points) {
        if (!is_joining(point.kind)) continue;
        for (const Live& live : point.*which) {
          if (live.surely != surely || !concerns(point, live.variable)) continue;
          auto found = std::find_if(result.begin(), result.end(), [&](const Missing& each) {
            return each.variable == live.variable;
          });
          if (found == result.end()) found = result.insert(found, {live.variable, {}});
          found->at.emplace_back(&point, &live);
        }
      }
    }
    return result;
  }

  /// One report per variable: its first point, the place of the read, and the other points.
  void say_of(const Missing& missing, Say what) {
    const auto& [point, live] = missing.at.front();
    const clang::CallExpr& call = *point->chain.back();
    say(call.getBeginLoc(), what) << missing.variable.decl << name_of(point->kind)
                                  << call.getSourceRange();
    if (live->read.isValid()) say(live->read, Say::read_here);
    std::set<const clang::CallExpr*> told{&call};
    for (const auto& [other, unused] : missing.at) {
      const clang::CallExpr* there = other->chain.back();
      if (told.insert(there).second)
        say(there->getBeginLoc(), Say::also_at) << name_of(other->kind) << there->getSourceRange();
    }
  }

  void check_missing() {
    const auto missing = [](const Point& point, const Variable& variable) {
      return std::find(point.transmits.begin(), point.transmits.end(), variable) ==
             point.transmits.end();
    };
    for (const Missing& each : collect(&Point::live, missing)) {
      const bool surely = each.at.front().second->surely;
      say_of(each, surely ? Say::not_transmitted : Say::maybe_not_transmitted);
      advise(each);
    }
  }

  /// Adds a note that says what to do, unless that would only lead to another error.
  void advise(const Missing& missing) {
    const Point& point = *missing.at.front().first;
    const clang::VarDecl* const decl = missing.variable.decl;
    const Fact known = fact(point, missing.variable);
    const Own own = own_memory(point, missing.variable);
    const auto note = [&](Say what) { return say(decl->getLocation(), what) << decl; };
    if (own != Own::none) {
      note(Say::set_again) << (own == Own::local ? 1 : 0) << name_of(point.kind);
    } else if (known.level != Level::kernel) {
      note(Say::compute_again) << (known.level == Level::group ? 1 : 0) << name_of(point.kind);
    } else if (!missing.variable.frame.empty()) {
      note(Say::in_helper);
    } else if (decl->getType()->isArrayType()) {
      note(Say::keep_array);
    } else if (const clang::DeclStmt* stmt = in_root(*decl); stmt == nullptr) {
      note(Say::not_root_scope);
    } else if (stmt->isSingleDecl()) {
      note(Say::declare_transmit) << clang::FixItHint::CreateInsertion(decl->getBeginLoc(),
                                                                       "transmit ");
    } else {  // `transmit` here would also apply to the other variables of the declaration
      note(Say::declare_transmit);
    }
  }

  void warn_of_local_memory() {
    const auto all = [](const Point&, const Variable&) { return true; };
    for (const Missing& each : collect(&Point::local, all)) {
      say_of(each, Say::local_memory_read);
      say(each.variable.decl->getLocation(), Say::declared_here) << each.variable.decl;
    }
  }

  /// The variable's declaration in the kernel's outermost scope, or null.
  const clang::DeclStmt* in_root(const clang::VarDecl& variable) const {
    const auto* body = dyn_cast<clang::CompoundStmt>(kernel_.decl->getBody());
    for (const clang::Stmt* stmt : body->body()) {
      const auto* declarations = dyn_cast<clang::DeclStmt>(stmt);
      if (declarations != nullptr && std::find(declarations->decl_begin(), declarations->decl_end(),
                                               &variable) != declarations->decl_end())
        return declarations;
    }
    return nullptr;
  }

  void check_sent(const Point& point, const Variable& variable) {
    const clang::CallExpr& call = *point.chain.back();
    const Fact known = fact(point, variable);
    const Own own = own_memory(point, variable);
    if (own == Own::none && known.level == Level::kernel) return;
    if (!complained_.insert(variable).second) return;
    if (own != Own::none) {
      say(call.getBeginLoc(), Say::not_transmittable)
          << variable.decl << (own == Own::local ? 1 : 0) << call.getSourceRange();
      say(variable.decl->getLocation(), Say::set_again)
          << variable.decl << (own == Own::local ? 1 : 0) << name_of(point.kind);
      return;
    }
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

  /// Checks that a group removed at an offer_kill can continue there after a suspend: everything it
  /// needs has to be in the State.
  void check_suspendable(const Point& point) {
    for (const Live& live : point.live) {
      const bool sent = std::find(point.transmits.begin(), point.transmits.end(), live.variable) !=
                        point.transmits.end();
      const bool fits =
          sent && can_be_sent(point, live.variable) &&
          (fact(point, live.variable).level == Level::kernel || mode_ == Transmit::per_thread);
      if (fits) continue;
      if (kernel_.suspendable && remarks_) {
        say(point.chain.back()->getBeginLoc(), Say::not_suspendable)
            << kernel_.decl << live.variable.decl;
      }
      kernel_.suspendable = false;
    }
    for (const Live& live : point.local) {
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
            return std::any_of(point.live.begin(), point.live.end(), [&](const Live& live) {
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

  /// A fix-it that removes the word `transmit`.
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
