package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// lockEnv makes the test binary a program that holds a lock of that name.
const lockEnv = "NGCC_TEST_LOCK"

func holdLock(name string) {
	if _, err := lockHost(context.Background(), name, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("locked")
	time.Sleep(time.Hour)
}

func TestLock(t *testing.T) {
	name := fmt.Sprintf("@ngcc-test-lock-%d", os.Getpid())
	other := exec.Command("/proc/self/exe")
	other.Env = append(os.Environ(), lockEnv+"="+name)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("locked\n"))); err != nil {
		t.Fatal(err)
	}
	// The holder is named, and once only.
	var told []int
	ctx, cancel := context.WithTimeout(t.Context(), 5*lockPoll)
	_, err = lockHost(ctx, name, func(pid int) { told = append(told, pid) })
	cancel()
	if !errors.Is(err, context.DeadlineExceeded) || len(told) != 1 || told[0] != other.Process.Pid {
		t.Errorf("told of %v, want process %d: %v", told, other.Process.Pid, err)
	}
	// A killed holder holds nothing.
	unlock, err := lockHost(t.Context(), name, func(int) { _ = other.Process.Kill() })
	_ = other.Wait()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 2*lockPoll)
	defer cancel()
	if _, err := lockHost(ctx, name, nil); err == nil {
		t.Error("one process took the lock twice")
	}
	unlock()
	again, err := lockHost(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
