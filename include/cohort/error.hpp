// Errors. Every failure that the library reports is an Error with a code, for programs, and a
// message, for people.
#pragma once

#include <stdexcept>
#include <string>

namespace cohort {

/// Why a call was refused or a job failed.
enum class Errc {
  bad_options,      ///< launch or engine options that cannot run, such as zero groups or more
                    ///< than the maximum
  bad_state,        ///< the call does not fit the job's state, such as resume() of a running job
  not_suspendable,  ///< suspend of a job whose kernel cannot hand over its state
  engine_gone,      ///< the engine that ran this job has been destroyed
  broken_contract,  ///< the kernel broke a rule of the model, which the message names
  bad_file,         ///< a checkpoint or input file is damaged, of the wrong kind or unreadable
  unsupported,      ///< this machine cannot do it
  out_of_memory,    ///< the engine has no room for a buffer
  device_lost,      ///< the device reported an error, which the message quotes
};

/// The exception that the library throws.
class Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

}  // namespace cohort
