#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cohort/mpi.hpp"

namespace cohort::mpi {
namespace {

using protocol::Ballot;
using protocol::Bytes;

std::vector<std::string> command_line() {
  std::ifstream file{"/proc/self/cmdline"};
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// Limit on the memory that is kept for the parcels of the next exchange, for each rank.
constexpr std::size_t most_kept = std::size_t{1} << 22U;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw Error{Errc::device_lost, std::string{"MPI: "} + call + ": " + text.data()};
}

void add_ballots(void* from, void* into, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i) static_cast<Ballot*>(into)[i] += static_cast<Ballot*>(from)[i];
}

}  // namespace

struct Network::Impl {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype ballot = MPI_DATATYPE_NULL;
  MPI_Op sum = MPI_OP_NULL;
  std::size_t piece = 0;
  std::vector<Bytes> spare;  // memory kept for parcels, by rank
  int rank = 0;
  int ranks = 1;
  bool joined = false;
  bool ours = false;  // this object initialised MPI

  /// Adds one rank. Collective. The new rank takes part in the collective calls that follow this
  /// one.
  bool spawn() {
    // The new rank starts in an MPI world of its own. Otherwise it could not leave alone.
    std::vector<std::string> words = command_line();
    std::vector<char*> arguments;
    for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(words[i].data());
    arguments.push_back(nullptr);
    // Pass the link's target, because the link itself would name another process there.
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    MPI_Comm newcomer = MPI_COMM_NULL;
    int error = MPI_SUCCESS;
    if (MPI_Comm_spawn(program.c_str(), arguments.data(), 1, MPI_INFO_NULL, 0, comm, &newcomer,
                       &error) != MPI_SUCCESS)
      return false;
    merge(newcomer, false);
    return true;
  }
  void merge(MPI_Comm other, bool last) {
    MPI_Comm next = MPI_COMM_NULL;
    check(MPI_Intercomm_merge(other, last ? 1 : 0, &next), "MPI_Intercomm_merge");
    MPI_Comm_free(&other);
    use(next);
  }
  /// Tells every rank how many ranks are still to come. Only the value of rank 0 counts.
  std::uint32_t to_come(std::uint32_t count) {
    check(MPI_Bcast(&count, 1, MPI_UINT32_T, 0, comm), "MPI_Bcast");
    return count;
  }

  /// Sends a parcel in pieces. Only the last piece is shorter than `piece`, and it may be empty. So
  /// the receiver needs no other message to learn the size.
  void send(const Bytes& parcel, int to, std::vector<MPI_Request>& requests) const {
    for (std::size_t at = 0;; at += piece) {
      const std::size_t size = std::min(piece, parcel.size() - at);
      requests.emplace_back();
      check(MPI_Isend(parcel.data() + at, static_cast<int>(size), MPI_BYTE, to, 0, comm,
                      &requests.back()),
            "MPI_Isend");
      if (size < piece) return;
    }
  }
  /// Starts to receive the last piece. `parcel` may still have the contents of an older parcel.
  void receive(Bytes& parcel, int from, std::vector<MPI_Request>& requests) const {
    for (std::size_t at = 0;; at += piece) {
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Mprobe(from, 0, comm, &message, &status), "MPI_Mprobe");
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      parcel.resize(at + static_cast<std::size_t>(size));
      if (static_cast<std::size_t>(size) == piece) {
        // The memory may move when it grows.
        check(MPI_Mrecv(parcel.data() + at, size, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
        continue;
      }
      requests.emplace_back();
      check(MPI_Imrecv(parcel.data() + at, size, MPI_BYTE, &message, &requests.back()),
            "MPI_Imrecv");
      return;
    }
  }

  /// Replaces the communicator.
  void use(MPI_Comm next) {
    // MPI_Comm_disconnect would hang on merged communicators in Open MPI 4.1.
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    comm = next;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
  }
};

Network::Network(std::size_t piece) : impl_(std::make_unique<Impl>()) {
  impl_->piece = piece;
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised == 0) {
    int level = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    impl_->ours = true;
    if (level < MPI_THREAD_SERIALIZED)
      throw Error{Errc::unsupported, "this MPI has no support for threads"};
  }
  MPI_Comm parent = MPI_COMM_NULL;
  check(MPI_Comm_get_parent(&parent), "MPI_Comm_get_parent");
  if (parent == MPI_COMM_NULL) {
    MPI_Comm comm = MPI_COMM_NULL;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    impl_->use(comm);
  } else {
    impl_->joined = true;
    impl_->merge(parent, true);
    while (impl_->to_come(0) != 0 && impl_->spawn()) {
    }
  }
  MPI_Type_contiguous(sizeof(Ballot), MPI_BYTE, &impl_->ballot);
  MPI_Type_commit(&impl_->ballot);
  MPI_Op_create(&add_ballots, 1, &impl_->sum);
}

Network::~Network() {
  MPI_Op_free(&impl_->sum);
  MPI_Type_free(&impl_->ballot);
  if (impl_->comm != MPI_COMM_NULL) MPI_Comm_free(&impl_->comm);
  if (impl_->ours) MPI_Finalize();
}

std::uint32_t Network::rank() const { return static_cast<std::uint32_t>(impl_->rank); }
std::uint32_t Network::ranks() const { return static_cast<std::uint32_t>(impl_->ranks); }
bool Network::joined() const { return impl_->joined; }

Ballot Network::vote(const Ballot& mine) {
  Ballot all;
  check(MPI_Allreduce(&mine, &all, 1, impl_->ballot, impl_->sum, impl_->comm), "MPI_Allreduce");
  return all;
}

std::vector<Bytes> Network::trade(std::vector<Bytes> parcels) {
  const auto self = static_cast<std::size_t>(impl_->rank);
  std::vector<Bytes> arrived = std::move(impl_->spare);
  arrived.resize(parcels.size());
  arrived[self] = std::move(parcels[self]);
  parcels[self].clear();

  std::vector<MPI_Request> requests;
  // Each rank begins with its neighbour, so that not all ranks send to the same one at a time.
  for (std::size_t step = 1; step < parcels.size(); ++step) {
    const std::size_t to = (self + step) % parcels.size();
    impl_->send(parcels[to], static_cast<int>(to), requests);
  }
  for (std::size_t step = 1; step < parcels.size(); ++step) {
    const std::size_t from = (self + parcels.size() - step) % parcels.size();
    impl_->receive(arrived[from], static_cast<int>(from), requests);
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  return arrived;
}

void Network::reuse(std::vector<Bytes> parcels) {
  for (Bytes& each : parcels) {
    if (each.capacity() > most_kept) each = {};
  }
  impl_->spare = std::move(parcels);
}

std::uint32_t Network::grow(std::uint32_t more) {
  std::uint32_t come = 0;
  while (come < more && impl_->spawn()) impl_->to_come(more - ++come);
  return come;
}

void Network::shrink(const std::vector<std::uint8_t>& stays) {
  MPI_Comm next = MPI_COMM_NULL;
  const bool mine = stays[static_cast<std::size_t>(impl_->rank)] != 0;
  check(MPI_Comm_split(impl_->comm, mine ? 0 : MPI_UNDEFINED, impl_->rank, &next),
        "MPI_Comm_split");
  if (mine) {
    impl_->use(next);
  } else {
    MPI_Comm_free(&impl_->comm);
  }
}

void Network::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace cohort::mpi
