//go:build linux || darwin

package localpg

import (
	"os"
	osuser "os/user"
	"strconv"
	"syscall"
)

// identity is a way to run PostgreSQL, which refuses to run as root.
type identity struct {
	name string
	uid  int // owner of the files as seen from outside, -1: leave them as they are
	gid  int
	attr syscall.SysProcAttr
}

// identities returns the ways that this process has, the best first.
//
//   - Not root: as ourselves.
//   - Root: as the user that PostgreSQL's package made, else nobody.
//   - Root, where that user cannot enter the folder (it lies below /root, say):
//     in a user namespace whose only user is that one inside and root outside.
//     There the server is nobody special, yet root's files are its own.
func identities() []identity {
	if os.Geteuid() != 0 {
		return []identity{{name: "this user", uid: -1, gid: -1}}
	}
	var all []identity
	for _, name := range []string{"postgres", "nobody"} {
		uid, gid, ok := lookup(name)
		if !ok {
			continue
		}
		drop := identity{name: "user " + name, uid: uid, gid: gid}
		drop.attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		all = append(all, drop)
		if ns, ok := inNamespace(uid, gid); ok {
			all = append(all, ns)
		}
		return all
	}
	return nil
}

// lookup finds a user that is not root.
func lookup(name string) (uid, gid int, ok bool) {
	u, err := osuser.Lookup(name)
	if err != nil {
		return 0, 0, false
	}
	uid, errU := strconv.Atoi(u.Uid)
	gid, errG := strconv.Atoi(u.Gid)
	return uid, gid, errU == nil && errG == nil && uid > 0
}

// can tells whether this identity may enter dir and run program.
func (as identity) can(dir, program string) bool {
	return as.command("/bin/sh", "-c", `cd -- "$1" && [ -x "$2" ]`, "sh", dir, program).Run() == nil
}

// ownerWay lets root run the server as the normal user whose data they are, so
// that this user can go on with them.
func ownerWay(dataDir string) []identity {
	info, err := os.Stat(dataDir)
	if err != nil || os.Geteuid() != 0 {
		return nil
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 {
		return nil
	}
	as := identity{name: "user " + strconv.Itoa(int(s.Uid)), uid: int(s.Uid), gid: int(s.Gid)}
	as.attr.Credential = &syscall.Credential{Uid: s.Uid, Gid: s.Gid}
	return []identity{as}
}
