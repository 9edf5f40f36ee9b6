package localpg

import (
	"fmt"
	"os"
	"path/filepath"
)

// serves tells whether process pid is a server of these data: PostgreSQL works
// in its data directory.
func serves(pid int, dataDir string) bool {
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(dataDir)
	return err == nil && cwd == real
}
