package localpg

import "syscall"

// inNamespace returns root as seen from a user namespace in which it is the
// ordinary user uid. The server looks its user up by number: it must be one that
// exists.
func inNamespace(uid, gid int) (identity, bool) {
	return identity{name: "root in a user namespace", uid: 0, gid: 0, attr: syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: 0, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: gid, HostID: 0, Size: 1}},
	}}, true
}
