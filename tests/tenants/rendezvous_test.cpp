// The rendezvous of engines and tenants: names, stale sockets, and folders that other users
// planted.
#include "tenant/rendezvous.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>

#include <fstream>
#include <latch>
#include <optional>
#include <thread>

#include "tenants/processes.hpp"

namespace cohort::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* other_user = "54321";

class Rendezvous : public TenantTest {
 protected:
  /// The message of the error with which an engine is refused.
  static std::string refusal(const std::string& name = "e") {
    try {
      const cpu::Engine engine{{.capacity = 1, .share = name}};
    } catch (const Error& error) {
      EXPECT_THAT(std::string{error.what()}, testing::Not(HasSubstr("\n")));
      return error.what();
    }
    return "";
  }
};

TEST_F(Rendezvous, NamesTheEnginesOfThisUser) {
  EXPECT_THAT(shared_engines(), IsEmpty());
  {
    const cpu::Engine one{{.capacity = 1, .share = "one"}};
    const cpu::Engine two{{.capacity = 1, .share = "two"}};
    const cpu::Engine none{{.capacity = 1}};
    EXPECT_THAT(shared_engines(), ElementsAre("one", "two"));
  }
  EXPECT_THAT(shared_engines(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder()));
}

TEST_F(Rendezvous, RefusesWhatIsNoName) {
  for (const std::string name : {".hidden", "a/b", "a b", "../x", "\xff", "\n"})
    EXPECT_THAT(refusal(name), HasSubstr("a name has 1 to 64 letters")) << name;
  EXPECT_THAT(refusal(std::string(65, 'x')), HasSubstr("a name has 1 to 64 letters"));
  EXPECT_EQ(refusal(std::string(64, 'x')), "");
  EXPECT_THROW(Tenant({.engine = "a/b"}), Error);
}

TEST_F(Rendezvous, RefusesANameThatIsTaken) {
  {
    const cpu::Engine engine{{.capacity = 1, .share = "e"}};
    EXPECT_THAT(refusal(), HasSubstr("another engine of this process"));
    EXPECT_THAT(shared_engines(), ElementsAre("e"));
  }
  Child child{{"engine", "e", "1"}};
  ASSERT_EQ(child.line(), "ready");
  EXPECT_THAT(refusal(), HasSubstr("process " + std::to_string(child.pid()) + " shares an engine"));
  EXPECT_THAT(shared_engines(), ElementsAre("e"));
  EXPECT_EQ(child.end(), 0);
  EXPECT_EQ(refusal(), "");
}

TEST_F(Rendezvous, OfEnginesThatStartAtOnceInOneProcessIsKept) {
  const std::vector<std::string> names{"a", "b", "c", "d"};
  for (int round = 0; round < 150; ++round) {
    static_cast<void>(tenant::open_folder());
    for (const std::string& name : names)
      std::ofstream{folder() / (name + ".lock")};  // left by a dead engine
    std::latch ready{static_cast<std::ptrdiff_t>(names.size())};
    std::vector<std::optional<cpu::Engine>> engines(names.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < names.size(); ++i) {
        threads.emplace_back([&, i] {
          ready.arrive_and_wait();
          engines[i].emplace(cpu::EngineOptions{.capacity = 1, .share = names[i]});
        });
      }
    }
    ASSERT_THAT(shared_engines(), ElementsAre("a", "b", "c", "d"));
    for (const std::string& name : names)
      ASSERT_TRUE(std::filesystem::exists(folder() / (name + ".lock"))) << name;
  }
}

TEST_F(Rendezvous, ReplacesTheSocketOfADeadEngine) {
  for (int i = 0; i < 3; ++i) {
    Child child{{"engine", "e", "1"}};
    ASSERT_EQ(child.line(), "ready");
    child.kill();
    EXPECT_TRUE(std::filesystem::exists(folder() / "e.sock"));
    EXPECT_THAT(shared_engines(), IsEmpty());
    EXPECT_FALSE(Tenant{}.connected());
  }
  const cpu::Engine engine{{.capacity = 1, .share = "other"}};
  EXPECT_FALSE(std::filesystem::exists(folder() / "e.sock")) << "it is swept away";
}

TEST_F(Rendezvous, RefusesALinkInPlaceOfTheFolder) {
  std::filesystem::create_directory(runtime / "elsewhere");
  std::filesystem::create_directory_symlink(runtime / "elsewhere", folder());
  EXPECT_THAT(refusal(), HasSubstr("is not a folder, but a link or a file"));
  EXPECT_THROW(Tenant{}, Error);
  EXPECT_THROW(static_cast<void>(shared_engines()), Error);
  EXPECT_TRUE(std::filesystem::is_empty(runtime / "elsewhere"));
}

TEST_F(Rendezvous, RefusesAFileInPlaceOfTheFolder) {
  std::ofstream{folder()} << "x";
  EXPECT_THAT(refusal(), HasSubstr("is not a folder, but a link or a file"));
}

