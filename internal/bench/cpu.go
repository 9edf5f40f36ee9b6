package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ticks are the units of /proc in a second; Linux has had no other number for
// user space for decades.
const ticks = 100

// cpu is the processor time that this process and its PostgreSQL have used so
// far, from /proc: of the server, its children and those that ended.
func (s *server) cpu() (time.Duration, error) {
	var me syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &me); err != nil {
		return 0, fmt.Errorf("read our own processor time: %w", err)
	}
	sum := time.Duration(me.Utime.Nano() + me.Stime.Nano())
	pid, err := s.postmaster()
	if err != nil {
		return 0, err
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return 0, fmt.Errorf("no /proc to read processor times from: %w", err)
	}
	for _, path := range stats {
		p, ok := readStat(path)
		switch {
		case ok && p.pid == pid:
			sum += p.own + p.children
		case ok && p.parent == pid:
			sum += p.own
		}
	}
	return sum, nil
}

// postmaster is the process id in the first line of postmaster.pid.
func (s *server) postmaster() (int, error) {
	raw, err := os.ReadFile(filepath.Join(s.cluster.DataDir(), "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("find PostgreSQL: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strconv.Atoi(strings.TrimSpace(line))
}

type stat struct {
	pid, parent   int
	own, children time.Duration
}

// readStat reads one process; false when it is gone.
func readStat(path string) (stat, bool) {
	raw, err := os.ReadFile(path)
	i := bytes.LastIndexByte(raw, ')') // a name may have blanks
	if err != nil || i < 0 {
		return stat{}, false
	}
	var s stat
	s.pid, err = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	f := strings.Fields(string(raw[i+1:]))
	if err != nil || len(f) < 15 {
		return stat{}, false
	}
	number := func(i int) time.Duration { n, _ := strconv.ParseInt(f[i], 10, 64); return time.Duration(n) }
	s.parent = int(number(1))
	s.own = (number(11) + number(12)) * time.Second / ticks
	s.children = (number(13) + number(14)) * time.Second / ticks
	return s, true
}
