// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// Copyright (c) 2026 The odrc authors

#include "base/parameters.hpp"

#include "base/log.hpp"

#include <charconv>
#include <cstdlib>

namespace odrc {
namespace {

Parameters values;

void read(const char* name, std::string& value) {
    char* text = nullptr;
    if (fi_param_get_str(&provider, name, &text) == 0 && text) value = text;
}

template <class Value>
struct Named {
    const char* name;
    Value value;
};

// What the text of a variable names. Without any, or where that is nonsense, which is logged: the
// first of these.
template <class Value, size_t N>
Value read(const char* name, const char* variable, const Named<Value> (&choices)[N]) {
    std::string text, all;
    read(name, text);
    for (const Named<Value>& choice : choices) {
        if (text == choice.name) return choice.value;
        all += odrc::format("{}{}", all.empty() ? "" : ", ", choice.name);
    }
    if (!text.empty()) ODRC_WARN(FI_LOG_CORE, "{}={}: not one of {}", variable, text, all);
    return choices[0].value;
}

// Three or four numbers between commas, and nothing else. Without the fourth it is 0.
std::optional<std::array<uint32_t, 4>> few_numbers(std::string_view text) noexcept {
    std::array<uint32_t, 4> numbers{};
    const char* const end = text.data() + text.size();
    const char* at = text.data();
    for (uint32_t& number : numbers) {
        if (&number == &numbers.back() && at == end) break;
        if (&number != numbers.data() && (at == end || *at++ != ',')) return std::nullopt;
        const auto [next, error] = std::from_chars(at, end, number);
        if (error != std::errc{}) return std::nullopt;
        at = next;
    }
    if (at != end) return std::nullopt;
    return numbers;
}

void read_crossovers() {
    std::string text;
    read("crossovers", text);
    values.crossovers = few_numbers(text);
    values.measures_crossovers = text.empty() || text == "auto";
    if (values.crossovers || values.measures_crossovers || text == "fixed") return;
    ODRC_WARN(FI_LOG_CORE, "FI_ODRC_CROSSOVERS={}: not auto, fixed, or three or four numbers",
              text);
    values.measures_crossovers = true;
}

} // namespace

void define_parameters() noexcept {
    fi_param_define(&provider, "device", FI_PARAM_STRING,
                    "Names of the devices that may be used, as name[:port][,name[:port]...], for "
                    "example mlx5_0 or rxe0:1,soft0 (default: all)");
    fi_param_define(&provider, "profile", FI_PARAM_STRING,
                    "What each endpoint counted is reported when it closes: with a path, as one "
                    "line of JSON appended to <path>.<pid>; with 1, as a table on stderr "
                    "(default: no report)");
    fi_param_define(&provider, "cache_count", FI_PARAM_SIZE_T,
                    "How many registrations of local memory a domain keeps for later transfers "
                    "(default: 4096; 0: none)");
    fi_param_define(&provider, "cache_bytes", FI_PARAM_SIZE_T,
                    "How much memory a domain keeps registered for later transfers (default: half "
                    "of the host's memory, divided by its processors, and no more than half of "
                    "what may be locked, ulimit -l; 0: none)");
    fi_param_define(&provider, "memory", FI_PARAM_SIZE_T,
                    "How many bytes an endpoint has for buffers, however many peers it has: for "
                    "what comes in, and for messages that wait for their receives (default: "
                    "4194304)");
    fi_param_define(&provider, "eager", FI_PARAM_STRING,
                    "How short messages come in: srq, over a queue of receives that all peers "
                    "share; ring-srq, likewise, but from the first few peers by being written "
                    "into memory that is polled; ring-recv, the same with 64 receives of each "
                    "connection's own, to compare with; auto, as ring-srq, but from the peers "
                    "that send most, while they do (default: auto)");
    fi_param_define(&provider, "max_qp", FI_PARAM_SIZE_T,
                    "How many queue pairs an endpoint has at most, of which idle ones are given up "
                    "for others (default: what the device has, shared by the processes of the "
                    "host)");
    fi_param_define(&provider, "key", FI_PARAM_STRING,
                    "A secret that all processes of a job have in common: endpoints without an "
                    "auth_key connect to those alone that have it, too (default: no key)");
    fi_param_define(&provider, "connect", FI_PARAM_STRING,
                    "When connections are made: ondemand, to a peer at the first word; all, to all "
                    "processes of the job when the program names them, by their addresses alone, "
                    "in a format of the provider's own; auto, on demand unless the program asks "
                    "for such addresses and its job is small (default: auto)");
    fi_param_define(&provider, "crossovers", FI_PARAM_STRING,
                    "Up to how many bytes something goes inline, is copied rather than gathered, "
                    "goes in its frame, and goes in several rather than being announced: four "
                    "numbers, as in 1024,0,8192,65536, or three, for none in several; auto, what "
                    "is best on a device, as measured when it is first "
                    "used; fixed, what is best on most (default: auto)");
    fi_param_define(&provider, "broadcast", FI_PARAM_STRING,
                    "How a message goes to the members of a group: binary, binomial, knomial or "
                    "chain, as packets along such a tree, which members pass on below their "
                    "programs; message, broadcasts as whole messages that programs pass on; "
                    "auto, what its size asks for (default: auto)");
    fi_param_define(&provider, "intranode", FI_PARAM_STRING,
                    "Over what endpoints of other devices meet those of their own host: auto, "
                    "soft0 where both have it, else the device; soft, likewise, and who is not met "
                    "on soft0 is told of in the log; device, the device (default: auto)");
    fi_param_define(&provider, "reliability", FI_PARAM_STRING,
                    "Who sees to it that what is sent arrives, once each and in its order: nic, "
                    "the device, over reliable connections; host, the processes at both ends, over "
                    "the device's datagrams; ladder, these to begin with, and the device as soon "
                    "as a peer is talked to often; auto, the device for the first 64 peers, and "
                    "for those who come later as with ladder (default: auto)");
    fi_param_define(&provider, "mtu", FI_PARAM_STRING,
                    "The most data that a packet of a connection has: 256, 512, 1024, 2048 or "
                    "4096 bytes (default: what both devices allow)");
    try {
        values = {};
        // Not by fi_param_get(3), which writes what it finds to the log.
        if (const char* key = std::getenv("FI_ODRC_KEY")) values.key = key;
        values.broadcast = read<Broadcast>("broadcast", "FI_ODRC_BROADCAST",
                                           {{"auto", Broadcast::automatic},
                                            {"binary", Broadcast::binary},
                                            {"binomial", Broadcast::binomial},
                                            {"knomial", Broadcast::knomial},
                                            {"chain", Broadcast::chain},
                                            {"message", Broadcast::message}});
        values.connect = read<Connect>(
            "connect", "FI_ODRC_CONNECT",
            {{"auto", Connect::automatic}, {"ondemand", Connect::ondemand}, {"all", Connect::all}});
        values.eager = read<Eager>("eager", "FI_ODRC_EAGER",
                                   {{"auto", Eager::automatic},
                                    {"srq", Eager::srq},
                                    {"ring-srq", Eager::ring_srq},
                                    {"ring-recv", Eager::ring_recv}});
        values.intranode = read<Intranode>("intranode", "FI_ODRC_INTRANODE",
                                           {{"auto", Intranode::automatic},
                                            {"soft", Intranode::soft},
                                            {"device", Intranode::device}});
        values.reliability = read<Reliability>("reliability", "FI_ODRC_RELIABILITY",
                                               {{"auto", Reliability::automatic},
                                                {"ladder", Reliability::ladder},
                                                {"nic", Reliability::nic},
                                                {"host", Reliability::host}});
        values.mtu = read<uint32_t>("mtu", "FI_ODRC_MTU",
                                    {{"4096", Parameters::kMostMtu},
                                     {"2048", 2048},
                                     {"1024", 1024},
                                     {"512", 512},
                                     {"256", 256}});
        read_crossovers();
        read("device", values.device);
        read("profile", values.profile);
        fi_param_get_size_t(&provider, "memory", &values.memory);
        fi_param_get_size_t(&provider, "max_qp", &values.max_qp);
        fi_param_get_size_t(&provider, "cache_count", &values.cache_count);
        fi_param_get_size_t(&provider, "cache_bytes", &values.cache_bytes);
    } catch (const std::bad_alloc&) {
        ODRC_WARN(FI_LOG_CORE, "no memory for the parameters: defaults are used");
    }
}

const Parameters& parameters() noexcept { return values; }

} // namespace odrc
