// Command batchsim runs jobs and CronJobs on simulated nodes in virtual time.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/batchplan/batchplan/x/cmd/batchsim/internal/cli"
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(800) // the heap is small, and a simulation allocates much
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(2 << 30) // with more memory, collect as often as necessary
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := cli.Main(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
