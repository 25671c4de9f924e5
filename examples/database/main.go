// Database is a service that keeps jobs in SQLite or PostgreSQL, and schedules that create jobs.
// Any number of its processes plan both and run the pods of the jobs. A pod is a call of a
// function: add yours to functions.
//
//	go run -C examples/database . state.db picture                # adds a job
//	go run -C examples/database . -http localhost:8080 state.db   # works, and has a page with the schedules
//	curl -X PUT localhost:8080/schedules/tidy -d '{"schedule": "*/10 * * * * *", "payload": "sum {run}"}'
//	curl -X POST localhost:8080/schedules/tidy/trigger            # also pause, resume and backfill
package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"
	_ "time/tzdata" // zones do not depend on the machine

	"github.com/batchplan/batchplan/job"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	address := flag.String("http", "", "address of the page, such as localhost:8080")
	flag.Parse()
	if flag.NArg() < 1 || flag.NArg() > 2 {
		fmt.Fprintln(os.Stderr, "usage: database [-http ADDRESS] FILE|postgres://... [TEXT]")
		os.Exit(2)
	}
	if err := run(ctx, *address, flag.Arg(0), flag.Args()[1:]...); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "database:", err)
		os.Exit(1)
	}
}

// functions has a function for each first word of a payload. A function must return soon after its
// context is done, since the process ends, or the run is being deleted or replaced.
var functions = map[string]func(ctx context.Context, argument string, p job.Pod) (output string, exitCode int32){
	"sum": func(_ context.Context, argument string, p job.Pod) (string, int32) {
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, argument, p.Index))), 0
	},
}

func do(ctx context.Context, payload string, p job.Pod) (string, int32) {
	name, argument, _ := strings.Cut(payload, " ")
	if function := functions[name]; function != nil {
		return function(ctx, argument, p)
	}
	return "no function " + name, 1
}

// run adds a job of three indexes if a text is given. Otherwise it runs a worker.
func run(ctx context.Context, listen, address string, text ...string) error {
	s, err := Open(ctx, address)
	if err != nil {
		return err
	}
	defer s.db.Close()

	if len(text) > 0 {
		_, err = s.Add(ctx, "sum", "sum "+text[0], job.Spec{
			Completions: new(int32(3)), Parallelism: new(int32(3)), CompletionMode: job.Indexed,
			Template: job.Template{RestartPolicy: job.RestartNever, Containers: []string{"main"}},
		})
		return err
	}

	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if listen != "" {
		server := &http.Server{Addr: listen, Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
		go func() { stop(server.ListenAndServe()) }()
		defer server.Close()
	}
	worker := &Worker{Store: s, ID: rand.Text(), Slots: 4, Lease: 30 * time.Second, Poll: time.Second, Do: do}
	return worker.Run(ctx)
}
