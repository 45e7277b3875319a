// Plan_and_bind plans a host from its files, and binds this process.
//
//	plan_and_bind FOLDER OWN CPU
//
// FOLDER is any host; OWN is a folder with one NPU on this machine; CPU is the CPU that this
// process is bound to. The examples of the other languages
// print the same lines.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"cpubind"
)

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

func joined(cpus []int32) string {
	if len(cpus) == 0 {
		return "none"
	}
	words := make([]string, len(cpus))
	for i, cpu := range cpus {
		words[i] = strconv.Itoa(int(cpu))
	}
	return strings.Join(words, ",")
}

func orMinusOne(number int32, found bool) int32 {
	if !found {
		return -1
	}
	return number
}

func printPlan(folder string) error {
	host, err := cpubind.Folder(folder)
	if err != nil {
		return err
	}
	defer host.Close()
	plan, err := host.Plan("rules=near")
	if err != nil {
		return err
	}
	defer plan.Close()
	for _, device := range plan.Devices() {
		main, _ := plan.CPUs(device, "main")
		mask, _ := plan.Mask(device, "irq")
		fmt.Printf("device %d: main %s; irq mask %x; memory node %d; near %d %%\n", device,
			joined(main), mask, orMinusOne(plan.MemoryNode(device)),
			orMinusOne(plan.Quality(device, "near_percent")))
	}
	text, err := plan.Format("map")
	if err != nil {
		return err
	}
	fmt.Printf("%s\n%s\n", plan.JSON(), text)
	_, err = host.Plan("allowed=0", "scope=own", "rules=reference", "strategy=global_slice")
	var why *cpubind.Error
	if errors.As(err, &why) {
		fmt.Printf("error %s, need %d, have %d: %s\n", why.Code, orMinusOne(why.Number("need")),
			orMinusOne(why.Number("have")), why)
	}
	return nil
}

func bindThisProcess(own, cpu string) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := ownCPUs()
	host, err := cpubind.Folder(own)
	if err != nil {
		return err
	}
	defer host.Close()
	bound, err := cpubind.Bind(host, 0, "npu=0", "scope=own", "rules=reference", "strategy=global_slice",
		"allowed="+cpu, "memory=none", "any-arch=yes")
	if err != nil {
		return err
	}
	defer bound.Close()
	fmt.Println("bound to", ownCPUs())
	wrong, err := bound.Verify()
	if err != nil {
		return err
	}
	fmt.Println("not in place:", wrong)
	if _, err = bound.Restore(); err != nil {
		return err
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
		var why *cpubind.Error
		if errors.As(err, &why) {
			os.Exit(int(why.Numbers["exit"]))
		}
		os.Exit(1)
	}
}
