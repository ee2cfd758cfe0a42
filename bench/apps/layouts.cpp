// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Messages of applications between two ranks: half of what each takes there and back if a datatype
// describes it, if the program packs it, and if it were contiguous. bench/datatypes puts the ways
// to move them side by side.

#include "bench/apps/exchange.hpp"
#include "bench/apps/grid_shapes.hpp"
#include "bench/apps/indexed_shapes.hpp"

namespace {

using namespace bench;

struct Options {
    std::vector<std::string> ways{"datatype", "manual", "contiguous"}, names;
    Rounds rounds;
};

class Applications {
public:
    explicit Applications(const Options& options)
        : options_{options}
        , contenders_{make_contenders(options.ways)} {}

    void all() const {
        same("wrf_x_vec", WrfHalo<true, false>{});
        same("wrf_y_vec", WrfHalo<false, false>{});
        same("wrf_x_sa", WrfHalo<true, true>{});
        same("wrf_y_sa", WrfHalo<false, true>{});
        same("milc_su3_zdown", MilcZDown{});
        same("nas_lu_x", LuX{});
        same("nas_lu_y", LuY{});
        same("nas_mg_x", MgX{});
        same("nas_mg_y", MgY{});
        same("nas_mg_z", MgZ{});
        particles<LammpsFull>("lammps_full");
        particles<LammpsAtomic>("lammps_atomic");
        measure("fft2d", FftRows{}, FftColumns{});
        same("specfem3d_oc", SpecfemOc{65'536, shuffled(chosen(65'536, 8))});
        same("specfem3d_cm", SpecfemCm{65'536, shuffled(chosen(65'536, 8))});
        measure("specfem3d_mt", SpecfemMt{}, Contiguous{Layout{SpecfemMt{}}.bytes, MPI_FLOAT});
    }

private:
    template <class Shape>
    void same(const char* name, const Shape& shape) const {
        measure(name, shape, shape);
    }
    template <class Particles>
    void particles(const char* name) const {
        constexpr int kOwn = 16'384;
        const Particles sent{kOwn, chosen(kOwn, 5)};
        measure(name, sent, Ghosts<Particles>{kOwn, int(sent.indices.size())});
    }

    template <class Sent, class Received>
    void measure(const std::string& name, const Sent& from, const Received& to) const {
        if (!options_.names.empty() && std::ranges::count(options_.names, name) == 0) return;
        const Layout sent{from}, received{to};
        ExchangedMemory memory{sent, received};
        auto exchanges = make_exchanges(contenders_, sent, received, memory);
        const std::string x = name + "/" + std::to_string(sent.blocks.size());
        options_.rounds.measure_us(contenders_, "layouts", x, sent.bytes,
                                   [&](size_t i) { return exchanges[i].latency(); });
    }

    const Options& options_;
    const Contenders contenders_;
};

} // namespace

int main(int argc, char** argv) {
    const Mpi mpi{argc, argv};
    Options options;
    CommandLine command{"Messages of applications between two ranks, name/blocks sent."};
    command
        .option("-w,--ways", options.ways,
                "described by a datatype, packed by hand (manual; manual:apart: into other memory "
                "than what comes in), as many contiguous bytes, or a "
                "datatype in a way of odrc_mpi's (its hint odrc_datatype)")
        .with_commas();
    command.option("-l,--layouts", options.names, "only these").with_commas();
    options.rounds.add_options(command);
    if (!command.read(argc, argv)) return command.status();
    Applications{options}.all();
    return 0;
}
