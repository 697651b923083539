// Checkpoints: a suspended job is saved to a file and continued by another engine or process. Bad
// files are refused and change nothing.
#include "conformance/kernels/checkpoint.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "conformance/site.hpp"

namespace cohort::test {
namespace {

namespace fs = std::filesystem;

COHORT_SITE_SUITE(Checkpoint, &Lacks::checkpoints);

constexpr std::uint32_t items = 100;
constexpr std::uint32_t steps = 2000;

std::vector<std::uint32_t> expected() {
  std::vector<std::uint32_t> result(items, 0);
  for (std::uint32_t step = 0; step < steps; ++step) {
    for (auto& each : result) each = each * 3 + step;
  }
  return result;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("cohort-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A job that is suspended half-way through.
class Suspended : public Words {
 public:
  explicit Suspended(Site& site)
      : Words(site, items),
        half_way_(site),
        job(site.launch(Sum{data(), items, steps, half_way_.data()})) {
    site.until([&] { return half_way_ != 0; });
    EXPECT_EQ(job.suspend(), Status::suspended);
  }

 private:
  Word half_way_;

 public:
  ScopedJob job;
};

/// The checkpoint file of such a job.
fs::path half_way(Site& site, const Folder& folder) {
  site.restart(3);
  const Suspended suspended{site};
  fs::path file = folder / "job.checkpoint";
  suspended.job.checkpoint(file);
  return file;
}

void expect_continued(Site& site, const fs::path& file) {
  site.restart(2);
  const Words memory{site, items};
  EXPECT_EQ(site.restore(Sum{memory.data(), items, steps}, file).wait().status, Status::finished);
  EXPECT_EQ(memory.read(), expected());
}

std::string content(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

COHORT_SITE_TEST(Checkpoint, ContinuesInAnotherEngine) {
  const Folder folder;
  expect_continued(site, half_way(site, folder));
}

COHORT_SITE_TEST(Checkpoint, ContinuesInAnotherProcess) {
  if (thread_sanitized) throw Skip{"the thread sanitizer allows no threads after a fork"};
  site.needs(site.lacks().forks);
  const Folder folder;
  site.end();
  const pid_t child = ::fork();
  if (child == 0) {  // the child writes the file and exits
    ::_exit(fs::exists(half_way(site, folder)) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  expect_continued(site, folder / "job.checkpoint");
}

COHORT_SITE_TEST(Checkpoint, CanBeResumedBesides) {
  const Folder folder;
  const Suspended suspended{site};
  suspended.job.checkpoint(folder / "a");
  suspended.job.resume();
  EXPECT_EQ(suspended.job.wait().status, Status::finished);
  EXPECT_EQ(suspended.read(), expected());
}

/// A job whose checkpoint is being written, until the test lets the writer continue.
class BeingSaved : public Words {
 public:
  BeingSaved(Site& site, const fs::path& file)
      : Words(site, items), job(site.launch(SlowToSave{{data(), items, ~0U}, &saving_, &go_on})) {
    EXPECT_EQ(job.suspend(), Status::suspended);
    writer_ = std::thread{[this, file] { job.checkpoint(file); }};
    while (!saving_) std::this_thread::yield();
  }
  void finish() {
    go_on = true;
    writer_.join();
  }

 private:
  std::atomic<bool> saving_{false};
  std::thread writer_;

 public:
  std::atomic<bool> go_on{false};
  ScopedJob job;
};

COHORT_SITE_TEST(Checkpoint, LetsTheEngineWorkWhileTheFileIsWritten) {
  const Folder folder;
  BeingSaved saved{site, folder / "a"};
  const Words other{site, items};
  EXPECT_EQ(site.launch(Sum{other.data(), items, 10}).wait().status, Status::finished);

  std::atomic<bool> resumed{false};
  const std::vector<std::uint32_t> before = saved.read();
  std::thread resumer{[&] {
    saved.job.resume();
    resumed = true;
  }};
  site.linger(20ms);  // at worst, too short to notice a mistake
  EXPECT_FALSE(resumed.load()) << "before the file was written";
  EXPECT_EQ(saved.read(), before);
  saved.finish();
  resumer.join();
  EXPECT_NE(saved.job.status(), Status::suspended);
  EXPECT_TRUE(fs::exists(folder / "a"));
}

COHORT_SITE_TEST(Checkpoint, OfAJobThatIsCancelledMeanwhileKeepsItsMemoryUntilItIsWritten) {
  const Folder folder;
  BeingSaved saved{site, folder / "a"};
  saved.job.cancel();
  EXPECT_FALSE(saved.job.wait_for(20ms).has_value()) << "its memory is still being read";
  saved.go_on = true;
  EXPECT_EQ(saved.job.wait().status, Status::cancelled);
  saved.finish();
}

COHORT_SITE_TEST(Checkpoint, OfAJobThatIsNotSuspendedIsRefused) {
  const Folder folder;
  const Words memory{site, items};
  const Job job = site.launch(Sum{memory.data(), items, 10});
  job.wait();
  EXPECT_THROW(job.checkpoint(folder / "a"), Error);
  EXPECT_FALSE(fs::exists(folder / "a"));
}

COHORT_SITE_TEST(Checkpoint, IntoAFolderThatIsNotThereIsRefused) {
  const Folder folder;
  const Suspended suspended{site};
  EXPECT_THROW(suspended.job.checkpoint(folder / "no/such/folder"), Error);
  suspended.job.resume();
  EXPECT_EQ(suspended.job.wait().status, Status::finished);
}

COHORT_SITE_TEST(Checkpoint, ThatIsDamagedIsRefusedAndNothingTouched) {
  const Folder folder;
  const std::string good = content(half_way(site, folder));
  const Words memory{site, items, 7};
  const auto refused = [&](const std::string& text) {
    const fs::path bad = folder / "bad";
    std::ofstream{bad, std::ios::binary} << text;
    try {
      static_cast<void>(site.restore(Sum{memory.data(), items, steps}, bad));
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
  EXPECT_THAT(memory.read(), testing::Each(7U));
}

COHORT_SITE_TEST(Checkpoint, OfAHugeFileIsRefusedWithoutReadingIt) {
  const Folder folder;
  const std::string good = content(half_way(site, folder));
  // Bytes of magic, version and length of the kernel's name.
  constexpr std::size_t before_name = 24;
  std::string long_name = good.substr(0, before_name);
  long_name[before_name - 3] = 1;  // the name now claims 2^40 bytes
  const Words memory{site, items, 7};
  for (const std::string& head : {std::string{}, good.substr(0, 16), long_name, good}) {
    const fs::path huge = folder / "huge";
    std::ofstream{huge, std::ios::binary} << head;
    fs::resize_file(huge, std::uintmax_t{1} << 41U);  // sparse, so it needs no disk space
    try {
      static_cast<void>(site.restore(Sum{memory.data(), items, steps}, huge));
      ADD_FAILURE() << "restored from " << head.size() << " bytes and zeros";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
    }
  }
  EXPECT_THAT(memory.read(), testing::Each(7U));
}

COHORT_SITE_TEST(Checkpoint, OfTwoEnginesAtOnceIsThatOfOne) {
  const Folder folder;
  const fs::path file = folder / "job.checkpoint";
  std::vector<std::thread> engines;
  for (int each = 0; each < 2; ++each) {
    engines.emplace_back([&] {
      Site own{site.kind()};
      const Suspended suspended{own};
      for (std::uint32_t round = 0; round < scaled(100, 10); ++round)
        EXPECT_NO_THROW(suspended.job.checkpoint(file));
    });
  }
  for (std::thread& each : engines) each.join();
  expect_continued(site, file);
  fs::remove(file);
  EXPECT_TRUE(fs::is_empty(folder.path())) << "drafts are left";
}

COHORT_SITE_TEST(Checkpoint, UsesTheDraftOfAKilledWriterAgain) {
  const Folder folder;
  const fs::path file = folder / "job.checkpoint";
  std::ofstream{folder / "job.checkpoint.part0"} << std::string(1'000'000, 'x');
  {
    const Suspended suspended{site};
    suspended.job.checkpoint(file);
  }
  EXPECT_FALSE(fs::exists(folder / "job.checkpoint.part0"));
  expect_continued(site, file);
}

COHORT_SITE_TEST(Checkpoint, IntoAnythingButAFileIsRefusedAndReplacesNothing) {
  const Folder folder;
  const Suspended suspended{site};
  const fs::path fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  fs::create_symlink("/dev/null", folder / "link");
  fs::create_directory(folder / "folder");
  for (const fs::path& place : {fifo, folder / "link", folder / "folder"}) {
    const auto before = fs::symlink_status(place).type();
    try {
      suspended.job.checkpoint(place);
      ADD_FAILURE() << place << " was written to";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_file);
      EXPECT_EQ(error.what(), "checkpoint " + place.string() +
                                  ": not a regular file, so it is not replaced; give another name");
    }
    EXPECT_EQ(fs::symlink_status(place).type(), before);
    EXPECT_THROW(static_cast<void>(site.restore(Sum{suspended.data(), items, steps}, place)),
                 Error);
  }
}

COHORT_SITE_TEST(Checkpoint, OfAnotherKernelOrSizeIsRefused) {
  const Folder folder;
  const fs::path file = half_way(site, folder);
  const Words memory{site, items + 1};
  const auto refuses = [&](const auto& kernel, const fs::path& from) {
    EXPECT_THROW(static_cast<void>(site.restore(kernel, from)), Error);
  };
  refuses(OtherSum{{memory.data(), items, steps}}, file);
  refuses(Sum{memory.data(), items + 1, steps}, file);
  refuses(Sum{memory.data(), items, steps}, folder / "none");
  refuses(Sum{memory.data(), items, steps}, folder.path());
}

}  // namespace
}  // namespace cohort::test
