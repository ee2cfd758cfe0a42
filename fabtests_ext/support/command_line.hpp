// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#pragma once

// What a program is told on its command line. CLI11 makes sense of it, whose headers take a
// compiler longer than most programs here do: one file includes them.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace fabtests_ext {

// One option, and what holds for its values. What it says of another option, that one must have
// been named before.
class Option {
public:
    // Returns what is wrong with a value; nothing if it is right.
    using Check = std::function<std::string(const std::string& value)>;

    explicit Option(CLI::Option& option)
        : option_{option} {}

    Option required();
    Option positive();
    Option not_negative();
    Option within(int64_t least, int64_t most);
    Option one_of(const std::vector<std::string>& values);
    Option checked_by(const Check& check);
    // Several are told with commas in between.
    Option with_commas();
    Option exactly(int count);
    Option excludes(const std::string& other);
    Option needs(const std::string& other);

private:
    CLI::Option& option_;
};

class CommandLine {
public:
    // purpose: the first line of what --help says.
    explicit CommandLine(const std::string& purpose);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    // names: as in "-s,--size", or without dashes for what is told by its place. The help names the
    // value it has if it is not told, unless there is none or `what` says which is the default.
    // Value is an int, unsigned, uint64_t, double or std::string, or a vector of int, size_t or
    // std::string: command_line.cpp has them.
    template <class Value>
    Option option(const std::string& names, Value& value, const std::string& what = {});
    // Something that is so if it is told: value becomes true, or false for names with a ! before
    // them.
    Option flag(const std::string& names, bool& value, const std::string& what = {});

    // False if the program is to end now, with that status: it was asked for help, or told
    // nonsense.
    [[nodiscard]] bool read(int argc, char** argv);
    int status() const noexcept { return status_; }

private:
    std::unique_ptr<CLI::App> app_;
    int status_{0};
};

} // namespace fabtests_ext
