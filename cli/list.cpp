// cohort list: the apps, engines, benchmarks and inputs that the other commands accept.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "apps/inputs.hpp"
#include "apps/registry.hpp"
#include "cli/commands.hpp"
#include "graph/spec.hpp"
#include "tool/app_engine.hpp"

namespace cohort::cli {
namespace {

/// Everything to be listed: sections of entries with a name and a summary.
nlohmann::ordered_json everything() {
  nlohmann::ordered_json all;
  const auto add = [&all](const char* section, std::string_view name, std::string_view summary) {
    all[section].push_back({{"name", name}, {"summary", summary}});
  };
  for (const auto& app : apps::all()) {
    all["apps"].push_back(
        {{"name", app.name},
         {"summary", app.summary},
         {"options", app.options},
         {"examples", std::vector<std::string>{app.examples.begin(), app.examples.end()}}});
  }
  for (const EngineKind& engine : engine_kinds()) {
    const std::string why = tool::apps_lacking(engine);
    add("engines", engine.name, engine.summary);
    all["engines"].back()["available"] = why.empty();
    if (!why.empty()) all["engines"].back()["unavailable"] = why;
  }
#ifdef COHORT_WITH_OPENCL
  for (const opencl::Device& device : opencl::devices()) {
    add("devices of opencl", device.name,
        device.platform + ", " + std::to_string(device.units) + " compute units" +
            (device.lacks.empty() ? "" : "; lacks " + device.lacks));
  }
#endif
  for (const auto& [name, summary] : benchmarks()) add("benchmarks", name, summary);
  const auto add_input = [&all](const SpecKind& spec) {
    all["inputs"].push_back(
        {{"name", spec.syntax}, {"summary", spec.summary}, {"example", spec.example}});
  };
  for (const SpecKind& spec : graph_specs()) add_input(spec);
  for (const SpecKind& spec : apps::other_specs) add_input(spec);
  return all;
}

int list(bool json) {
  const nlohmann::ordered_json all = everything();
  if (json) {
    std::cout << all.dump(2) << '\n';
    return fine;
  }
  for (const auto& [section, entries] : all.items()) {
    std::cout << section << '\n';
    std::size_t width = 20;
    for (const auto& entry : entries)
      width = std::max(width, entry["name"].get_ref<const std::string&>().size());
    for (const auto& entry : entries) {
      std::cout << "  " << std::left << std::setw(static_cast<int>(width + 2))
                << entry["name"].get<std::string>() << entry["summary"].get<std::string>();
      if (entry.contains("unavailable"))
        std::cout << "; unavailable: " << entry["unavailable"].get<std::string>();
      if (entry.contains("example")) std::cout << "; e.g. " << entry["example"].get<std::string>();
      std::cout << '\n';
      if (entry.contains("options"))
        std::cout << std::setw(26) << "" << entry["options"].get<std::string>() << '\n';
    }
  }
  return fine;
}

}  // namespace

void add_list(CLI::App& tool, Action& chosen) {
  CLI::App* const command =
      tool.add_subcommand("list", "List apps, engines, benchmarks and inputs");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "Print the list as JSON");
  command->callback([json, &chosen] { chosen = [json] { return list(*json); }; });
}

}  // namespace cohort::cli
