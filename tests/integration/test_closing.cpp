// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// Every pair of objects of which one needs the other: FI_EBUSY of fi_close(3) until it is gone. The
// objects that are never closed, and those that there are not.

#include "far.hpp"
#include "tests/forks.hpp"

#include <dlfcn.h>

using namespace duo;

namespace {

// A fabric and a domain with nothing in them.
struct Empty {
    Empty() {
        const Info hints{fi_allocinfo()};
        hints->caps = kRmaWishes.caps | FI_RMA_EVENT;
        hints->domain_attr->mr_mode = kRmaMode;
        hints->domain_attr->name = strdup(choice().domain.c_str());
        hints->fabric_attr->prov_name = strdup("odrc");
        fi_info* found = nullptr;
        REQUIRE(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &found) == 0);
        info.reset(found);
        REQUIRE(fi_fabric(info->fabric_attr, &fabric, nullptr) == 0);
        owned_fabric.reset(fabric);
        REQUIRE(fi_domain(fabric, info.get(), &domain, nullptr) == 0);
        owned_domain.reset(domain);
    }

    fid* av() {
        fi_av_attr attr{};
        fid_av* out = nullptr;
        REQUIRE(fi_av_open(domain, &attr, &out, nullptr) == 0);
        return &out->fid;
    }
    fid* cq(fid_wait* set = nullptr) {
        fi_cq_attr attr{};
        attr.wait_obj = set ? FI_WAIT_SET : FI_WAIT_NONE;
        attr.wait_set = set;
        fid_cq* out = nullptr;
        REQUIRE(fi_cq_open(domain, &attr, &out, nullptr) == 0);
        return &out->fid;
    }
    fid* counter() {
        fi_cntr_attr attr{};
        fid_cntr* out = nullptr;
        REQUIRE(fi_cntr_open(domain, &attr, &out, nullptr) == 0);
        return &out->fid;
    }
    fid* eq() {
        fi_eq_attr attr{};
        fid_eq* out = nullptr;
        REQUIRE(fi_eq_open(fabric, &attr, &out, nullptr) == 0);
        return &out->fid;
    }
    fid* ep() {
        fid_ep* out = nullptr;
        REQUIRE(fi_endpoint(domain, info.get(), &out, nullptr) == 0);
        return &out->fid;
    }
    fid* mr() {
        fid_mr* out = nullptr;
        REQUIRE(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_WRITE, 0, 0, 0, &out, nullptr) ==
                0);
        return &out->fid;
    }
    fid* poll_set() {
        fi_poll_attr attr{};
        fid_poll* out = nullptr;
        REQUIRE(domain->ops->poll_open(domain, &attr, &out) == 0);
        return &out->fid;
    }
    fid* wait_set() {
        fi_wait_attr attr{.wait_obj = FI_WAIT_UNSPEC, .flags = 0};
        fid_wait* out = nullptr;
        REQUIRE(fabric->ops->wait_open(fabric, &attr, &out) == 0);
        return &out->fid;
    }

    Info info;
    fid_fabric* fabric{nullptr};
    fid_domain* domain{nullptr};
    Owned<fid_fabric> owned_fabric;
    Owned<fid_domain> owned_domain;
    char memory[64]{};
};

// The first one cannot be closed before the second one.
void check_leaning(fid* below, fid* above) {
    CHECK(fi_close(below) == -FI_EBUSY);
    CHECK(fi_close(above) == 0);
}

int bind(fid* object, fid* to, uint64_t flags) { return object->ops->bind(object, to, flags); }

} // namespace

TEST_CASE("a domain is not closed before any object of it, nor a fabric") {
    Empty e;
    for (fid* (Empty::*open)() :
         {&Empty::av, &Empty::counter, &Empty::ep, &Empty::mr, &Empty::poll_set})
        check_leaning(&e.domain->fid, (e.*open)());
    check_leaning(&e.domain->fid, e.cq());
    check_leaning(&e.fabric->fid, &e.owned_domain.release()->fid);
    check_leaning(&e.fabric->fid, e.eq());
    check_leaning(&e.fabric->fid, e.wait_set());
    CHECK(fi_close(&e.owned_fabric.release()->fid) == 0);
}

TEST_CASE("what is bound is not closed before what it is bound to") {
    Empty e;
    struct Bound {
        fid *below, *above;
        uint64_t flags;
    };
    for (const Bound& b :
         {Bound{e.av(), e.ep(), 0}, Bound{e.cq(), e.ep(), FI_TRANSMIT},
          Bound{e.cq(), e.ep(), FI_RECV | FI_TRANSMIT},
          Bound{e.counter(), e.ep(), FI_SEND | FI_WRITE},
          Bound{e.counter(), e.ep(), FI_REMOTE_WRITE}, Bound{e.counter(), e.mr(), FI_REMOTE_WRITE},
          Bound{e.eq(), e.ep(), 0}, Bound{e.eq(), e.av(), 0}}) {
        REQUIRE(bind(b.above, b.below, b.flags) == 0);
        check_leaning(b.below, b.above);
        CHECK(fi_close(b.below) == 0);
    }
    // Sets and their members.
    fid* set = e.wait_set();
    check_leaning(set, e.cq(reinterpret_cast<fid_wait*>(set)));
    CHECK(fi_close(set) == 0);
}

TEST_CASE("objects and operations that there are not are refused") {
    Empty e;
    fid_ep* ep = nullptr;
    fid_pep* passive = nullptr;
    fid_stx* shared = nullptr;
    CHECK(fi_scalable_ep(e.domain, e.info.get(), &ep, nullptr) == -FI_ENOSYS);
    CHECK(fi_passive_ep(e.fabric, e.info.get(), &passive, nullptr) == -FI_ENOSYS);
    CHECK(fi_stx_context(e.domain, nullptr, &shared, nullptr) == -FI_ENOSYS);
    CHECK(fi_srx_context(e.domain, nullptr, &ep, nullptr) == -FI_ENOSYS);
    fid* mr = e.mr();
    CHECK(fi_mr_enable(reinterpret_cast<fid_mr*>(mr)) == -FI_ENOSYS);
    CHECK(fi_close(mr) == 0);
    fid* endpoint = e.ep();
    CHECK(fi_tx_context(reinterpret_cast<fid_ep*>(endpoint), 0, nullptr, &ep, nullptr) ==
          -FI_ENOSYS);
    CHECK(fi_close(endpoint) == 0);
}

TEST_CASE("a program may exit with all open: libfabric lets the provider go, whose threads run on" *
          forks()) {
    Child child{[](Board&) {
        Empty e;
        fid* ep = e.ep();
        Dl_info where;
        if (!dladdr(reinterpret_cast<void*>(ep->ops->close), &where)) _exit(2);
        const std::string provider = where.dli_fname;
        // Once for libfabric, and once for this.
        void* library = dlopen(provider.c_str(), RTLD_NOW | RTLD_NOLOAD);
        if (!library || dlclose(library) || dlclose(library)) _exit(3);
        if (!dlopen(provider.c_str(), RTLD_NOW | RTLD_NOLOAD)) _exit(4);
        fi_close(ep);
    }};
    CHECK(child.join() == 0);
}
