#include "cli/run_ranks.hpp"

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <stop_token>
#include <thread>

#include "apps/ranks/run.hpp"
#include "cli/commands.hpp"
#include "cohort/cpu.hpp"
#include "cohort/mpi.hpp"

namespace cohort::cli {
namespace {

/// Passes signals on to the job. A signal that arrives before the job starts is kept for it.
std::atomic<bool> told{false};
std::atomic<RankRequests*> running{nullptr};

void ask_to_leave() {
  told.store(true);
  if (RankRequests* const requests = running.load()) requests->leave();
}

void watch(RankRequests* requests) {
  running.store(requests);
  if (requests != nullptr && told.load()) requests->leave();
}

/// Passes the requests of `cohort resize` on to the job.
class ResizeWatch {
 public:
  ResizeWatch(std::filesystem::path file, std::uint32_t most, RankRequests& requests)
      : thread_([file = std::move(file), most, &requests](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            std::uint32_t ranks = 0;
            if (std::ifstream{file} >> ranks) {
              std::filesystem::remove(file);
              if (ranks <= most) {
                requests.resize(ranks);
              } else {
                std::cerr << "cohort: resize to " << ranks << " ranks: at most " << most
                          << ", the number of shards" << std::endl;
              }
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
          }
        }) {}

 private:
  std::jthread thread_;
};

void print_start(const apps::RankedRun& run, const RankReport& report) {
  if (report.continued == 0) return;
  std::cout << "continued after superstep " << report.continued << " of the checkpoint in "
            << run.options.checkpoint.string() << '\n';
}

void print(const apps::RankedRun& run, const apps::RankedOutcome& outcome, std::uint32_t ranks) {
  const RankReport& report = outcome.report;
  const auto milli = [](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / 1e6;
  };
  std::cout << std::fixed << std::setprecision(1) << run.app << " on " << run.input << ": "
            << outcome.input << '\n'
            << "finished in " << milli(report.local_time + report.exchange_time) << " ms on "
            << ranks << (ranks == 1 ? " rank, " : " ranks, ") << report.supersteps
            << " supersteps; rank 0: " << milli(report.local_time) << " ms of local steps, "
            << milli(report.exchange_time) << " ms of exchanges, " << report.messages
            << " messages sent\n"
            << std::setprecision(2) << "the rank with most edges has " << outcome.imbalance
            << " times the average\n";
  for (const auto& [name, number] : outcome.result) std::cout << name << ' ' << number << "  ";
  if (!outcome.result.empty()) std::cout << '\n';
  if (outcome.verified)
    std::cout << (*outcome.verified ? "verified" : "WRONG: " + outcome.difference) << '\n';
}

int run_here(mpi::Network& network, const apps::RankedRun& run,
             std::optional<std::uint32_t> capacity) {
  cpu::Engine engine{{.capacity = capacity}};
  const apps::RankedOutcome outcome = apps::run_on_ranks(network, engine, run);
  switch (outcome.report.end) {
    case protocol::RankEnd::finished:
      if (network.rank() != 0) return fine;
      print_start(run, outcome.report);
      print(run, outcome, network.ranks());
      return outcome.verified.value_or(true) ? fine : failed;
    case protocol::RankEnd::suspended:
      if (network.rank() != 0) return fine;
      print_start(run, outcome.report);
      std::cout << "suspended after superstep "
                << outcome.report.continued + outcome.report.supersteps << " in "
                << run.options.checkpoint.string()
                << ": give the same command again to continue, on any number of ranks\n";
      return fine;
    case protocol::RankEnd::left: return fine;
    case protocol::RankEnd::failed: break;
  }
  return failed;
}

}  // namespace

int run_ranks(apps::RankedRun run, std::optional<std::uint32_t> capacity, Interrupt& interrupt) {
  mpi::Network network;
  std::optional<ResizeWatch> resizes;
  run.control = [&](RankRequests* requests) {
    resizes.reset();
    watch(requests);
    if (requests == nullptr || network.rank() != 0 || run.options.checkpoint.empty()) return;
    std::filesystem::create_directories(run.options.checkpoint);
    resizes.emplace(run.options.checkpoint / resize_request, run.options.shards, *requests);
  };
  std::signal(SIGUSR1, [](int) { ask_to_leave(); });
  const Interrupt::Graceful graceful{interrupt};
  const std::stop_callback on_stop{interrupt.token(), [] { ask_to_leave(); }};
  try {
    return run_here(network, run, capacity);
  } catch (const Error& error) {
    // If the options are wrong, they are wrong on all ranks, so only one rank prints the error.
    const bool everywhere = error.code() == Errc::bad_options;
    if (everywhere && network.rank() != 0) return bad_input;
    if (everywhere) throw;
    if (error.code() == Errc::broken_contract) return failed;  // the other rank prints the reason
    std::cerr << "cohort: rank " << network.rank() << ": " << error.what() << std::endl;
  } catch (const std::exception& error) {
    std::cerr << "cohort: rank " << network.rank() << ": " << error.what() << std::endl;
  }
  network.abort(failed);
}

}  // namespace cohort::cli
