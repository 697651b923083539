// The OpenCL engine's backend: the work-groups of the running megakernel. Each is a worker with a
// desk that the agent polls, since a kernel cannot wake the host.
// Invariant: no program is compiled under the mutex. Groups access only what they share with the
// host (layout.hpp).
#pragma once

#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "cohort/opencl.hpp"
#include "engine/agent.hpp"
#include "opencl/body.hpp"

namespace cohort::opencl {

using engine::Census;
using engine::Ending;
using engine::JobRecord;

class Workgroups final : public engine::PolledBackend {
 public:
  Workgroups(engine::Dispatcher& dispatcher, EngineOptions options, Chosen chosen,
             cl::Context context, std::shared_ptr<SharedMemory> memory);

  /// Makes these kernels part of every later megakernel.
  void load(const std::vector<KernelOf>& kernels);
  /// Maximum number of groups that run at a time.
  [[nodiscard]] std::uint32_t most_groups() const { return most_groups_; }
  [[nodiscard]] const Device& device() const { return chosen_.info; }
  [[nodiscard]] const SharedMemory& memory() const { return *memory_; }

  void admit(JobRecord& job) override;
  [[nodiscard]] bool accept(JobRecord& job) override;
  void resize(std::uint32_t units) override;
  void stop() override { agent_.join(); }
  [[nodiscard]] std::uint32_t plannable(std::uint32_t units) const override;
  [[nodiscard]] std::uint32_t startable(const JobRecord& job, std::uint32_t groups) const override;
  void start(JobRecord& job, std::uint32_t groups) override;
  void publish(JobRecord& job) override;
  void refill(JobRecord& job) override;
  [[nodiscard]] Census census(const JobRecord& job) const override;
  [[nodiscard]] std::uint32_t target(const JobRecord& job) const override;
  [[nodiscard]] std::optional<Ending> ending(JobRecord& job) override;
  [[nodiscard]] Ending conclude(JobRecord& job) override;
  void abandon() override;
  [[nodiscard]] bool busy() const override { return shift_ != nullptr; }
  std::chrono::microseconds look() override;

 private:
  /// A work-group of the running megakernel.
  struct Worker {
    std::uint32_t visit = 0;
    JobRecord* job = nullptr;  // the job it is in
    bool in = false;           // inside the kernel of that job
  };

  [[nodiscard]] bool is_open_for(const BoundKernel& bound, Shape shape) const;
  [[nodiscard]] std::vector<KernelOf> kernels_with(const KernelOf& kernel) const;
  [[nodiscard]] std::shared_ptr<Megakernel> find_built(const KernelOf& kernel, Shape shape) const;
  std::shared_ptr<Megakernel> build(const BoundKernel& bound, Shape shape);
  std::optional<std::uint32_t> open_shift(const BoundKernel& bound, Shape shape);
  void close_shift();

  bool collect();
  bool look_at_desks();
  bool look_at_contexts();
  void back(std::uint32_t index, Desk& desk);
  void watch();

  [[nodiscard]] bool complete(std::uint32_t units) const;
  [[nodiscard]] std::optional<std::uint32_t> free_context() const;
  [[nodiscard]] std::uint32_t free_units() const;
  void order(JobRecord& job, std::uint32_t count);
  void send(JobRecord& job, std::uint32_t count, bool first);

  const EngineOptions options_;
  const Chosen chosen_;
  const cl::Context context_;
  const std::shared_ptr<SharedMemory> memory_;
  std::uint32_t most_groups_;
  std::uint32_t expected_ = 0;  // number of workers expected in the shift
  /// The number of workers that run at the same time, by megakernel, shape and local memory.
  std::map<std::tuple<const Megakernel*, Shape, std::uint32_t>, std::uint32_t> occupant_;

  std::mutex building_;           // one build at a time; locked before the dispatcher's mutex
  std::vector<KernelOf> loaded_;  // part of every later megakernel
  std::vector<std::shared_ptr<Megakernel>> built_;
  std::shared_ptr<Megakernel> megakernel_;  // the megakernel of the current shift
  std::unique_ptr<Shift> shift_;
  std::uint64_t opened_at_ = 0;
  std::uint64_t idle_since_ = 0;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> idle_;
};

}  // namespace cohort::opencl
