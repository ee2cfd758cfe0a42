// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "contract.hpp"

#include <cstring>

std::vector<contract::Test>& contract::tests() {
    static std::vector<Test> all;
    return all;
}

// Tests whose name has the argument in it are left out.
int main(int argc, char** argv) {
    int provided = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    if (provided != MPI_THREAD_SERIALIZED) ++contract::failures;
    size_t done = 0;
    for (const contract::Test& test : contract::tests()) {
        if (argc > 1 && std::strstr(test.name, argv[1])) continue;
        ++done;
        contract::current = test.name;
        test.body();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    int failures = 0;
    MPI_Allreduce(&contract::failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (contract::rank() == 0) {
        char library[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(library, &length);
        std::printf("%s: %zu tests by %d processes, %d checks failed\n", library, done,
                    contract::size(), failures);
    }
    MPI_Finalize();
    return failures != 0;
}
