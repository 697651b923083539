#include "apps/explored.hpp"

namespace cohort::apps {

std::vector<Explored> explored() {
  return {
#define COHORT_APP(app) Explorable<app::App>::entry(),
#include "apps/apps.def"
#undef COHORT_APP
  };
}

}  // namespace cohort::apps
