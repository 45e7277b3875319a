// Package cpubind says which CPUs belong to which NPU, and binds a process to them. It is a
// wrapper of libcpubind.so.1.
//
//	host, err := cpubind.Live(0)
//	plan, err := host.Plan("rules=near")
//	for _, device := range plan.Devices() {
//		cpus, _ := plan.CPUs(device, "main")
//	}
//	binding, err := cpubind.Bind(host, 0, "npu=3")
//
// Options are texts key=value: the long options of the command cpubind without their dashes; a
// switch takes yes or no. The contract of each call and the codes of its errors are in
// cpubind_api.h; this package frees handles, copies lists and decides nothing.
//
// A Host, a Plan and a Binding have a Close; the garbage collector closes those that a program
// forgets. Any number of goroutines may use a Host or a Plan at a time, but for Close. A
// Binding belongs to one goroutine at a time.
//
// The linker finds the library with CGO_LDFLAGS=-L/folder, and the program with the path of the
// loader or LD_LIBRARY_PATH. Outside the source tree of cpubind, set CGO_CFLAGS to the output
// of pkg-config --cflags cpubind.
package cpubind

/*
#cgo CFLAGS: -I${SRCDIR}/../api
#cgo LDFLAGS: -lcpubind
#include <stdlib.h>
#include "cpubind_api.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Error is why a call failed.
type Error struct {
	Code    string           // "usage", "too_few_cpus", "gone": programs decide by it
	Text    string           // the sentence that the command prints
	JSON    string           // the object that the command prints with --json
	Numbers map[string]int32 // "need", "have", "npu", "exit" and so on, where it has them
}

// Error is the sentence that the command prints.
func (e *Error) Error() string {
	return e.Text
}

// Number is a number of the error, such as "need"; false where the error has none.
func (e *Error) Number(name string) (int32, bool) {
	number, found := e.Numbers[name]
	return number, found
}

var numberNames = []string{"npu", "other_npu", "cpu", "need", "have", "uncut", "line", "column",
	"errno", "exit"}

// The Go specification does not order the read of a variable and a call in one expression: the
// error of a call is handed on by its address.

// failure copies an error of the library and frees it. A call that fails without an error had
// no memory for it.
func failure(taken *C.cpb_error) error {
	if taken == nil {
		return &Error{Code: "no_memory", Text: "there is not enough memory"}
	}
	defer C.cpb_error_free(taken)
	e := &Error{
		Code:    C.GoString(C.cpb_error_code(taken)),
		Text:    C.GoString(C.cpb_error_text(taken)),
		JSON:    C.GoString(C.cpb_error_json(taken)),
		Numbers: map[string]int32{},
	}
	for _, name := range numberNames {
		text := newText(name)
		if number := int32(C.cpb_error_number(taken, text.c)); number >= 0 {
			e.Numbers[name] = number
		}
		text.free()
	}
	return e
}

// ABI is CPB_ABI of the library that is loaded.
func ABI() int32 {
	return int32(C.cpb_abi())
}

// Version is the version of the library that is loaded, such as "0.2.0".
func Version() string {
	return C.GoString(C.cpb_version())
}

// Host is a machine: this one, a folder with its files, or bytes in memory.
type Host struct {
	handle *C.cpb_host
}

func newHost(handle *C.cpb_host, taken **C.cpb_error) (*Host, error) {
	if handle == nil {
		return nil, failure(*taken)
	}
	host := &Host{handle}
	runtime.SetFinalizer(host, (*Host).Close)
	return host, nil
}

// Live is this host as process pid sees it; 0: as this process does.
func Live(pid int32) (*Host, error) {
	var taken *C.cpb_error
	return newHost(C.cpb_host_live(C.int32_t(pid), &taken), &taken)
}

// Folder is a folder, or a file NAME.host, as `cpubind capture -o` writes it.
func Folder(path string) (*Host, error) {
	var taken *C.cpb_error
	name, err := checkedText(path)
	if err != nil {
		return nil, err
	}
	defer name.free()
	return newHost(C.cpb_host_folder(name.c, &taken), &taken)
}

// Empty is a host without any input; Put adds them.
func Empty() (*Host, error) {
	var taken *C.cpb_error
	return newHost(C.cpb_host_empty(&taken), &taken)
}

// Put adds or replaces an input of an empty host, such as "proc/self/status" or
// "cmd/npu-smi-info-m.txt". The exit code is that of a command, else 0.
func (h *Host) Put(name string, data []byte, exitCode int32) error {
	var taken *C.cpb_error
	text, err := checkedText(name)
	if err != nil {
		return err
	}
	defer text.free()
	var first unsafe.Pointer
	if len(data) > 0 {
		first = unsafe.Pointer(&data[0])
	}
	result := C.cpb_host_put(h.open(), text.c, first, C.size_t(len(data)), C.int32_t(exitCode),
		&taken)
	runtime.KeepAlive(h)
	if result < 0 {
		return failure(taken)
	}
	return nil
}

// Topo is the accelerators of any vendor: the JSON of `cpubind topo --json`.
func (h *Host) Topo(options ...string) (string, error) {
	var taken *C.cpb_error
	texts, err := newTexts(options)
	if err != nil {
		return "", err
	}
	defer texts.free()
	text := C.cpb_host_topo(h.open(), texts.c, &taken)
	runtime.KeepAlive(h)
	return takenText(text, taken)
}

// Plan is the plan of this host. The plan keeps nothing of the host.
func (h *Host) Plan(options ...string) (*Plan, error) {
	var taken *C.cpb_error
	texts, err := newTexts(options)
	if err != nil {
		return nil, err
	}
	defer texts.free()
	handle := C.cpb_plan_make(h.open(), texts.c, &taken)
	runtime.KeepAlive(h)
	if handle == nil {
		return nil, failure(taken)
	}
	plan := &Plan{handle}
	runtime.SetFinalizer(plan, (*Plan).Close)
	return plan, nil
}

// Close frees the host; a second call does nothing.
func (h *Host) Close() error {
	C.cpb_host_close(h.handle)
	h.handle = nil
	runtime.SetFinalizer(h, nil)
	return nil
}

func (h *Host) open() *C.cpb_host {
	if h.handle == nil {
		panic("cpubind: the host is closed")
	}
	return h.handle
}

// Plan says which CPUs belong to which device. It never changes.
type Plan struct {
	handle *C.cpb_plan
}

// Close frees the plan; a second call does nothing.
func (p *Plan) Close() error {
	C.cpb_plan_free(p.handle)
	p.handle = nil
	runtime.SetFinalizer(p, nil)
	return nil
}

func (p *Plan) open() *C.cpb_plan {
	if p.handle == nil {
		panic("cpubind: the plan is closed")
	}
	return p.handle
}

// Devices are those that have a pool, ascending.
func (p *Plan) Devices() []int32 {
	var first *C.int32_t
	n := C.cpb_plan_devices(p.open(), &first)
	devices := copied(first, n)
	runtime.KeepAlive(p)
	return devices
}

// RankDevice is the device of the rank that the options name; false without a rank.
func (p *Plan) RankDevice() (int32, bool) {
	device := int32(C.cpb_plan_rank_device(p.open()))
	runtime.KeepAlive(p)
	return device, device >= 0
}

// CPUs are those of a device, ascending. The role is "pool", "irq", "main", "acl" or "release".
// False: the plan has no such device, or there is no such role.
func (p *Plan) CPUs(device int32, role string) ([]int32, bool) {
	text := newText(role)
	defer text.free()
	var first *C.int32_t
	n := C.cpb_plan_cpus(p.open(), C.int32_t(device), text.c, &first)
	cpus := copied(first, n)
	runtime.KeepAlive(p)
	return cpus, n >= 0
}

// Table is the CPUs of all devices for one role, in the order of Devices. False: there is no
// such role.
func (p *Plan) Table(role string) ([][]int32, bool) {
	text := newText(role)
	defer text.free()
	var row, first *C.int32_t
	n := C.cpb_plan_table(p.open(), text.c, &row, &first)
	if n < 0 {
		return nil, false
	}
	table := make([][]int32, n)
	if n > 0 {
		rows := copied(row, n+1)
		cpus := copied(first, C.int32_t(rows[n]))
		for i := range table {
			table[i] = cpus[rows[i]:rows[i+1]:rows[i+1]]
		}
	}
	runtime.KeepAlive(p)
	return table, true
}

// Mask is the CPUs as sched_setaffinity(2) takes them, the bytes of an array of unsigned long:
// on a little-endian machine bit i % 8 of byte i / 8 is CPU i. False as for CPUs.
func (p *Plan) Mask(device int32, role string) ([]byte, bool) {
	text := newText(role)
	defer text.free()
	n := C.cpb_plan_mask(p.open(), C.int32_t(device), text.c, nil, 0)
	if n < 0 {
		return nil, false
	}
	bits := make([]byte, n)
	if n > 0 {
		C.cpb_plan_mask(p.open(), C.int32_t(device), text.c, unsafe.Pointer(&bits[0]),
			C.size_t(n))
	}
	runtime.KeepAlive(p)
	return bits, true
}

// MemoryNode is the node for the memory of a device; false where there is none.
func (p *Plan) MemoryNode(device int32) (int32, bool) {
	node := int32(C.cpb_plan_memory_node(p.open(), C.int32_t(device)))
	runtime.KeepAlive(p)
	return node, node >= 0
}

// Quality is a figure such as "near_percent", of a device, or of the whole plan where device is
// -1; false where it is not known.
func (p *Plan) Quality(device int32, figure string) (int32, bool) {
	text := newText(figure)
	defer text.free()
	number := int32(C.cpb_plan_quality(p.open(), C.int32_t(device), text.c))
	runtime.KeepAlive(p)
	return number, number >= 0
}

// JSON is the JSON of `cpubind plan --json`.
func (p *Plan) JSON() string {
	text := C.GoString(C.cpb_plan_json(p.open()))
	runtime.KeepAlive(p)
	return text
}

// Format is the plan in a format of `cpubind plan --format`, such as "log" or "map".
func (p *Plan) Format(format string) (string, error) {
	var taken *C.cpb_error
	text, err := checkedText(format)
	if err != nil {
		return "", err
	}
	defer text.free()
	made := C.cpb_plan_format(p.open(), text.c, &taken)
	runtime.KeepAlive(p)
	return takenText(made, taken)
}

// Explain is the sentences of `cpubind plan --explain TARGET`, such as "cpu5" or "npu3".
func (p *Plan) Explain(target string) (string, error) {
	var taken *C.cpb_error
	text, err := checkedText(target)
	if err != nil {
		return "", err
	}
	defer text.free()
	made := C.cpb_plan_explain(p.open(), text.c, &taken)
	runtime.KeepAlive(p)
	return takenText(made, taken)
}

// BindThread binds the calling thread alone to the CPUs of a role, without a record. The caller
// has locked the goroutine to its thread with runtime.LockOSThread.
func (p *Plan) BindThread(device int32, role string) error {
	var taken *C.cpb_error
	text, err := checkedText(role)
	if err != nil {
		return err
	}
	defer text.free()
	result := C.cpb_bind_thread(p.open(), C.int32_t(device), text.c, &taken)
	runtime.KeepAlive(p)
	if result < 0 {
		return failure(taken)
	}
	return nil
}

// Binding is a process that is bound. The process stays bound after Close: Restore undoes the
// binding.
type Binding struct {
	handle *C.cpb_binding
}

func newBinding(handle *C.cpb_binding, taken **C.cpb_error) (*Binding, error) {
	if handle == nil {
		return nil, failure(*taken)
	}
	binding := &Binding{handle}
	runtime.SetFinalizer(binding, (*Binding).Close)
	return binding, nil
}

// Bind binds a process to the CPUs of one device, as `cpubind apply` does; 0: this process,
// with all its threads.
func Bind(host *Host, pid int32, options ...string) (*Binding, error) {
	var taken *C.cpb_error
	texts, err := newTexts(options)
	if err != nil {
		return nil, err
	}
	defer texts.free()
	handle := C.cpb_bind(host.open(), C.int32_t(pid), texts.c, &taken)
	runtime.KeepAlive(host)
	return newBinding(handle, &taken)
}

// OpenBinding opens a process that is bound, by its record, to verify or to restore it.
func OpenBinding(pid int32, options ...string) (*Binding, error) {
	var taken *C.cpb_error
	texts, err := newTexts(options)
	if err != nil {
		return nil, err
	}
	defer texts.free()
	return newBinding(C.cpb_binding_open(C.int32_t(pid), texts.c, &taken), &taken)
}

// Verify is the number of threads and interrupts that are not where they belong.
func (b *Binding) Verify() (int32, error) {
	var taken *C.cpb_error
	return b.counted(C.cpb_binding_verify(b.open(), &taken), &taken)
}

// Again moves back what is not where it belongs, and binds new threads; it returns how many it
// moved.
func (b *Binding) Again() (int32, error) {
	var taken *C.cpb_error
	return b.counted(C.cpb_binding_again(b.open(), &taken), &taken)
}

// Restore puts all back as it was before the process was bound; it returns how many it moved.
func (b *Binding) Restore() (int32, error) {
	var taken *C.cpb_error
	return b.counted(C.cpb_binding_restore(b.open(), &taken), &taken)
}

// JSON is what the last call did.
func (b *Binding) JSON() string {
	text := C.GoString(C.cpb_binding_json(b.open()))
	runtime.KeepAlive(b)
	return text
}

// Close forgets the binding; the process stays as it is. A second call does nothing.
func (b *Binding) Close() error {
	C.cpb_binding_close(b.handle)
	b.handle = nil
	runtime.SetFinalizer(b, nil)
	return nil
}

func (b *Binding) open() *C.cpb_binding {
	if b.handle == nil {
		panic("cpubind: the binding is closed")
	}
	return b.handle
}

func (b *Binding) counted(result C.int32_t, taken **C.cpb_error) (int32, error) {
	runtime.KeepAlive(b)
	if result < 0 {
		return 0, failure(*taken)
	}
	return int32(result), nil
}

// CPUBudget is the number of requests that all CPU workers together may have in flight; a ratio
// of 0 is 8.
func CPUBudget(deviceLoad, devices, cpuWorkers, ratio int32) int32 {
	return int32(C.cpb_cpu_budget(C.int32_t(deviceLoad), C.int32_t(devices),
		C.int32_t(cpuWorkers), C.int32_t(ratio)))
}

// NextPool is who serves the next request: "device", "cpu" or "nobody".
func NextPool(deviceLoad, cpuLoad, devices, cpuWorkers, ratio int32) string {
	return C.GoString(C.cpb_next_pool(C.int32_t(deviceLoad), C.int32_t(cpuLoad),
		C.int32_t(devices), C.int32_t(cpuWorkers), C.int32_t(ratio)))
}
