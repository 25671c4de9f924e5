package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "state.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, newDatabase(t)) })
}

// server is a PostgreSQL server of this test. Its data and its socket are in a folder of its own.
type server struct {
	folder    string
	command   *exec.Cmd
	databases int
}

var (
	starting sync.Once
	running  *server
	failed   error
)

func TestMain(m *testing.M) {
	if address := os.Getenv("DATABASE_ADDRESS"); address != "" {
		workAndTrace(address, os.Getenv("DATABASE_TRACE"))
	}
	code := m.Run()
	if running != nil {
		running.stop()
	}
	os.Exit(code)
}

// newDatabase makes an empty database of PostgreSQL. If this machine has no PostgreSQL, the test is
// skipped; in CI it fails.
func newDatabase(t *testing.T) (address string) {
	t.Helper()
	starting.Do(func() { running, failed = start() })
	if failed != nil && os.Getenv("CI") == "" {
		t.Skipf("no PostgreSQL, which Debian's package postgresql has: %v", failed)
	}
	if failed != nil {
		t.Fatal(failed)
	}
	running.databases++
	name := fmt.Sprint("test", running.databases)
	if out, err := running.client("createdb", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return "postgres://postgres@/" + name + "?host=" + url.QueryEscape(running.folder)
}

// start starts a server. PostgreSQL refuses to run as root: a test of root starts it as user
// postgres.
func start() (*server, error) {
	folder, err := os.MkdirTemp("/tmp", "postgres-") // the path of a socket must be short
	if err != nil {
		return nil, err
	}

	s := &server{folder: folder}
	if os.Geteuid() == 0 {
		owner, err := postgresUser()
		if err == nil {
			err = os.Chown(folder, int(owner.Uid), int(owner.Gid))
		}
		if err != nil {
			os.RemoveAll(folder)
			return nil, err
		}
	}

	data := filepath.Join(folder, "data")
	if out, err := s.client("initdb", "--username=postgres", "--auth=trust", "--no-sync", "--pgdata="+data).CombinedOutput(); err != nil {
		os.RemoveAll(folder)
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	// The machine does not lose power in a test, so nothing waits for the disk.
	s.command = s.client("postgres", "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "synchronous_commit=off")

	var log bytes.Buffer
	s.command.Stderr = &log
	if err := s.command.Start(); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}

	for range 300 {
		if s.client("pg_isready").Run() == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("the server does not answer:\n%s", &log)
}

func (s *server) stop() {
	_ = s.command.Process.Signal(syscall.SIGINT) // ends the connections
	_ = s.command.Wait()
	os.RemoveAll(s.folder)
}

// client returns a command of PostgreSQL, with a user that may run it.
func (s *server) client(name string, arguments ...string) *exec.Cmd {
	path := name
	if installed, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name); len(installed) > 0 {
		path = installed[len(installed)-1]
	}
	c := exec.Command(path, arguments...)
	c.Dir = s.folder
	c.Env = append(os.Environ(), "PGHOST="+s.folder, "PGUSER=postgres", "LC_ALL=C")
	if owner, err := postgresUser(); err == nil && os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	}
	return c
}

func postgresUser() (*syscall.Credential, error) {
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}
