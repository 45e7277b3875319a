// Plan_and_bind plans a host from its files, and binds this process.
//
//	plan_and_bind FOLDER OWN CPU
//
// FOLDER is any host; OWN is a folder with one NPU on this machine; CPU is the CPU that this
// process is bound to. The examples of the other languages print the same lines.
package main

/*
#cgo pkg-config: cpubind
#include <stdlib.h>
#include "cpubind_api.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"
)

// refusal is an error of the library.
type refusal struct{ c *C.cpb_error }

func (r refusal) Error() string {
	return C.GoString(C.cpb_error_text(r.c))
}

func (r refusal) number(name string) int {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return int(C.cpb_error_number(r.c, text))
}

// options are the words as an array in C, with NULL behind them. The program frees none: few
// are made, and it ends.
func options(words ...string) **C.char {
	array := (*[16]*C.char)(C.calloc(16, C.size_t(unsafe.Sizeof((*C.char)(nil)))))
	for i, word := range words {
		array[i] = C.CString(word)
	}
	return &array[0]
}

// ownCPUs are the CPUs of the calling thread, as the kernel prints them.
func ownCPUs() string {
	status, _ := os.ReadFile("/proc/thread-self/status")
	for _, line := range strings.Split(string(status), "\n") {
		if cpus := strings.TrimPrefix(line, "Cpus_allowed_list:\t"); cpus != line {
			return cpus
		}
	}
	return "unknown"
}

func joined(cpus []C.int32_t) string {
	if len(cpus) == 0 {
		return "none"
	}
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(cpus), "[]"), " ", ",")
}

func printDevice(plan *C.cpb_plan, device C.int32_t) {
	var cpus *C.int32_t
	var mask [8192]byte
	main, irq, near := C.CString("main"), C.CString("irq"), C.CString("near_percent")
	nCPU := C.cpb_plan_cpus(plan, device, main, &cpus)
	nByte := C.cpb_plan_mask(plan, device, irq, unsafe.Pointer(&mask[0]), C.size_t(len(mask)))
	if nCPU < 0 {
		nCPU = 0
	}
	if nByte < 0 {
		nByte = 0
	}
	fmt.Printf("device %d: main %s; irq mask %x; memory node %d; near %d %%\n", device,
		joined(unsafe.Slice(cpus, nCPU)), mask[:nByte], C.cpb_plan_memory_node(plan, device),
		C.cpb_plan_quality(plan, device, near))
	for _, text := range []*C.char{main, irq, near} {
		C.free(unsafe.Pointer(text))
	}
}

func printPlan(folder string) error {
	var failed *C.cpb_error
	path, format := C.CString(folder), C.CString("map")
	defer C.free(unsafe.Pointer(path))
	defer C.free(unsafe.Pointer(format))
	host := C.cpb_host_folder(path, &failed)
	if host == nil {
		return refusal{failed}
	}
	defer C.cpb_host_close(host)
	plan := C.cpb_plan_make(host, options("rules=near"), &failed)
	if plan == nil {
		return refusal{failed}
	}
	defer C.cpb_plan_free(plan)
	var devices *C.int32_t
	n := C.cpb_plan_devices(plan, &devices)
	for _, device := range unsafe.Slice(devices, n) {
		printDevice(plan, device)
	}
	text := C.cpb_plan_format(plan, format, &failed)
	if text == nil {
		return refusal{failed}
	}
	defer C.cpb_text_free(text)
	fmt.Printf("%s\n%s\n", C.GoString(C.cpb_plan_json(plan)), C.GoString(text))
	slices := options("allowed=0", "scope=own", "rules=reference", "strategy=global_slice")
	if C.cpb_plan_make(host, slices, &failed) == nil {
		why := refusal{failed}
		defer C.cpb_error_free(failed)
		fmt.Printf("error %s, need %d, have %d: %s\n", C.GoString(C.cpb_error_code(failed)),
			why.number("need"), why.number("have"), why)
	}
	return nil
}

func bindThisProcess(own, cpu string) error {
	// A goroutine may change its thread, and each thread has a mask of its own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ownCPUs()
	var failed *C.cpb_error
	path := C.CString(own)
	defer C.free(unsafe.Pointer(path))
	host := C.cpb_host_folder(path, &failed)
	if host == nil {
		return refusal{failed}
	}
	defer C.cpb_host_close(host)
	bound := C.cpb_bind(host, 0, options("npu=0", "scope=own", "rules=reference",
		"strategy=global_slice", "allowed="+cpu, "memory=none", "any-arch=yes"), &failed)
	if bound == nil {
		return refusal{failed}
	}
	defer C.cpb_binding_close(bound)
	fmt.Println("bound to", ownCPUs())
	wrong := C.cpb_binding_verify(bound, &failed)
	if wrong < 0 {
		return refusal{failed}
	}
	fmt.Println("not in place:", wrong)
	if C.cpb_binding_restore(bound, &failed) < 0 {
		return refusal{failed}
	}
	answer := "no"
	if ownCPUs() == before {
		answer = "yes"
	}
	fmt.Println("restored:", answer)
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: plan_and_bind FOLDER OWN CPU")
		os.Exit(2)
	}
	err := printPlan(os.Args[1])
	if err == nil {
		err = bindThisProcess(os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if why, ok := err.(refusal); ok {
			os.Exit(why.number("exit"))
		}
		os.Exit(1)
	}
}
