package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// machine is where and on what the figures were taken.
type machine struct {
	cpu    string
	cores  int
	system string
	commit string
	date   string
	sync   time.Duration // what it takes to get 8 kB onto the disk
}

func thisMachine(ctx context.Context) machine {
	return machine{
		cpu: cpuName(), cores: runtime.NumCPU(), system: runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version(),
		commit: commit(ctx), date: time.Now().UTC().Format("2006-01-02"), sync: syncTime(),
	}
}

func (m machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s; 8 kB reach the disk in %d us; commit %s, %s",
		m.cpu, m.cores, m.system, m.sync.Microseconds(), m.commit, m.date)
}

func cpuName() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// syncTime is the median of a few writes that wait for the disk.
func syncTime() time.Duration {
	f, err := os.CreateTemp("", "tuval-bench-")
	if err != nil {
		return 0
	}
	defer os.Remove(f.Name())
	defer f.Close()
	var took []time.Duration
	page := make([]byte, 8192)
	for range 200 {
		start := time.Now()
		if _, err := f.WriteAt(page, 0); err != nil || f.Sync() != nil {
			return 0
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
