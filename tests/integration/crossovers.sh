#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 The odrc authors
#
# Where one way to send overtakes another: messages of all sizes are whole wherever that is; and it
# is measured by the first process that opens a device, kept for others, and shown.

. "$(dirname "$0")/lib.sh"

scale=1
[[ $ODRC_SANITIZER == no && $device == soft0 ]] || scale=20
export FI_ODRC_PROFILE=$scratch/profile

traffic() { # MESSAGES
    rm -f "$scratch"/profile.*
    timeout 300 "$ODRC_BUILD/odrc_traffic" -d "$device" -n 3 -m "$1" -s 20000 --seed $RANDOM >"$scratch/out" ||
        fail "$(cat "$scratch/out")"
}

# What all processes had, or one: "INLINE COPIED UNREGISTERED EAGER SLICED" as it is in a profile.
shown() { # [PROFILE]
    local name line="" profiles=("$@")
    (($#)) || profiles=("$scratch"/profile.*)
    for name in inline copy unregistered eager sliced; do
        line+=" $(sed -n "s/.*\"${name}_bytes_most\":\([0-9]*\).*/\1/p" "${profiles[@]}" | sort -u)"
    done
    echo "${line# }"
}

# How many messages of more than 1024 bytes, and no more than 8192, went in one send.
eager() {
    cat "$scratch"/profile.* | sed 's/.*"sent_eager"://; s/"sent_ring".*//' |
        grep -o '"\(4096\|8192\)":{"messages":[0-9]*' | awk -F: '{ n += $3 } END { print n + 0 }'
}

# How many went in several.
sliced() {
    cat "$scratch"/profile.* | sed 's/.*"sent_sliced"://; s/"sent_announced".*//' |
        grep -o '"messages":[0-9]*' | awk -F: '{ n += $2 } END { print n + 0 }'
}

# What is asked for, as far as the device has it.
for reliability in nic host; do
    export FI_ODRC_RELIABILITY=$reliability
    for given in 0,0,0 512,8192,1024 1024,2048,2048 100000,100000,100000 512,0,8192,16384 \
        512,0,2048,16384; do
        FI_ODRC_CROSSOVERS=$given traffic $((4000 / scale))
        echo "$reliability, $given: $(shown), $(eager) of 1 to 8 KiB in one send, $(sliced) in several"
        IFS=, read -r _ copied most several <<<"$given"
        copied=$((copied < 8192 ? copied : 8192))
        most=$((most < 1024 ? 1024 : most < 8192 ? most : 8192))
        [[ $reliability == nic && $device == soft0 && -z $ODRC_FAULTS ]] || several=0
        several=${several:-0}
        [[ $(shown) == *" $copied $copied $most $several" ]] || fail "that is not what was asked for"
        ((most > 1024 || $(eager) == 0)) || fail "long messages went in one send"
        (((several > 0) == ($(sliced) > 0))) || fail "$(sliced) messages went in several"
    done
    [[ $(eager) -gt 0 ]] || fail "no message of 1 to 8 KiB went in one send"
done
export FI_ODRC_RELIABILITY=nic
FI_ODRC_CROSSOVERS=fixed traffic 10
fixed=$(shown)

[[ $ODRC_SANITIZER == no ]] || exit 0 # it takes longer than it may

# From here on they are measured.
export FI_ODRC_CROSSOVERS=auto XDG_CACHE_HOME=$scratch/cache FI_LOG_LEVEL=info FI_LOG_PROV=odrc
folder=$scratch/cache/odrc
measure() { # how many processes did is left in measured, and how many found it kept in found
    traffic 10 2>"$scratch/log"
    measured=$(grep -c 'announced: as measured' "$scratch/log" || true)
    found=$(grep -c "announced: as kept in $folder/crossovers-" "$scratch/log" || true)
}

measure
if [[ $device != soft0 ]] && ((measured == 0)); then
    skip "it takes longer than it may"
fi
((measured > 0 && measured + found == 3)) || fail "$measured measured, $found found: $(cat "$scratch/log")"
files=("$folder"/*)
[[ ${#files[@]} == 1 && -f ${files[0]} ]] || fail "kept is: ${files[*]}"
file=${files[0]}
echo "measured: $(shown); kept: $(cat "$file")"
# By one of them: who measures at the same time may find something else.
for profile in "$scratch"/profile.*; do
    ! grep -qx "$(shown "$profile")" "$file" || one_kept_it=yes
done
[[ ${one_kept_it-} ]] || fail "that is not what was kept"

measure
((found == 3)) || fail "$measured measured again: $(cat "$scratch/log")"

# What is kept is used.
values=$(tail -n 1 "$file")
sed -i '$s/ [0-9]*$/ 2048/' "$file"
measure
[[ $found == 3 && $(shown) == "${values% *} 2048" ]] || fail "what is kept counts for nothing"

# What is damaged, or could be others', is measured and kept again.
damages=("echo >" "truncate -s 20" "chmod g+w" "sed -i s/soft0/soft1/")
for damage in "${damages[@]}"; do
    eval "$damage \"$file\""
    measure
    ((measured > 0)) || fail "after $damage nobody measured: $(cat "$scratch/log")"
    [[ $(stat -c %a "$file") == 600 ]] || fail "after $damage it is as it was"
    measure
    ((found == 3)) || fail "after $damage nothing was kept: $(cat "$scratch/log")"
done

# Where nothing can be kept, all goes on without.
XDG_CACHE_HOME=/dev/null traffic 10 2>"$scratch/log"
(($(grep -c 'announced: as measured' "$scratch/log") == 3)) || fail "$(cat "$scratch/log")"
echo "fixed: $fixed; measured: $(shown)"
