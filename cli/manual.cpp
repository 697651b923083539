#include "cli/manual.hpp"

#include "cli/options.hpp"
#include "cohort/version.hpp"

namespace cohort::cli {
namespace {

/// Escapes characters that are special in roff.
std::string roff(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char each : text) {
    if (line_begins && (each == '.' || each == '\'')) result += "\\&";
    if (each == '\\') {
      result += "\\e";
    } else if (each == '-') {
      result += "\\-";
    } else {
      result += each;
    }
    line_begins = each == '\n';
  }
  return result;
}

void describe_options(std::string& page, const CLI::App& app) {
  for (const CLI::Option* const option : options_of(app)) {
    const bool positional = option->get_positional();
    page += ".TP\n.B " + roff(option->get_name(positional, !positional));
    page +=
        takes_value(*option) && !positional ? " \\fI" + option->get_type_name() + "\\fP\n" : "\n";
    page += roff(option->get_description() + " " + default_of(*option)) + "\n";
  }
}

void describe(std::string& page, const CLI::App& app, const std::string& path) {
  page += ".SS " + roff(path) + "\n" + roff(app.get_description()) + ".\n";
  describe_options(page, app);
  if (!app.get_footer().empty()) page += ".PP\n.nf\n" + roff(app.get_footer()) + "\n.fi\n";
  for (const CLI::App* const each : commands_of(app))
    describe(page, *each, path + " " + each->get_name());
}

std::string capitals(std::string text) {
  for (char& each : text) each = static_cast<char>(each >= 'a' && each <= 'z' ? each - 32 : each);
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& program, const std::string& rest) {
  const std::string name = program.get_name();
  std::string page = ".TH " + capitals(name) +
                     " 1 \"\" \"cohort " COHORT_VERSION "\" \"User Commands\"\n.SH NAME\n" + name +
                     " \\- " + roff(program.get_description()) + "\n.SH SYNOPSIS\n";
  const auto commands = commands_of(program);
  if (commands.empty()) {
    page += ".B " + name + "\n.RI [ options ]\n";
    for (const CLI::Option* const option : options_of(program)) {
      if (option->get_positional()) page += ".I " + roff(option->get_name(true)) + "\n";
    }
    page += ".SH OPTIONS\n";
    describe_options(page, program);
  }
  for (const CLI::App* const each : commands)
    page += ".B " + name + " " + roff(each->get_name()) + "\n.RI [ options ]\n.br\n";
  if (!commands.empty()) page += ".SH COMMANDS\n";
  for (const CLI::App* const each : commands) describe(page, *each, name + " " + each->get_name());
  return page + rest;
}

}  // namespace cohort::cli
