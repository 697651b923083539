#include "cli/kernel_file.hpp"

#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <numeric>

#include "apps/run.hpp"
#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/options.hpp"
#include "cli/resize.hpp"
#include "cohort/program.hpp"
#include "graph/memory.hpp"

namespace cohort::cli {
namespace {

[[noreturn]] void refuse(const std::string& argument, const std::string& why) {
  throw Error{Errc::bad_options, "--arg '" + argument + "': " + why};
}

template <class Number>
bool parse(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stopped == end;
}

/// Calls `use(Number{})` with the C++ type for `element`. Returns false if there is none.
template <class Use>
bool with_type(const std::string& element, Use use) {
  if (element == "int8") return use(std::int8_t{}), true;
  if (element == "uint8") return use(std::uint8_t{}), true;
  if (element == "int16") return use(std::int16_t{}), true;
  if (element == "uint16") return use(std::uint16_t{}), true;
  if (element == "int32") return use(std::int32_t{}), true;
  if (element == "uint32") return use(std::uint32_t{}), true;
  if (element == "int64") return use(std::int64_t{}), true;
  if (element == "uint64") return use(std::uint64_t{}), true;
  if (element == "float32") return use(float{}), true;
  if (element == "float64") return use(double{}), true;
  return false;
}

class Arguments {
 public:
  explicit Arguments(ProgramKernel& kernel) : kernel_(kernel) {}

  /// Sets a parameter. NAME=VALUE is for a value. NAME=COUNT, NAME=COUNT*VALUE, NAME=COUNT*iota,
  /// NAME=V,V,... and NAME=@FILE are for a buffer. NAME=local:BYTES is for local memory.
  void set(const std::string& argument) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) refuse(argument, "write NAME=VALUE");
    const std::string name = argument.substr(0, equals);
    const std::string value = argument.substr(equals + 1);
    for (const Parameter& each : kernel_.info().parameters) {
      if (each.name != name) continue;
      if (each.kind == "local") {
        set_local(argument, each, value);
      } else if (each.kind == "value") {
        set_value(argument, each, value);
      } else {
        set_buffer(argument, each, value);
      }
      return;
    }
    refuse(argument, "kernel " + kernel_.info().name + " has no parameter '" + name + "'");
  }

  /// Uploads the buffers to the engine's memory.
  template <class Engine>
  void give(Engine& engine) {
    for (auto& [name, buffer] : buffers_) {
      buffer.given = engine.upload(buffer.bytes);
      kernel_.set(name, static_cast<void*>(buffer.given.data()));
    }
  }
  void take_back() {
    for (auto& [name, buffer] : buffers_) buffer.bytes = buffer.given.read();
  }

  void print(const std::string& wanted) const {
    const std::size_t colon = wanted.find(':');
    const std::string name = wanted.substr(0, colon);
    const auto found = buffers_.find(name);
    if (found == buffers_.end())
      throw Error{Errc::bad_options, "--print '" + wanted + "': no buffer of that name was given"};
    const Parameter& parameter = *found->second.parameter;
    const std::size_t scalar = std::max<std::size_t>(1, scalar_size(parameter));
    std::size_t count = found->second.bytes.size() / scalar;
    if (colon != std::string::npos && !parse(std::string_view{wanted}.substr(colon + 1), count)) {
      throw Error{Errc::bad_options, "--print '" + wanted + "': write NAME or NAME:COUNT"};
    }
    count = std::min(count, found->second.bytes.size() / scalar);
    std::cout << std::defaultfloat << name << " =";
    for (std::size_t i = 0; i < count; ++i) {
      with_type(parameter.element, [&](auto number) {
        std::memcpy(&number, found->second.bytes.data() + i * scalar, sizeof(number));
        std::cout << ' ' << std::setprecision(std::numeric_limits<decltype(number)>::max_digits10)
                  << +number;
      });
    }
    std::cout << '\n';
  }

