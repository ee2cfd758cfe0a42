// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "transfer/kept_crossovers.hpp"

#include "base/fd.hpp"
#include "base/host.hpp"
#include "base/log.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <sys/stat.h>

namespace odrc::transfer {
namespace {

constexpr size_t kMostBytes = 1024; // of a file

// Of the user whose files these are: a program that runs with more rights than he has looks into
// none of them. Empty where there is none.
std::string cache_folder() {
    const char* cache = secure_getenv("XDG_CACHE_HOME");
    if (cache && cache[0] == '/') return cache;
    const char* home = secure_getenv("HOME");
    return home && home[0] == '/' ? std::string{home} + "/.cache" : std::string{};
}

bool is_ours_alone(const struct stat& file) noexcept {
    return S_ISREG(file.st_mode) && file.st_uid == geteuid() &&
           !(file.st_mode & (S_IWGRP | S_IWOTH));
}

bool take(std::string_view& text, std::string_view what) noexcept {
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
}

bool take(std::string_view& text, uint32_t& number) noexcept {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

} // namespace

std::string key_of(const verbs::Adapter& adapter) {
    const verbs::Port& port = adapter.port();
    return odrc::format(
        "odrc {}, {}{}{}, GUID {:016x}, firmware {}, {} bytes inline, {} memory, {}",
        PACKAGE_VERSION, port.name(), port.by_datagrams ? " by datagrams" : "",
        port.delivers ? " that delivers" : "", port.device_attr.node_guid, port.device_attr.fw_ver,
        adapter.max_inline(), adapter.whole_memory_key() ? "all" : "registered", processor_name());
}

std::string text_of(std::string_view key, const Crossovers& crossovers) {
    return odrc::format("{}\n{} {} {} {} {}\n", key, crossovers.inlined, crossovers.copied,
                        crossovers.unregistered, crossovers.eager, crossovers.sliced);
}

std::optional<Crossovers> read_text(std::string_view text, std::string_view key,
                                    const CrossoverRange& range) noexcept {
    Crossovers found{};
    const bool whole = take(text, key) && take(text, "\n") && take(text, found.inlined) &&
                       take(text, " ") && take(text, found.copied) && take(text, " ") &&
                       take(text, found.unregistered) && take(text, " ") &&
                       take(text, found.eager) && take(text, " ") && take(text, found.sliced) &&
                       text == "\n";
    if (!whole || range.clamp(found) != found) return std::nullopt;
    return found;
}

KeptCrossovers::KeptCrossovers(std::string key)
    : key_{std::move(key)}
    , folder_{cache_folder()} {
    if (!folder_.empty())
        path_ = odrc::format("{}/odrc/crossovers-{:016x}", folder_, std::hash<std::string>{}(key_));
}

std::optional<Crossovers> KeptCrossovers::find(const CrossoverRange& range) const noexcept {
    if (path_.empty()) return std::nullopt;
    const Fd file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat status {};
    if (!file || fstat(file.get(), &status) || !is_ours_alone(status)) return std::nullopt;
    std::array<char, kMostBytes> text;
    const ssize_t bytes = read(file.get(), text.data(), text.size());
    if (bytes < 0) return std::nullopt;
    return read_text({text.data(), static_cast<size_t>(bytes)}, key_, range);
}

// Whoever reads it meanwhile finds what was there before, or all of this.
void KeptCrossovers::keep(const Crossovers& crossovers) const noexcept {
    if (path_.empty()) return;
    try {
        mkdir(folder_.c_str(), 0700); // as XDG's base directories are made
        mkdir((folder_ + "/odrc").c_str(), 0700);
        const std::string text = text_of(key_, crossovers);
        std::string fresh = path_ + ".XXXXXX";
        const Fd file{mkostemp(fresh.data(), O_CLOEXEC)};
        const bool kept =
            file &&
            write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
            rename(fresh.c_str(), path_.c_str()) == 0;
        if (kept) return;
        ODRC_INFO(FI_LOG_DOMAIN, "{} cannot be written: {}", path_, fi_strerror(errno));
        if (file) unlink(fresh.c_str());
    } catch (const std::bad_alloc&) {
    }
}

} // namespace odrc::transfer
