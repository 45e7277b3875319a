package cpubind_test

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"cpubind"
)

const hostFile = "../../fixtures/hosts/a2-192cpu-8npu.host"

func openHost(t *testing.T) *cpubind.Host {
	t.Helper()
	host, err := cpubind.Folder(hostFile)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { host.Close() })
	return host
}

func makePlan(t *testing.T, host *cpubind.Host, options ...string) *cpubind.Plan {
	t.Helper()
	plan, err := host.Plan(options...)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func codeOf(t *testing.T, err error) string {
	t.Helper()
	var why *cpubind.Error
	if !errors.As(err, &why) {
		t.Fatalf("%v is no cpubind.Error", err)
	}
	return why.Code
}

func TestPlanHasTheCPUsOfEachDevice(t *testing.T) {
	plan := makePlan(t, openHost(t))
	if devices := plan.Devices(); !reflect.DeepEqual(devices, []int32{0, 1, 2, 3, 4, 5, 6, 7}) {
		t.Error("devices", devices)
	}
	if cpus, found := plan.CPUs(0, "irq"); !found || !reflect.DeepEqual(cpus, []int32{144, 145}) {
		t.Error("irq", cpus, found)
	}
	if node, found := plan.MemoryNode(0); !found || node != 6 {
		t.Error("memory node", node, found)
	}
	if near, found := plan.Quality(0, "near_percent"); !found || near != 50 {
		t.Error("near", near, found)
	}
	if _, found := plan.RankDevice(); found {
		t.Error("a device without a rank")
	}
	if !strings.HasPrefix(plan.JSON(), `{"cpubind": `) {
		t.Error("json", plan.JSON())
	}
	if text, err := plan.Format("map"); err != nil || !strings.Contains(text, "node 0") {
		t.Error("map", text, err)
	}
	if text, err := plan.Explain("npu3"); err != nil || text == "" {
		t.Error("explain", text, err)
	}
}

func TestTableAndMaskAgreeWithTheLists(t *testing.T) {
	plan := makePlan(t, openHost(t), "rules=near")
	for _, role := range []string{"pool", "irq", "main", "acl", "release"} {
		table, found := plan.Table(role)
		if !found || len(table) != len(plan.Devices()) {
			t.Fatal(role, table, found)
		}
		for i, device := range plan.Devices() {
			cpus, _ := plan.CPUs(device, role)
			if len(cpus)+len(table[i]) > 0 && !reflect.DeepEqual(cpus, table[i]) {
				t.Error(role, device, cpus, table[i])
			}
			mask, _ := plan.Mask(device, role)
			n := 0
			for cpu := 0; cpu < 8*len(mask); cpu++ {
				if mask[cpu/8]>>(cpu%8)&1 == 1 {
					if n >= len(cpus) || cpus[n] != int32(cpu) {
						t.Fatal("mask", role, device, cpu)
					}
					n++
				}
			}
			if n != len(cpus) {
				t.Error("mask", role, device, n)
			}
		}
	}
}

func TestPlanNamesTheDeviceOfARank(t *testing.T) {
	plan := makePlan(t, openHost(t), "rank=3")
	if device, found := plan.RankDevice(); !found || device != 3 {
		t.Error(device, found)
	}
}

func TestUnknownDevicesAndRolesAreNotFound(t *testing.T) {
	plan := makePlan(t, openHost(t))
	if _, found := plan.CPUs(99, "pool"); found {
		t.Error("device 99")
	}
	if _, found := plan.CPUs(0, "nothing"); found {
		t.Error("role")
	}
	if _, found := plan.Table("nothing"); found {
		t.Error("table")
	}
	if _, found := plan.Mask(99, "pool"); found {
		t.Error("mask")
	}
	if _, found := plan.MemoryNode(99); found {
		t.Error("memory node")
	}
	if _, found := plan.Quality(-1, "nothing"); found {
		t.Error("quality")
	}
}

func TestErrorHasCodeTextNumbersAndJSON(t *testing.T) {
	_, err := openHost(t).Plan("allowed=0", "scope=own", "rules=reference", "strategy=global_slice")
	var why *cpubind.Error
	if !errors.As(err, &why) {
		t.Fatal(err)
	}
	need, _ := why.Number("need")
	have, _ := why.Number("have")
	if why.Code != "too_few_cpus" || need != 5 || have != 0 || why.Numbers["exit"] != 1 {
		t.Errorf("%+v", why)
	}
	if _, found := why.Number("line"); found {
		t.Error("a line")
	}
	if !strings.Contains(err.Error(), "needs 5 CPUs") ||
		!strings.Contains(why.JSON, "too_few_cpus") {
		t.Errorf("%+v", why)
	}
}

func TestWrongArgumentsAreUsage(t *testing.T) {
	host := openHost(t)
	for _, option := range []string{"colour=red", "allowed", "allowed=0\x00"} {
		if _, err := host.Plan(option); codeOf(t, err) != "usage" {
			t.Error(option, err)
		}
	}
	if _, err := makePlan(t, host).Format("nothing"); codeOf(t, err) != "usage" {
		t.Error(err)
	}
	if _, err := cpubind.Folder("/nowhere/at/all"); err == nil {
		t.Error("a folder that is not there")
	}
}

func TestInputsInMemoryMakeAHost(t *testing.T) {
	host, err := cpubind.Empty()
	if err != nil {
		t.Fatal(err)
	}
	if _, err = host.Plan(); err == nil {
		t.Error("a plan without inputs")
	}
	text, err := os.ReadFile(hostFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range strings.Split(string(text), "\nfile ")[1:] {
		name, lines, _ := strings.Cut(strings.TrimSuffix(file, "\nend\n"), "\n ")
		data := strings.ReplaceAll(lines, "\n ", "\n") + "\n"
		if err = host.Put(name, []byte(data), 0); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := makePlan(t, host).JSON(), makePlan(t, openHost(t)).JSON(); got != want {
		t.Error(got, want)
	}
}

func TestGoroutinesShareAHostAndAPlan(t *testing.T) {
	host := openHost(t)
	plan := makePlan(t, host, "rules=near")
	var wait sync.WaitGroup
	for i := 0; i < 8; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for j := 0; j < 8; j++ {
				other, err := host.Plan("rules=near")
				if err != nil || other.JSON() != plan.JSON() {
					t.Error(err)
					return
				}
			}
		}()
	}
	wait.Wait()
}

func TestCloseTwice(t *testing.T) {
	host := openHost(t)
	plan := makePlan(t, host)
	plan.Close()
	plan.Close()
	host.Close()
	host.Close()
	defer func() {
		if recover() == nil {
			t.Error("a closed plan answers")
		}
	}()
	plan.Devices()
}

func TestTopo(t *testing.T) {
	if text, err := openHost(t).Topo("nics=yes"); err != nil || text[0] != '{' {
		t.Error(text, err)
	}
	if _, err := openHost(t).Topo("class=ffff"); err == nil {
		t.Error("a class without devices is listed")
	}
}

func TestPools(t *testing.T) {
	if cpubind.ABI() < 1 || cpubind.Version() == "" {
		t.Error(cpubind.ABI(), cpubind.Version())
	}
	for _, pool := range []struct {
		deviceLoad, cpuLoad, devices, cpuWorkers, ratio int32
		who                                             string
	}{
		{0, 0, 1, 1, 0, "device"}, {0, 0, 0, 0, 0, "nobody"}, {64, 3, 8, 4, 8, "cpu"},
	} {
		who := cpubind.NextPool(pool.deviceLoad, pool.cpuLoad, pool.devices, pool.cpuWorkers,
			pool.ratio)
		if who != pool.who {
			t.Error(pool, who)
		}
	}
	for _, pool := range [][4]int32{{4, 8, 4, 8}, {4, 8, 4, 0}, {0, 8, 0, 8}} {
		if n := cpubind.CPUBudget(64, pool[1], pool[2], pool[3]); n != pool[0] {
			t.Error(pool, n)
		}
	}
}