 private:
  struct Buffer {
    const Parameter* parameter = nullptr;
    std::vector<std::byte> bytes;
    cohort::Buffer<std::byte> given;
  };

  static std::size_t scalar_size(const Parameter& parameter) {
    std::size_t size = 0;
    with_type(parameter.element, [&](auto number) { size = sizeof(number); });
    return size;
  }

  void set_value(const std::string& argument, const Parameter& parameter, const std::string& text) {
    const bool known = with_type(parameter.element, [&](auto number) {
      if (!parse(text, number)) refuse(argument, "'" + text + "' is not a " + parameter.type);
      kernel_.set(parameter.name, number);
    });
    if (!known) refuse(argument, "a " + parameter.type + " cannot be given on the command line");
  }

  void set_local(const std::string& argument, const Parameter& parameter, std::string_view text) {
    constexpr std::string_view word = "local:";
    std::size_t bytes = 0;
    if (!text.starts_with(word) || !parse(text.substr(word.size()), bytes)) {
      refuse(argument, "'" + parameter.name + "' is in local memory: write " + parameter.name +
                           "=local:BYTES");
    }
    kernel_.set_local(parameter.name, bytes);
  }

  void set_buffer(const std::string& argument, const Parameter& parameter,
                  const std::string& text) {
    if (text.starts_with("local:")) {
      refuse(argument, "'" + parameter.name + "' is a " + parameter.type + ", not in local memory");
    }
    Buffer& buffer = buffers_[parameter.name];
    buffer.parameter = &parameter;
    if (text.starts_with('@')) {
      std::ifstream stream{text.substr(1), std::ios::binary};
      if (!stream) refuse(argument, "cannot read '" + text.substr(1) + "'");
      std::string bytes{std::istreambuf_iterator<char>{stream}, {}};
      buffer.bytes.resize(bytes.size());
      std::memcpy(buffer.bytes.data(), bytes.data(), bytes.size());
    } else if (text.find(',') != std::string::npos) {
      fill_list(argument, parameter, text, buffer.bytes);
    } else {
      fill(argument, parameter, text, buffer.bytes);
    }
  }

  static void fill_list(const std::string& argument, const Parameter& parameter,
                        const std::string& text, std::vector<std::byte>& bytes) {
    for (std::size_t from = 0; from <= text.size();) {
      const std::size_t end = std::min(text.find(',', from), text.size());
      const std::string item = text.substr(from, end - from);
      const bool known = with_type(parameter.element, [&](auto number) {
        if (!parse(item, number))
          refuse(argument, "'" + item + "' is not a number that fits " + parameter.type);
        const std::size_t at = bytes.size();
        bytes.resize(at + sizeof(number));
        std::memcpy(bytes.data() + at, &number, sizeof(number));
      });
      if (!known)
        refuse(argument,
               "elements of a " + parameter.type + " cannot be listed; give a count or @FILE");
      from = end + 1;
    }
  }

  static void fill(const std::string& argument, const Parameter& parameter, const std::string& text,
                   std::vector<std::byte>& bytes) {
    const std::size_t star = text.find('*');
    std::size_t count = 0;
    if (!parse(std::string_view{text}.substr(0, star), count)) {
      refuse(argument, "write COUNT, COUNT*VALUE, COUNT*iota, a list V,V,... or @FILE");
    }
    const std::size_t element = std::max<std::size_t>(1, parameter.element_size);
    if (static_cast<double>(count) * static_cast<double>(element) > machine_memory())
      refuse(argument, "more than this machine's memory");
    bytes.assign(count * element, std::byte{0});
    if (star == std::string::npos) return;
    const std::string value = text.substr(star + 1);
    const bool known = with_type(parameter.element, [&](auto number) {
      if (value != "iota" && !parse(value, number))
        refuse(argument, "'" + value + "' is not a number that fits " + parameter.type);
      for (std::size_t i = 0; i < bytes.size() / sizeof(number); ++i) {
        if (value == "iota") number = static_cast<decltype(number)>(i);
        std::memcpy(bytes.data() + i * sizeof(number), &number, sizeof(number));
      }
    });
    if (!known)
      refuse(argument, "elements of a " + parameter.type + " can only be zero, or come from @FILE");
  }

