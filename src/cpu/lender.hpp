// Lends workers of the CPU engine. Each unit is a task of one group that sleeps until the tenant
// gives the unit back.
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
  // Units by slot; guarded by the loans' mutex.
  std::vector<std::vector<std::shared_ptr<Unit>>> slots_;
};

}  // namespace cohort::cpu
