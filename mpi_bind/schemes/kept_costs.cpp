// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "schemes/kept_costs.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace odrc::mpi {
namespace {

constexpr double SchemeCosts::*kAll[] = {
    &SchemeCosts::copied_piece, &SchemeCosts::copied_byte,  &SchemeCosts::fetched_byte,
    &SchemeCosts::write,        &SchemeCosts::gathered,     &SchemeCosts::written_byte,
    &SchemeCosts::read,         &SchemeCosts::scattered,    &SchemeCosts::read_byte,
    &SchemeCosts::plain_byte,   &SchemeCosts::placed,       &SchemeCosts::placed_byte,
    &SchemeCosts::exposed,      &SchemeCosts::exposed_byte, &SchemeCosts::word,
    &SchemeCosts::by_processor,
};
static_assert(sizeof kAll / sizeof *kAll == sizeof(SchemeCosts) / sizeof(double));

class File {
public:
    explicit File(int fd) noexcept
        : fd_{fd} {}
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int get() const noexcept { return fd_; }

private:
    const int fd_;
};

// Of the user whose files these are.
std::string cache_folder() {
    const char* cache = secure_getenv("XDG_CACHE_HOME");
    if (cache && cache[0] == '/') return cache;
    const char* home = secure_getenv("HOME");
    return home && home[0] == '/' ? std::string{home} + "/.cache" : std::string{};
}

bool is_ours_alone(int file) noexcept {
    struct stat status {};
    return file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

std::string text_of(const std::string& key, const SchemeCosts& costs) {
    std::string text = key + "\n";
    char number[32];
    for (const auto member : kAll) {
        const auto end = std::to_chars(number, number + sizeof number, costs.*member).ptr;
        text.append(number, end).append("\n");
    }
    return text;
}

std::optional<SchemeCosts> read_text(std::string_view text, std::string_view key) noexcept {
    if (!text.starts_with(key)) return std::nullopt;
    text.remove_prefix(key.size());
    SchemeCosts costs{};
    for (const auto member : kAll) {
        if (!text.starts_with('\n')) return std::nullopt;
        const char* const begin = text.data() + 1;
        const auto [end, error] = std::from_chars(begin, text.data() + text.size(), costs.*member);
        if (error != std::errc{} || !std::isfinite(costs.*member) || costs.*member < 0)
            return std::nullopt;
        text.remove_prefix(static_cast<size_t>(end - text.data()));
    }
    return text == "\n" ? std::optional{costs} : std::nullopt;
}

} // namespace

KeptCosts::KeptCosts(std::string key)
    : key_{std::move(key)}
    , folder_{cache_folder()} {
    if (folder_.empty()) return;
    char hash[32];
    const auto end =
        std::to_chars(hash, hash + sizeof hash, std::hash<std::string>{}(key_), 16).ptr;
    path_ = folder_ + "/odrc/datatypes-" + std::string{hash, end};
}

std::optional<SchemeCosts> KeptCosts::find() const noexcept {
    if (path_.empty()) return std::nullopt;
    const File file{open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    if (!is_ours_alone(file.get())) return std::nullopt;
    char text[2048];
    const ssize_t bytes = read(file.get(), text, sizeof text);
    if (bytes < 0) return std::nullopt;
    return read_text({text, static_cast<size_t>(bytes)}, key_);
}

// As XDG's base directories are made.
void KeptCosts::make_folder() const noexcept {
    mkdir(folder_.c_str(), 0700);
    mkdir((folder_ + "/odrc").c_str(), 0700);
}

KeptCosts::Turn::~Turn() {
    if (file_ >= 0) close(file_);
}

std::optional<KeptCosts::Turn> KeptCosts::take_turn() const noexcept {
    if (path_.empty()) return Turn{-1};
    make_folder();
    const int folder = open((folder_ + "/odrc").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    Turn turn{folder};
    if (flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
    return turn;
}

// Whoever reads it meanwhile finds what was there before, or all of this.
void KeptCosts::keep(const SchemeCosts& costs) const noexcept {
    if (path_.empty()) return;
    make_folder();
    const std::string text = text_of(key_, costs);
    std::string fresh = path_ + ".XXXXXX";
    const File file{mkostemp(fresh.data(), O_CLOEXEC)};
    if (file.get() < 0) return;
    const bool is_whole =
        write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    if (!is_whole || rename(fresh.c_str(), path_.c_str()) != 0) unlink(fresh.c_str());
}

} // namespace odrc::mpi
