// Checkpoints: a suspended job in a file, taken up by another engine or process; bad files are
// refused untouched.
#include "cohort/checkpoint.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support.hpp"

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

/// Adds the number of the step to each item, so that an order or a step lost would show.
struct Sum {
  static constexpr const char* name = "sum";
  std::uint64_t* items;
  std::size_t count;
  std::uint64_t steps;
  std::atomic<bool>* half_way = nullptr;  // if given: set half-way, where it waits for a suspend
  struct State {
    std::uint64_t step = 0;
  };

  template <class Visit>
  void buffers(Visit& visit) const {
    visit("items", items, count);
    visit("nothing", static_cast<std::uint32_t*>(nullptr), 0);  // memory that a kernel may not need
  }
  template <class Group>
  Next step(Group group, State& state) const {
    for (auto i : group.stride(count)) items[i] = items[i] * 3 + state.step;
    if (half_way != nullptr && state.step == steps / 2) {
      half_way->store(true);
      hold_until([&] { return group.query() > 0; });
    }
    return ++state.step < steps ? Next::again : Next::halt;
  }
};

/// The same under another name.
struct Other : Sum {
  static constexpr const char* name = "other";
};

constexpr std::size_t items = 100;
constexpr std::uint64_t steps = 2000;

std::vector<std::uint64_t> expected() {
  std::vector<std::uint64_t> result(items, 0);
  for (std::uint64_t step = 0; step < steps; ++step) {
    for (auto& each : result) each = each * 3 + step;
  }
  return result;
}

