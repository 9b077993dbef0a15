package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockName is an abstract socket address: it is nobody's file, and the kernel
// frees it when its holder dies.
const lockName = "@ngcc-bench-lock"

// lockPoll is how often a waiting process asks again.
const lockPoll = 100 * time.Millisecond

// LockHost takes the lock by which a host times one thing at a time, and waits
// while another process has it: onWait, unless nil, is told the process id of
// each holder that it waits for (0 if that cannot be found out). The lock ends
// with unlock or with this process. It covers one network namespace: containers
// with a network of their own do not see each other's.
func LockHost(ctx context.Context, onWait func(holderPID int)) (unlock func(), err error) {
	return lockHost(ctx, lockName, onWait)
}

func lockHost(ctx context.Context, name string, onWait func(holderPID int)) (unlock func(), err error) {
	address := &net.UnixAddr{Name: name, Net: "unix"}
	told := -1
	for {
		l, err := net.ListenUnix("unix", address)
		if err == nil {
			go answer(l)
			return func() { l.Close() }, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("driver: cannot take the host's lock: %w", err)
		}
		if pid := holder(address); pid != told && onWait != nil {
			told = pid
			onWait(pid)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("driver: process %d holds the host's lock: %w", max(told, 0), context.Cause(ctx))
		case <-time.After(lockPoll):
		}
	}
}

// answer takes the connections by which others find out who holds the lock.
func answer(l *net.UnixListener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // unlocked
		}
		c.Close()
	}
}

// holder is the process id of the lock's holder, or 0.
func holder(address *net.UnixAddr) int {
	c, err := net.DialUnix("unix", nil, address)
	if err != nil {
		return 0
	}
	defer c.Close()
	raw, err := c.SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	_ = raw.Control(func(fd uintptr) {
		if cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(cred.Pid)
		}
	})
	return pid
}
