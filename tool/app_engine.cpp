#include "tool/app_engine.hpp"

#include "tool/product.hpp"
#include "tool/statistics.hpp"
#ifdef COHORT_WITH_CUDA_APPS
#include "apps/cuda/occupancy.hpp"
#include "tool/cuda_product.hpp"
#endif
#ifdef COHORT_WITH_COMPILER
#include "apps/dialect/dialect.hpp"
#endif

namespace cohort::tool {
namespace {

/// Whether the apps' kernels in C++ are compiled for an engine.
template <class Engine>
constexpr bool has_apps = false;
template <>
constexpr bool has_apps<cpu::Engine> = true;
#ifdef COHORT_WITH_CUDA_APPS
template <>
constexpr bool has_apps<cuda::Engine> = true;
#endif

[[noreturn]] void refuse_dialect() {
  throw Error{Errc::bad_options,
              "this build has no compiler for --dialect; configure with COHORT_COMPILER=ON"};
}

std::function<Load::Served()> product_on(cpu::Engine& engine, std::uint32_t side,
                                         const TaskOptions& options) {
  return [&engine, options, product = std::make_shared<MatrixProduct>(side)] {
    product->clear();
    return Load::Served{
        .report =
            engine.submit([&product](auto& group) { product->multiply(group); }, options).wait(),
        .right = product->right()};
  };
}

#ifdef COHORT_WITH_CUDA_APPS
std::function<Load::Served()> product_on(cuda::Engine& engine, std::uint32_t side,
                                         const TaskOptions& options) {
  return [options, product = std::make_shared<CudaProduct>(engine, side)] {
    return Load::Served{.report = product->run(options), .right = product->right()};
  };
}
#endif

#ifdef COHORT_WITH_OPENCL
/// A product in a device's memory.
struct OpenClProduct {
  OpenClProduct(opencl::Engine& engine, const ProgramKernel& multiply, std::uint32_t side)
      : host(side),
        kernel(multiply),
        left(engine.upload(host.left())),
        right(engine.upload(host.right_factor())),
        result(engine.fill<float>(std::size_t{side} * side, 0)) {
    kernel.set("left", left.data()).set("right", right.data());
    kernel.set("product", result.data()).set("side", side);
  }
  MatrixProduct host;
  ProgramKernel kernel;
  Buffer<float> left;
  Buffer<float> right;
  Buffer<float> result;
};

std::function<Load::Served()> product_on(opencl::Engine& engine, const ProgramKernel& multiply,
                                         std::uint32_t side, const TaskOptions& options) {
  return [&engine, options, product = std::make_shared<OpenClProduct>(engine, multiply, side)] {
    product->result.fill(-1);
    return Load::Served{.report = product->kernel.submit(engine, options).wait(),
                        .right = product->result.read() == product->host.expected()};
  };
}
#endif

template <class Engine>
constexpr bool is_opencl = std::is_same_v<Engine, opencl::Engine>;

}  // namespace

std::string apps_lacking(const EngineKind& kind) {
  std::string why = kind.lacking();
#ifndef COHORT_WITH_CUDA_APPS
  if (kind.name == "cuda" && why.empty())
    why = "this build has no apps for it, only kernel files; configure with COHORT_CUDA_APPS=ON";
#endif
  return why;
}

AppEngine::AppEngine(const EngineSpec& spec, bool dialect)
    : engine_(spec), dialect_(dialect), whole_(!spec.capacity) {
  engine_.visit(
      [this]<class Engine>(Engine& /*engine*/) { dialect_ = dialect_ || is_opencl<Engine>; });
  if (const std::string why = apps_lacking(engine_.kind()); !why.empty())
    throw Error{Errc::unsupported, "--engine " + spec.engine + ": " + why};
#ifndef COHORT_WITH_COMPILER
  if (dialect_) refuse_dialect();
#endif
}

bool AppEngine::paper_barriers() const {
  return engine_.visit(
      []<class Engine>(const Engine& /*engine*/) { return !std::is_same_v<Engine, cuda::Engine>; });
}

std::uint32_t AppEngine::default_local_size() const {
  return engine_.visit(
      []<class Engine>(const Engine& /*engine*/) { return apps::default_local_size<Engine>; });
}

std::uint32_t AppEngine::default_groups([[maybe_unused]] const apps::Ready& app,
                                        [[maybe_unused]] std::uint32_t local_size) const {
#ifdef COHORT_WITH_CUDA_APPS
  const bool on_cuda = engine_.visit(
      []<class Engine>(const Engine& /*engine*/) { return std::is_same_v<Engine, cuda::Engine>; });
  if (on_cuda && !dialect_ && whole_)  // otherwise blocks are spread over all SMs
    return capacity() * apps::groups_on_sm(app.threads_per_sm, local_size, capacity());
#endif
  return capacity();
}

const ProgramKernel& AppEngine::kernel([[maybe_unused]] std::string_view app,
                                       [[maybe_unused]] ResizingBarrier barrier) {
#ifdef COHORT_WITH_COMPILER
  const std::pair key{std::string{app}, barrier};
  auto found = kernels_.find(key);
  if (found == kernels_.end()) {
    const std::string engine{engine_.kind().name};
    const bool is_task = app == "multiply";
    found = kernels_
                .emplace(key, is_task ? apps::dialect_kernel(app, engine)
                                      : apps::dialect_kernel(apps::find_app(app), engine, barrier))
                .first;
    // Only tasks run next to another kernel. A megakernel with one app compiles sooner than one
    // with all apps.
    engine_.visit([&found, is_task](auto& its) {
      if constexpr (requires { its.load(found->second); }) {
        if (is_task) its.load(found->second);
      }
    });
  }
  return found->second;
#else
  refuse_dialect();
#endif
}

void AppEngine::load(std::string_view app) {
  if (dialect_) {
    static_cast<void>(kernel(app));
  } else {
    static_cast<void>(apps::find_app(app));
  }
}

apps::Ready AppEngine::prepare(std::string_view app, const std::string& input,
                               const std::vector<std::string>& settings) {
  load(app);
#ifdef COHORT_WITH_COMPILER
  if (dialect_) return apps::prepare_dialect(apps::find_app(app), input, apps::Settings{settings});
#endif
  return apps::find_app(app).prepare(input, apps::Settings{settings});
}

apps::AppRun AppEngine::run(const apps::Ready& app, const apps::RunOptions& options) {
  return engine_.visit([&]<class Engine>(Engine& engine) -> apps::AppRun {
#ifdef COHORT_WITH_CUDA
    if (std::is_same_v<Engine, cuda::Engine> && options.traces != nullptr)
      throw Error{Errc::bad_options, "--check-trace does not work with --engine cuda; drop it"};
#endif
#ifdef COHORT_WITH_COMPILER
    if (dialect_)
      return apps::run_dialect(app, engine, kernel(app.info->name, options.barrier), options);
#endif
    if constexpr (has_apps<Engine>) return apps::run_app(app, engine, options);
    refuse_dialect();
  });
}

std::function<Load::Served()> AppEngine::product(std::uint32_t side, const TaskOptions& options) {
  return engine_.visit([&]<class Engine>(Engine& engine) -> std::function<Load::Served()> {
    if constexpr (is_opencl<Engine>) {
      return product_on(engine, kernel("multiply"), side, options);
    } else if constexpr (has_apps<Engine>) {
      return product_on(engine, side, options);
    }
    throw Error{Errc::unsupported, apps_lacking(engine_.kind())};
  });
}

std::uint32_t AppEngine::side_for(std::chrono::nanoseconds work, const TaskOptions& options) {
  return tool::side_for(work, [&](std::uint32_t side) {
    const auto serve = product(side, options);
    return fastest_of(
        7, [&] { return std::chrono::duration<double>{serve().report.run_time}.count(); });
  });
}

}  // namespace cohort::tool
