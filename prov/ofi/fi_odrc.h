/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 The odrc authors */

#ifndef FI_ODRC_H
#define FI_ODRC_H

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The provider's own address format (fi_info: addr_format), of 64 bytes, by which endpoints of one
 * job connect without exchanging anything else. fi_odrc(7) says when fi_getinfo(3) gives it; a
 * program that knows of it may ask for it.
 */
#define FI_ODRC_ADDRESS (FI_PROV_SPECIFIC | 0x6f647263u)

/*
 * An option of endpoints (fi_setopt(3), FI_OPT_ENDPOINT), before they are enabled: which place in a
 * job they have, where no launcher says it, or another one. Endpoints connect by their addresses if
 * job, size and endpoint are the same.
 */
#define FI_ODRC_OPT_PLACE ((int)(FI_PROV_SPECIFIC | 1u))

struct fi_odrc_place {
    uint32_t rank;
    uint32_t size;     /* of the job: 65535 at most */
    uint64_t job;      /* any number that tells it from others */
    uint32_t endpoint; /* of those of one process, up to 63 */
};

/*
 * Messages by their length: of up to 64, 256, 1024, 4096, 8192, 65536 and 1048576 bytes, and longer
 * ones.
 */
struct fi_odrc_by_size {
    struct {
        uint64_t messages;
        uint64_t bytes;
    } classes[8];
};

/*
 * What an endpoint of the odrc provider has counted since it was enabled. fi_odrc(7) says what each
 * number means. New ones are added at the end.
 */
struct fi_odrc_statistics {
    uint64_t peers;
    uint64_t connections_made;
    uint64_t connections; /* now */
    uint64_t connections_peak;
    uint64_t wireup_datagrams;
    uint64_t wireup_bytes;
    uint64_t messages_sent;
    uint64_t messages_received;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t rma_operations;
    uint64_t rma_bytes;
    uint64_t atomics;
    uint64_t posts;
    uint64_t unexpected;
    uint64_t registrations;
    uint64_t registrations_found;
    uint64_t memory_bytes; /* now */
    uint64_t memory_bytes_peak;
    uint64_t rnr;
    uint64_t connections_evicted;
    uint64_t connections_waiting; /* now */
    uint64_t connections_wiring;  /* now */
    uint64_t connections_leaving; /* now */
    uint64_t connections_answered;
    uint64_t connections_crossed;
    uint64_t line_ns;
    uint64_t request_ns;
    uint64_t accept_ns;
    uint64_t leave_ns;
    uint64_t wireup_refused;
    uint64_t connections_replaced;
    uint64_t repeats_dropped;
    uint64_t published_bytes;
    uint64_t connections_deepened;
    uint64_t connections_soft;
    uint64_t srq_buffers_peak;
    uint64_t srq_low_watermark_events;
    uint64_t unexpected_bytes_peak;
    uint64_t credit_waits;
    uint64_t credit_grants;
    uint64_t registered_bytes; /* now */
    uint64_t registered_bytes_peak;
    struct fi_odrc_by_size sent_eager;
    struct fi_odrc_by_size sent_announced;
    uint64_t ring_peers;
    struct fi_odrc_by_size sent_ring;
    uint64_t packets_repeated;
    uint64_t packets_doubled;
    uint64_t packets_early;
    uint64_t packets_stray;
    uint64_t acknowledgements;
    uint64_t promotions;
    uint64_t demotions;
    uint64_t watchdog_patience_ns;
    uint64_t watchdog_batches;
    uint64_t multicast_sent;
    uint64_t multicast_forwarded;
    uint64_t multicast_received;
    uint64_t inline_bytes_most;
    uint64_t copy_bytes_most;
    uint64_t unregistered_bytes_most;
    uint64_t eager_bytes_most;
    uint64_t packets_sent;
    uint64_t packets_received;
    uint64_t packets_malformed;
    uint64_t packets_kept;
    struct fi_odrc_by_size sent_sliced;
    uint64_t sliced_bytes_most;
};

/* A name to give to fi_open_ops(3), for an endpoint. */
#define FI_ODRC_STATISTICS_OPS "odrc_statistics"

struct fi_odrc_statistics_ops {
    size_t size;
    /*
     * Gives the first size bytes of the numbers, or all there are if that is less, and returns how
     * many bytes it has given, or a negative fi_errno.
     */
    ssize_t (*read)(struct fid_ep* ep, struct fi_odrc_statistics* statistics, size_t size);
};

