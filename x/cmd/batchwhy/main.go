// Command batchwhy explains why Jobs and CronJobs do what they do, and what comes next. Under the
// name kubectl-why it is a plugin of kubectl.
package main

import (
	"context"
	"os"
	"os/signal"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/batchplan/batchplan/x/cmd/batchwhy/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := cli.Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr, time.Now)
	stop()
	os.Exit(status)
}
