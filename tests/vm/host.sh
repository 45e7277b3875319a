#!/bin/sh
# runs: by make
# host.sh - writes the description of an Ascend host for a virtual machine, from a table of NPUs
#
#   tests/vm/host.sh a2|a2x2|a2x4|a3|300i|950|mixed DIR [PHY...]
#
# With physical ids, describes a container that has these NPUs only. Writes into DIR
#   npus      a line for each NPU: logic id, card, chip, phy id, PCI address, node, its index
#             among the NPUs of that PCI function, its pool, and the node for its memory
#   gpus      a line for each GPU of a mixed host: its number on the host, its device file, PCI
#             address, node, its pool, and the node for its memory
#   nodes     a line for each node: its number, its CPUs
#   module    the parameters of npu.ko
#   product   a2, a3, 300i or 950
#   map, topo, table, rows, none, end
#             parts of the output of npu-smi: `info -m`, `info -t topo`, `info` before its
#             processes, the line of a process, the line of a card without one, the last line
#
# Writes only below DIR. Rules: captured outputs in fixtures/hosts.

set -eu
host=$1
case $host in mixed) product=a2 ;; *) product=${host%x[24]} ;; esac
dir=$2
shift 2
mkdir -p "$dir"

# card chip logic phy slot node pool memory, in the order of the logic ids. Slot n is PCI address
# 0000:00:(10+n).0. The slots of an A2 are in no order. The cards of a 300I Duo have numbers
# with gaps and two NPUs on one PCI function. A 950 has no NPU on node 0.
# The pools are computed by hand. A2: the node of the NPU, since each next node is the home of
# another NPU. A2 with two nodes: the homes of all NPUs with their next nodes are all CPUs, which
# are shared by id, so that each NPU gets CPUs of the other node. A2 with four nodes: as A2, with
# half the NPUs. 300I: half of its node and the
# next node. A3: a slice by phy id. 950: a cluster. Mixed: the node of the NPU; NPU 1 and GPU 0
# have one node, and share it by address.
npus() {
    case $host in
    a2) echo "0 0 0 0 6 6 48-55 6
1 0 1 1 4 4 32-39 4
2 0 2 2 7 7 56-63 7
3 0 3 3 5 5 40-47 5
4 0 4 4 2 2 16-23 2
5 0 5 5 0 0 0-7 0
6 0 6 6 3 3 24-31 3
7 0 7 7 1 1 8-15 1" ;;
    a2x2) echo "0 0 0 0 0 1 0-7 0
1 0 1 1 1 1 8-15 0
2 0 2 2 2 1 16-23 0
3 0 3 3 3 1 24-31 0
4 0 4 4 4 0 32-39 1
5 0 5 5 5 0 40-47 1
6 0 6 6 6 0 48-55 1
7 0 7 7 7 0 56-63 1" ;;
    a2x4) echo "0 0 0 0 0 0 0-7 0
1 0 1 1 1 1 8-15 1
2 0 2 2 2 2 16-23 2
3 0 3 3 3 3 24-31 3" ;;
    mixed) echo "0 0 0 0 0 0 0-7 0
1 0 1 1 1 1 8-15 1" ;;
    a3) echo "0 0 0 0 1 0 0-7 0
0 1 1 1 0 0 8-15 1
1 0 2 2 3 2 16-23 2
1 1 3 3 2 2 24-31 3
2 0 4 4 5 4 32-39 4
2 1 5 5 4 4 40-47 5
3 0 6 6 7 6 48-55 6
3 1 7 7 6 6 56-63 7" ;;
    300i) echo "1 0 0 0 0 2 16-23 2
1 1 1 1 0 2 24-31 3
2 0 2 2 1 0 0-7 0
2 1 3 3 1 0 8-15 1
4 0 4 4 2 6 48-55 6
4 1 5 5 2 6 56-63 7
5 0 6 6 3 4 32-39 4
5 1 7 7 3 4 40-47 5" ;;
    950) echo "0 0 0 0 0 1 8-15 1
1 0 1 1 1 1 16-23 1
2 0 2 2 2 2 24-31 2
3 0 3 3 3 3 32-39 3
4 0 4 4 4 4 40-47 4
5 0 5 5 5 5 48-55 5
6 0 6 6 6 6 56-63 6
7 0 7 7 7 7 64-71 7" ;;
    *) echo "host.sh: no such host: $host" >&2 && exit 2 ;;
    esac
}

# GPU 1 has its node and the next one of its socket, which is no other device's.
gpus() {
    echo "0 renderD128 0000:00:12.0 1 16-23 1
1 renderD129 0000:00:13.0 3 24-39 3"
}

