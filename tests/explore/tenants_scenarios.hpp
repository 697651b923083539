// Tenants and an engine under chosen schedules: demands and grants, the hand-over of a slot, and
// deaths between any two accesses.
#pragma once

#include <iosfwd>
#include <vector>

#include "cohort/explore/options.hpp"

namespace cohort::test {

struct TenantsStory {
  const char* name;
  std::uint32_t tenants;
  std::uint32_t slots;
  // Number of units of each lease that a tenant takes, one after the other.
  std::vector<std::uint32_t> leases;
  std::uint32_t units = 2;    // number of units of the engine
  bool tenant_dies = false;   // tenant 0 may die, once
  bool engine_dies = false;   // the engine may die, once
  bool late_write = false;    // a child of tenant 0 writes into its page after its death
  bool revokes = false;       // the engine may lower its limit at any time
  bool reuses_pages = false;  // a planted bug: a slot keeps its pages for the next tenant
};

std::ostream& operator<<(std::ostream& out, const TenantsStory& story);
const std::vector<TenantsStory>& tenants_stories();
explore::Result explore_tenants(const TenantsStory& story, const explore::Options& options);

}  // namespace cohort::test
