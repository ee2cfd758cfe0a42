// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

// The file in which a user's processes find what one of them has measured.

#include "transfer/kept_crossovers.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace odrc;
using namespace odrc::transfer;
namespace fs = std::filesystem;

namespace {

constexpr auto kEager = static_cast<uint32_t>(wire::kEagerLimit);
constexpr CrossoverRange kRange{
    {512, 0, 0, 1024, 0}, {2048, kEager, kEager, kEager, 32768}, {2048, 0, 0, kEager, 32768}};
constexpr Crossovers kSome{1024, 512, 2048, 4096, 16384};
constexpr const char* kKey = "odrc 0.1.0, soft0, a processor";

// A cache of our own.
class Cache {
public:
    Cache() {
        std::string name = (fs::temp_directory_path() / "odrc-XXXXXX").string();
        REQUIRE(mkdtemp(name.data()));
        folder = name;
        setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    }
    ~Cache() {
        unsetenv("XDG_CACHE_HOME");
        fs::permissions(folder, fs::perms::owner_all);
        fs::remove_all(folder);
    }
    fs::path folder;
};

void overwrite(const std::string& path, const std::string& text) {
    std::ofstream{path, std::ios::trunc} << text;
}

} // namespace

TEST_CASE("a file says what was kept of that device") {
    const std::string text = text_of(kKey, kSome);
    CHECK(read_text(text, kKey, kRange) == kSome);
    CHECK_FALSE(read_text(text, "odrc 0.1.0, soft0, another processor", kRange));

    SUBCASE("or nothing, where it is cut off or goes on") {
        for (size_t length = 0; length < text.size(); ++length)
            CHECK_FALSE(read_text(text.substr(0, length), kKey, kRange));
        CHECK_FALSE(read_text(text + "\n", kKey, kRange));
        CHECK_FALSE(read_text(text + text, kKey, kRange));
    }
    SUBCASE("or is not of its form") {
        for (const char* rest : {"\n1024 512 2048 4096\n", "\n1024  512 2048 4096 0\n",
                                 "\n1024,512,2048,4096,0\n", "\n-1 512 2048 4096 0\n",
                                 "\n1024 512 2048 4096 0.0\n", "\n1024 512 2048 4096 0x1000\n",
                                 "\n99999999999 512 2048 4096 0\n", " \n1024 512 2048 4096 0\n"})
            CHECK_FALSE(read_text(kKey + std::string{rest}, kKey, kRange));
    }
    SUBCASE("or says what cannot be") {
        for (const Crossovers& wrong :
             {Crossovers{4096, 512, 512, 4096, 0}, Crossovers{64, 512, 512, 4096, 0},
              Crossovers{1024, 8193, 512, 4096, 0}, Crossovers{1024, 512, 8193, 4096, 0},
              Crossovers{1024, 512, 512, 512, 0}, Crossovers{1024, 512, 512, 8193, 0},
              Crossovers{1024, 512, 512, 4096, 32769}})
            CHECK_FALSE(read_text(text_of(kKey, wrong), kKey, kRange));
    }
}

TEST_CASE("what one process keeps another one finds") {
    const Cache cache;
    const KeptCrossovers kept{kKey};
    CHECK(fs::path{kept.path()}.parent_path() == cache.folder / "cache" / "odrc");
    CHECK_FALSE(kept.find(kRange));
    kept.keep(kSome);
    CHECK(KeptCrossovers{kKey}.find(kRange) == kSome);
    CHECK_FALSE(KeptCrossovers{"of another device"}.find(kRange));
    kept.keep(kRange.usual);
    CHECK(kept.find(kRange) == kRange.usual);

    size_t files = 0;
    for (const auto& file : fs::directory_iterator{fs::path{kept.path()}.parent_path()}) {
        CHECK(file.path() == kept.path()); // nothing lies beside it
        ++files;
    }
    CHECK(files == 1);
    struct stat status {};
    REQUIRE(stat(kept.path().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);

    SUBCASE("unless it has been damaged; then it is written anew") {
        for (const char* damage : {"", "\n", "odrc", "nonsense\n1 2 3\n"}) {
            overwrite(kept.path(), damage);
            CHECK_FALSE(kept.find(kRange));
            kept.keep(kSome);
            CHECK(kept.find(kRange) == kSome);
        }
        overwrite(kept.path(), text_of(kKey, kSome) + std::string(1 << 20, 'x'));
        CHECK_FALSE(kept.find(kRange));
    }
}

TEST_CASE("a file that others could have written is not believed") {
    const Cache cache;
    const KeptCrossovers kept{kKey};
    kept.keep(kSome);
    REQUIRE(kept.find(kRange));
    const char* path = kept.path().c_str();

    for (const mode_t mode : {0620, 0602, 0666}) {
        REQUIRE(chmod(path, mode) == 0);
        CHECK_FALSE(kept.find(kRange));
    }
    REQUIRE(chmod(path, 0644) == 0);
    CHECK(kept.find(kRange) == kSome);

    SUBCASE("nor one of another user's") {
        if (geteuid() != 0) return; // who is not root cannot give it away
        REQUIRE(chown(path, 65534, 65534) == 0);
        CHECK_FALSE(kept.find(kRange));
    }
    SUBCASE("nor what is no file") {
        const std::string elsewhere = kept.path() + "-elsewhere";
        fs::rename(path, elsewhere);
        fs::create_symlink(elsewhere, path);
        CHECK_FALSE(kept.find(kRange));
        fs::remove(path);
        REQUIRE(mkfifo(path, 0600) == 0);
        CHECK_FALSE(kept.find(kRange)); // and does not wait for its writer
        fs::remove(path);
        fs::create_directory(path);
        CHECK_FALSE(kept.find(kRange));
    }
}

TEST_CASE("where nothing can be kept, nothing is") {
    const Cache cache;
    SUBCASE("a file is where the folder should be") {
        overwrite((cache.folder / "cache").string(), "");
        const KeptCrossovers kept{kKey};
        kept.keep(kSome);
        CHECK_FALSE(kept.find(kRange));
    }
    SUBCASE("the name is not that of a folder from the root on, and there is no home") {
        const std::string home = std::getenv("HOME") ? std::getenv("HOME") : "";
        setenv("XDG_CACHE_HOME", "cache", 1);
        unsetenv("HOME");
        const KeptCrossovers kept{kKey};
        CHECK(kept.path().empty());
        kept.keep(kSome);
        CHECK_FALSE(kept.find(kRange));
        setenv("HOME", (cache.folder / "home").c_str(), 1);
        CHECK(
            KeptCrossovers{kKey}.path().starts_with((cache.folder / "home/.cache/odrc").string()));
        if (!home.empty()) setenv("HOME", home.c_str(), 1);
    }
}