template <class Engine>
class Checkpoint : public testing::Test {
 protected:
  Checkpoint() : folder_(fs::temp_directory_path() / ("cohort-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Checkpoint() override { fs::remove_all(folder_); }

  /// A job that is suspended some way from its end.
  static Job suspended_in(Engine& engine, std::vector<std::uint64_t>& memory) {
    std::atomic<bool> half_way{false};
    Job job = engine.launch(Sum{memory.data(), items, steps, &half_way});
    EXPECT_TRUE(eventually([&] { return half_way.load(); }));
    EXPECT_EQ(job.suspend(), Status::suspended);
    return job;
  }

  /// The same, in a file.
  fs::path some_way(std::vector<std::uint64_t>& memory) {
    Engine engine{{.capacity = 3}};
    const Job job = suspended_in(engine, memory);
    fs::path file = folder_ / "job.checkpoint";
    job.checkpoint(file);
    return file;
  }

  fs::path folder_;
};
TYPED_TEST_SUITE(Checkpoint, Engines, EngineNames);

TYPED_TEST(Checkpoint, ContinuesInAnotherEngine) {
  std::vector<std::uint64_t> first(items);
  const fs::path file = this->some_way(first);
  std::vector<std::uint64_t> second(items);
  TypeParam engine{{.capacity = 2}};
  EXPECT_EQ(engine.restore(Sum{second.data(), items, steps}, file).wait().status, Status::finished);
  EXPECT_EQ(second, expected());
}

TYPED_TEST(Checkpoint, ContinuesInAnotherProcess) {
  if (thread_sanitized) GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
  const pid_t child = ::fork();
  const fs::path file = this->folder_ / "job.checkpoint";
  if (child == 0) {  // writes the file and dies
    std::vector<std::uint64_t> memory(items);
    this->some_way(memory);
    ::_exit(fs::exists(file) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  EXPECT_EQ(engine.restore(Sum{memory.data(), items, steps}, file).wait().status, Status::finished);
  EXPECT_EQ(memory, expected());
}

TYPED_TEST(Checkpoint, CanBeResumedBesides) {
  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  const Job job = this->suspended_in(engine, memory);
  job.checkpoint(this->folder_ / "a");
  job.resume();
  EXPECT_EQ(job.wait().status, Status::finished);
  EXPECT_EQ(memory, expected());
}

/// Takes as long as its test likes to name its memory, and so to be written.
struct SlowToSave : Sum {
  std::atomic<bool>* saving;
  const std::atomic<bool>* go_on;

  template <class Visit>
  void buffers(Visit& visit) const {
    Sum::buffers(visit);
    saving->store(true);
    EXPECT_TRUE(eventually([this] { return go_on->load(); })) << "the engine is held up";
  }
};

TYPED_TEST(Checkpoint, LetsTheEngineWorkWhileTheFileIsWritten) {
  std::vector<std::uint64_t> memory(items);
  std::atomic<bool> saving{false};
  std::atomic<bool> go_on{false};
  TypeParam engine{{.capacity = 2}};
  const ScopedJob job =
      engine.launch(SlowToSave{{memory.data(), items, ~std::uint64_t{0}}, &saving, &go_on});
  ASSERT_EQ(job.suspend(), Status::suspended);
  std::thread writer{[&] { job.checkpoint(this->folder_ / "a"); }};
  ASSERT_TRUE(eventually([&] { return saving.load(); }));
  EXPECT_EQ(engine.submit([] {}, {.groups = 2}).wait().status, Status::finished);

  std::atomic<bool> resumed{false};
  const std::vector<std::uint64_t> before = memory;
  std::thread resumer{[&] {
    job.resume();
    resumed = true;
  }};
  std::this_thread::sleep_for(20ms);  // too early to see a mistake at worst
  EXPECT_FALSE(resumed.load()) << "before the file was written";
  EXPECT_EQ(memory, before);
  go_on = true;
  writer.join();
  resumer.join();
  EXPECT_NE(job.status(), Status::suspended);
  EXPECT_TRUE(fs::exists(this->folder_ / "a"));
}

TYPED_TEST(Checkpoint, OfAJobThatIsCancelledMeanwhileKeepsItsMemoryUntilItIsWritten) {
  std::vector<std::uint64_t> memory(items);
  std::atomic<bool> saving{false};
  std::atomic<bool> go_on{false};
  TypeParam engine{{.capacity = 2}};
  const ScopedJob job =
      engine.launch(SlowToSave{{memory.data(), items, ~std::uint64_t{0}}, &saving, &go_on});
  ASSERT_EQ(job.suspend(), Status::suspended);
  std::thread writer{[&] { job.checkpoint(this->folder_ / "a"); }};
  ASSERT_TRUE(eventually([&] { return saving.load(); }));
  job.cancel();
  EXPECT_FALSE(job.wait_for(20ms).has_value()) << "its memory is still being read";
  go_on = true;
  EXPECT_EQ(job.wait().status, Status::cancelled);
  writer.join();
}

TYPED_TEST(Checkpoint, OfAJobThatIsNotSuspendedIsRefused) {
  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  const Job job = engine.launch(Sum{memory.data(), items, 10});
  job.wait();
  EXPECT_THROW(job.checkpoint(this->folder_ / "a"), Error);
  EXPECT_FALSE(fs::exists(this->folder_ / "a"));
}

TYPED_TEST(Checkpoint, IntoAFolderThatIsNotThereIsRefused) {
  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  const Job job = this->suspended_in(engine, memory);
  EXPECT_THROW(job.checkpoint(this->folder_ / "no" / "such" / "folder"), Error);
  job.resume();
  EXPECT_EQ(job.wait().status, Status::finished);
}

TYPED_TEST(Checkpoint, ThatIsDamagedIsRefusedAndNothingTouched) {
  std::vector<std::uint64_t> first(items);
  const fs::path file = this->some_way(first);
  std::ifstream in{file, std::ios::binary};
  const std::string good{std::istreambuf_iterator<char>{in}, {}};
  TypeParam engine{{.capacity = 1}};
  std::vector<std::uint64_t> memory(items, 7);
  const auto refused = [&](const std::string& content) {
    const fs::path bad = this->folder_ / "bad";
    std::ofstream{bad, std::ios::binary} << content;
    try {
      engine.restore(Sum{memory.data(), items, steps}, bad);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
      EXPECT_NE(std::string{error.what()}.find(bad.string()), std::string::npos);
      return true;
    }
    return false;
  };
  for (std::size_t at = 0; at < good.size(); at += 1 + at / 20) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    EXPECT_TRUE(refused(bad)) << "byte " << at << " flipped";
    EXPECT_TRUE(refused(good.substr(0, at))) << "cut at " << at;
  }
  EXPECT_TRUE(refused(good + "x"));
  EXPECT_THAT(memory, testing::Each(7U));
}

TYPED_TEST(Checkpoint, OfAHugeFileIsRefusedWithoutReadingIt) {
  std::vector<std::uint64_t> first(items);
  const fs::path file = this->some_way(first);
  std::ifstream in{file, std::ios::binary};
  const std::string good{std::istreambuf_iterator<char>{in}, {}};
  constexpr std::size_t before_name = 24;  // magic, version, length of the kernel's name
  std::string long_name = good.substr(0, before_name);
  long_name[before_name - 3] = 1;  // 2^40 bytes
  TypeParam engine{{.capacity = 1}};
  std::vector<std::uint64_t> memory(items, 7);
  for (const std::string& head : {std::string{}, good.substr(0, 16), long_name, good}) {
    const fs::path huge = this->folder_ / "huge";
    std::ofstream{huge, std::ios::binary} << head;
    fs::resize_file(huge, std::uintmax_t{1} << 41U);  // zeros that take no room on the disk
    try {
      engine.restore(Sum{memory.data(), items, steps}, huge);
      ADD_FAILURE() << "restored from " << head.size() << " bytes and zeros";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
    }
  }
  EXPECT_THAT(memory, testing::Each(7U));
}

TYPED_TEST(Checkpoint, OfTwoEnginesAtOnceIsThatOfOne) {
  const fs::path file = this->folder_ / "job.checkpoint";
  std::vector<std::thread> engines;
  for (std::uint64_t each = 0; each < 2; ++each) {
    engines.emplace_back([&] {
      std::vector<std::uint64_t> memory(items);
      TypeParam engine{{.capacity = 1}};
      const Job job = this->suspended_in(engine, memory);
      for (std::uint32_t round = 0; round < scaled(100, 10); ++round)
        EXPECT_NO_THROW(job.checkpoint(file));
    });
  }
  for (std::thread& each : engines) each.join();

  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  EXPECT_EQ(engine.restore(Sum{memory.data(), items, steps}, file).wait().status, Status::finished);
  EXPECT_EQ(memory, expected());
  fs::remove(file);
  EXPECT_TRUE(fs::is_empty(this->folder_)) << "drafts are left";
}

TYPED_TEST(Checkpoint, IntoAnythingButAFileIsRefusedAndReplacesNothing) {
  std::vector<std::uint64_t> memory(items);
  TypeParam engine{{.capacity = 2}};
  const Job job = this->suspended_in(engine, memory);
  const fs::path fifo = this->folder_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const fs::path link = this->folder_ / "link";
  fs::create_symlink("/dev/null", link);
  fs::create_directory(this->folder_ / "folder");
  for (const fs::path& place : {fifo, link, this->folder_ / "folder"}) {
    const auto before = fs::symlink_status(place).type();
    try {
      job.checkpoint(place);
      ADD_FAILURE() << place << " was written to";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
      EXPECT_EQ(error.what(), "checkpoint " + place.string() +
                                  ": not a regular file, so it is not replaced; give another name");
    }
    EXPECT_EQ(fs::symlink_status(place).type(), before);
    EXPECT_THROW(engine.restore(Sum{memory.data(), items, steps}, place), Error);
  }
}

TYPED_TEST(Checkpoint, OfAnotherKernelOrSizeIsRefused) {
  std::vector<std::uint64_t> first(items);
  const fs::path file = this->some_way(first);
  TypeParam engine{{.capacity = 1}};
  std::vector<std::uint64_t> memory(items + 1);
  EXPECT_THROW(engine.restore(Other{{memory.data(), items, steps}}, file), Error);
  EXPECT_THROW(engine.restore(Sum{memory.data(), items + 1, steps}, file), Error);
  EXPECT_THROW(engine.restore(Sum{memory.data(), items, steps}, this->folder_ / "none"), Error);
  EXPECT_THROW(engine.restore(Sum{memory.data(), items, steps}, this->folder_), Error);
}

}  // namespace
}  // namespace cohort::test
