// A source that reads ahead: a thread fills a few chunks while the reader empties others.
// Invariant: a chunk belongs either to the thread or to the reader, and is handed over under the
// mutex.
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/source.hpp"

namespace cohort {
namespace {

class ReadAhead : public Source {
 public:
  explicit ReadAhead(std::unique_ptr<Source> inner)
      : inner_(std::move(inner)), thread_([this](const std::stop_token& stop) { fetch(stop); }) {}

  std::size_t read(char* into, std::size_t room) override {
    if (position_ == current_.size() && !next()) return 0;
    const std::size_t size = std::min(room, current_.size() - position_);
    std::copy_n(current_.data() + position_, size, into);
    position_ += size;
    return size;
  }

 private:
  using Chunk = std::vector<char>;
  static constexpr std::size_t chunk_size = std::size_t{256} << 10U;
  static constexpr std::size_t most_filled = 4;

  /// Advances to the next filled chunk. Returns false at the end of the source.
  bool next() {
    std::unique_lock lock{mutex_};
    if (current_.capacity() != 0) empty_.push_back(std::move(current_));
    current_.clear();
    position_ = 0;
    changed_.wait(lock, [this] { return !filled_.empty() || finished_; });
    if (filled_.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return false;
    }
    current_ = std::move(filled_.front());
    filled_.erase(filled_.begin());
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  /// Body of the thread: fills chunks until the end of the source, a failure, or a stop request.
  void fetch(const std::stop_token& stop) {
    std::exception_ptr failure;
    try {
      Chunk chunk;
      while (fill(chunk) && hand_over(chunk, stop)) continue;
    } catch (...) {
      failure = std::current_exception();
    }
    {
      const std::lock_guard lock{mutex_};
      failure_ = failure;
      finished_ = true;
    }
    changed_.notify_all();
  }

  bool fill(Chunk& chunk) {
    chunk.resize(chunk_size);
    chunk.resize(inner_->read(chunk.data(), chunk.size()));
    return !chunk.empty();
  }

  bool hand_over(Chunk& chunk, const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait(lock, stop, [this] { return filled_.size() < most_filled; })) return false;
    filled_.push_back(std::move(chunk));
    chunk = Chunk{};
    if (!empty_.empty()) {
      chunk = std::move(empty_.back());
      empty_.pop_back();
    }
    lock.unlock();
    changed_.notify_all();
    return true;
  }

  std::unique_ptr<Source> inner_;  // used by the thread only
  Chunk current_;                  // used by the reader only
  std::size_t position_ = 0;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<Chunk> filled_;  // oldest first
  std::vector<Chunk> empty_;
  bool finished_ = false;
  std::exception_ptr failure_;
  std::jthread thread_;  // last member: it must end before the members that it uses
};

}  // namespace

std::unique_ptr<Source> read_ahead(std::unique_ptr<Source> inner) {
  return std::make_unique<ReadAhead>(std::move(inner));
}

}  // namespace cohort
