// Lends workers of the CPU engine: each unit is a task of one group that sleeps until its tenant
// gives it back.
#pragma once

#include <memory>
#include <vector>

#include "engine/dispatcher.hpp"
#include "tenant/lender.hpp"

namespace cohort::cpu {

class WorkerLender final : public tenant::Lender {
 public:
  WorkerLender(engine::Dispatcher& dispatcher, std::uint32_t slots);
  ~WorkerLender() override;

  [[nodiscard]] tenant::EngineType type() const override { return tenant::EngineType::cpu; }
  void lend(std::uint32_t slot, std::uint32_t units, int priority) override;
  [[nodiscard]] Held held(std::uint32_t slot) const override;

 private:
  class Unit;

  bool launch(const std::shared_ptr<Unit>& unit, int priority);

  engine::Dispatcher& dispatcher_;
  std::vector<std::vector<std::shared_ptr<Unit>>> slots_;  // guarded by the loans' mutex
};

}  // namespace cohort::cpu
