// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "softrc/node.hpp"

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace odrc::soft {
namespace {

// For the reason in errno.
[[noreturn]] void fail(const char* what) {
    const int error = errno;
    ODRC_WARN(FI_LOG_DOMAIN, "soft0: {}: {}{}", what, fi_strerror(error), limit_behind(error));
    throw Error{error};
}

// The number of the namespace of that kind (namespaces(7)) that this process is in; 0: not known.
ino_t own_namespace(const char* kind) {
    struct stat status {};
    return stat(odrc::format("/proc/self/ns/{}", kind).c_str(), &status) == 0 ? status.st_ino : 0;
}

// Where this user's processes reach each other: those of other containers, which may have a host's
// network and names in common with them, have process numbers of their own (pid) or are kept out
// of each other's memory (user).
std::string shared_place() {
    return odrc::format("{}/{}/{}", geteuid(), own_namespace("pid"), own_namespace("user"));
}

// Names of sockets in the abstract namespace: they vanish with their owner.
std::string name_prefix() { return odrc::format("odrc/v{}/{}/", kLayoutVersion, shared_place()); }

Fd bind_name(const std::string& name) noexcept {
    Fd fd{socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!fd || name.size() + 1 > sizeof address.sun_path) return Fd{};
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length)) return Fd{};
    return fd;
}

// Joining and founding happen one process at a time. The name is the lock: it is free again the
// moment its holder dies.
Fd lock_node() {
    using namespace std::chrono_literals;
    for (auto left = 20'000ms; left > 0ms; left -= 1ms) {
        if (Fd lock = bind_name(name_prefix() + "lock")) return lock;
        if (errno != EADDRINUSE) break;
        std::this_thread::sleep_for(1ms);
    }
    fail("cannot take the node's lock");
}

// When a process started: with its pid, its identity. 0 if there is no such process, or it has
// ended and nobody has waited for it yet. (Its first thread alone may have ended.) Nothing, and
// errno, if it cannot be looked at: without a descriptor, say.
std::optional<uint64_t> start_time_of(pid_t pid) noexcept {
    char path[32], text[1024];
    std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
    const Fd stat{open(path, O_RDONLY | O_CLOEXEC)};
    const ssize_t n = stat ? read(stat.get(), text, sizeof text - 1) : -1;
    if (n < 0 && errno != ENOENT && errno != ESRCH) return std::nullopt;
    text[std::max<ssize_t>(n, 0)] = 0;
    const char* name_end = std::strrchr(text, ')'); // the name may hold spaces and parentheses
    char state = 0;
    long threads = 0;
    unsigned long long started = 0;
    // proc(5): the third field, the 20th and the 22nd.
    if (!name_end || std::sscanf(name_end + 1,
                                 " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                                 "%*d %ld %*d %llu",
                                 &state, &threads, &started) != 3)
        return 0;
    const bool has_ended = state == 'Z' || state == 'X';
    return has_ended && threads <= 1 ? 0 : started;
}

// A GID that is the same whenever this user founds the node anew, as that of a port is, and another
// on any other machine, for any other user, and where other processes are to be reached. apart: not
// 0 for one more node beside those that keep this process out.
void make_id(std::span<uint8_t, 16> id, uint64_t apart) {
    std::string text = odrc::format("{}/{}/{}", shared_place(), own_namespace("net"), apart);
    std::ifstream boot{"/proc/sys/kernel/random/boot_id"};
    std::string line;
    if (std::getline(boot, line)) text += line;
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
    constexpr uint8_t kSubnetPrefix[8] = {0xfe, 0x80}; // IBTA 1.4, 4.1.1: the default one
    std::ranges::copy(kSubnetPrefix, id.begin());
    std::memcpy(&id[8], &hash, sizeof hash);
}

constexpr uint64_t kGenerations = 1 << 20;

QpLocation make_location(uint32_t slot, uint32_t generation, uint64_t offset) noexcept {
    return uint64_t{slot} << 52 | uint64_t{generation} << 32 | offset / kLine;
}

QpPlace place_of(QpLocation location) noexcept {
    return {static_cast<uint32_t>(location >> 52),
            static_cast<uint32_t>(location >> 32 & (kGenerations - 1)),
            (location & 0xffffffff) * kLine};
}

} // namespace

NodeMember::NodeMember(int arena_fd) {
    const Fd lock = lock_node();
    bool kept_out = false;
    if (!join(kept_out)) found(kept_out);
    take_slot(arena_fd);
    announce();
}

NodeMember::~NodeMember() { node().processes[slot_].pid.store(0, std::memory_order_release); }