TEST_F(Rendezvous, RefusesAFolderThatIsOpenToOthers) {
  std::filesystem::create_directory(folder());
  std::filesystem::permissions(folder(), std::filesystem::perms{0750});
  EXPECT_THAT(refusal(), HasSubstr("is open to other users; run chmod 700"));
  std::filesystem::permissions(folder(), std::filesystem::perms{0700});
  std::filesystem::permissions(runtime, std::filesystem::perms{0770});
  EXPECT_THAT(refusal(), HasSubstr("can be changed by other users"));
}

TEST_F(Rendezvous, RefusesALinkInPlaceOfALock) {
  { const cpu::Engine engine{{.capacity = 1, .share = "e"}}; }
  std::filesystem::create_symlink("/etc/passwd", folder() / "e.lock");
  EXPECT_THAT(refusal(), HasSubstr("e.lock"));
}

TEST_F(Rendezvous, RefusesAnotherUsersFolder) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  // With a runtime folder that others can read, as under sudo.
  std::filesystem::permissions(runtime, std::filesystem::perms{0755});
  {
    Child child{{"folder", other_user}};
    EXPECT_THAT(child.line(), HasSubstr("belongs to user 0, not to you"));
    EXPECT_EQ(child.wait(), 2);
  }
  // Without a runtime folder, a folder in /tmp is used, which another user may have made before.
  ::unsetenv("XDG_RUNTIME_DIR");
  const std::string fallback = std::string{"/tmp/cohort-"} + other_user;
  std::filesystem::remove_all(fallback);
  {
    Child child{{"folder", other_user}};
    EXPECT_EQ(child.line(), "opened " + fallback);
    EXPECT_EQ(child.wait(), 0);
  }
  std::filesystem::remove_all(fallback);
  std::filesystem::create_directory(fallback);
  std::filesystem::permissions(fallback, std::filesystem::perms{0777});
  {
    Child child{{"folder", other_user}};
    EXPECT_THAT(child.line(), HasSubstr(fallback + " belongs to user 0, not to you; remove it"));
    EXPECT_EQ(child.wait(), 2);
  }
  std::filesystem::remove_all(fallback);
  std::filesystem::create_directory_symlink("/root", fallback);
  {
    Child child{{"folder", other_user}};
    EXPECT_THAT(child.line(), HasSubstr("is not a folder, but a link or a file"));
    EXPECT_EQ(child.wait(), 2);
  }
  std::filesystem::remove(fallback);
}

TEST_F(Rendezvous, RefusesAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
  const cpu::Engine engine{{.capacity = 1, .share = "e"}};
  const std::string socket = folder() / "e.sock";
  std::filesystem::permissions(runtime, std::filesystem::perms{0755});
  {
    Child child{{"intrude", other_user, socket}};
    EXPECT_THAT(child.line(), StartsWith("refused: ")) << "the folder is closed";
  }
  std::filesystem::permissions(folder(), std::filesystem::perms{0755});
  std::filesystem::permissions(socket, std::filesystem::perms{0777});
  {
    Child child{{"intrude", other_user, socket}};
    EXPECT_EQ(child.line(), "refused") << "the engine looks at the user";
  }
}

TEST_F(Rendezvous, WorksWithoutARuntimeFolderAndWithALongOne) {
  std::string deep = runtime;
  while (deep.size() < 200) {
    deep += "/a-folder-with-a-long-name";
    std::filesystem::create_directory(deep);
    std::filesystem::permissions(deep, std::filesystem::perms{0700});
  }
  ::setenv("XDG_RUNTIME_DIR", deep.c_str(), 1);
  {
    const cpu::Engine engine{{.capacity = 1, .share = "e"}};
    EXPECT_TRUE(Tenant{}.connected());
  }
  ::setenv("XDG_RUNTIME_DIR", "/does/not/exist", 1);
  EXPECT_EQ(tenant::folder_path(), "/tmp/cohort-" + std::to_string(::geteuid()));
  ::setenv("XDG_RUNTIME_DIR", "not/absolute", 1);
  EXPECT_EQ(tenant::folder_path(), "/tmp/cohort-" + std::to_string(::geteuid()));
}

TEST_F(Rendezvous, AsksWhichOfSeveralEngines) {
  const cpu::Engine one{{.capacity = 1, .share = "one"}};
  EXPECT_EQ(Tenant{}.engine(), "one");
  const cpu::Engine two{{.capacity = 1, .share = "two"}};
  try {
    const Tenant tenant;
    ADD_FAILURE() << "which one?";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("one, two; name one of them, or set COHORT_ENGINE"));
  }
  EXPECT_EQ(Tenant({.engine = "two"}).engine(), "two");
  ::setenv("COHORT_ENGINE", "two", 1);
  EXPECT_EQ(Tenant{}.engine(), "two");
  EXPECT_THAT(engine_status(), HasSubstr("\"name\": \"two\""));
  EXPECT_THAT(engine_status("one"), HasSubstr("\"name\": \"one\""));
  ::unsetenv("COHORT_ENGINE");
  EXPECT_THROW(static_cast<void>(engine_status("three")), Error);
}

}  // namespace
}  // namespace cohort::test
