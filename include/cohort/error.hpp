// What the host side throws. Every failure the library reports is an Error: a code to branch on, a
// sentence to read.
#pragma once

#include <stdexcept>
#include <string>

namespace cohort {

/// Why a call was refused or a job failed.
enum class Errc {
  bad_options,  ///< launch or engine options that cannot run (zero groups, more than the maximum,
                ///< ...)
  bad_state,    ///< the call does not fit the job's state (resume of a job that is not suspended,
                ///< ...)
  not_suspendable,  ///< suspend of a job whose kernel cannot hand its state over
  engine_gone,      ///< the engine that ran this job has been destroyed
  broken_contract,  ///< the kernel broke a rule of the model; the message names it
  bad_file,     ///< a checkpoint or input that is damaged, not what it should be, or cannot be read
  unsupported,  ///< this machine cannot do what was asked
  out_of_memory,  ///< the engine has no room for a buffer
  device_lost,    ///< the device reported an error; the message has its own words
};

/// The exception of the library.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

}  // namespace cohort
