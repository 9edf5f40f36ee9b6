package localpg

import (
	"os/exec"
	"strconv"
	"strings"
)

// serves tells whether process pid is a server of these data: they stand in its
// command line.
func serves(pid int, dataDir string) bool {
	out, err := exec.Command("ps", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && strings.Contains(string(out), dataDir)
}
