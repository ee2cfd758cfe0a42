// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "command_line.hpp"

#include <CLI/CLI.hpp>

namespace fabtests_ext {

Option Option::required() {
    option_.required();
    return *this;
}
Option Option::positive() {
    option_.check(CLI::PositiveNumber);
    return *this;
}
Option Option::not_negative() {
    option_.check(CLI::NonNegativeNumber);
    return *this;
}
Option Option::within(int64_t least, int64_t most) {
    option_.check(CLI::Range(least, most));
    return *this;
}
Option Option::one_of(const std::vector<std::string>& values) {
    option_.check(CLI::IsMember{values});
    return *this;
}
Option Option::checked_by(const Check& check) {
    option_.check(check);
    return *this;
}
Option Option::with_commas() {
    option_.delimiter(',');
    return *this;
}
Option Option::exactly(int count) {
    option_.expected(count);
    return *this;
}
Option Option::excludes(const std::string& other) {
    option_.excludes(other);
    return *this;
}
Option Option::needs(const std::string& other) {
    option_.needs(other);
    return *this;
}

CommandLine::CommandLine(const std::string& purpose)
    : app_{std::make_unique<CLI::App>(purpose)} {}

CommandLine::~CommandLine() = default;

namespace {

template <class Value>
constexpr bool has_value(const Value&) {
    return true;
}
template <class Value>
requires requires(Value value) { value.empty(); }
bool has_value(const Value& value) { return !value.empty(); }

} // namespace

template <class Value>
Option CommandLine::option(const std::string& names, Value& value, const std::string& what) {
    CLI::Option* const option = app_->add_option(names, value, what);
    if (has_value(value) && what.find("default") == std::string::npos)
        option->capture_default_str();
    return Option{*option};
}
template Option CommandLine::option(const std::string&, int&, const std::string&);
template Option CommandLine::option(const std::string&, unsigned&, const std::string&);
template Option CommandLine::option(const std::string&, uint64_t&, const std::string&);
template Option CommandLine::option(const std::string&, double&, const std::string&);
template Option CommandLine::option(const std::string&, std::string&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<int>&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<size_t>&, const std::string&);
template Option CommandLine::option(const std::string&, std::vector<std::string>&,
                                    const std::string&);

Option CommandLine::flag(const std::string& names, bool& value, const std::string& what) {
    return Option{*app_->add_flag(names, value, what)};
}

bool CommandLine::read(int argc, char** argv) {
    try {
        app_->parse(argc, argv);
        return true;
    } catch (const CLI::ParseError& error) {
        status_ = app_->exit(error);
        return false;
    }
}

} // namespace fabtests_ext
