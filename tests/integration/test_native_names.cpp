// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Addresses of the provider's own format, and the place in a job that is in them.

#include "job.hpp"

using namespace duo;

namespace {

std::string written(const Watched& side, const std::string& name) {
    char text[200];
    size_t length = sizeof text;
    const std::string out = fi_av_straddr(side.endpoint.av(), name.data(), text, &length);
    CHECK(length == out.size() + 1);
    return out;
}

} // namespace

TEST_CASE("addresses of the provider's own format are looked up, written down, and checked") {
    Company c{2};
    c.introduce_all();
    const std::string name = c[1].endpoint.name();
    char bytes[64];
    size_t length = sizeof bytes;
    REQUIRE(fi_av_lookup(c[0].endpoint.av(), c.numbers[0][1], bytes, &length) == 0);
    CHECK(std::string{bytes, length} == name);
    const std::string text = written(c[0], name);
    // "://" and the IP address, as any endpoint of the domain has it.
    const Watched plain{kRmaWishes};
    const std::string socket = written(plain, plain.endpoint.name());
    const std::string ip =
        socket.substr(socket.find("://"), socket.rfind(':') + 1 - socket.find("://"));
    CHECK(text.starts_with("fi_odrc" + ip));
    if (room_for(2)) CHECK(text.find("?rank=1&size=2&qp=0x") != std::string::npos);
    length = 63;
    CHECK(fi_getname(&c[0].ep()->fid, bytes, &length) == -FI_ETOOSMALL);
    CHECK(length == 64);

    // An array of them; one that is none does not keep the others out.
    std::string array = name + name + name;
    array[64 + 1] = char(0x7f);
    fi_addr_t numbers[3];
    CHECK(fi_av_insert(c[0].endpoint.av(), array.data(), 3, numbers, 0, nullptr) == 2);
    CHECK(numbers[1] == FI_ADDR_NOTAVAIL);
    CHECK(numbers[2] != FI_ADDR_NOTAVAIL);
}

TEST_CASE("a place in a job is one, and is taken before the endpoint is enabled") {
    const Watched side{place(0, 2)};
    fi_odrc_place where{.rank = 0, .size = 2, .job = 1, .endpoint = 0};
    const auto set = [](fid_ep* ep, const fi_odrc_place& p, size_t size = sizeof(fi_odrc_place)) {
        return fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_ODRC_OPT_PLACE, &p, size);
    };
    CHECK(set(side.ep(), where) == -FI_EOPBADSTATE);
    fid_ep* ep = nullptr;
    auto* info = const_cast<fi_info*>(&side.endpoint.info());
    REQUIRE(fi_endpoint(side.endpoint.domain(), info, &ep, nullptr) == 0);
    const Owned<fid_ep> owned{ep};
    CHECK(set(ep, where) == 0);
    CHECK(set(ep, where, sizeof where - 1) == -FI_EINVAL);
    where.rank = 2;
    CHECK(set(ep, where) == -FI_EINVAL);
    where = {.rank = 0, .size = 65536, .job = 1, .endpoint = 0};
    CHECK(set(ep, where) == -FI_EINVAL);
    where = {.rank = 0, .size = 1, .job = 1, .endpoint = 64};
    CHECK(set(ep, where) == -FI_EINVAL);
}