# Node, first CPU, last CPU. The second node of the 950 has two clusters.
nodes() {
    if [ "$host" = a2x2 ]; then
        printf '0 0-31\n1 32-63\n'
        return
    fi
    if [ "$host" = a2x4 ]; then
        printf '0 0-7\n1 8-15\n2 16-23\n3 24-31\n'
        return
    fi
    if [ "$host" = mixed ]; then
        printf '0 0-7\n1 8-23\n2 24-31\n3 32-39\n'
        return
    fi
    for node in 0 1 2 3 4 5 6 7; do
        first=$((node * 8))
        last=$((first + 7))
        if [ "$product" = 950 ]; then
            [ $node -ge 1 ] && last=$((last + 8))
            [ $node -ge 2 ] && first=$((first + 8))
        fi
        echo "$node $first-$last"
    done
}

case $host in
mixed) module="device=0xd802 functions=2 per_function=1 mailbox=1 gpus=2" ;;
a2x4) module="device=0xd802 functions=4 per_function=1 mailbox=1" ;;
a2*) module="device=0xd802 functions=8 per_function=1 mailbox=1" ;;
a3) module="device=0xd803 functions=8 per_function=1 mailbox=1" ;;
300i) module="device=0xd500 functions=4 per_function=2 mailbox=1" ;;
950) module="device=0xd806 functions=8 per_function=1 mailbox=0" ;;
esac
module="$module phy=$(npus | sort -s -n -k 5,5 | cut -d ' ' -f 4 | paste -s -d ,)"

# The NPUs in view. A container counts its logic ids from 0; the NPU ID of a 950 is its logic id.
in_view() { # phy id ...; none: all
    npus | awk -v list=" $* " -v product="$product" '
        list == "  " || index(list, " " $4 " ") {
            $3 = n++ + 0
            if (product == "950")
                $1 = $3
            print
        }'
}

in_view "$@" >"$dir/table.npus"
nodes >"$dir/nodes"
[ "$host" = mixed ] && gpus >"$dir/gpus"
echo "$module" >"$dir/module"
echo "$product" >"$dir/product"

awk -v product="$product" -v dir="$dir" '
function pad(text, width) {
    return sprintf("%-" width "s", text)
}
function repeat(char, n,    text) {
    while (n-- > 0)
        text = text char
    return text
}
# A line over or under cells of these widths, "27 15 52".
function rule(char, widths,    n, width, i, text) {
    n = split(widths, width, " ")
    text = "+"
    for (i = 1; i <= n; i++)
        text = text repeat(char, width[i]) "+"
    return text
}
# A row of the cells cell[1], cell[2], ...
function row(widths,    n, width, i, text) {
    n = split(widths, width, " ")
    text = "|"
    for (i = 1; i <= n; i++)
        text = text " " pad(cell[i], width[i] - 1) "|"
    return text
}
function used(a, b, width) {
    return pad(a, width) "/ " b
}
function address(slot) {
    return sprintf("0000:00:%X.0", 16 + slot)
}

# The columns of each product.
function describe() {
    power = product == "300i" ? 13 : 12
    pages = product == "300i" || product == "950" ? 6 : 5
    if (product == "300i") {
        name = "310P3"; full = "Ascend 310P3"; release = "25.2.0"; wide = "31 17 54"
        narrow = "31 17 26 27"; version_column = 49; first = 8; mcu = 1
    } else if (product == "950") {
        name = "Ascend950PR"; full = name; release = "25.7.rc1"; wide = "8 18 15 53"
        narrow = "27 15 26 26"; version_column = 49; first = 0; mcu = 0
    } else {
        name = product == "a2" ? "910B3" : "Ascend910"
        full = product == "a2" ? "Ascend 910B3" : name
        release = product == "a2" ? "25.2.0" : "25.3.rc1"; wide = "27 15 52"
        narrow = "27 15 26 25"; version_column = 33; first = 6; mcu = 1
    }
}

function map_row(a, b, c, d, e,    text) {
    text = "\t" pad(a, 30) " " pad(b, 30) " " pad(c, 30) " "
    if (d != "")
        text = text pad(d, 30) " "
    return text e
}
function write_map(    i, file) {
    file = dir "/map"
    if (product == "950")
        print map_row("NPU ID", "Slot ID", "Chip ID", "Chip Phy-ID", pad("Chip Name", 30)) >file
    else
        print map_row("NPU ID", "Chip ID", "Chip Logic ID", product == "a3" ? "Chip Phy-ID" : "",
            pad("Chip Name", 30)) >file
    for (i = 0; i < n; i++) {
        if (product == "950")
            print map_row(card[i], phy[i] + 1, chip[i], phy[i], full) >file
        else
            print map_row(card[i], chip[i], i, product == "a3" ? phy[i] : "", full) >file
        if (mcu && (i + 1 == n || card[i + 1] != card[i]))
            print map_row(card[i], chip[i] + 1, "-", product == "a3" ? "-" : "",
                pad("Mcu", 30)) >file
    }
    close(file)
}