// Who does not see the others, or cannot map what they have, must not found a node of its own: it
// would be alone in it.
bool NodeMember::join(bool& kept_out) {
    const std::string prefix = "@" + name_prefix();
    std::ifstream names{"/proc/net/unix"};
    if (!names) fail("cannot look for the node");
    for (std::string line; std::getline(names, line);) {
        const size_t at = line.find(prefix);
        int pid = 0, fd = -1;
        if (at == std::string::npos ||
            std::sscanf(line.c_str() + at + prefix.size(), "%d.%d", &pid, &fd) != 2)
            continue;
        fd_ = open_shared_memory(pid, fd, sizeof(Node), sizeof(Node));
        if (!fd_ && (errno == EMFILE || errno == ENFILE)) fail("cannot look for the node");
        kept_out |= !fd_ && errno == EACCES;
        if (!fd_) continue;
        table_ = Mapping{fd_.get()};
        if (!table_) fail("no room for the node");
        if (node().magic == kNodeMagic && node().version == kLayoutVersion) return true;
    }
    return false;
}

void NodeMember::found(bool kept_out) {
    fd_ = create_shared_memory("odrc-node", sizeof(Node));
    if (fd_) table_ = Mapping{fd_.get()};
    if (!fd_ || !table_) fail("no shared memory for the node");
    if (getrandom(&node().instance, sizeof node().instance, 0) != sizeof node().instance)
        throw Error{errno};
    node().instance |= 1;
    make_id(node().id, kept_out ? node().instance : 0);
    node().next_qp_number.store(kFirstQpNumber, std::memory_order_relaxed);
    node().version = kLayoutVersion;
    node().magic = kNodeMagic;
}

void NodeMember::announce() {
    // A child that was forked keeps its parent's names alive: no two are the same.
    static std::atomic<uint32_t> count{0};
    name_ = bind_name(odrc::format("{}{}.{}.{}", name_prefix(), getpid(), fd_.get(), count++));
    if (!name_) fail("cannot announce this process");
}

// Who cannot be looked at has not died: what it holds stays its own.
bool NodeMember::alive(const ProcessSlot& slot) const noexcept {
    const auto pid = static_cast<pid_t>(slot.pid.load(std::memory_order_acquire));
    return pid != 0 && start_time_of(pid).value_or(slot.start_time) == slot.start_time;
}

void NodeMember::take_slot(int arena_fd) {
    const auto started = start_time_of(getpid());
    if (!started) fail("cannot look at this process");
    for (uint32_t i = 0; i < kMaxProcesses; ++i) {
        ProcessSlot& slot = node().processes[i];
        if (alive(slot)) continue;
        slot.pid.store(0, std::memory_order_release);
        slot_ = i;
        generation_ = (slot.generation.load(std::memory_order_relaxed) + 1) % kGenerations;
        slot.start_time = *started;
        slot.arena_fd = arena_fd;
        slot.generation.store(generation_, std::memory_order_relaxed);
        slot.pid.store(static_cast<uint32_t>(getpid()), std::memory_order_release);
        return;
    }
    ODRC_WARN(FI_LOG_DOMAIN, "soft0: all {} places for processes of this host are taken",
              kMaxProcesses);
    throw Error{FI_EBUSY};
}

uint32_t NodeMember::allocate_qp_number(uint64_t port_offset) noexcept {
    const QpLocation mine = make_location(slot_, generation_, port_offset);
    for (uint32_t tries = 0; tries < kQpNumbers; ++tries) {
        const uint32_t number =
            node().next_qp_number.fetch_add(1, std::memory_order_relaxed) % kQpNumbers;
        if (number < kFirstQpNumber || number >= kFirstVisitorNumber) continue;
        QpLocation there = node().qps[number].load(std::memory_order_acquire);
        // A number whose process has died is free again.
        if (there != 0) {
            const QpPlace place = place_of(there);
            if (find_process(place.slot, place.generation)) continue;
        }
        if (node().qps[number].compare_exchange_strong(there, mine)) return number;
    }
    return 0;
}

void NodeMember::release_qp_number(uint32_t number) noexcept {
    node().qps[number].store(0, std::memory_order_seq_cst);
}

std::optional<QpPlace> NodeMember::find_qp(uint32_t number) const noexcept {
    const QpLocation location = node().qps[number % kQpNumbers].load(std::memory_order_seq_cst);
    const QpPlace place = place_of(location);
    const ProcessSlot& there = node().processes[place.slot % kMaxProcesses];
    if (location == 0 || there.pid.load(std::memory_order_acquire) == 0 ||
        there.generation.load(std::memory_order_acquire) != place.generation)
        return std::nullopt;
    return place;
}

std::optional<NodeMember::Process> NodeMember::find_process(uint32_t slot,
                                                            uint32_t generation) const noexcept {
    const ProcessSlot& there = node().processes[slot % kMaxProcesses];
    if (!alive(there) || there.generation.load(std::memory_order_acquire) != generation)
        return std::nullopt;
    const Process process{static_cast<pid_t>(there.pid.load(std::memory_order_relaxed)),
                          there.arena_fd};
    return process;
}

} // namespace odrc::soft
