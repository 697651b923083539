// The apps' host sides as nvcc has compiled them, for the CUDA engine and for plain CUDA.
#pragma once

#include "apps/bfs/host.hpp"
#include "apps/cc/host.hpp"
#include "apps/color/host.hpp"
#include "apps/cuda/plain.cuh"
#include "apps/cuda/registry.hpp"
#include "apps/game/host.hpp"
#include "apps/l_sssp/host.hpp"
#include "apps/mis/host.hpp"
#include "apps/octree/host.hpp"
#include "apps/p_sssp/host.hpp"

namespace cohort::apps {

extern template BfsResult run_bfs(cuda::Engine&, const Csr&, Node, const RunOptions&,
                                  const BfsOptions&);
extern template BfsResult run_bfs(PlainEngine&, const Csr&, Node, const RunOptions&,
                                  const BfsOptions&);
extern template CcResult run_cc(cuda::Engine&, const Csr&, const RunOptions&, const CcOptions&);
extern template CcResult run_cc(PlainEngine&, const Csr&, const RunOptions&, const CcOptions&);
extern template ColorResult run_color(cuda::Engine&, const Csr&, const RunOptions&,
                                      const ColorOptions&);
extern template ColorResult run_color(PlainEngine&, const Csr&, const RunOptions&,
                                      const ColorOptions&);
extern template MisResult run_mis(cuda::Engine&, const Csr&, const RunOptions&, const MisOptions&);
extern template MisResult run_mis(PlainEngine&, const Csr&, const RunOptions&, const MisOptions&);
extern template SsspResult run_p_sssp(cuda::Engine&, const Csr&, Node, const RunOptions&,
                                      const PullSsspOptions&);
extern template SsspResult run_p_sssp(PlainEngine&, const Csr&, Node, const RunOptions&,
                                      const PullSsspOptions&);
extern template SsspResult run_l_sssp(cuda::Engine&, const Csr&, Node, const RunOptions&,
                                      const ListSsspOptions&);
extern template SsspResult run_l_sssp(PlainEngine&, const Csr&, Node, const RunOptions&,
                                      const ListSsspOptions&);
extern template OctreeResult run_octree(cuda::Engine&, const std::vector<Particle>&,
                                        const RunOptions&, const OctreeOptions&);
extern template OctreeResult run_octree(PlainEngine&, const std::vector<Particle>&,
                                        const RunOptions&, const OctreeOptions&);
extern template GameResult run_game(cuda::Engine&, const Board&, const RunOptions&,
                                    const GameOptions&);
extern template GameResult run_game(PlainEngine&, const Board&, const RunOptions&,
                                    const GameOptions&);

}  // namespace cohort::apps
