//go:build linux || darwin

package localpg

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// oldest is the oldest PostgreSQL that Tuval works with.
const oldest = 14

// programs returns the directory of PostgreSQL's programs, installing them when
// they are missing. major is the version that existing data need, 0: any.
func programs(ctx context.Context, h home, opts Options, major int) (string, error) {
	dir, have := findPrograms(h, major)
	if dir != "" {
		return dir, nil
	}
	if major != 0 && len(have) > 0 {
		return "", fmt.Errorf("the data in %s need PostgreSQL %d, installed is %s: install version %d, or move that folder away to begin anew", h, major, strings.Join(have, ", "), major)
	}
	if err := install(ctx, h, opts); err != nil {
		return "", err
	}
	if dir, have = findPrograms(h, major); dir == "" {
		return "", fmt.Errorf("installed PostgreSQL, but found no usable programs (found: %s)", strings.Join(have, ", "))
	}
	return dir, nil
}

// findPrograms returns the newest usable directory and the versions of all that
// were found.
func findPrograms(h home, major int) (best string, have []string) {
	newest := 0
	for _, dir := range programDirs(h) {
		v := version(dir)
		if v == 0 {
			continue
		}
		have = append(have, strconv.Itoa(v))
		if v >= oldest && v > newest && (major == 0 || v == major) {
			best, newest = dir, v
		}
	}
	return best, have
}

// programDirs lists where PostgreSQL may be: as packages and installers lay it,
// what pg_config says, what PATH leads to (a link to a program says nothing about
// its neighbours, so links are followed), and what we took from npm.
func programDirs(h home) (dirs []string) {
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",
		"/usr/pgsql-*/bin",
		"/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin",
		"/Library/PostgreSQL/*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
	} {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return append(dirs, npmPrograms(h))
}

var versionPattern = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// version returns the major version of the server in dir, 0 if it is not
// complete.
func version(dir string) int {
	if info, err := os.Stat(filepath.Join(dir, "initdb")); err != nil || info.IsDir() {
		return 0
	}
	out, err := exec.Command(filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	match := versionPattern.FindStringSubmatch(string(out))
	if match == nil {
		return 0
	}
	major, _ := strconv.Atoi(match[1])
	return major
}