# The rows of the matrix are cards; on an A3 they are NPUs and have no affinity.
function write_topo(    i, j, file, label, text) {
    file = dir "/topo"
    label = product == "a3" ? "Phy-ID" : "NPU"
    m = 0
    for (i = 0; i < n; i++)
        if (product == "a3" || i == 0 || card[i] != card[i - 1])
            at[m++] = i
    text = "\t   "
    for (j = 0; j < m; j++)
        text = text pad(label (product == "a3" ? phy[at[j]] : card[at[j]]), 11)
    print (text (product == "a3" ? "" : "CPU Affinity")) >file
    for (i = 0; i < m; i++) {
        text = pad(label (product == "a3" ? phy[at[i]] : card[at[i]]), 11)
        for (j = 0; j < m; j++)
            text = text pad(i == j ? "X" : between(at[i], at[j]), 11)
        print (text (product == "a3" ? "" : cpus[node[at[i]]])) >file
    }
    print "\nLegend:\n\n  X    = Self" >file
    print "  SYS  = From one NUMA node to another." >file
    print "  NA   = Unknown relationship." >file
    close(file)
}
function between(i, j) {
    if (product == "a2")
        return "HCCS"
    if (product == "a3")
        return card[i] == card[j] ? "SIO" : "HCCS_SW"
    return product == "950" ? "UB" : "SYS"
}

# Two rows of `info` for NPU i.
function info_rows(i, file,    k) {
    k = 1
    if (product == "950") {
        cell[1] = card[i]; cell[2] = name; k = 2
    } else {
        cell[1] = pad(card[i], first) name
    }
    cell[k + 1] = "OK"
    cell[k + 2] = pad(product == "300i" ? "NA" : chip[i] ? "-" : "91.3", power) \
        pad(38 + i, 18) used(0, 0, pages)
    print row(wide) >file
    if (product == "950")
        cell[1] = cell[2] = ""
    else
        cell[1] = pad(chip[i], first) (product == "a2" ? "" : phy[i])
    cell[k + 1] = bus[i]
    cell[k + 2] = product == "300i" ? pad(0, power) used(1300 + i, 44280, 5) : \
        pad(0, power) pad(used(0, 0, 5), 18) used(60700 + i, 65536, pages)
    print row(wide) >file
}
function write_table(    i, file, k, last) {
    file = dir "/table"
    last = split(wide, width, " ")
    for (i = 1; i <= last; i++)
        total += width[i] + 1
    print rule("-", total - 1) >file
    cell[1] = pad("npu-smi " release, version_column) "Version: " release
    print row(total - 1) >file
    print rule("-", wide) >file
    k = product == "950" ? 2 : 1
    cell[1] = product == "950" ? "NPU ID" : pad("NPU", first) "Name"
    cell[2] = "Name"
    cell[k + 1] = "Health"
    cell[k + 2] = pad("Power(W)", power) "Temp(C)           Hugepages-Usage(page)"
    print row(wide) >file
    cell[1] = product == "950" ? "" : pad("Chip", first) \
        (product == "a3" ? "Phy-ID" : product == "300i" ? "Device" : "")
    cell[2] = ""
    cell[k + 1] = "Bus-Id"
    cell[k + 2] = pad(product == "950" ? "NPU Util(%)" : "AICore(%)", power) \
        (product == "300i" ? "Memory-Usage(MB)" : "Memory-Usage(MB)  HBM-Usage(MB)")
    print row(wide) >file
    print rule("=", wide) >file
    for (i = 0; i < n; i++) {
        info_rows(i, file)
        if (i + 1 == n || card[i + 1] != card[i])
            print rule("=", wide) >file
        else
            print (product == "a3" ? rule("-", total - 1) : rule("-", wide)) >file
    }
    write_processes(file)
    close(file)
}

# npu-smi.sh replaces @PID@ by the number of a process.
function write_processes(file,    i) {
    print rule("-", narrow) >file
    cell[1] = product == "950" ? "NPU ID" : pad("NPU", 8) "Chip"
    cell[2] = "Process id"; cell[3] = "Process name"; cell[4] = "Process memory(MB)"
    print row(narrow) >file
    print rule("=", narrow) >file
    for (i = 0; i < n; i++) {
        cell[1] = product == "950" ? i : pad(card[i], 8) chip[i]
        cell[2] = "@PID@"; cell[3] = "worker"; cell[4] = 2048 + i
        print i, row(narrow) >(dir "/rows")
    }
    close(dir "/rows")
    for (i = 0; i < n; i++)
        if (i == 0 || card[i] != card[i - 1]) {
            cell[1] = "No running processes found in NPU " card[i]
            print card[i], row(total - 1) >(dir "/none")
        }
    close(dir "/none")
    print rule("=", narrow) >(dir "/end")
    close(dir "/end")
}

FILENAME ~ /nodes$/ {
    cpus[$1] = $2
    next
}
{
    card[n] = $1; chip[n] = $2; phy[n] = $4; bus[n] = address($5); node[n] = $6
    place = $5 == slot ? place + 1 : 0
    slot = $5
    print $3, $1, $2, $4, tolower(bus[n]), $6, place, $7, $8 >(dir "/npus")
    n++
}
END {
    describe()
    write_map()
    write_topo()
    write_table()
}' slot=-1 n=0 "$dir/nodes" "$dir/table.npus"
rm "$dir/table.npus"
