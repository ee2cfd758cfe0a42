# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Sourced by run: what the figures come to, below $scratch.
#   medians  MEASUREMENT METRIC X CONTENDER MEDIAN LEAST MOST ROUNDS UNIT
#   ratios   MEASUREMENT METRIC X OURS PEER RATIO LEAST MOST WANTED MET
#
# shellcheck shell=bash disable=SC2154 # of run: device, scratch

# What odrc is to be beside others: MEASUREMENT METRIC FROM TO PEER WANTED, where X is from FROM to
# TO. On soft0, and on a device of hardware or the kernel's.
wanted() {
    if [[ $device == soft0 ]]; then
        cat <<END
latency latency 8 64 shm <=0.4
latency latency 65 4096 shm <=0.6
bandwidth bandwidth 65536 65536 shm >=1.2
bandwidth bandwidth 262144 4194304 shm >=1.8
rate pairs 1 8 shm >=2
rate window 64 64 shm >=2
atomics latency.add 8 8 shm <=0.4
atomics latency.fetch-add 8 8 shm <=0.4
atomics latency.compare-swap 8 8 shm <=0.4
latency latency 8 8 ucx <=0.7
bandwidth bandwidth 1 4194304 ucx >=1
latency latency 8 64 tcp <=0.06
latency latency 8 8 handover <=1.6
latency latency 8 8 soft_verbs <=+0.06us
bandwidth bandwidth 65536 4194304 soft_verbs >=0.95
mpi latency 8 8 open_mpi <=0.9
mpi latency 4096 4194304 open_mpi <=0.7
END
    else
        cat <<END
latency latency 8 1024 verbs;ofi_rxm <=0.6
latency latency 4096 65536 verbs;ofi_rxm <=0.75
atomics latency.add 8 8 verbs;ofi_rxm <=0.3
atomics latency.fetch-add 8 8 verbs;ofi_rxm <=0.3
atomics latency.compare-swap 8 8 verbs;ofi_rxm <=0.3
latency latency 8 1048576 perftest <=1.15
END
    fi
}

# Ours over theirs, taken within each round before its median.
ratios() {
    wanted >"$scratch/wanted"
    awk -v medians="$scratch/medians" -v ratios="$scratch/ratios" '
        function median(list, n,    i, j, v) {
            for (i = 2; i <= n; ++i) {
                v = list[i]
                for (j = i - 1; j >= 1 && list[j] > v; --j) list[j + 1] = list[j]
                list[j + 1] = v
            }
            return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        }
        function short(value) { return sprintf(value >= 1e5 ? "%.0f" : "%.5g", value) }
        function is_ours(contender) { return contender ~ /odrc/ }
        function wish(measurement, metric, x, peer,    i, f) {
            for (i = 1; i <= wishes; ++i) {
                split(wished[i], f, " ")
                if (f[1] == measurement && f[2] == metric && x + 0 >= f[3] && x + 0 <= f[4] &&
                    f[5] == peer) return f[6]
            }
            return "-"
        }
        function met(ratio, more, wanted,    bound) {
            if (wanted == "-") return "-"
            bound = substr(wanted, 3) + 0
            if (wanted ~ /\+/) ratio = more
            return (wanted ~ /^</ ? ratio <= bound : ratio >= bound) ? "yes" : "no"
        }
        FILENAME ~ /wanted$/ { wished[++wishes] = $0; next }
        {
            point = $1 FS $2 FS $3
            if (!(point in size)) points[++count] = point
            if (!((point, $4) in unit)) who[point, ++size[point]] = $4
            unit[point, $4] = $7
            value[point, $4, $5] = $6
            if ($5 + 0 > rounds) rounds = $5 + 0
        }
        END {
            OFS = FS
            for (p = 1; p <= count; ++p) {
                point = points[p]
                for (c = 1; c <= size[point]; ++c) {
                    n = 0
                    for (i = 1; i <= rounds; ++i)
                        if ((point, who[point, c], i) in value) v[++n] = value[point, who[point, c], i] + 0
                    m = median(v, n)
                    print point, who[point, c], short(m), short(v[1]), short(v[n]), n, unit[point, who[point, c]] >medians
                }
                for (o = 1; o <= size[point]; ++o) {
                    if (!is_ours(who[point, o])) continue
                    for (c = 1; c <= size[point]; ++c) {
                        if (is_ours(who[point, c])) continue
                        n = 0
                        for (i = 1; i <= rounds; ++i) {
                            if (!((point, who[point, o], i) in value)) continue
                            if (!((point, who[point, c], i) in value)) continue
                            ours = value[point, who[point, o], i]
                            theirs = value[point, who[point, c], i]
                            # Of what is left after a subtraction, and of nothing, there is none.
                            if (ours < 0 || theirs <= 0) continue
                            v[++n] = ours / theirs
                            more[n] = ours - theirs
                        }
                        if (!n) continue
                        m = median(v, n)
                        x = point
                        split(point, f, FS)
                        w = wish(f[1], f[2], f[3], who[point, c])
                        print point, who[point, o], who[point, c], sprintf("%.3g", m),
                            sprintf("%.3g", v[1]), sprintf("%.3g", v[n]), w, met(m, median(more, n), w) >ratios
                    }
                }
            }
        }' FS=' ' "$scratch/wanted" FS='\t' "$scratch/figures"
    touch "$scratch/medians" "$scratch/ratios"
}
