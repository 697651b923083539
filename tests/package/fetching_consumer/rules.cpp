// Uses the library and its headers, including generated ones. Exit status 0 means that they agree.
#include <cohort/trace_check.hpp>
#include <cohort/version.hpp>
#include <iostream>

int main() {
  std::cout << "cohort " << COHORT_VERSION << '\n';
  for (const cohort::Resizing& each : cohort::modelled_outcomes(2, 4)) {
    if (!cohort::modelled_allows(each, 4)) return 1;
  }
  return 0;
}