/*
 * Another one: lists of queue pairs. An endpoint of a job whose queue pairs have numbers in more
 * ranges than its address has room for (FI_ODRC_CONNECT) connects to the rest of its peers by such
 * lists, too, which the program publishes by other means, and gives to all of them: each endpoint
 * gets its peers' lists and they get its own, or none. Opened before the endpoint is enabled, or
 * its list has no more than its address.
 */
#define FI_ODRC_RANGES_OPS "odrc_ranges"

struct fi_odrc_ranges_ops {
    size_t size;
    /*
     * Gives the endpoint's own list, of bytes that only give() knows how to read. *length is how
     * many there is room for and then how many there are: 16, and 5 for each range. -FI_ETOOSMALL
     * if that is more. Once it is enabled.
     */
    int (*get)(struct fid_ep* ep, void* list, size_t* length);
    /*
     * Takes the list of a peer whose address, in the provider's own format, has been inserted under
     * this number. -FI_EINVAL if it is not. A peer to which a connection has been begun otherwise
     * needs none, which is no error.
     */
    int (*give)(struct fid_ep* ep, fi_addr_t peer, const void* list, size_t length);
};

/*
 * Another one, of endpoints that were opened for FI_COLLECTIVE: messages to all other members of a
 * group (fi_join_collective(3)), for which none of them posts a receive. They go as packets along a
 * tree that has the sender at its root, and members pass them on although their programs have not
 * asked for them. Each member gets what another one has sent in the order in which that was sent.
 *
 * What a member has sent and others have not released is bounded, and with it what an endpoint
 * holds of it: a member that does not receive stops those who send to its group, in the end. Who
 * waits for a message of his own to be over has to go on receiving.
 *
 * If a member is lost, or leaves the group before it has received what was sent to it, the group is
 * of no use any more: all three calls say so, once what has come before is received.
 */
#define FI_ODRC_MULTICAST_OPS "odrc_multicast"

/*
 * A flag of send(): all members get the messages that were sent with it, of whatever members, in
 * one order, and the sender gets them, too.
 */
#define FI_ODRC_ORDERED (1ULL << 62)

/* The most bytes that such a message has. */
#define FI_ODRC_MULTICAST_MAX ((size_t)32768)

struct fi_odrc_multicast {
    const void* data; /* the provider's, until the message is released */
    size_t length;
    fi_addr_t source; /* as the address vector that the group was made of has it */
    uint64_t order;   /* FI_ODRC_ORDERED: the message's number in the group, from 0 on; else
                         FI_ODRC_UNORDERED */
    void* held;       /* the provider's: by which it knows the message again */
};
#define FI_ODRC_UNORDERED UINT64_MAX

struct fi_odrc_multicast_ops {
    size_t size;
    /*
     * flags: FI_COMPLETION and FI_ODRC_ORDERED. 0, and it completes like any other send, when data
     * is the program's again; or a negative fi_errno. -FI_EAGAIN: later, after progress.
     */
    ssize_t (*send)(struct fid_ep* ep, struct fid_mc* group, const void* data, size_t length,
                    uint64_t flags, void* context);
    /* 1 and the next message; 0: none has come yet; or a negative fi_errno. Makes progress. */
    ssize_t (*receive)(struct fid_ep* ep, struct fid_mc* group, struct fi_odrc_multicast* message);
    /* Messages may be released in any order, and are all before the group is closed. */
    void (*release)(struct fid_ep* ep, struct fid_mc* group, struct fi_odrc_multicast* message);
};

/*
 * A name to give to fi_open_ops(3), for a domain: memory for the program in which endpoints of the
 * same host read and write by plain copies. All other memory of a process they reach through the
 * kernel, which looks up every page each time.
 *
 * It is registered like any memory (fi_mr(3)). A process that is forked shares it with its parent.
 */
#define FI_ODRC_MEMORY_OPS "odrc_memory"

struct fi_odrc_memory_ops {
    size_t size;
    /*
     * Gives whole pages, for length bytes at least, which are zero; null if length is 0 or there
     * are none: a program that can do without goes on with other memory. Where endpoints of one
     * host do not meet on soft0 it is ordinary memory.
     */
    void* (*allocate)(struct fid_domain* domain, size_t length);
    /*
     * Takes back what allocate() gave for that length, when nothing reads or writes it any more and
     * no region is registered there. Anything else is left alone, but for null told of in the log.
     * The domain takes the rest with it when it is closed.
     */
    void (*release)(struct fid_domain* domain, void* memory, size_t length);
};

#endif
