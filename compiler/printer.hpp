// Prints checked functions statement by statement. This base class has the parts that C++ and
// OpenCL C have in common. A kernel becomes a function that can be entered at each of its points:
// variables declared around a point move to the top, and the code before the point is jumped over
// or skipped. Functions that contain points are written in place of their calls. Invariant: no jump
// bypasses an initialisation.
#pragma once

#include "compiler/program.hpp"

namespace cohort::compiler {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}
  Printer(const Printer&) = delete;
  Printer& operator=(const Printer&) = delete;
  virtual ~Printer() = default;

  /// Prints the whole file.
  [[nodiscard]] virtual std::string print() = 0;

 protected:
  /// A function being printed: the outermost one, or one printed in place of its call.
  struct Frame {
    const clang::FunctionDecl* function = nullptr;
    Chain chain;
    std::string result;  // the variable for an inlined function's result
    std::string end;     // the label behind an inlined function
  };

  // ---- the differences between the languages
  /// An address space as a qualifier, with a trailing space.
  virtual std::string space(clang::LangAS of) const = 0;
  /// Whether objects in this address space are const even if the source does not say so.
  virtual bool is_const(clang::LangAS /*of*/) const { return false; }
  virtual std::string vector_name(const std::string& element, unsigned width) const = 0;
  virtual std::string atomic_name(const std::string& value) const = 0;
  virtual std::string tag_reference(const clang::TagDecl& tag) const = 0;
  /// The extra argument of functions that depend on the group.
  virtual std::string context_argument() const = 0;
  virtual std::string print_builtin(const clang::CallExpr& call,
                                    const clang::FunctionDecl& builtin) = 0;
  virtual std::string print_cast(const clang::CastExpr& cast) = 0;
  /// The right operand of a binary operator.
  virtual std::string print_right(const clang::BinaryOperator& binary) {
    return print(binary.getRHS());
  }
  virtual std::string print_vector(const clang::InitListExpr& list) = 0;
  virtual std::string print_element(const clang::ExtVectorElementExpr& element, bool written) = 0;
  virtual std::string print_vector_choice(const clang::ConditionalOperator& choice) = 0;
  // Reinterprets the bits.
  virtual std::string print_as(clang::QualType to, const std::string& value) = 0;
  virtual std::string copy_array(const std::string& to, const std::string& from) const = 0;
  virtual void print_point(const Point& point) = 0;
  /// Prints an offer_kill and the request_fork that follows it as one call. Returns false if it
  /// cannot.
  virtual bool merge_points(const Point& /*kill*/, const Point& /*fork*/) { return false; }
  /// Whether points are entered by skipping the code before them (while `cohort_skip` holds a
  /// point's number) and not by jumps. For compilers that do not accept jumps into loops.
  virtual bool skips() const { return false; }
  /// The directive that unrolls the next loop `times` times; 0: completely.
  virtual std::string unrolling(unsigned times) const = 0;
  /// The output's spelling of a name declared in the file; `name` is already escaped.
  virtual std::string in_file(const std::string& name) const { return name; }
  /// Called after a statement is printed, or at the start of the code that depends on a condition.
  virtual void after(const clang::Stmt* /*evaluated*/) {}
  virtual bool inlines(const clang::FunctionDecl& function) const {
    return program_.resizes.contains(&function);
  }
  /// Prints the declaration of a variable in local memory and returns the name to use for it.
  virtual std::string local_variable(const clang::VarDecl& variable) = 0;
  virtual std::string aggregate(clang::QualType type, const std::string& list) const = 0;
  virtual std::string half_name() const { return "half"; }
  virtual std::string half_literal(const std::string& number) const { return number + "h"; }
  /// A literal such as `(int[]){1, 2}`, which lives as long as the function.
  virtual std::string array_literal(clang::QualType type, const std::string& list) {
    return aggregate(type, list);
  }
  /// An assignment to a volatile structure or vector.
  virtual std::string write_volatile(const std::string& to, const std::string& value) const {
    return to + " = " + value;
  }
  virtual std::string zero(clang::QualType type) const = 0;  // for elements missing in a list
  /// Called after a struct or union is printed.
  virtual void after_record(const clang::RecordDecl& /*record*/, const std::string& /*name*/) {}

  /// The type for a variable that gets its value later than its declaration.
  [[nodiscard]] clang::QualType unqualified_of(const clang::VarDecl& variable) const;
  /// A declaration of `name`; the type alone if `name` is empty.
  [[nodiscard]] std::string declare(clang::QualType type, const std::string& name) const;
  [[nodiscard]] std::string type(clang::QualType of) const { return declare(of, ""); }
  /// A source name as it is printed: with a suffix that no C++ keyword, header macro or generated
  /// name has.
  [[nodiscard]] std::string escaped(llvm::StringRef name) const;
  /// The alignment demanded by the source, as an attribute with a trailing space.
  [[nodiscard]] std::string alignment(const clang::Decl& declaration) const;
  [[nodiscard]] std::string tag_name(const clang::TagDecl& tag) const;

  /// Prints the types and constants of the file, including those declared inside functions.
  void print_declarations();
  void print_record(const clang::RecordDecl& record);
  virtual std::string constant(const clang::VarDecl& variable, const std::string& name) = 0;

  /// Starts a function: forgets the names used in the previous one.
  void begin(const clang::FunctionDecl& function);
  /// The body without braces. The variables that moved to its top are in `hoisted_`.
  std::string body_of(const clang::FunctionDecl& function);

  void print_statement(const clang::Stmt* stmt);
  void print_block(const clang::Stmt* stmt);  // with braces around it
  void print_block(const clang::Stmt* stmt, std::initializer_list<const clang::Stmt*> evaluated);
  std::string print(const clang::Expr* expression);
  std::string print_postfix(const clang::Expr* expression);
  std::string print_list(const clang::InitListExpr& list);
  std::string print_arguments(const clang::CallExpr& call);
  std::string name_of(const clang::VarDecl& variable) const;
  std::string name_of(const Variable& variable) const;
  std::string unique(const std::string& name);
  [[nodiscard]] std::string position(clang::SourceLocation at) const;

  void line(const std::string& text);
  void open() { ++indent_; }
  void close() { --indent_; }

  const Program& program_;
  const Kernel* kernel_ = nullptr;  // the kernel being printed, or null
  std::vector<Frame> frames_;
  std::vector<std::string> hoisted_;
  std::string out_;
  std::string suffix_ = "_";
  int indent_ = 0;

 private:
  struct Marks {
    bool point = false;
    bool label = false;
  };
  /// The range of the numbers of the points in a statement; both are 0 if there are none.
  struct Span {
    unsigned first = 0;
    unsigned last = 0;
    [[nodiscard]] bool any() const { return last != 0; }
  };
  /// The points in the statement that can be skipped to; none in a language that jumps.
  Span span_of(const clang::Stmt* stmt) const;
  /// `condition`, or `otherwise` in a group that is skipping to a point.
  static std::string unless_skipping(const std::string& condition, const std::string& otherwise);
  void print_sequence(const std::vector<const clang::Stmt*>& items, unsigned last);
  void print_label(const clang::SwitchCase& label);
  std::string print_choice(const clang::SwitchStmt& choice);
  Marks mark(const clang::Stmt* stmt);
  void print_body(const clang::CompoundStmt& block);
  const Point* point_at(const clang::Stmt& stmt) const;
  void note_unrolling(const clang::AttributedStmt& marked);
  void begin_loop(const std::string& words);
  void print_variable(const clang::VarDecl& variable, bool hoist);
  void initialise(const clang::VarDecl& variable, const std::string& name);
  std::string alias(const clang::ParmVarDecl& parameter, const clang::CallExpr& call,
                    const std::string& value) const;
  bool print_inlined(const clang::CallExpr& call);
  const clang::CallExpr* inlined_call(const clang::CallExpr* call) const;
  std::string bind(const clang::VarDecl& variable);
  std::string print_unary(const clang::UnaryOperator& unary);
  std::string print_binary(const clang::BinaryOperator& binary);
  std::string print_operands(const clang::BinaryOperator& binary);
  std::string print_literal(const clang::Expr& literal) const;
  std::string print_integer(const llvm::APSInt& value, clang::QualType of) const;
  bool hoists(const clang::Stmt* block) const { return hoisting_.contains(block); }

  std::set<const clang::Stmt*> hoisting_;  // blocks whose variables move to the top
  std::vector<bool> hoist_here_{false};
  std::map<Variable, std::string> names_;
  std::map<const clang::VarDecl*, std::string> constants_;
  std::map<const clang::TagDecl*, std::string> tags_;
  std::set<std::string> taken_;       // names used in this function
  std::set<std::string> file_names_;  // names used in the file
  // result variables of calls printed in place
  std::map<const clang::CallExpr*, std::string> results_;
  // a case label next to a switch's default
  std::map<const clang::Stmt*, std::string> default_entries_;
  unsigned labels_ = 0;
  std::string unrolling_;  // directive for the next loop, or empty
};

}  // namespace cohort::compiler