  ProgramKernel& kernel_;
  std::map<std::string, Buffer> buffers_;
};

/// Sizes of up to three dimensions, joined by x.
std::array<std::uint32_t, 3> sizes(const std::string& option, const std::string& text) {
  std::array<std::uint32_t, 3> result{1, 1, 1};
  std::size_t from = 0;
  for (std::uint32_t& each : result) {
    const std::size_t end = std::min(text.find('x', from), text.size());
    if (!parse(std::string_view{text}.substr(from, end - from), each) || each == 0) break;
    if (end == text.size()) return result;
    from = end + 1;
  }
  throw Error{Errc::bad_options,
              option + " '" + text + "': write one to three sizes, like 64 or 64x48 or 8x8x8"};
}

/// The range of --global and --local. By default, its work-groups have the shape that the kernel
/// requires, or the largest part of a row that fits `usual` threads.
NDRange range_of(const KernelFileOptions& options, const KernelInfo& kernel, std::uint32_t usual) {
  NDRange range{.global = sizes("--global", options.global)};
  if (!options.local.empty()) {
    range.local = sizes("--local", options.local);
  } else if (kernel.required_shape) {
    range.local = *kernel.required_shape;
  } else {
    range.local[0] = std::gcd(range.global[0], usual);
  }
  return range;
}

template <class Engine>
int run_on(Engine& engine, ProgramKernel kernel, const KernelFileOptions& options,
           Interrupt& interrupt) {
  Arguments arguments{kernel};
  for (const std::string& each : options.arguments) arguments.set(each);
  arguments.give(engine);
  LaunchOptions launch = options.launch;
  launch.max_groups = launch.max_groups.value_or(engine.capacity());
  if (!options.global.empty()) {
    const NDRange range = range_of(options, kernel.info(),
                                   launch.local_size.value_or(apps::default_local_size<Engine>));
    kernel.set_range(range);
    launch.local_size = range.local[0] * range.local[1] * range.local[2];
  }
  if (!launch.local_size)
    launch.local_size =
        kernel.info().required_local_size.value_or(apps::default_local_size<Engine>);
  const auto drive = resizer(options.resize, *launch.max_groups);
  const Job job = kernel.launch(engine, launch);
  const Report report = [&] {
    const Interrupt::Graceful graceful{interrupt};
    return drive(job);
  }();
  arguments.take_back();
  std::cout << kernel.info().name << " of " << options.file << ": " << to_string(report.status)
            << " in " << std::fixed << std::setprecision(1)
            << static_cast<double>(report.run_time.count()) / 1e6 << " ms, at most "
            << *launch.max_groups << " groups of " << *launch.local_size << ", " << report.joins
            << " joined, " << report.leaves << " left\n";
  for (const std::string& each : options.prints) arguments.print(each);
  return report.status == Status::finished ? fine : failed;
}

}  // namespace

int run_kernel_file(const KernelFileOptions& options, Interrupt& interrupt) {
  const AnyEngine engine{options.engine};
  announce_share(options.engine.share);
  return engine.visit([&]<class Engine>(Engine& its) {
    ProgramOptions how;
    how.engine = options.engine.engine;
    how.transmit = options.transmit;
    how.barrier = options.barrier;
    how.defines = options.defines;
    how.include_paths.assign(options.include_paths.begin(), options.include_paths.end());
    if (!options.standard.empty()) how.build_options.push_back("-cl-std=" + options.standard);
    if (options.fast_math) how.build_options.emplace_back("-cl-fast-relaxed-math");
    how.max_local_size = options.launch.local_size.value_or(apps::default_local_size<Engine>);
    const Program program = Program::from_file(options.file, how);
    std::cerr << program.warnings();
    return run_on(its, program.kernel(options.kernel), options, interrupt);
  });
}

}  // namespace cohort::cli
