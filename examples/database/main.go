// Database is a service that keeps jobs in SQLite or PostgreSQL. Any number of its processes plan the
// jobs and run their pods. Here each of these computes a checksum: replace sum by your own work.
//
//	go run -C examples/database . state.db picture # adds a job
//	go run -C examples/database . state.db         # works
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/batchplan/batchplan/job"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: database FILE|postgres://... [TEXT]")
		os.Exit(2)
	}
	if err := run(ctx, os.Args[1], os.Args[2:]...); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "database:", err)
		os.Exit(1)
	}
}

// run adds a job of three indexes for a text, or works if there is none.
func run(ctx context.Context, address string, text ...string) error {
	s, err := Open(ctx, address)
	if err != nil {
		return err
	}
	defer s.db.Close()
	if len(text) == 0 {
		sum := func(_ context.Context, text string, p job.Pod) (string, int32) {
			return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, text, p.Index))), 0
		}
		return (&Worker{Store: s, ID: rand.Text(), Slots: 4, Lease: 30 * time.Second, Poll: time.Second, Do: sum}).Run(ctx)
	}
	_, err = s.Add(ctx, "sum", text[0], job.Spec{
		Completions: new(int32(3)), Parallelism: new(int32(3)), CompletionMode: job.Indexed,
		Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
	})
	return err
}
