// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#define DOCTEST_CONFIG_IMPLEMENT
#include "differences.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <unistd.h>

namespace {

const char* volatile running = "";

void overdue(int) {
    // Only what a signal handler may call.
    for (const char* text : {"a test case hangs: ", const_cast<const char*>(running), "\n"}) {
        if (write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
    }
    _exit(124);
}

// Ends a test case that hangs in a call, where no deadline of its own can, and says at the end
// in what the device differs.
class Watch : public doctest::IReporter {
public:
    explicit Watch(const doctest::ContextOptions&) { std::signal(SIGALRM, overdue); }

    void test_case_start(const doctest::TestCaseData& test) override {
        running = test.m_name;
        alarm(120);
    }
    void test_case_end(const doctest::CurrentTestCaseStats&) override { alarm(0); }
    void test_run_end(const doctest::TestRunStats&) override {
        for (const rig::Difference* d : rig::differences_met()) {
            std::printf("differs: %.*s\n  demanded: %.*s\n", static_cast<int>(d->does.size()),
                        d->does.data(), static_cast<int>(d->demanded.size()), d->demanded.data());
        }
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("watch", 1, Watch);

} // namespace

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
