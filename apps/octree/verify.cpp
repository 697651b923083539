#include <algorithm>
#include <array>
#include <random>
#include <tuple>

#include "apps/octree/host.hpp"

namespace cohort::apps {

std::vector<Particle> make_particles(std::uint32_t count) {
  constexpr std::uint32_t cluster = 100;
  std::mt19937 random{5489};  // NOLINT(cert-msc51-cpp): always the same particles
  const auto draw = [&](float width) {
    return width * static_cast<float>(static_cast<double>(random()) / 4294967295.0) - width / 2;
  };
  std::vector<Particle> particles;
  particles.reserve(count);
  Particle centre{};
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i % cluster == 0) {
      centre.x = draw(800);
      centre.y = draw(800);
      centre.z = draw(800);
    }
    Particle particle{};
    particle.x = centre.x + draw(100);
    particle.y = centre.y + draw(100);
    particle.z = centre.z + draw(100);
    particles.push_back(particle);
  }
  return particles;
}

TreeSize tree_size(const OctreeResult& result) {
  TreeSize size;
  for (const Box& box : result.boxes) {
    if (box.children != Box::leaf) {
      ++size.tasks;
      size.depth = std::max(size.depth, std::int64_t{box.depth});
    } else {
      ++(box.end > box.begin ? size.leaves : size.empty_leaves);
    }
  }
  return size;
}

namespace {

using Point = std::array<float, 3>;

/// Divides vectors of points depth first, and compares them with the result's tree.
class Checker {
 public:
  Checker(const OctreeResult& result, const OctreeOptions& how) : result_(result), how_(how) {}

  std::optional<std::string> check(std::uint32_t at, std::vector<Point> points, Point centre,
                                   float reach, std::uint32_t depth, bool root) {
    const Box& box = result_.boxes[at];
    const auto name = [&] {
      return "the box at depth " + std::to_string(depth) + " around (" + std::to_string(centre[0]) +
             ", " + std::to_string(centre[1]) + ", " + std::to_string(centre[2]) + ")";
    };
    if (box.end - box.begin != points.size()) {
      return name() + " has " + std::to_string(box.end - box.begin) + " particles instead of " +
             std::to_string(points.size());
    }
    const bool divided =
        root ? !points.empty() : points.size() > how_.max_leaf && depth < how_.max_depth;
    if (divided != (box.children != Box::leaf))
      return name() + (divided ? " is a leaf" : " is divided");
    visited_ += 1;
    if (!divided) return compare(box, points, name());
    if (box.children + 8ULL > result_.boxes.size()) return name() + " has children nowhere";
    std::array<std::vector<Point>, 8> parts;
    for (const Point& point : points) {
      std::size_t part = 0;
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (!(point[axis] < centre[axis])) part |= std::size_t{1} << axis;
      parts[part].push_back(point);
    }
    points = {};
    for (std::size_t part = 0; part < 8; ++part) {
      Point below = centre;
      for (std::size_t axis = 0; axis < 3; ++axis)
        below[axis] += (part >> axis & 1U) != 0 ? reach : -reach;
      if (auto difference = check(box.children + static_cast<std::uint32_t>(part),
                                  std::move(parts[part]), below, reach * 0.5F, depth + 1, false))
        return difference;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::size_t visited() const { return visited_; }

 private:
  std::optional<std::string> compare(const Box& box, std::vector<Point>& points,
                                     const std::string& name) const {
    std::vector<Point> found;
    for (std::uint32_t i = box.begin; i < box.end; ++i) {
      const Particle& each = result_.particles[i];
      found.push_back({each.x, each.y, each.z});
    }
    std::sort(found.begin(), found.end());
    std::sort(points.begin(), points.end());
    if (found != points) return name + " has other particles than it should";
    return std::nullopt;
  }

  const OctreeResult& result_;
  const OctreeOptions& how_;
  std::size_t visited_ = 0;
};

}  // namespace

std::optional<std::string> check_octree(const std::vector<Particle>& particles,
                                        const OctreeResult& result, const OctreeOptions& how) {
  if (result.boxes.empty()) return "there is no root";
  std::vector<Point> points;
  points.reserve(particles.size());
  for (const Particle& each : particles) points.push_back({each.x, each.y, each.z});
  Checker checker{result, how};
  auto difference = checker.check(0, std::move(points), {0, 0, 0}, 256, 0, true);
  if (!difference && checker.visited() != result.boxes.size()) {
    difference = "there are " + std::to_string(result.boxes.size()) + " boxes instead of " +
                 std::to_string(checker.visited());
  }
  return difference;
}

}  // namespace cohort::apps
