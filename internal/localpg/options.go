package localpg

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// Options say where and how a cluster runs. Only Dir is required.
type Options struct {
	// Dir is the folder below which the cluster lives, in a sub-folder
	// "postgres". It is made when missing. Relative paths are taken from the
	// working directory; spaces and long paths are fine.
	Dir string

	// Log gets a line for what a person may wonder about: an installation that
	// takes a while, data that are kept in another place. Nil: nowhere.
	Log io.Writer

	// Fast trades durability for speed: a crash of the machine may destroy the
	// data. For tests only.
	Fast bool

	// Discard removes Dir when the server has stopped, also when that happened
	// because its users were killed.
	Discard bool

	// Settings are PostgreSQL's configuration parameters by name. They win over
	// the defaults of this package.
	Settings map[string]string
}

// user is the superuser of each cluster that this package makes.
const user = "tuval"

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, format+"\n", args...)
	}
}

// settings returns the server's arguments "-c name=value" in a stable order.
func (o Options) settings(socketDir string) []string {
	all := map[string]string{
		"listen_addresses":        "",
		"unix_socket_directories": `"` + socketDir + `"`,
		"unix_socket_permissions": "0700",
		"port":                    "5432", // names the socket file; PGPORT must not
		"max_connections":         "200",
		"shared_buffers":          "256MB",
		"timezone":                "UTC",
		"log_timezone":            "UTC",
		"log_line_prefix":         "%m [%p] %q%a %u@%d ",
		"log_lock_waits":          "on",
		"log_checkpoints":         "off",
		"jit":                     "off", // short statements only: compiling them costs more than it saves
		"random_page_cost":        "1.1", // disks without moving parts
		"checkpoint_timeout":      "15min",
		"max_wal_size":            "2GB",
	}
	if o.Fast {
		maps.Copy(all, map[string]string{
			"fsync":              "off",
			"synchronous_commit": "off",
			"full_page_writes":   "off",
			"wal_level":          "minimal",
			"max_wal_senders":    "0",
			"max_connections":    "400",
			"shared_buffers":     "192MB",
			"checkpoint_timeout": "1h",
		})
	}
	maps.Copy(all, o.Settings)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", name+"="+all[name])
	}
	return args
}
